package io.stele.wire;

import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The caller's side of the control plane.
 *
 * <p>A call is sent once: a server that is not there fails it at once, and retrying, perhaps
 * elsewhere, is up to the caller. Safe for use by any number of threads; calls to one server share
 * a connection.
 */
public interface ControlPlane {
  /** One call of {@code protocol}; the controller that its methods take is null. */
  @FunctionalInterface
  interface Call<P, R> {
    /** Makes the call. */
    R on(P protocol) throws ServiceException;
  }

  /**
   * Makes a call and waits for its answer.
   *
   * @param timeout the most it may take
   * @throws SteleException as the service threw it
   * @throws java.net.ConnectException if the server is not there: nothing was executed
   * @throws IOException if no answer came: the call may have been executed
   */
  <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
      throws IOException;

  /** Gives up the connections to all servers but those in {@code servers}. */
  void retain(Set<Address> servers);
}
