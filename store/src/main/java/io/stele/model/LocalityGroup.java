package io.stele.model;

/**
 * Column families that are stored together: each locality group of a tablet has its own SSTables,
 * so that a read of one group never reads the cells of another (§6, "Locality groups").
 *
 * <p>A change of a group applies to SSTables written from then on; compactions rewrite the older
 * ones over time.
 *
 * @param name printable, without ':'
 * @param codec how the blocks of SSTables are compressed
 * @param blockBytes size of data blocks before compression, 1 KiB to 16 MiB
 * @param bloom what the Bloom filters of SSTables contain
 * @param inMemory whether a tablet server loads an SSTable whole when it is first read, and keeps
 *     it in memory
 * @param cachePriority with which priority the block cache keeps data blocks
 */
public record LocalityGroup(
    String name,
    Codec codec,
    int blockBytes,
    Bloom bloom,
    boolean inMemory,
    CachePriority cachePriority) {
  /** The group of families that do not name one. */
  public static final String DEFAULT_NAME = "default";

  /** Default size of data blocks. */
  public static final int BLOCK_BYTES = 64 << 10;

  public LocalityGroup {
    Limits.checkGroup(name);
    if (blockBytes < 1 << 10 || blockBytes > 16 << 20) {
      throw SteleException.refused(
          "the block size of locality group "
              + name
              + " must be 1 KiB to 16 MiB, not "
              + blockBytes
              + " bytes");
    }
  }

  /** A group with blocks of 64 KiB in Snappy, Bloom filters for rows, cached as it is read. */
  public static LocalityGroup of(String name) {
    return new LocalityGroup(
        name, Codec.SNAPPY, BLOCK_BYTES, Bloom.ROW, false, CachePriority.NORMAL);
  }

  /** With blocks compressed by {@code other}. */
  public LocalityGroup withCodec(Codec other) {
    return new LocalityGroup(name, other, blockBytes, bloom, inMemory, cachePriority);
  }

  /** With blocks of {@code bytes}. */
  public LocalityGroup withBlockBytes(int bytes) {
    return new LocalityGroup(name, codec, bytes, bloom, inMemory, cachePriority);
  }

  /** With other Bloom filters, or none. */
  public LocalityGroup withBloom(Bloom other) {
    return new LocalityGroup(name, codec, blockBytes, other, inMemory, cachePriority);
  }

  /** Kept in memory as a whole, or not. */
  public LocalityGroup withInMemory(boolean on) {
    return new LocalityGroup(name, codec, blockBytes, bloom, on, cachePriority);
  }

  /** With another priority in the block cache. */
  public LocalityGroup withCachePriority(CachePriority other) {
    return new LocalityGroup(name, codec, blockBytes, bloom, inMemory, other);
  }
}
