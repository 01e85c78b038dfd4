package io.stele.sstable;

import io.stele.model.Bloom;
import io.stele.model.Codec;
import io.stele.model.LocalityGroup;

/**
 * How an SSTable is laid out.
 *
 * @param blockBytes size of data blocks before compression, 64 bytes to 16 MiB; a block is larger
 *     only for a single large cell, or, up to four times, for up to 16 versions of a column
 * @param restartInterval cells from one restart point to the next, 1 to 65536
 * @param codec compression of the blocks; a block that does not shrink by an eighth is stored
 *     uncompressed
 * @param bloom what the Bloom filter can be asked about
 * @param bloomBitsPerKey size of the Bloom filter for each row, or row and column, in it, 1 to 64:
 *     10 give 1 % false positives
 * @param indexBlockBytes size of index blocks in memory, 64 bytes to 16 MiB: larger only for two
 *     large entries
 * @param bloomBlockBytes size of Bloom filter blocks, 64 bytes to 16 MiB
 */
public record SSTableOptions(
    int blockBytes,
    int restartInterval,
    Codec codec,
    Bloom bloom,
    int bloomBitsPerKey,
    int indexBlockBytes,
    int bloomBlockBytes) {
  private static final int BYTES_MIN = 64;
  private static final int BYTES_MAX = 16 << 20;

  /** Blocks of 64 KiB, Snappy, a Bloom filter of rows, 10 bits for each. */
  public static final SSTableOptions DEFAULT =
      new SSTableOptions(
          LocalityGroup.BLOCK_BYTES, 16, Codec.SNAPPY, Bloom.ROW, 10, 32 << 10, 64 << 10);

  public SSTableOptions {
    range("block size", blockBytes, BYTES_MIN, BYTES_MAX);
    range("restart interval", restartInterval, 1, 1 << 16);
    range("number of Bloom filter bits per key", bloomBitsPerKey, 1, 64);
    range("index block size", indexBlockBytes, BYTES_MIN, BYTES_MAX);
    range("Bloom filter block size", bloomBlockBytes, BYTES_MIN, BYTES_MAX);
  }

  /** The settings of {@code group}, and the defaults for the rest. */
  public static SSTableOptions of(LocalityGroup group) {
    return DEFAULT
        .withCodec(group.codec())
        .withBlockBytes(group.blockBytes())
        .withBloom(group.bloom());
  }

  /** With data blocks of another size. */
  public SSTableOptions withBlockBytes(int bytes) {
    return new SSTableOptions(
        bytes, restartInterval, codec, bloom, bloomBitsPerKey, indexBlockBytes, bloomBlockBytes);
  }

  /** With another distance of restart points. */
  public SSTableOptions withRestartInterval(int cells) {
    return new SSTableOptions(
        blockBytes, cells, codec, bloom, bloomBitsPerKey, indexBlockBytes, bloomBlockBytes);
  }

  /** With another compression. */
  public SSTableOptions withCodec(Codec other) {
    return new SSTableOptions(
        blockBytes,
        restartInterval,
        other,
        bloom,
        bloomBitsPerKey,
        indexBlockBytes,
        bloomBlockBytes);
  }

  /** With another Bloom filter, or none. */
  public SSTableOptions withBloom(Bloom other) {
    return new SSTableOptions(
        blockBytes,
        restartInterval,
        codec,
        other,
        bloomBitsPerKey,
        indexBlockBytes,
        bloomBlockBytes);
  }

  /** With a larger or smaller Bloom filter. */
  public SSTableOptions withBloomBitsPerKey(int bits) {
    return new SSTableOptions(
        blockBytes, restartInterval, codec, bloom, bits, indexBlockBytes, bloomBlockBytes);
  }

  /** With index and Bloom filter blocks of other sizes. */
  SSTableOptions withIndexBytes(int indexBytes, int bloomBytes) {
    return new SSTableOptions(
        blockBytes, restartInterval, codec, bloom, bloomBitsPerKey, indexBytes, bloomBytes);
  }

  private static void range(String what, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          "the " + what + " of an SSTable must be " + min + " to " + max + ", not " + value);
    }
  }
}
