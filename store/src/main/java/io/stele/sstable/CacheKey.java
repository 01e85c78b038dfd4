package io.stele.sstable;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The key of an entry of the cache. */
sealed interface CacheKey {
  /** The file that the entry belongs to. */
  long fileId();

  /** About how many bytes of memory the key takes. */
  int weight();

  /** A block of a file. */
  record Block(long fileId, long offset) implements CacheKey {
    @Override
    public int weight() {
      return 32;
    }

    @Override
    public int hashCode() {
      return Long.hashCode((fileId + offset) * 0x9e3779b97f4a7c15L);
    }
  }

  /** A file's cells of a row. */
  final class Row implements CacheKey {
    private final long fileId;
    private final byte[] rowPart;
    private final long hash;

    /**
     * @param rowPart of the column keys of the row; must not be changed
     */
    Row(long fileId, byte[] rowPart) {
      this.fileId = fileId;
      this.rowPart = rowPart;
      this.hash = (KeyHash.of(rowPart, rowPart.length) + fileId) * 0x9e3779b97f4a7c15L;
    }

    byte[] rowPart() {
      return rowPart;
    }

    /** A hash with more bits than {@link #hashCode()}. */
    long hash() {
      return hash;
    }

    @Override
    public long fileId() {
      return fileId;
    }

    @Override
    public int weight() {
      return 48 + rowPart.length;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Row row
          && row.hash == hash
          && row.fileId == fileId
          && Arrays.equals(row.rowPart, rowPart);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(hash);
    }
  }
}
