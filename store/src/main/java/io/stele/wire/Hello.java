package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.stele.wire.data.DataProtos.HelloProto;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * The first message of each side on a data plane connection, before any frame.
 *
 * <pre>
 *   hello   = magic length payload
 *   magic   : u32, "STEL"
 *   length  : u16, bytes of the payload
 *   payload : HelloProto
 * </pre>
 *
 * <p>The client speaks first. The two speak the highest version that both know. Features that one
 * side does not know are ignored, unless the other requires them; a server that cannot talk to a
 * client says why in its own hello, and closes.
 *
 * <p>Authentication has its place here, on both sides, so that frames need not know of it. A member
 * of the cluster draws a number, the server draws another and proves first that it has the {@link
 * MemberKey}; the client proves it in a second hello, after which its frames may follow at once.
 */
final class Hello {
  static final int MAGIC = 0x5354454c;

  /** Bytes of magic and length. */
  static final int PREFIX_BYTES = 6;

  static final int PAYLOAD_BYTES_MAX = 4096;

  /** The features there are: bit 0, rows in parts. */
  static final long FEATURES = 1;

  static final int VERSION = 1;

  /** Authentication: a client, who proves nothing. */
  static final int ANYBODY = 0;

  /** Authentication: a member of the cluster, by its key. */
  static final int MEMBER = 1;

  private Hello() {}

  /** What this side says. */
  static HelloProto ours() {
    return HelloProto.newBuilder()
        .setVersionMin(VERSION)
        .setVersionMax(VERSION)
        .setFeatures(FEATURES)
        .setAuthentication(ANYBODY)
        .build();
  }

  /** What this side says as a member. */
  static HelloProto member(byte[]... data) {
    ByteString all = ByteString.EMPTY;
    for (byte[] part : data) {
      all = all.concat(ByteString.copyFrom(part));
    }
    return ours().toBuilder().setAuthentication(MEMBER).setAuthenticationData(all).build();
  }

  /**
   * The {@code index}th number or proof that a member's hello has.
   *
   * @param count how many it must have
   */
  static byte[] memberData(HelloProto hello, int index, int count) throws IOException {
    ByteString data = hello.getAuthenticationData();
    if (hello.getAuthentication() != MEMBER || data.size() != count * MemberKey.BYTES) {
      throw new IOException("its hello does not prove what that of a member does");
    }
    return data.substring(index * MemberKey.BYTES, (index + 1) * MemberKey.BYTES).toByteArray();
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

  /** Why the two cannot talk, if so, whoever they are. */
  static Optional<String> mismatch(HelloProto theirs) {
    HelloProto ours = ours();
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
    return Optional.empty();
  }

  private static String versions(HelloProto hello) {
    return hello.getVersionMin() == hello.getVersionMax()
        ? Integer.toString(hello.getVersionMax())
        : hello.getVersionMin() + " to " + hello.getVersionMax();
  }
}
