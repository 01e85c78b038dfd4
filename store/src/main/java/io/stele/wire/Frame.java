package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.CodedOutputStream;
import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.hadoop.thirdparty.protobuf.Parser;

/**
 * One message on a data plane connection: a small header and an opaque body.
 *
 * <pre>
 *   frame         = length crc class encoding reserved payload
 *   length        : u32, bytes of the payload
 *   crc           : u32, CRC32C of all but itself
 *   class         : u8, {@link TrafficClass}
 *   encoding      : u8, of the body; 0: as it is
 *   reserved      : u16, 0
 *   payload       = header-length header body
 *   header-length : varint
 *   header        : protobuf, {@code RequestProto} or {@code ResponseProto}
 *   body          : the rest; cell blocks
 *
 *   0        4        8       9          10         12
 *   +--------+--------+-------+----------+----------+---------+--------+----------+
 *   | length |  crc   | class | encoding | reserved | hlength | header | body ... |
 *   +--------+--------+-------+----------+----------+---------+--------+----------+
 * </pre>
 *
 * <p>Numbers of fixed width are big-endian. A frame received has been checked against its CRC and
 * owns the one array that header and body lie in, so that references need not be counted.
 */
final class Frame {
  /** Bytes before the payload. */
  static final int PREFIX_BYTES = 12;

  private static final int CALL_ID_TAG = 1 << 3; // Field 1, a varint: the first of each header.

  private final byte[] payload;
  private final int flags;
  private final int header;
  private final int body;

  /** Of the class USER, as it is. */
  Frame(byte[] payload) throws IOException {
    this(payload, 0);
  }

  /**
   * Finds the parts of {@code payload}, which is kept.
   *
   * @param flags class, encoding, and what is reserved
   * @throws IOException if the header's length is no varint or more than there is
   */
  Frame(byte[] payload, int flags) throws IOException {
    CodedInputStream in = CodedInputStream.newInstance(payload);
    int headerBytes = in.readRawVarint32();
    this.payload = payload;
    this.flags = flags;
    this.header = in.getTotalBytesRead();
    if (headerBytes < 0 || headerBytes > payload.length - header) {
      throw new IOException(
          "a frame of " + payload.length + " bytes claims a header of " + headerBytes);
    }
    this.body = header + headerBytes;
  }

  /** What its sender says that it is about. */
  TrafficClass trafficClass() {
    return trafficClass(flags);
  }

  static TrafficClass trafficClass(int flags) {
    return TrafficClass.ofCode(flags >>> 24);
  }

  /** Whether its encoding is known, and all else that its sender may want understood. */
  boolean isUnderstood() {
    return (flags & 0xffffff) == 0;
  }

  /** The encoding of its body, and what is reserved, for messages. */
  String unknown() {
    return "encoding "
        + (flags >>> 16 & 0xff)
        + " and flags "
        + Integer.toHexString(flags & 0xffff);
  }

  /** Bytes of header and body. */
  int bytes() {
    return payload.length;
  }

  /** Bytes of the header. */
  int headerBytes() {
    return body - header;
  }

  /** The id of the call that this request is, without decoding the rest of it. */
  long callId() throws IOException {
    return callId(payload);
  }

  /** The id of the call whose request begins with {@code head}. */
  static long callId(byte[] head) throws IOException {
    CodedInputStream in = CodedInputStream.newInstance(head);
    in.readRawVarint32(); // The header's length.
    if (in.readTag() != CALL_ID_TAG) {
      throw new IOException("a request does not begin with a call id, so it cannot be answered");
    }
    return in.readUInt64();
  }

  /** The header, not decoded yet. */
  CodedInputStream header() {
    return CodedInputStream.newInstance(payload, header, body - header);
  }

  <M> M header(Parser<M> parser) throws InvalidProtocolBufferException {
    return parser.parseFrom(payload, header, body - header);
  }

  /** The body, backed by an array; the buffer's bounds are the body's. */
  ByteBuffer body() {
    return ByteBuffer.wrap(payload, body, payload.length - body).slice();
  }

  /** How long the frame of {@code header} and {@code body} is, without its prefix. */
  static long payloadBytes(MessageLite header, ByteBuffer body) {
    int headerBytes = header.getSerializedSize();
    return (long) CodedOutputStream.computeUInt32SizeNoTag(headerBytes)
        + headerBytes
        + body.remaining();
  }

  /**
   * Writes a frame into one buffer that can go to the socket as it is; the body is copied once, as
   * sending from the heap would do anyway.
   *
   * @param body is not moved by this
   */
  static ByteBuf encode(ByteBufAllocator allocator, MessageLite header, ByteBuffer body) {
    return encode(allocator, TrafficClass.USER, header, body);
  }

  /** Like {@link #encode(ByteBufAllocator, MessageLite, ByteBuffer)}, of {@code kind}. */
  static ByteBuf encode(
      ByteBufAllocator allocator, TrafficClass kind, MessageLite header, ByteBuffer body) {
    int flags = kind.code() << 24;
    int payloadBytes = Math.toIntExact(payloadBytes(header, body));
    ByteBuf frame = allocator.directBuffer(PREFIX_BYTES + payloadBytes);
    try {
      frame.writeInt(payloadBytes).writeInt(0).writeInt(flags);
      ByteBuffer target = frame.nioBuffer(PREFIX_BYTES, payloadBytes);
      CodedOutputStream out = CodedOutputStream.newInstance(target);
      out.writeUInt32NoTag(header.getSerializedSize());
      header.writeTo(out);
      out.flush();
      target.put(body.duplicate());
      frame.setInt(4, crc(payloadBytes, flags, target.flip()));
      frame.writerIndex(PREFIX_BYTES + payloadBytes);
      return frame;
    } catch (IOException e) {
      frame.release();
      throw new IllegalStateException("the buffer has exactly the size needed", e);
    } catch (RuntimeException | Error e) {
      frame.release();
      throw e;
    }
  }

  /** CRC32C of length, flags and payload. */
  static int crc(int payloadBytes, int flags, ByteBuffer payload) {
    CRC32C crc = crc(payloadBytes, flags);
    crc.update(payload);
    return (int) crc.getValue();
  }

  /** The checksum over length and flags as encoded in the frame. */
  static CRC32C crc(int payloadBytes, int flags) {
    CRC32C crc = new CRC32C();
    for (int shift = 24; shift >= 0; shift -= 8) {
      crc.update(payloadBytes >>> shift);
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
      crc.update(flags >>> shift);
    }
    return crc;
  }
}
