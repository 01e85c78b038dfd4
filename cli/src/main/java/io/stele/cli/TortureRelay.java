package io.stele.cli;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Address;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the processes of this machine and one of its TCP services, and cuts processes off
 * from it, as a partition of the network does: nothing of their connections is forwarded, neither
 * way, not even their end, and new ones are accepted and held. Everybody else reaches the service,
 * and the processes reach everything else. When the partition is over their connections are closed,
 * so that they connect anew. It may also cut everybody off, or forward what they say and drop all
 * answers.
 *
 * <p>They are told {@link #address} instead of the service's own. Which process a connection
 * belongs to is told by {@link ProcessSockets}.
 *
 * <p>Safe for use by any number of threads.
 */
final class TortureRelay implements AutoCloseable {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final int BUFFER_BYTES = 16 << 10;
  private static final int CONNECT_MAX_MILLIS = 5_000;

  private final ServerSocket door;
  private final Address service;

  @GuardedBy("this")
  private final Set<Connection> connections = new HashSet<>();

  @GuardedBy("this")
  private final Set<Long> cutOff = new HashSet<>();

  @GuardedBy("this")
  private Cut everybody = Cut.NOTHING;

  /** What of a connection is not forwarded. */
  enum Cut {
    NOTHING,
    /** What the service says. */
    ANSWERS,
    /** What either side says. */
    ALL
  }

  private TortureRelay(ServerSocket door, Address service) {
    this.door = door;
    this.service = service;
  }

  /**
   * Starts one.
   *
   * @param service where it forwards to, host:port
   * @throws IOException if it cannot listen
   */
  static TortureRelay to(String service) throws IOException {
    Address target = Address.parse(service);
    TortureRelay relay =
        new TortureRelay(new ServerSocket(0, 0, InetAddress.getLoopbackAddress()), target);
    RUNTIME.start("relay", relay::accept);
    return relay;
  }

  /** Where it forwards to, host:port. */
  String service() {
    return service.toString();
  }

  /** Where it listens, host:port. */
  String address() {
    return door.getInetAddress().getHostAddress() + ":" + door.getLocalPort();
  }

  /**
   * Cuts processes off until {@link #reconnect}.
   *
   * @throws IOException if this system does not tell which connections are theirs; nobody is cut
   *     off then
   */
  synchronized void cutOff(Set<Long> pids) throws IOException {
    Set<Integer> theirs = new HashSet<>();
    for (long pid : pids) {
      theirs.addAll(portsOf(pid));
    }
    cutOff.addAll(pids);
    connections.stream()
        .filter(connection -> theirs.contains(connection.port()))
        .forEach(connection -> connection.cut = Cut.ALL);
  }

  /**
   * Cuts all connections, new ones too, until {@link #reconnect}.
   *
   * @param cut what of them
   */
  synchronized void cutEverybody(Cut cut) {
    everybody = cut;
    connections.forEach(connection -> connection.cut = cut);
  }

  /** Ends all partitions. */
  synchronized void reconnect() {
    cutOff.clear();
    everybody = Cut.NOTHING;
    for (Iterator<Connection> all = connections.iterator(); all.hasNext(); ) {
      Connection connection = all.next();
      if (connection.cut != Cut.NOTHING) {
        all.remove();
        connection.close();
      }
    }
  }

  /** How many connections it has accepted that have not ended, or that ended while cut. */
  synchronized int connections() {
    return connections.size();
  }

  /** The ports at which a process is connected with this. */
  private Set<Integer> portsOf(long pid) throws IOException {
    Set<Integer> ports = new HashSet<>();
    for (ProcessSockets.TcpSocket socket : ProcessSockets.of(pid)) {
      if (socket.remotePort() == door.getLocalPort()) {
        ports.add(socket.localPort());
      }
    }
    return ports;
  }

  private void accept() {
    while (!door.isClosed()) {
      try {
        accept(door.accept());
      } catch (IOException e) {
        if (!door.isClosed()) {
          System.err.println("stele: the relay to " + service + " lost a connection: " + e);
        }
      }
    }
  }

  private synchronized void accept(Socket near) throws IOException {
    Connection connection = new Connection(near, everybody);
    connections.add(connection);
    for (long pid : cutOff) {
      if (portsOf(pid).contains(connection.port())) {
        connection.cut = Cut.ALL;
      }
    }
    if (connection.cut != Cut.ALL) {
      RUNTIME.start("relay-out", connection::connect);
    }
  }

  private synchronized void forget(Connection connection) {
    connections.remove(connection);
  }

  /** Closes it with all connections. */
  @Override
  public synchronized void close() throws IOException {
    door.close();
    connections.forEach(Connection::close);
    connections.clear();
  }

  /** One connection of a process, and the one to the service that it is forwarded by. */
  private final class Connection {
    private final Socket near;

    @GuardedBy("this")
    private @Nullable Socket far;

    @GuardedBy("this")
    private boolean closed;

    /** What is read from then on is dropped, of either side or of the service. */
    private volatile Cut cut;

    Connection(Socket near, Cut cut) {
      this.near = near;
      this.cut = cut;
    }

    int port() {
      return near.getPort();
    }

    void connect() {
      Socket to = new Socket();
      try {
        to.connect(new InetSocketAddress(service.host(), service.port()), CONNECT_MAX_MILLIS);
        near.setTcpNoDelay(true);
        to.setTcpNoDelay(true);
      } catch (IOException e) {
        end(); // As the service itself does that is away.
        return;
      }
      if (isAttached(to)) {
        RUNTIME.start("relay-in", () -> forward(to, near, Cut.ANSWERS));
        forward(near, to, Cut.ALL);
      }
    }

    private synchronized boolean isAttached(Socket to) {
      far = to;
      if (closed) {
        closeQuietly(to);
      }
      return !closed;
    }

    /** Forwards what comes {@code from} a socket, unless so much is cut. */
    private void forward(Socket from, Socket to, Cut unless) {
      byte[] buffer = new byte[BUFFER_BYTES];
      try {
        int read = from.getInputStream().read(buffer);
        while (read >= 0) {
          if (cut.compareTo(unless) < 0) {
            to.getOutputStream().write(buffer, 0, read);
          }
          read = from.getInputStream().read(buffer);
        }
      } catch (IOException e) {
        // It was reset, or is closed: the same as its end.
      }
      end();
    }

    /** Tells the other side that one has ended, unless it must not hear of it. */
    private void end() {
      if (cut == Cut.NOTHING) {
        close();
        forget(this);
      }
    }

    synchronized void close() {
      closed = true;
      closeQuietly(near);
      if (far != null) {
        closeQuietly(far);
      }
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is of no use any more.
    }
  }
}
