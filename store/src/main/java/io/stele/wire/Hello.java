package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.stele.wire.data.DataProtos.HelloProto;
import java.io.IOException;
import java.util.Optional;

/**
 * What each side says first on a data plane connection, before any frame.
 *
 * <pre>
 *   hello   = magic length payload
 *   magic   : u32, "STEL"
 *   length  : u16, bytes of the payload
 *   payload : HelloProto
 * </pre>
 *
 * <p>The client speaks first. The two speak the highest version that both know. Features that one
 * side does not know are passed over, unless the other requires them; a server that cannot talk to
 * a client says why in its own hello, and closes.
 *
 * <p>Authentication has its place here, on both sides, so that frames need not know of it.
 */
final class Hello {
  static final int MAGIC = 0x5354454c;

  /** Bytes of magic and length. */
  static final int PREFIX_BYTES = 6;

  static final int PAYLOAD_BYTES_MAX = 4096;

  /** The features there are: bit 0, rows in parts. */
  static final long FEATURES = 1;

  static final int VERSION = 1;

  private Hello() {}

  /** What this side says. */
  static HelloProto ours() {
    return HelloProto.newBuilder()
        .setVersionMin(VERSION)
        .setVersionMax(VERSION)
        .setFeatures(FEATURES)
        .setAuthentication(0)
        .build();
  }

  static ByteBuf encode(HelloProto hello, ByteBufAllocator allocator) {
    byte[] payload = hello.toByteArray();
    return allocator
        .buffer(PREFIX_BYTES + payload.length)
        .writeInt(MAGIC)
        .writeShort(payload.length)
        .writeBytes(payload);
  }

  /**
   * Takes a hello from {@code in}; none while it is not there whole.
   *
   * @throws IOException if it is something else
   */
  static Optional<HelloProto> read(ByteBuf in) throws IOException {
    if (in.readableBytes() < Integer.BYTES) {
      return Optional.empty();
    }
    if (in.getInt(in.readerIndex()) != MAGIC) {
      throw new IOException("the other side does not speak Stele's data-plane protocol");
    }
    if (in.readableBytes() < PREFIX_BYTES) {
      return Optional.empty();
    }
    int length = in.getUnsignedShort(in.readerIndex() + Integer.BYTES);
    if (length > PAYLOAD_BYTES_MAX) {
      throw new IOException("its hello claims to have " + length + " bytes");
    }
    if (in.readableBytes() < PREFIX_BYTES + length) {
      return Optional.empty();
    }
    byte[] payload = new byte[length];
    in.skipBytes(PREFIX_BYTES).readBytes(payload);
    return Optional.of(HelloProto.parseFrom(payload));
  }

  /** Why the two cannot talk, if so. */
  static Optional<String> mismatch(HelloProto ours, HelloProto theirs) {
    if (theirs.getVersionMin() > ours.getVersionMax()
        || theirs.getVersionMax() < ours.getVersionMin()) {
      return Optional.of(
          "it speaks version "
              + versions(theirs)
              + " of the data-plane protocol and this side version "
              + versions(ours)
              + ": use the client that came with the server");
    }
    long unknown = theirs.getFeaturesRequired() & ~ours.getFeatures();
    if (unknown != 0) {
      return Optional.of(
          "it requires features that this side does not know (bits "
              + Long.toHexString(unknown)
              + "): use the client that came with the server");
    }
    if (theirs.getAuthentication() != ours.getAuthentication()) {
      return Optional.of(
          "it wants authentication of kind " + theirs.getAuthentication() + ", which is not known");
    }
    return Optional.empty();
  }

  private static String versions(HelloProto hello) {
    return hello.getVersionMin() == hello.getVersionMax()
        ? Integer.toString(hello.getVersionMax())
        : hello.getVersionMin() + " to " + hello.getVersionMax();
  }
}
