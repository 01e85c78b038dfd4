package io.stele.wire;

/**
 * Where a server listens: a host as the network names it, and a port.
 *
 * @param host a host name or an IP address; an IPv6 address without brackets
 * @param port 1 to 65535; 0 only to listen on a port the system picks
 */
public record Address(String host, int port) {
  public Address {
    if (host.isEmpty() || port < 0 || port > 0xffff) {
      throw new IllegalArgumentException(
          "an address needs a host and a port of 0 to 65535, not \"" + host + "\" and " + port);
    }
  }

  /**
   * Reads what {@link #toString()} wrote.
   *
   * @throws IllegalArgumentException if that is not {@code host:port}
   */
  public static Address parse(String text) {
    int colon = text.lastIndexOf(':');
    try {
      return new Address(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw new IllegalArgumentException("an address must be host:port, not \"" + text + "\"", e);
    }
  }

  /** {@code host:port}. */
  @Override
  public String toString() {
    return host + ":" + port;
  }
}
