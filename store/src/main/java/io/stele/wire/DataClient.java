package io.stele.wire;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.data.DataProtos.RequestProto;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The data plane over the network: one connection to each server, made at the first call, shared by
 * all calls, made again at the next call after it was lost.
 *
 * <p>It never sends a request twice; callers retry, as they know what was asked. Calls and bytes
 * under way to one server are bounded: above that a call fails as RETRY_LATER.
 *
 * <p>Safe for use by any number of threads.
 */
public final class DataClient implements DataPlane, Closeable {
  private static final int LOOKUPS_MAX = 4;

  private final ProcessRuntime runtime;
  private final EventLoopGroup loops;
  private final WorkerPool lookups;
  private final Options options;
  private final ConcurrentHashMap<Address, DataConnection> connections = new ConcurrentHashMap<>();
  private volatile Optional<MemberKey> key = Optional.empty();
  private volatile boolean closed;

  /**
   * How to connect.
   *
   * @param threads event loops, 1 or more
   * @param frameBytesMax the longest request and the longest answer, in bytes
   * @param connectTimeout how long to try to connect to a server, and as long again for its hello
   */
  public record Options(int threads, int frameBytesMax, Duration connectTimeout) {
    /** What suits most clients. */
    public static final Options DEFAULT =
        new Options(2, DataServer.Limits.DEFAULT.frameBytesMax(), Duration.ofSeconds(5));

    public Options {
      if (threads < 1 || frameBytesMax < 1 || connectTimeout.toMillis() < 1) {
        throw new IllegalArgumentException("all options must be above 0");
      }
    }
  }

  /** A client without connections yet. */
  public DataClient(ProcessRuntime runtime, Options options) {
    this.runtime = runtime;
    this.options = options;
    this.loops =
        new NioEventLoopGroup(options.threads(), new DefaultThreadFactory("data-client", true));
    this.lookups = runtime.pool("data-client-lookup", LOOKUPS_MAX);
  }

  /** Proves from now on to be a member of the cluster; connections of before are closed. */
  void join(MemberKey memberKey) {
    key = Optional.of(memberKey);
    List<DataConnection> before = List.copyOf(connections.values());
    connections.values().removeAll(before); // Closing takes a while: no call may still take one.
    before.forEach(DataConnection::close);
  }

  @Override
  public CompletableFuture<Response> call(
      Address server,
      RequestProto request,
      ByteBuffer body,
      Duration timeout,
      Consumer<CompletableFuture<Response>> waiting) {
    if (closed) {
      return refused();
    }
    DataConnection open = connections.get(server);
    if (open == null || !open.isUsable()) {
      open = connections.compute(server, this::usable);
    }
    if (closed) { // Meanwhile, perhaps too late to find the connection.
      open.close();
      return refused();
    }
    return open.call(request, body, timeout, waiting);
  }

  private static CompletableFuture<Response> refused() {
    return CompletableFuture.failedFuture(new CallException("this client is closed", false));
  }

  private DataConnection usable(Address server, DataConnection known) {
    return known != null && known.isUsable()
        ? known
        : DataConnection.open(
            new DataConnection.Origin(runtime, options, lookups, key),
            server,
            loops.next(),
            failed -> connections.remove(server, failed));
  }

  /** Open connections, and those being made. */
  public int connections() {
    return connections.size();
  }

  /** Closes all connections; calls without an answer fail. Callbacks of calls must not call it. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      List.copyOf(connections.values()).forEach(DataConnection::close);
      lookups.close();
      DataServer.shutDown(loops);
    }
  }
}
