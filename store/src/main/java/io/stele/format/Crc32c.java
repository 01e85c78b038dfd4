package io.stele.format;

import java.util.zip.CRC32C;

/** CRC-32C (Castagnoli), the checksum of everything Stele stores or sends. */
public final class Crc32c {
  private Crc32c() {}

  /** The checksum of {@code length} bytes from {@code offset} on. */
  public static int of(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }
}
