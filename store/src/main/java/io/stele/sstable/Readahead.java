package io.stele.sstable;

import java.io.IOException;

/**
 * A cursor's read-ahead window: consecutive blocks are read at once. The window grows while the
 * cursor goes straight on. Not safe for use by several threads.
 */
final class Readahead {
  /** A larger buffer is there for the sake of one large block. */
  static final int LARGE_BYTES = 4 << 20;

  private static final int GROWTH_BYTES = 64 << 10;

  private final StoredFile file;
  private final int bytesMax;
  private final int bytesFirst;
  private byte[] buffer = new byte[0];
  private long start;
  private int size;
  private int window;

  /** A window that grows from {@code bytesFirst} to {@code bytesMax}. */
  Readahead(StoredFile file, int bytesFirst, int bytesMax) {
    this.file = file;
    this.bytesFirst = bytesFirst;
    this.bytesMax = bytesMax;
    this.window = bytesFirst;
  }

  /**
   * Makes sure that the block which {@code at} is on is in {@link #buffer()}.
   *
   * @param limit where in the file the last block that is of interest ends
   * @return where in the buffer the block begins
   */
  int fetch(IndexCursor at, long limit) throws IOException {
    long offset = at.offset();
    if (offset < start || offset + at.length() > start + size) {
      boolean goesOn = size > 0 && offset >= start + size && offset - start - size <= bytesMax;
      window = goesOn ? Math.min(bytesMax, Math.max(GROWTH_BYTES, window * 2)) : bytesFirst;
      long end = at.endOfBlocksWithin(Math.min(limit, offset + window));
      int count = (int) Math.max(at.length(), end - offset);
      size = 0;
      if (count <= LARGE_BYTES) {
        letGoIfLarge();
      }
      if (buffer.length < count) {
        buffer = new byte[0]; // So that there are never two.
        buffer = new byte[count];
      }
      file.readFully(offset, buffer, 0, count);
      start = offset;
      size = count;
    }
    return (int) (offset - start);
  }

  /** Forgets what was read if that is a large block: whoever needs it has it in another form. */
  void letGoIfLarge() {
    if (buffer.length > LARGE_BYTES) {
      buffer = new byte[0];
      size = 0;
    }
  }

  /** The bytes read; valid until the next {@link #fetch}. */
  byte[] buffer() {
    return buffer;
  }
}
