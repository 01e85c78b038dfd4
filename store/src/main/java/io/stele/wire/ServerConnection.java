package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.timeout.IdleStateEvent;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.RequestProto.MethodCase;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's end of one connection: hands requests to the handler and sends the answers.
 *
 * <p>While more is waiting to be sent than the socket takes, nothing is read, so that a peer that
 * does not read its answers cannot ask for more. {@link StallWatch} closes the connection of one
 * that stops for too long.
 *
 * <p>Runs on the connection's event loop, except for answers, which come from any thread.
 */
final class ServerConnection extends ChannelInboundHandlerAdapter implements FrameDecoder.Intake {
  private static final Logger LOG = LoggerFactory.getLogger(ServerConnection.class);
  private static final ResponseProto OK =
      ResponseProto.newBuilder().setStatus(StatusProto.OK).build();

  /** When to come back to a server that is full. */
  private static final int RETRY_AFTER_MILLIS = 50;

  /** An answer of at most this many bytes is sent however much the waiting answers take. */
  private static final int ANSWER_BYTES_FREE = 4 << 10;

  /** A header of at most this many bytes is decoded however little memory is left. */
  private static final int HEADER_BYTES_FREE = 1 << 10;

  /** The longest request about METADATA of those that may only read there. */
  private static final int SYSTEM_BYTES_OF_CLIENTS = 256 << 10;

  /**
   * The only request there is may go beyond the limit: a read of large values that many files have
   * versions of is rare, and must not be refused for ever.
   */
  private static final int ALONE_FACTOR = 2;

  private final ProcessRuntime runtime;
  private final RequestHandler handler;
  private final Shares user;
  private final Shares system;
  private final DataServer.Limits limits;

  /** Read while nothing more could be sent: at most what one read of the socket brings. */
  private final Queue<Object> waiting = new ArrayDeque<>();

  private final StallWatch stalls;
  private boolean draining;
  private Peer peer = Peer.client("");

  /** What this connection has of the room for one kind of requests. */
  private record Shares(Admission.Share requests, AnswerRoom.Share answers) {
    static Shares of(DataServer.Rooms rooms) {
      return new Shares(rooms.requests().share(), rooms.answers().share());
    }
  }

  ServerConnection(
      ProcessRuntime runtime,
      RequestHandler handler,
      DataServer.Admissions admissions,
      DataServer.Limits limits) {
    this.runtime = runtime;
    this.handler = handler;
    this.user = Shares.of(admissions.user());
    this.system = Shares.of(admissions.system());
    this.limits = limits;
    this.stalls = new StallWatch(runtime, limits.stallMax(), this::hasNoRequests);
  }

  private boolean hasNoRequests() {
    return user.requests().isIdle() && system.requests().isIdle();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    peer = Peer.client(String.valueOf(context.channel().remoteAddress()));
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof HelloHandler.Ready ready) {
      peer = new Peer(peer.name(), ready.isMember());
    } else if (event instanceof IdleStateEvent && hasNoRequests()) {
      context.close(); // See DataServer.SILENCE_MAX.
    }
  }

  private Shares shares(TrafficClass kind) {
    return switch (kind) {
      case USER -> user;
      case SYSTEM -> system;
    };
  }

  @Override
  public boolean admit(TrafficClass kind, int bytes) {
    return bytes <= bytesMax(kind) && shares(kind).requests().admit(memory(bytes));
  }

  private int bytesMax(TrafficClass kind) {
    return kind == TrafficClass.SYSTEM && !peer.isMember()
        ? Math.min(limits.requestBytesMax(), SYSTEM_BYTES_OF_CLIENTS)
        : limits.requestBytesMax();
  }

  @Override
  public void abandon(TrafficClass kind, int bytes) {
    shares(kind).requests().abandoned(memory(bytes));
  }

  private long memory(int frameBytes) {
    return (long) limits.memory().copies() * frameBytes;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws IOException {
    if (context.channel().isWritable() && waiting.isEmpty()) {
      accept(context, message);
    } else {
      waiting.add(message);
    }
  }

  private void accept(ChannelHandlerContext context, Object message) throws IOException {
    if (message instanceof Frame frame) {
      accept(context, frame);
    } else {
      refuse(context, (FrameDecoder.Refused) message);
    }
  }

  private void refuse(ChannelHandlerContext context, FrameDecoder.Refused refused) {
    ResponseProto.Builder why = ResponseProto.newBuilder().setCallId(refused.callId());
    if (refused.bytes() > limits.requestBytesMax()) {
      why.setStatus(StatusProto.REFUSED)
          .setMessage(
              "the request has "
                  + refused.bytes()
                  + " bytes, and the memory of this tablet server allows "
                  + limits.requestBytesMax()
                  + ": nothing was changed; send less at a time, or give tablet servers more"
                  + " memory");
    } else if (refused.bytes() > bytesMax(refused.kind())) {
      why.setStatus(StatusProto.REFUSED)
          .setMessage(
              "a request about METADATA has "
                  + refused.bytes()
                  + " bytes, and those of clients have at most "
                  + SYSTEM_BYTES_OF_CLIENTS
                  + ": ask for less at a time");
    } else {
      why.setStatus(StatusProto.RETRY_LATER)
          .setMessage(
              "the tablet server accepts no more requests now: "
                  + shares(refused.kind()).requests())
          .setRetryAfterMillis(RETRY_AFTER_MILLIS);
    }
    context.writeAndFlush(Frame.encode(context.alloc(), why.build(), DataPlane.EMPTY));
  }

  private void accept(ChannelHandlerContext context, Frame frame) throws IOException {
    Answer answer;
    try {
      answer = new Answer(context.channel(), frame);
    } catch (IOException | RuntimeException | Error e) {
      abandon(frame.trafficClass(), frame.bytes());
      throw e;
    }
    try {
      if (frame.headerBytes() > HEADER_BYTES_FREE) {
        answer.take(HeaderObjects.bytes(frame.header(), RequestProto.getDescriptor()));
      }
      RequestProto header = frame.header(RequestProto.parser());
      answer.method = header.getMethodCase();
      check(frame, header);
      serve(header, frame, answer);
    } catch (IOException e) {
      answer.giveUp(); // Whether the next frame can be decoded is not known.
      throw e;
    } catch (RuntimeException | Error e) {
      answer.failIfNotDone(e);
      if (!(e instanceof SteleException)) {
        LOG.error("a request of {} failed: {}", peer, answer.method, e);
      }
    }
  }

  private void serve(RequestProto header, Frame frame, Answer answer) {
    switch (header.getMethodCase()) {
      case PING -> answer.answer(OK);
      case METHOD_NOT_SET ->
          answer.fail(
              SteleException.refused(
                  "this tablet server does not know the method called: upgrade it"));
      default -> handler.handle(new Request(runtime, header, frame.body(), peer), answer);
    }
  }

  private static void check(Frame frame, RequestProto header) {
    if (!frame.isUnderstood()) {
      throw SteleException.refused(
          "this tablet server does not know a frame with " + frame.unknown() + ": upgrade it");
    }
    long unknown = header.getFeaturesRequired() & ~Hello.FEATURES;
    if (unknown != 0) {
      throw SteleException.refused(
          "a request requires features that this tablet server does not know (bits "
              + Long.toHexString(unknown)
              + "): upgrade it");
    }
    if (frame.trafficClass() == TrafficClass.SYSTEM
        && TrafficClass.of(header) != TrafficClass.SYSTEM) {
      throw SteleException.refused("a request for a user table was sent as one for METADATA");
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) throws IOException {
    if (!draining) { // else called by what the loop below writes: it goes on by itself
      draining = true;
      while (context.channel().isWritable() && !waiting.isEmpty()) {
        accept(context, waiting.remove());
      }
      draining = false;
    }
    if (context.channel().isWritable()) {
      stalls.readsAgain();
    }
    context.channel().config().setAutoRead(context.channel().isWritable());
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    stalls.watch(context);
    context.fireChannelReadComplete();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    for (Object message : waiting) {
      if (message instanceof Frame frame) {
        abandon(frame.trafficClass(), frame.bytes());
      }
    }
    waiting.clear();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.info("closing the connection of {}: {}", peer, cause.toString());
    context.close();
  }

  /** Sends the one answer to one call. */
  private final class Answer implements Responder {
    private final Channel channel;
    private final long callId;
    private final Admission.Share share;
    private final AnswerRoom.Share answers;
    private final AtomicBoolean done = new AtomicBoolean();

    /** What the request takes. */
    private final AtomicLong memory;

    /** Set before the request is handed on. */
    private MethodCase method = MethodCase.METHOD_NOT_SET;

    /** An answer to {@code request}, whose header is not decoded yet. */
    Answer(Channel channel, Frame request) throws IOException {
      this.channel = channel;
      this.callId = request.callId();
      this.share = shares(request.trafficClass()).requests();
      this.answers = shares(request.trafficClass()).answers();
      this.memory = new AtomicLong(memory(request.bytes()));
    }

    @Override
    public void take(long bytes) {
      if (method == MethodCase.READ && answers.isBehind()) {
        throw SteleException.retryLater(
            "the client does not read its answers as fast as it asks: " + answers);
      }
      long own = memory.get();
      if (own + bytes > ALONE_FACTOR * share.bytesMax()) {
        throw SteleException.refused(
            "this takes "
                + (own + bytes)
                + " bytes of memory, and the tablet server has "
                + ALONE_FACTOR * share.bytesMax()
                + " for one request at most: ask for less at a time, or give tablet servers more memory");
      }
      if (!share.takeMore(own, bytes)) {
        throw SteleException.retryLater(
            "the tablet server has no memory for this at the moment: " + share);
      }
      memory.addAndGet(bytes);
    }

    @Override
    public void answer(ResponseProto response, ByteBuffer body) {
      if (!done.compareAndSet(false, true)) {
        throw new IllegalStateException("call " + callId + " of " + peer + " was answered before");
      }
      send(response, body);
    }

    @Override
    public void fail(Throwable failure) {
      if (!failIfNotDone(failure)) {
        throw new IllegalStateException("call " + callId + " of " + peer + " was answered before");
      }
    }

    boolean failIfNotDone(Throwable failure) {
      if (!done.compareAndSet(false, true)) {
        return false;
      }
      ResponseProto response;
      try {
        response = StatusCodec.response(failure);
      } catch (RuntimeException | Error e) {
        giveUp();
        throw e;
      }
      send(response, DataPlane.EMPTY);
      return true;
    }

    /** It cannot be answered: without its connection, the client waits no longer. */
    private void giveUp() {
      share.abandoned(memory.get());
      channel.close();
    }

    private void send(ResponseProto response, ByteBuffer body) {
      if (!channel.isActive()) {
        share.abandoned(memory.get());
        return;
      }
      long room = 0;
      ByteBuf frame;
      try {
        Reply reply = reply(response, body);
        if (enter(reply.bytes())) {
          room = reply.bytes();
          frame = encodeOrSayWhyNot(reply);
        } else {
          frame = reply(later(), DataPlane.EMPTY).encode(channel);
        }
      } catch (RuntimeException | Error e) {
        answers.release(room);
        giveUp();
        throw e;
      }
      long taken = room;
      share.answered(memory.get());
      channel
          .writeAndFlush(frame)
          .addListener(
              sent -> {
                answers.release(taken);
                share.sent();
                if (!sent.isSuccess()) {
                  channel.close(); // What was lost, and what follows it, is unknown.
                }
              });
    }

    /** Whether the answer can be given: to a change it must be, and one of few bytes is. */
    private boolean enter(long bytes) {
      if (method == MethodCase.READ && bytes > ANSWER_BYTES_FREE) {
        return answers.tryTake(bytes);
      }
      answers.take(bytes);
      return true;
    }

    private ResponseProto later() {
      return ResponseProto.newBuilder()
          .setStatus(StatusProto.RETRY_LATER)
          .setMessage("the tablet server has no memory for the answer at this moment: " + answers)
          .setRetryAfterMillis(RETRY_AFTER_MILLIS)
          .build();
    }

    private ByteBuf encodeOrSayWhyNot(Reply reply) {
      try {
        return reply.encode(channel);
      } catch (RuntimeException | Error e) {
        LOG.error(
            "cannot encode the answer to call {} of {}; answering with an error", callId, peer, e);
        return reply(StatusCodec.response(e), DataPlane.EMPTY).encode(channel);
      }
    }

    /** What is sent for {@code response}: an error if that is too long for a frame. */
    private Reply reply(ResponseProto response, ByteBuffer body) {
      StatusProto status = response.hasStatus() ? response.getStatus() : StatusProto.OK;
      Reply reply =
          new Reply(response.toBuilder().setCallId(callId).setStatus(status).build(), body);
      if (reply.payloadBytes() <= limits.frameBytesMax()) {
        return reply;
      }
      SteleException tooLarge =
          SteleException.refused(
              "the answer has "
                  + reply.payloadBytes()
                  + " bytes: the limit of a frame is "
                  + limits.frameBytesMax()
                  + "; request less at a time");
      return new Reply(
          StatusCodec.response(tooLarge).toBuilder().setCallId(callId).build(), DataPlane.EMPTY);
    }
  }

  /** What is sent as the answer to a call. */
  private record Reply(ResponseProto header, ByteBuffer body) {
    long payloadBytes() {
      return Frame.payloadBytes(header, body);
    }

    /** Of the whole frame. */
    long bytes() {
      return Frame.PREFIX_BYTES + payloadBytes();
    }

    ByteBuf encode(Channel channel) {
      return Frame.encode(channel.alloc(), header, body);
    }
  }
}
