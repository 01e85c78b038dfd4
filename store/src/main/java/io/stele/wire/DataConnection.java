package io.stele.wire;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.concurrent.Future;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.data.DataProtos.PingProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's end of one connection: calls waiting for the connection, calls waiting for their
 * answer.
 *
 * <p>A call fails as not executed unless all its bytes went to the socket: a server acts on whole,
 * checked frames only. When a call's deadline is over and nothing was received since it was sent,
 * the server is pinged, so that not every call on a connection to a machine that vanished waits
 * until its deadline. A server that is still taking a large request is not given up.
 *
 * <p>Requests are encoded on the caller's thread; everything else, and all state, belongs to the
 * event loop.
 */
final class DataConnection extends SimpleChannelInboundHandler<Frame> {
  private static final Logger LOG = LoggerFactory.getLogger(DataConnection.class);
  private static final Duration PROBE_PATIENCE = Duration.ofSeconds(2);
  private static final long CHECK_EVERY_MILLIS = DataPlane.CHECK_EVERY.toMillis();
  private static final int FLUSH_AFTER = 64;

  /** How many calls may be under way, and how many bytes of requests. */
  private static final int CALLS_MAX = 65_536;

  private static final long BYTES_MAX = 256L << 20;

  private final ProcessRuntime runtime;
  private final Address server;
  private final EventLoop loop;
  private final DataClient.Options options;
  private final Optional<MemberKey> key;
  private final FrameDecoder decoder;
  private final AtomicLong lastCallId = new AtomicLong();
  private final LongObjectHashMap<Call> calls = new LongObjectHashMap<>();

  /** Calls that the socket had no room for yet; a call whose deadline is over is removed unsent. */
  private final Set<Call> unsent = new LinkedHashSet<>();

  private final AtomicInteger callsUnderWay = new AtomicInteger();
  private final AtomicLong bytesUnderWay = new AtomicLong();
  private final Consumer<DataConnection> whenFailed;
  private Optional<Channel> channel = Optional.empty();
  private boolean ready;
  private long requestBytesMax = Long.MAX_VALUE; // As the server says.
  private boolean probing;
  private boolean gaveUp; // On a call that may be on its way.
  private volatile boolean usable = true;
  private String end = "the client was closed"; // Why it is not usable; for the loop.

  /**
   * What all connections of a client have in common.
   *
   * @param lookups where to look names up, which may block for long
   * @param key to prove to be a member of the cluster; empty for a client
   */
  record Origin(
      ProcessRuntime runtime,
      DataClient.Options options,
      Executor lookups,
      Optional<MemberKey> key) {}

  private DataConnection(
      Origin origin, Address server, EventLoop loop, Consumer<DataConnection> whenFailed) {
    this.runtime = origin.runtime();
    this.server = server;
    this.loop = loop;
    this.options = origin.options();
    this.key = origin.key();
    this.decoder = new FrameDecoder(runtime, options.frameBytesMax());
    this.whenFailed = whenFailed;
  }

  /**
   * Begins to connect, and returns at once: calls made meanwhile wait.
   *
   * @param whenFailed told when the connection has failed or was closed
   */
  static DataConnection open(
      Origin origin, Address server, EventLoop loop, Consumer<DataConnection> whenFailed) {
    DataConnection connection = new DataConnection(origin, server, loop, whenFailed);
    try {
      CompletableFuture.supplyAsync(
              () -> new InetSocketAddress(server.host(), server.port()), origin.lookups())
          .whenCompleteAsync(connection::connect, loop);
    } catch (RejectedExecutionException e) {
      connection.usable = false; // The client was closed.
    }
    return connection;
  }

  /** Whatever is thrown ends the connection: calls would wait for it forever, call after call. */
  private void connect(InetSocketAddress address, Throwable failure) {
    try {
      begin(address, failure);
    } catch (RuntimeException | Error e) {
      fail(e);
      throw e;
    }
  }

  private void begin(InetSocketAddress address, Throwable failure) {
    if (!usable) {
      return;
    }
    if (failure != null || address.isUnresolved()) {
      fail(failure != null ? failure : new UnknownHostException(server.host()));
      return;
    }
    new Bootstrap()
        .group(loop)
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.SO_KEEPALIVE, true)
        .option(ChannelOption.WRITE_BUFFER_WATER_MARK, DataServer.WATER_MARK)
        .option(
            ChannelOption.CONNECT_TIMEOUT_MILLIS,
            Math.toIntExact(options.connectTimeout().toMillis()))
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel opened) {
                opened
                    .pipeline()
                    .addLast(new FlushConsolidationHandler(FLUSH_AFTER, true))
                    .addLast(
                        new HelloHandler.Client(options.connectTimeout(), runtime.random(), key))
                    .addLast(decoder)
                    .addLast(DataConnection.this);
              }
            })
        .connect(address)
        .addListener(
            done -> {
              if (!done.isSuccess()) {
                fail(done.cause());
              }
            });
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (usable) {
      channel = Optional.of(context.channel());
    } else {
      context.close();
    }
  }

  /** Whether calls may be made: true until the connection has failed or was closed. */
  boolean isUsable() {
    return usable;
  }

  CompletableFuture<Response> call(
      RequestProto request,
      ByteBuffer body,
      Duration timeout,
      Consumer<CompletableFuture<Response>> waiting) {
    long millis = Math.max(0, Math.min(timeout.toMillis(), Integer.MAX_VALUE));
    long id = lastCallId.incrementAndGet();
    RequestProto header =
        request.toBuilder().setCallId(id).setRemainingMillis((int) millis).build();
    long payloadBytes = Frame.payloadBytes(header, body);
    if (payloadBytes > options.frameBytesMax()) {
      return CompletableFuture.failedFuture(
          SteleException.refused(
              "the request has "
                  + payloadBytes
                  + " bytes: the limit of a frame is "
                  + options.frameBytesMax()
                  + "; send less at a time"));
    }
    if (!enter(payloadBytes)) {
      return CompletableFuture.failedFuture(
          SteleException.retryLater(
              "too many calls wait for "
                  + server
                  + ": "
                  + callsUnderWay
                  + " calls, "
                  + bytesUnderWay
                  + " bytes"));
    }
    Call call;
    try {
      ByteBuf frame =
          Frame.encode(PooledByteBufAllocator.DEFAULT, TrafficClass.of(header), header, body);
      call = new Call(id, frame, payloadBytes, millis, waiting);
    } catch (RuntimeException | Error e) {
      leave(payloadBytes);
      throw e;
    }
    try {
      loop.execute(() -> begin(call));
    } catch (RejectedExecutionException e) {
      call.fail(new CallException("the client was closed", false, e));
    } catch (RuntimeException | Error e) {
      call.fail(new CallException("cannot send to " + server + ": " + e, false, e));
      throw e;
    }
    return call.answer;
  }

  /** One call may always be under way, so that the largest one can be made at all. */
  private boolean enter(long bytes) {
    int others = callsUnderWay.getAndIncrement();
    long otherBytes = bytesUnderWay.getAndAdd(bytes);
    if (others > 0 && (others >= CALLS_MAX || otherBytes + bytes > BYTES_MAX)) {
      leave(bytes);
      return false;
    }
    return true;
  }

  private void leave(long bytes) {
    callsUnderWay.decrementAndGet();
    bytesUnderWay.addAndGet(-bytes);
  }

  private void begin(Call call) {
    if (!usable) {
      call.fail(new CallException(end, false)); // It ended after the call was handed to the loop.
      return;
    }
    try {
      calls.put(call.id, call);
      schedule(call, 0);
      if (ready && unsent.isEmpty() && channel.orElseThrow().isWritable()) {
        send(call);
      } else {
        unsent.add(call);
      }
    } catch (RuntimeException | Error e) { // Nobody else would tell the caller.
      calls.remove(call.id);
      unsent.remove(call);
      call.fail(new CallException("cannot send to " + server + ": " + e, true, e));
      throw e;
    }
  }

  /** Sets the timer of a call that has waited for so long. */
  private void schedule(Call call, long waitedMillis) {
    long next = Math.min(call.millis, waitedMillis + CHECK_EVERY_MILLIS);
    call.timer = loop.schedule(() -> check(call, next), next - waitedMillis, TimeUnit.MILLISECONDS);
  }

  private void check(Call call, long waitedMillis) {
    if (waitedMillis >= call.millis) {
      expire(call);
      return;
    }
    schedule(call, waitedMillis); // Before the caller is asked: it has no other timer.
    if (!call.answer.isDone()) { // Its caller may have given it up.
      call.waiting.accept(call.answer);
    }
  }

  private void send(Call call) {
    if (call.bytes > requestBytesMax) {
      calls.remove(call.id);
      call.refuse(
          SteleException.refused(
              "the request has "
                  + call.bytes
                  + " bytes, and the memory of the tablet server allows "
                  + requestBytesMax
                  + ": it was not sent; send less at a time, or give tablet servers more memory"));
      return;
    }
    call.sentNanos = runtime.nanoTime();
    call.sent = channel.orElseThrow().writeAndFlush(call.frame);
  }

  /** Sends what waits, while the socket takes it. */
  private void sendWaiting() {
    while (!unsent.isEmpty() && channel.orElseThrow().isWritable()) {
      Call next = unsent.iterator().next();
      unsent.remove(next);
      send(next);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (ready) {
      sendWaiting();
    }
  }

  private void expire(Call call) {
    calls.remove(call.id);
    unsent.remove(call);
    // What the socket has not taken yet it may still take.
    boolean mayHaveExecuted = call.sent != null;
    gaveUp |= mayHaveExecuted;
    try {
      call.fail(
          new CallException(
              "no answer from " + server + " within " + call.millis + " ms", mayHaveExecuted));
    } catch (RuntimeException | Error e) {
      call.answer.completeExceptionally(e); // It has no other timer.
      throw e;
    }
    if (usable && ready && !probing && mayHaveExecuted && isSilentSince(call.sentNanos)) {
      probe();
    }
  }

  /**
   * Pings the server, and gives the connection up where no answer comes. The ping comes after all
   * that was sent before it, which may take long: while the server takes some of that, it is there.
   */
  private void probe() {
    long begin = runtime.nanoTime();
    SendProgress before = SendProgress.of(channel.orElseThrow());
    RequestProto ping = RequestProto.newBuilder().setPing(PingProto.getDefaultInstance()).build();
    CompletableFuture<Response> pinged = call(ping, DataPlane.EMPTY, PROBE_PATIENCE, answer -> {});
    probing = true;
    var unused =
        pinged.whenComplete(
            (answer, failure) -> {
              probing = false;
              boolean wasMade = failure == null || failure instanceof CallException;
              if (!usable || !wasMade || !isSilentSince(begin)) {
                return;
              }
              if (SendProgress.of(channel.orElseThrow()).equals(before)) {
                fail(new IOException("the server did not answer a ping", failure));
              } else {
                probe();
              }
            });
  }

  /** Whether no byte of an answer came; part of a large one is a sign of life, too. */
  private boolean isSilentSince(long nanos) {
    return decoder.lastReceivedNanos() - nanos < 0;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof HelloHandler.Ready hello) {
      requestBytesMax = hello.requestBytesMax();
      ready = true;
      sendWaiting();
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, Frame frame) throws IOException {
    ResponseProto header = frame.header(ResponseProto.parser());
    if (!frame.isUnderstood()) {
      throw new IOException(
          "an answer has " + frame.unknown() + ", which this client does not know: upgrade it");
    }
    Response response = new Response(header, frame.body());
    Call call = calls.remove(header.getCallId());
    if (call != null) { // else it came too late
      call.complete(response);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    fail(new IOException("the server closed the connection"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    fail(cause);
  }

  /** Ends the connection: with it, all calls without an answer. */
  private void fail(Throwable cause) {
    if (!usable) {
      return;
    }
    usable = false;
    whenFailed.accept(this);
    String message =
        (ready
                ? "the connection to " + server + " was lost: "
                : "cannot connect to " + server + ": ")
            + Optional.ofNullable(cause.getMessage()).orElse(cause.toString());
    end = message;
    // Only when closed is it known which requests left.
    channel.ifPresentOrElse(
        open -> close(open).addListener(done -> failCalls(message, cause)),
        () -> failCalls(message, cause));
  }

  /**
   * Closes a connection. Requests that the system has not sent yet are dropped: otherwise a server
   * that reads again after a pause would act on them long after their callers gave up.
   */
  private ChannelFuture close(Channel open) {
    if (gaveUp || !calls.isEmpty()) {
      try {
        open.config().setOption(ChannelOption.SO_LINGER, 0);
      } catch (ChannelException e) {
        LOG.debug("The connection to {} was closed already, so nothing is sent", server, e);
      }
    }
    return open.close();
  }

  private void failCalls(String message, Throwable cause) {
    List<Call> unanswered = List.copyOf(calls.values());
    calls.clear();
    unsent.clear();
    unanswered.forEach(call -> call.fail(new CallException(message, call.hasLeft(), cause)));
  }

  void close() {
    try {
      loop.execute(() -> fail(new IOException("the client was closed")));
    } catch (RejectedExecutionException e) {
      usable = false; // The loop has ended, so it takes no calls either.
    }
  }

  /** One request and the future of its answer. */
  private final class Call {
    final long id;
    final ByteBuf frame;
    final long bytes;
    final long millis;
    final Consumer<CompletableFuture<Response>> waiting;
    final CompletableFuture<Response> answer = new CompletableFuture<>();
    long sentNanos;

    /** Null until the call has begun. A call is made often, so this is no Optional. */
    @Nullable Future<?> timer;

    /** Null until given to the channel, which then releases the frame. */
    @Nullable ChannelFuture sent;

    Call(
        long id,
        ByteBuf frame,
        long bytes,
        long millis,
        Consumer<CompletableFuture<Response>> waiting) {
      this.id = id;
      this.frame = frame;
      this.bytes = bytes;
      this.millis = millis;
      this.waiting = waiting;
    }

    /** Whether all its bytes went to the socket. */
    boolean hasLeft() {
      return sent != null && sent.isSuccess();
    }

    void cancelTimer() {
      if (timer != null) {
        timer.cancel(false);
      }
    }

    void complete(Response response) {
      cancelTimer();
      leave(bytes);
      answer.complete(response);
    }

    void fail(CallException why) {
      end(why);
    }

    void refuse(SteleException why) {
      end(why);
    }

    private void end(Exception why) {
      cancelTimer();
      leave(bytes);
      if (sent == null) {
        frame.release();
      }
      answer.completeExceptionally(why);
    }
  }
}
