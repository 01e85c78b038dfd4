package io.stele.wire;

import io.stele.model.SteleException;
import java.io.IOException;
import org.apache.hadoop.ipc.RemoteException;

/**
 * A {@link SteleException} in transit over the control plane: Hadoop RPC carries the class and the
 * message of an exception, so the message begins with the code. It has no stack trace, which RPC
 * would add to the message.
 */
final class ControlException extends IOException {
  private static final long serialVersionUID = 1L;
  private static final String AFTER_CODE = ": ";

  ControlException(SteleException.Code code, String message) {
    super(code.name() + AFTER_CODE + message);
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }

  /** What {@code remote} tells of: a {@link SteleException}, or itself where it is none. */
  static Exception received(RemoteException remote) {
    if (!ControlException.class.getName().equals(remote.getClassName())) {
      return remote;
    }
    String text = String.valueOf(remote.getMessage()).stripTrailing();
    for (SteleException.Code code : SteleException.Code.values()) {
      String start = code.name() + AFTER_CODE;
      if (text.startsWith(start)) {
        return new SteleException(code, text.substring(start.length()), remote);
      }
    }
    return remote; // Of a code that only newer servers know.
  }
}
