package io.stele.model;

/**
 * One run of one tablet-server process: a restarted server is another server.
 *
 * @param host the host name as YARN knows the node
 * @param port the port of its data plane
 * @param startMillis when the process started, milliseconds since 1970
 */
public record ServerId(String host, int port, long startMillis) implements Comparable<ServerId> {
  public ServerId {
    if (host.isEmpty() || host.contains("_") || host.contains("/")) {
      throw new IllegalArgumentException(
          "a server's host name must not contain '_' or '/': \"" + host + "\"");
    }
  }

  /** Reads what {@link #toString()} wrote. */
  public static ServerId parse(String text) {
    String[] parts = text.split("_", -1);
    if (parts.length != 3) {
      throw new IllegalArgumentException(
          "a server id must be host_port_start, not \"" + text + "\"");
    }
    return new ServerId(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
  }

  /** {@code host:port}, as people write it. */
  public String hostAndPort() {
    return host + ":" + port;
  }

  @Override
  public int compareTo(ServerId other) {
    return toString().compareTo(other.toString());
  }

  /** {@code host_port_start}: also the name of its log directory and of its lock. */
  @Override
  public String toString() {
    return host + "_" + port + "_" + startMillis;
  }
}
