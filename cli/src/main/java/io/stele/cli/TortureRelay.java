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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the processes of this machine and TCP services on it, and cuts processes off from
 * them, as a partition of the network does: nothing of their connections is forwarded, neither way,
 * not even their end, and new ones are accepted and held. Everybody else reaches the services, and
 * the processes reach everything else. When the partition is over their connections are closed, so
 * that they connect anew. It may also cut everybody off, or forward what they say and drop all
 * answers.
 *
 * <p>One relay stands before one service: processes are told {@link #address} instead of the
 * service's own. Another is a SOCKS proxy, which each connection tells where it goes; it can also
 * cut processes off from each other. Which processes are at the ends of a connection is told by
 * {@link ProcessSockets}.
 *
 * <p>Safe for use by any number of threads.
 */
final class TortureRelay implements AutoCloseable {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final int BUFFER_BYTES = 16 << 10;
  private static final int CONNECT_MAX_MILLIS = 5_000;

  private final ServerSocket door;
  private final Optional<Address> service; // Empty: each connection names its own.

  @GuardedBy("this")
  private final Set<Connection> connections = new HashSet<>();

  @GuardedBy("this")
  private final List<Partition> partitions = new ArrayList<>();

  /** What of a connection is not forwarded. */
  enum Cut {
    NOTHING,
    /** What the service says. */
    ANSWERS,
    /** What either side says. */
    ALL
  }

  /**
   * Which connections are cut.
   *
   * @param callers the processes that made them; empty: any
   * @param services the processes that they go to; empty: any
   * @param cut what of them
   */
  private record Partition(Optional<Set<Long>> callers, Optional<Set<Long>> services, Cut cut) {}

  private TortureRelay(Optional<Address> service) throws IOException {
    this.door = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    this.service = service;
  }

  /**
   * Starts one.
   *
   * @param service where it forwards to, host:port
   * @throws IOException if it cannot listen
   */
  static TortureRelay to(String service) throws IOException {
    return started(Optional.of(Address.parse(service)));
  }

  /**
   * Starts one that is a SOCKS proxy.
   *
   * @throws IOException if it cannot listen
   */
  static TortureRelay socks() throws IOException {
    return started(Optional.empty());
  }

  private static TortureRelay started(Optional<Address> service) throws IOException {
    TortureRelay relay = new TortureRelay(service);
    RUNTIME.start("relay", relay::accept);
    return relay;
  }

  /** Where it forwards to, host:port; in words for a SOCKS proxy. */
  String service() {
    return service.map(Address::toString).orElse("where each connection goes");
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
  void cutOff(Set<Long> pids) throws IOException {
    cut(List.of(new Partition(Optional.of(pids), Optional.empty(), Cut.ALL)));
  }

  /**
   * Cuts connections between some processes and others, made by either, until {@link #reconnect}.
   *
   * @param cut what of them
   * @throws IOException if this system does not tell which they are; none is cut then
   */
  void cutApart(Set<Long> some, Set<Long> others, Cut cut) throws IOException {
    cut(
        List.of(
            new Partition(Optional.of(some), Optional.of(others), cut),
            new Partition(Optional.of(others), Optional.of(some), cut)));
  }

  /**
   * Cuts all connections, new ones too, until {@link #reconnect}.
   *
   * @param cut what of them
   */
  void cutEverybody(Cut cut) throws IOException {
    cut(List.of(new Partition(Optional.empty(), Optional.empty(), cut)));
  }

  private synchronized void cut(List<Partition> more) throws IOException {
    List<Predicate<Connection>> theirs = new ArrayList<>();
    for (Partition partition : more) {
      theirs.add(connectionsOf(partition));
    }
    partitions.addAll(more);
    for (int i = 0; i < more.size(); i++) {
      Cut cut = more.get(i).cut();
      connections.stream().filter(theirs.get(i)).forEach(connection -> connection.cut(cut));
    }
  }

  /** Ends all partitions. */
  synchronized void reconnect() {
    partitions.clear();
    for (Iterator<Connection> all = connections.iterator(); all.hasNext(); ) {
      Connection connection = all.next();
      if (connection.cut != Cut.NOTHING) {
        all.remove();
        connection.close();
      }
    }
  }

  /** How many of its connections are cut, in whole or in part. */
  synchronized int cutConnections() {
    return (int) connections.stream().filter(connection -> connection.cut != Cut.NOTHING).count();
  }

  /** How many connections it has accepted that have not ended, or that ended while cut. */
  synchronized int connections() {
    return connections.size();
  }

  /** Which connections that there are now a partition cuts. */
  private Predicate<Connection> connectionsOf(Partition partition) throws IOException {
    int own = door.getLocalPort();
    Predicate<Integer> from = ports(partition.callers(), socket -> socket.remotePort() == own);
    Predicate<Integer> to = ports(partition.services(), ProcessSockets.TcpSocket::listens);
    return connection ->
        from.test(connection.port())
            && connection.destination.map(Address::port).filter(to).isPresent();
  }

  /** The local ports of some of the sockets of processes; all ports if it may be any process. */
  private static Predicate<Integer> ports(
      Optional<Set<Long>> pids, Predicate<ProcessSockets.TcpSocket> which) throws IOException {
    if (pids.isEmpty()) {
      return port -> true;
    }
    Set<Integer> ports = new HashSet<>();
    for (long pid : pids.get()) {
      ProcessSockets.of(pid).stream()
          .filter(which)
          .forEach(socket -> ports.add(socket.localPort()));
    }
    return ports::contains;
  }

  private void accept() {
    while (!door.isClosed()) {
      try {
        accept(new Connection(door.accept()));
      } catch (IOException e) {
        if (!door.isClosed()) {
          System.err.println("stele: the relay to " + service() + " lost a connection: " + e);
        }
      }
    }
  }

  private void accept(Connection connection) throws IOException {
    if (service.isEmpty()) {
      add(connection);
      RUNTIME.start("relay-out", connection::askAndConnect);
    } else if (isForwarded(connection, service.get())) {
      RUNTIME.start("relay-out", () -> connection.connect(service.get()));
    }
  }

  private synchronized void add(Connection connection) {
    connections.add(connection);
  }

  /** Takes note of where a connection goes; returns whether it gets there. */
  private synchronized boolean isForwarded(Connection connection, Address to) throws IOException {
    connections.add(connection);
    connection.destination = Optional.of(to);
    for (Partition partition : partitions) {
      if (connectionsOf(partition).test(connection)) {
        connection.cut(partition.cut());
      }
    }
    return connection.cut != Cut.ALL;
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
    private volatile Cut cut = Cut.NOTHING;

    private volatile Optional<Address> destination = Optional.empty(); // Until it has said so.

    Connection(Socket near) {
      this.near = near;
    }

    int port() {
      return near.getPort();
    }

    /** Cuts so much of it, if that is more than was cut. */
    void cut(Cut more) {
      if (more.compareTo(cut) > 0) {
        cut = more;
      }
    }

    /** Forwards it to where it says that it goes. */
    void askAndConnect() {
      try {
        Address asked = SocksRequest.read(near);
        if (isForwarded(this, asked)) {
          connect(asked);
        }
      } catch (IOException e) {
        end(); // Nobody knows where it goes.
      }
    }

    /** Forwards it, unless {@code to} cannot be connected. */
    void connect(Address to) {
      Socket connected = new Socket();
      try {
        connected.connect(new InetSocketAddress(to.host(), to.port()), CONNECT_MAX_MILLIS);
        near.setTcpNoDelay(true);
        connected.setTcpNoDelay(true);
      } catch (IOException e) {
        answer(false);
        end(); // As the service itself does that is away.
        return;
      }
      if (isAttached(connected)) {
        answer(true);
        RUNTIME.start("relay-in", () -> forward(connected, near, Cut.ANSWERS));
        forward(near, connected, Cut.ALL);
      }
    }

    /** Tells a client of a SOCKS proxy whether it is connected, unless it must not hear of it. */
    private void answer(boolean connected) {
      // That it is not is an answer of the service.
      if (service.isEmpty() && cut.compareTo(connected ? Cut.ALL : Cut.ANSWERS) < 0) {
        try {
          SocksRequest.answer(near, connected);
        } catch (IOException e) {
          // It has ended, which shows when it is read.
        }
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
