package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.stele.wire.data.DataProtos.HelloProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SampleRowKeysProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/** Speaks the data plane over a plain socket, byte by byte. */
public final class RawPeer {
  static final RequestProto REQUEST =
      RequestProto.newBuilder()
          .setSampleRowKeys(
              SampleRowKeysProto.newBuilder()
                  .setTablet(TabletProto.newBuilder().setTableId("t1").setTablet("x")))
          .build();

  private RawPeer() {}

  static byte[] frame(long callId) {
    return frame(REQUEST.toBuilder().setCallId(callId).setRemainingMillis(1000).build());
  }

  static byte[] frame(MessageLite header) {
    return frame(header, ByteBuffer.wrap(new byte[] {1, 2}));
  }

  /** The bytes of a frame about users' tables. */
  public static byte[] frame(MessageLite header, ByteBuffer body) {
    ByteBuf frame = Frame.encode(UnpooledByteBufAllocator.DEFAULT, header, body);
    byte[] bytes = new byte[frame.readableBytes()];
    frame.readBytes(bytes).release();
    return bytes;
  }

  /** Speaks as a client of {@code version}, and takes the server's hello. */
  public static DataOutputStream hello(Socket socket, int version) throws IOException {
    DataOutputStream out = writeHello(socket, version);
    DataInputStream in = new DataInputStream(socket.getInputStream());
    readHello(in);
    return out;
  }

  static HelloProto readHello(DataInputStream in) throws IOException {
    assertThat(in.readInt()).isEqualTo(Hello.MAGIC);
    byte[] payload = new byte[in.readUnsignedShort()];
    in.readFully(payload);
    return HelloProto.parseFrom(payload);
  }

  static DataOutputStream writeHello(Socket socket, int version) throws IOException {
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    return writeHello(
        out, HelloProto.newBuilder().setVersionMin(version).setVersionMax(version).build());
  }

  static DataOutputStream writeHello(DataOutputStream out, HelloProto hello) throws IOException {
    out.writeInt(Hello.MAGIC);
    out.writeShort(hello.getSerializedSize());
    hello.writeTo(out);
    return out;
  }

  public static ResponseProto readAnswer(DataInputStream in) throws IOException {
    byte[] payload = new byte[in.readInt()];
    in.readLong();
    in.readFully(payload);
    return new Frame(payload).header(ResponseProto.parser());
  }

  static byte[] withEncoding(byte[] frame, int encoding) {
    ByteBuffer changed = ByteBuffer.wrap(frame.clone());
    changed.putInt(8, encoding << 16);
    ByteBuffer payload = changed.duplicate().position(Frame.PREFIX_BYTES).slice();
    return changed.putInt(4, Frame.crc(payload.remaining(), encoding << 16, payload)).array();
  }
}
