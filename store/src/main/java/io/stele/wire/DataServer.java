package io.stele.wire;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The server's side of the data plane: listens, and hands every request to one {@link
 * RequestHandler}.
 *
 * <p>Requests above its {@link Limits} are answered RETRY_LATER without being decoded. Safe for use
 * by any number of threads.
 */
public final class DataServer implements Closeable {
  private static final Duration HELLO_PATIENCE = Duration.ofSeconds(10);
  private static final int BACKLOG = 1024;
  private static final int FLUSH_AFTER = 64;
  static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(512 << 10, 2 << 20);

  /**
   * A connection from which nothing came for so long is closed, unless a request waits for its
   * answer. So what leaves a machine that stood still for longer does not arrive: a request says
   * how old its operation was when it was sent, and is not younger than this when it comes.
   */
  public static final Duration SILENCE_MAX = Duration.ofMinutes(4);

  private final ProcessRuntime runtime;
  private final EventLoopGroup loops;
  private final Admissions admissions;
  private final ChannelGroup connections =
      new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Channel listener;

  /**
   * How many requests and bytes a server accepts at a time.
   *
   * @param frameBytesMax the longest frame that the wire allows, and so the longest answer
   * @param requestBytesMax the longest request that this server takes, of those
   * @param requestsMax requests about users' tables not yet answered, over all connections
   * @param stallMax how long a peer may leave its answers unread before its connection is closed
   */
  public record Limits(
      int frameBytesMax, int requestBytesMax, int requestsMax, Duration stallMax, Memory memory) {
    /** What suits tests and those without a plan: room for a value of 100 MiB. */
    public static final Limits DEFAULT =
        new Limits(128 << 20, 4096, 256L << 20, Duration.ofSeconds(60));

    public Limits {
      if (frameBytesMax < 1 || requestBytesMax < 1 || requestsMax < 1 || stallMax.isNegative()) {
        throw new IllegalArgumentException("all limits must be above 0");
      }
    }

    /** Limits that count the frames of requests as they are, an eighth as many of METADATA. */
    public Limits(int frameBytesMax, int requestsMax, long bytesMax, Duration stallMax) {
      this(
          frameBytesMax,
          frameBytesMax,
          requestsMax,
          stallMax,
          new Memory(
              1, bytesMax, Math.max(1, bytesMax / 8), Long.MAX_VALUE / 2, Long.MAX_VALUE / 2));
    }

    /** The same within other memory. */
    public Limits within(int requestBytes, Memory other) {
      return new Limits(
          frameBytesMax, Math.min(frameBytesMax, requestBytes), requestsMax, stallMax, other);
    }
  }

  /**
   * The memory of requests and answers, over all connections.
   *
   * @param copies how many times a request's frame counts: once, and for what is made of it
   * @param userBytesMax of requests about users' tables not yet answered, with what they take
   * @param systemBytesMax of those about METADATA and the root tablet
   * @param userAnswerBytesMax of answers about users' tables not yet sent; a small one, and the
   *     only one, is always given
   * @param systemAnswerBytesMax of those about METADATA and the root tablet
   */
  public record Memory(
      int copies,
      long userBytesMax,
      long systemBytesMax,
      long userAnswerBytesMax,
      long systemAnswerBytesMax) {
    public Memory {
      if (copies < 1
          || userBytesMax < 1
          || systemBytesMax < 1
          || userAnswerBytesMax < 1
          || systemAnswerBytesMax < 1) {
        throw new IllegalArgumentException("all limits must be above 0");
      }
    }
  }

  /**
   * What the server accepts of one kind of requests.
   *
   * @param requests those not yet answered
   * @param answers those that wait to be sent
   */
  record Rooms(Admission requests, AnswerRoom answers) {}

  /**
   * What the server accepts.
   *
   * @param user of requests about users' tables, and about none
   * @param system of those about METADATA and the root tablet, beside the others
   */
  record Admissions(Rooms user, Rooms system) {
    /** As {@code limits} has it; an eighth as many requests of METADATA as of users' tables. */
    static Admissions of(Limits limits) {
      Memory memory = limits.memory();
      return new Admissions(
          new Rooms(
              new Admission(limits.requestsMax(), memory.userBytesMax()),
              new AnswerRoom(memory.userAnswerBytesMax())),
          new Rooms(
              new Admission(Math.max(1, limits.requestsMax() / 8), memory.systemBytesMax()),
              new AnswerRoom(memory.systemAnswerBytesMax())));
    }

    int requests() {
      return user.requests().requests() + system.requests().requests();
    }

    long refused() {
      return user.requests().refused() + system.requests().refused();
    }

    long bytes() {
      return user.requests().bytes()
          + user.answers().bytes()
          + system.requests().bytes()
          + system.answers().bytes();
    }

    /** Accepts nothing from now on; completes when all is answered and sent. */
    CompletableFuture<Void> close() {
      return CompletableFuture.allOf(user.requests().close(), system.requests().close());
    }
  }

  /**
   * Starts listening.
   *
   * @param address where; port 0: any free one
   * @param threads event loops, 1 or more
   * @throws IOException if the address cannot be listened on
   */
  public static DataServer start(
      ProcessRuntime runtime, Address address, int threads, Limits limits, RequestHandler handler)
      throws IOException {
    return start(runtime, address, threads, limits, handler, Optional::empty);
  }

  /**
   * As the other, and knows members of the cluster.
   *
   * @param key by which they prove to be such; asked for at each new connection
   */
  static DataServer start(
      ProcessRuntime runtime,
      Address address,
      int threads,
      Limits limits,
      RequestHandler handler,
      Supplier<Optional<MemberKey>> key)
      throws IOException {
    EventLoopGroup loops =
        new NioEventLoopGroup(threads, new DefaultThreadFactory("data-server", true));
    try {
      return new DataServer(runtime, address, loops, limits, handler, key);
    } catch (IOException e) {
      shutDown(loops);
      throw e;
    }
  }

  private DataServer(
      ProcessRuntime runtime,
      Address address,
      EventLoopGroup loops,
      Limits limits,
      RequestHandler handler,
      Supplier<Optional<MemberKey>> key)
      throws IOException {
    this.runtime = runtime;
    this.loops = loops;
    this.admissions = Admissions.of(limits);
    var bound =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    connections.add(channel);
                    ServerConnection connection =
                        new ServerConnection(runtime, handler, admissions, limits);
                    channel
                        .pipeline()
                        .addLast(
                            new IdleStateHandler(SILENCE_MAX.toSeconds(), 0, 0, TimeUnit.SECONDS))
                        .addLast(new FlushConsolidationHandler(FLUSH_AFTER, true))
                        .addLast(
                            new HelloHandler.Server(
                                HELLO_PATIENCE,
                                runtime.random(),
                                key.get(),
                                limits.requestBytesMax()))
                        .addLast(new FrameDecoder(runtime, limits.frameBytesMax(), connection))
                        .addLast(connection);
                  }
                })
            .bind(new InetSocketAddress(address.host(), address.port()))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen on " + address + ": " + bound.cause(), bound.cause());
    }
    this.listener = bound.channel();
  }

  /** The port it listens on. */
  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /** Open connections. */
  public int connections() {
    return connections.size();
  }

  /** Requests not yet answered. */
  public int requestsInFlight() {
    return admissions.requests();
  }

  /** Requests that it had no room for. */
  long requestsRefused() {
    return admissions.refused();
  }

  /** Bytes of requests not yet answered, with what they take, and of answers not yet sent. */
  public long bytesInFlight() {
    return admissions.bytes();
  }

  /**
   * Refuses new requests (RETRY_LATER), waits for the answers to those accepted, for so long at
   * most, then closes.
   */
  public void close(Duration grace) {
    CompletableFuture<Void> idle = admissions.close();
    listener.close().awaitUninterruptibly();
    try {
      runtime.await(idle, grace);
    } catch (InterruptedException e) {
      Futures.interruptAgain(); // No more waiting, then; closing goes on.
    }
    connections.close().awaitUninterruptibly();
    shutDown(loops);
  }

  /** Closes at once: callers see lost connections, as if the process had died. */
  @Override
  public void close() {
    close(Duration.ZERO);
  }

  static void shutDown(EventLoopGroup loops) {
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
  }
}
