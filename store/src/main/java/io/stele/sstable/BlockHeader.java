package io.stele.sstable;

import io.stele.format.ByteReader;

/**
 * The fixed bytes before a block's contents.
 *
 * @param length of the contents as they are stored
 * @param rawLength of the contents when uncompressed
 * @param kind the code of a {@link BlockKind}
 * @param codec the code of a {@link io.stele.model.Codec}
 */
record BlockHeader(int length, int rawLength, int kind, int codec) {
  /** The header at {@code at}; empty if there are too few bytes for one. */
  static BlockHeader decode(byte[] bytes, int at) {
    return new BlockHeader(
        ByteReader.intAt(bytes, at),
        ByteReader.intAt(bytes, at + 4),
        bytes[at + 8] & 0xff,
        bytes[at + 9] & 0xff);
  }

  /** Whether a block may be as long as this says; the checksum, which is after it, says more. */
  boolean isPlausible() {
    return length >= 0 && length <= SSTableFormat.CONTENTS_BYTES_MAX;
  }

  @Override
  public String toString() {
    return BlockKind.ofCode(kind).map(known -> "one of kind " + known).orElse("one of kind " + kind)
        + ", codec "
        + codec
        + ", "
        + length
        + " bytes, "
        + rawLength
        + " uncompressed";
  }
}
