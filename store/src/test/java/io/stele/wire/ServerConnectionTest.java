package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import io.stele.PlantedErrors;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.data.DataProtos.PingProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.util.stream.Stream;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The server's end of one connection, without a socket. */
final class ServerConnectionTest {
  private static final RequestProto PING =
      RequestProto.newBuilder().setCallId(7).setPing(PingProto.getDefaultInstance()).build();

  private final Admission admission = new Admission(10, 1 << 20);
  private final AnswerRoom answers = new AnswerRoom(1 << 20);
  private final DataServer.Rooms rooms = new DataServer.Rooms(admission, answers);
  private final ServerConnection connection =
      new ServerConnection(
          SystemRuntime.INSTANCE,
          (request, responder) -> {},
          new DataServer.Admissions(rooms, rooms),
          DataServer.Limits.DEFAULT);
  private final EmbeddedChannel channel = new EmbeddedChannel(connection);

  private void receive(Frame frame) {
    assertThat(connection.admit(frame.trafficClass(), frame.bytes())).isTrue();
    channel.writeInbound(frame);
  }

  /** Has no memory for the first buffers asked for. */
  private static final class ShortOfMemory extends AbstractByteBufAllocator {
    private int refusals;

    ShortOfMemory(int refusals) {
      this.refusals = refusals;
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      if (refusals > 0) {
        refusals--;
        throw new OutOfMemoryError("no direct memory");
      }
      return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  @Test
  void anAnswerThatCannotBeEncodedBecomesAFailure() throws IOException {
    channel.config().setAllocator(new ShortOfMemory(1));

    receive(frame(PING));

    ResponseProto answer = answer(channel.readOutbound());
    assertThat(answer.getCallId()).isEqualTo(7);
    assertThat(answer.getStatus()).isEqualTo(StatusProto.INTERNAL);
    assertThat(answer.getMessage()).contains("no direct memory");
    assertThat(channel.isOpen()).isTrue();
    assertThatNothingIsHeld();
  }

  @Test
  void aConnectionOnWhichNothingCanBeAnsweredIsClosed() throws IOException {
    channel.config().setAllocator(new ShortOfMemory(Integer.MAX_VALUE));

    receive(frame(PING));

    assertThat(channel.isOpen()).isFalse();
    assertThatNothingIsHeld();
  }

  @Test
  void aConnectionOfWhichNothingComesIsClosedUnlessARequestWaits() throws IOException {
    receive(frame(RawPeer.REQUEST.toBuilder().setCallId(7).build())); // Nobody answers it.
    channel.pipeline().fireUserEventTriggered(IdleStateEvent.READER_IDLE_STATE_EVENT);
    assertThat(channel.isOpen()).isTrue();

    EmbeddedChannel quiet =
        new EmbeddedChannel(
            new ServerConnection(
                SystemRuntime.INSTANCE,
                (request, responder) -> {},
                new DataServer.Admissions(rooms, rooms),
                DataServer.Limits.DEFAULT));
    quiet.pipeline().fireUserEventTriggered(IdleStateEvent.READER_IDLE_STATE_EVENT);
    assertThat(quiet.isOpen()).isFalse();
  }

  /** Where on a request's way something is thrown. */
  private enum Stage {
    HANDLER,
    HANDLER_AFTER_ITS_ANSWER,
    FAILURE_THAT_CANNOT_BE_TOLD,
    ENCODING,
    WRITING
  }

  private static Stream<Arguments> stagesAndErrors() {
    return PlantedErrors.at((Object[]) Stage.values());
  }

  @ParameterizedTest
  @MethodSource("stagesAndErrors")
  void whateverIsThrownTheRequestIsAnsweredOrItsConnectionClosedAndNothingHeld(
      Stage stage, Error error) throws IOException {
    RequestHandler failing =
        (request, responder) -> {
          switch (stage) {
            case HANDLER -> throw error;
            case HANDLER_AFTER_ITS_ANSWER -> {
              responder.answer(ResponseProto.getDefaultInstance());
              throw error;
            }
            case FAILURE_THAT_CANNOT_BE_TOLD -> responder.fail(new Untellable(error));
            case ENCODING, WRITING -> responder.answer(ResponseProto.getDefaultInstance());
          }
        };
    EmbeddedChannel broken = new EmbeddedChannel();
    if (stage == Stage.WRITING) {
      broken
          .pipeline()
          .addLast(
              new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext context, Object what, ChannelPromise done) {
                  ReferenceCountUtil.release(what);
                  throw error;
                }
              });
    }
    ServerConnection own =
        new ServerConnection(
            SystemRuntime.INSTANCE,
            failing,
            new DataServer.Admissions(rooms, rooms),
            DataServer.Limits.DEFAULT);
    broken.pipeline().addLast(own);
    if (stage == Stage.ENCODING) {
      broken.config().setAllocator(new ShortOfMemory(Integer.MAX_VALUE));
    }
    Frame frame = frame(RawPeer.REQUEST.toBuilder().setCallId(7).build());
    assertThat(own.admit(frame.trafficClass(), frame.bytes())).isTrue();

    broken.writeInbound(frame);

    boolean answered = broken.readOutbound() != null;
    assertThat(answered || !broken.isOpen()).as("answered or closed").isTrue();
    assertThatNothingIsHeld();
  }

  /** Cannot even say what it is. */
  private static final class Untellable extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Error error;

    Untellable(Error error) {
      this.error = error;
    }

    @Override
    public String toString() {
      throw error;
    }
  }

  private void assertThatNothingIsHeld() {
    assertThat(admission.requests()).isZero();
    assertThat(admission.bytes()).isZero();
    assertThat(answers.bytes()).isZero();
  }

  private static Frame frame(MessageLite header) throws IOException {
    return read(Frame.encode(UnpooledByteBufAllocator.DEFAULT, header, DataPlane.EMPTY));
  }

  private static ResponseProto answer(ByteBuf frame) throws IOException {
    return read(frame).header(ResponseProto.parser());
  }

  private static Frame read(ByteBuf frame) throws IOException {
    byte[] payload = new byte[frame.skipBytes(Frame.PREFIX_BYTES).readableBytes()];
    frame.readBytes(payload).release();
    return new Frame(payload);
  }
}
