package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.concurrent.Future;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's end of one connection: hands requests to the handler and sends the answers.
 *
 * <p>While more is waiting to be sent than the socket takes, nothing is read, so that a peer that
 * does not read its answers cannot ask for more; if that lasts, the connection is closed.
 *
 * <p>Runs on the connection's event loop, but for answers, which come from any thread.
 */
final class ServerConnection extends SimpleChannelInboundHandler<Frame> {
  private static final Logger LOG = LoggerFactory.getLogger(ServerConnection.class);
  private static final ResponseProto OK =
      ResponseProto.newBuilder().setStatus(StatusProto.OK).build();

  private final ProcessRuntime runtime;
  private final RequestHandler handler;
  private final Admission admission;
  private final DataServer.Limits limits;

  /** Read while nothing more could be sent: at most what one read of the socket brings. */
  private final Queue<Frame> waiting = new ArrayDeque<>();

  private boolean draining;
  private String peer = "";
  private Optional<Future<?>> stalled = Optional.empty();

  ServerConnection(
      ProcessRuntime runtime,
      RequestHandler handler,
      Admission admission,
      DataServer.Limits limits) {
    this.runtime = runtime;
    this.handler = handler;
    this.admission = admission;
    this.limits = limits;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    peer = String.valueOf(context.channel().remoteAddress());
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, Frame frame) throws IOException {
    if (context.channel().isWritable() && waiting.isEmpty()) {
      accept(context, frame);
    } else {
      waiting.add(frame);
    }
  }

  private void accept(ChannelHandlerContext context, Frame frame) throws IOException {
    RequestProto header = frame.header(RequestProto.parser());
    if (!header.hasCallId()) {
      throw new IOException("a request has no call id, so that it cannot be answered");
    }
    if (!admission.admit(frame.bytes())) {
      String message = "the tablet server takes no more at this moment: " + admission;
      ResponseProto full =
          ResponseProto.newBuilder()
              .setCallId(header.getCallId())
              .setStatus(StatusProto.RETRY_LATER)
              .setMessage(message)
              .build();
      context.writeAndFlush(Frame.encode(context.alloc(), full, DataPlane.EMPTY));
      return;
    }
    Answer answer = new Answer(context.channel(), header.getCallId(), frame.bytes());
    try {
      switch (header.getMethodCase()) {
        case PING -> answer.answer(OK);
        case METHOD_NOT_SET ->
            answer.fail(
                SteleException.refused("this tablet server does not know the method asked"));
        default -> handler.handle(new Request(runtime, header, frame.body(), peer), answer);
      }
    } catch (RuntimeException | Error e) {
      answer.failIfNotDone(e);
      if (!(e instanceof SteleException)) {
        LOG.error("a request of {} failed: {}", peer, header.getMethodCase(), e);
      }
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
    boolean writable = context.channel().isWritable();
    context.channel().config().setAutoRead(writable);
    if (writable) {
      cancelStalled();
    } else if (stalled.isEmpty()) {
      stalled =
          Optional.of(
              context
                  .executor()
                  .schedule(
                      () ->
                          exceptionCaught(context, new IOException("it does not read its answers")),
                      limits.stallMax().toNanos(),
                      TimeUnit.NANOSECONDS));
    }
  }

  private void cancelStalled() {
    stalled.ifPresent(timer -> timer.cancel(false));
    stalled = Optional.empty();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    waiting.clear();
    cancelStalled();
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
    private final int requestBytes;
    private final AtomicBoolean done = new AtomicBoolean();

    Answer(Channel channel, long callId, int requestBytes) {
      this.channel = channel;
      this.callId = callId;
      this.requestBytes = requestBytes;
    }

    @Override
    public void answer(ResponseProto response, ByteBuffer body) {
      if (!done.compareAndSet(false, true)) {
        throw new IllegalStateException("call " + callId + " of " + peer + " was answered before");
      }
      send(response, body);
    }

    void failIfNotDone(Throwable failure) {
      if (done.compareAndSet(false, true)) {
        send(StatusCodec.response(failure), DataPlane.EMPTY);
      }
    }

    private void send(ResponseProto response, ByteBuffer body) {
      if (!channel.isActive()) {
        admission.answered(requestBytes, 0);
        return;
      }
      ByteBuf frame;
      try {
        frame = encodeOrSayWhyNot(response, body);
      } catch (RuntimeException | Error e) {
        admission.answered(requestBytes, 0);
        channel.close(); // Else the client would wait for as long as it may.
        throw e;
      }
      int answerBytes = frame.readableBytes();
      admission.answered(requestBytes, answerBytes);
      channel.writeAndFlush(frame).addListener(sent -> admission.sent(answerBytes));
    }

    private ByteBuf encodeOrSayWhyNot(ResponseProto response, ByteBuffer body) {
      try {
        return encode(response, body);
      } catch (RuntimeException | Error e) {
        LOG.error(
            "cannot encode the answer to call {} of {}: the client is told so", callId, peer, e);
        ResponseProto header = StatusCodec.response(e).toBuilder().setCallId(callId).build();
        return Frame.encode(channel.alloc(), header, DataPlane.EMPTY);
      }
    }

    private ByteBuf encode(ResponseProto response, ByteBuffer body) {
      StatusProto status = response.hasStatus() ? response.getStatus() : StatusProto.OK;
      ResponseProto header = response.toBuilder().setCallId(callId).setStatus(status).build();
      long payloadBytes = Frame.payloadBytes(header, body);
      if (payloadBytes <= limits.frameBytesMax()) {
        return Frame.encode(channel.alloc(), header, body);
      }
      SteleException tooLarge =
          SteleException.refused(
              "the answer has "
                  + payloadBytes
                  + " bytes: the limit of a frame is "
                  + limits.frameBytesMax()
                  + "; ask for less at a time");
      header = StatusCodec.response(tooLarge).toBuilder().setCallId(callId).build();
      return Frame.encode(channel.alloc(), header, DataPlane.EMPTY);
    }
  }
}
