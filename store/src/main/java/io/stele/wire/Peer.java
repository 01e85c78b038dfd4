package io.stele.wire;

/**
 * Who is at the other end of a data plane connection.
 *
 * @param name for messages
 * @param isMember whether it proved to be a master or a tablet server of this cluster; a client
 *     otherwise
 */
public record Peer(String name, boolean isMember) {
  /** A client: anybody. */
  public static Peer client(String name) {
    return new Peer(name, false);
  }

  @Override
  public String toString() {
    return name;
  }
}
