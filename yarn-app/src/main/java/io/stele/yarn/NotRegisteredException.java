package io.stele.yarn;

import java.io.IOException;

/** No tablet server is registered from a container: there is nobody to ask. */
final class NotRegisteredException extends IOException {
  private static final long serialVersionUID = 1L;

  NotRegisteredException(String containerId) {
    super("no tablet server is registered from " + containerId);
  }
}
