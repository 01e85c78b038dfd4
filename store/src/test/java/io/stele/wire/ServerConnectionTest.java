package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.data.DataProtos.PingProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;

/** The server's end of one connection, without a socket. */
final class ServerConnectionTest {
  private static final RequestProto PING =
      RequestProto.newBuilder().setCallId(7).setPing(PingProto.getDefaultInstance()).build();

  private final Admission admission = new Admission(10, 1 << 20);
  private final ServerConnection connection =
      new ServerConnection(
          SystemRuntime.INSTANCE,
          (request, responder) -> {},
          new DataServer.Admissions(admission, admission),
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

  private void assertThatNothingIsHeld() {
    assertThat(admission.requests()).isZero();
    assertThat(admission.bytes()).isZero();
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
