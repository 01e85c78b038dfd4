package io.stele.bulk;

import io.stele.format.Crc32c;
import io.stele.model.CorruptionException;
import java.nio.ByteBuffer;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/** A message as the bytes of a file: the message and its CRC-32C, four bytes, big-endian. */
final class Checksummed {
  private Checksummed() {}

  static byte[] encode(MessageLite message) {
    byte[] bytes = message.toByteArray();
    return ByteBuffer.allocate(bytes.length + Integer.BYTES)
        .put(bytes)
        .putInt(Crc32c.of(bytes, 0, bytes.length))
        .array();
  }

  /**
   * The bytes of the message.
   *
   * @param where what to name if they are damaged
   */
  static ByteBuffer message(byte[] bytes, String where) throws CorruptionException {
    int length = bytes.length - Integer.BYTES;
    if (length < 0 || ByteBuffer.wrap(bytes).getInt(length) != Crc32c.of(bytes, 0, length)) {
      throw new CorruptionException(where, 0, "its checksum is wrong");
    }
    return ByteBuffer.wrap(bytes, 0, length).slice();
  }
}
