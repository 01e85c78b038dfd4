package io.stele.sstable;

import io.stele.model.Codec;
import io.stele.model.TableSchema;

/**
 * How an SSTable is laid out.
 *
 * @param blockBytes size of data blocks before compression, 64 bytes to 16 MiB; only a single cell
 *     makes a larger one
 * @param restartInterval cells from one restart point to the next, 1 to 65536
 * @param codec compression of the blocks; one that does not shrink by an eighth is stored as it is
 * @param bloomBitsPerRow size of the Bloom filter, 0 to 64: 10 give 1 % false positives; 0: none
 * @param indexBlockBytes size of index blocks before compression, 64 bytes to 16 MiB
 * @param bloomBlockBytes size of Bloom filter blocks, 64 bytes to 16 MiB
 */
public record SSTableOptions(
    int blockBytes,
    int restartInterval,
    Codec codec,
    int bloomBitsPerRow,
    int indexBlockBytes,
    int bloomBlockBytes) {
  private static final int BYTES_MIN = 64;
  private static final int BYTES_MAX = 16 << 20;

  /** Blocks of 64 KiB, Snappy, 10 Bloom filter bits for each row. */
  public static final SSTableOptions DEFAULT =
      new SSTableOptions(TableSchema.BLOCK_BYTES, 16, Codec.SNAPPY, 10, 32 << 10, 64 << 10);

  public SSTableOptions {
    range("block size", blockBytes, BYTES_MIN, BYTES_MAX);
    range("restart interval", restartInterval, 1, 1 << 16);
    range("Bloom filter bits per row", bloomBitsPerRow, 0, 64);
    range("index block size", indexBlockBytes, BYTES_MIN, BYTES_MAX);
    range("Bloom filter block size", bloomBlockBytes, BYTES_MIN, BYTES_MAX);
  }

  /** What {@code schema} asks for, and the defaults for the rest. */
  public static SSTableOptions of(TableSchema schema) {
    return DEFAULT.withCodec(schema.codec()).withBlockBytes(schema.blockBytes());
  }

  /** With data blocks of another size. */
  public SSTableOptions withBlockBytes(int bytes) {
    return new SSTableOptions(
        bytes, restartInterval, codec, bloomBitsPerRow, indexBlockBytes, bloomBlockBytes);
  }

  /** With another distance of restart points. */
  public SSTableOptions withRestartInterval(int cells) {
    return new SSTableOptions(
        blockBytes, cells, codec, bloomBitsPerRow, indexBlockBytes, bloomBlockBytes);
  }

  /** With another compression. */
  public SSTableOptions withCodec(Codec other) {
    return new SSTableOptions(
        blockBytes, restartInterval, other, bloomBitsPerRow, indexBlockBytes, bloomBlockBytes);
  }

  /** With a larger, smaller or no (0) Bloom filter. */
  public SSTableOptions withBloomBitsPerRow(int bits) {
    return new SSTableOptions(
        blockBytes, restartInterval, codec, bits, indexBlockBytes, bloomBlockBytes);
  }

  /** With index and Bloom filter blocks of other sizes. */
  SSTableOptions withIndexBytes(int indexBytes, int bloomBytes) {
    return new SSTableOptions(
        blockBytes, restartInterval, codec, bloomBitsPerRow, indexBytes, bloomBytes);
  }

  private static void range(String what, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          "the " + what + " of an SSTable is " + min + " to " + max + ", not " + value);
    }
  }
}
