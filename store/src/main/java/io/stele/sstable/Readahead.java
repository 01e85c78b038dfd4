package io.stele.sstable;

import java.io.Closeable;
import java.io.IOException;

/**
 * A cursor's read-ahead window: consecutive blocks are read at once. After the first window, they
 * grow while the cursor goes straight on. A cursor over a long way goes on in a stream with its
 * second window ({@link Way}). {@link IdleReadaheads} keeps the read-aheads of scans from one page
 * to the next. Not safe for use by several threads.
 */
final class Readahead implements Closeable {
  /** A larger buffer is there for the sake of one large block. */
  static final int LARGE_BYTES = 4 << 20;

  private static final int GROWTH_BYTES = 64 << 10;

  /** How far a cursor probably goes on from where it begins. */
  enum Way {
    /** A few blocks: all reads are at positions. */
    SHORT,
    /** Much of the file at once: it takes the place of the file's stream, if no other has it. */
    LONG,
    /** Page by page: it takes that place if it is free, and keeps it from page to page. */
    PAGES
  }

  private final StoredFile file;
  private final int bytesMax;
  private final int bytesFirst;
  private final Way way;
  private boolean hasPlace;
  private byte[] buffer = new byte[0];
  private long start;
  private int size;
  private int window; // The next, if the cursor goes straight on.

  /** Windows of {@code bytesFirst}, then of growing size up to {@code bytesMax}. */
  Readahead(StoredFile file, int bytesFirst, int bytesMax, Way way) {
    this.file = file;
    this.way = way;
    this.bytesFirst = bytesFirst;
    this.bytesMax = bytesMax;
    this.window = second();
  }

  private int second() {
    return bytesFirst < bytesMax ? Math.min(bytesMax, GROWTH_BYTES) : bytesFirst;
  }

  /** Whether the block that {@code at} is on is in {@link #buffer()}. */
  boolean has(IndexCursor at) {
    return at.offset() >= start && at.offset() + at.length() <= start + size;
  }

  /**
   * Makes sure that the block which {@code at} is on is in {@link #buffer()}.
   *
   * @param limit where in the file the last block that is of interest ends
   * @return where in the buffer the block begins
   */
  int fetch(IndexCursor at, long limit) throws IOException {
    long offset = at.offset();
    if (!has(at)) {
      boolean goesOn = size > 0 && offset >= start + size && offset - start - size <= bytesMax;
      int wanted = goesOn ? Math.max(window, bytesFirst) : bytesFirst; // After a page as at first.
      window = goesOn ? Math.min(bytesMax, window * 2) : second();
      long end = at.endOfBlocksWithin(Math.min(limit, offset + wanted));
      int count = (int) Math.max(at.length(), end - offset);
      size = 0;
      if (count <= LARGE_BYTES) {
        letGoIfLarge();
      }
      if (buffer.length < count) {
        buffer = new byte[0]; // So that there are never two.
        // As large as the next window may be, so that it need not be replaced then.
        buffer = new byte[(int) Math.max(count, Math.min(wanted, limit - offset))];
      }
      read(offset, count, goesOn);
      start = offset;
      size = count;
    }
    return (int) (offset - start);
  }

  /** Windows are as small again as at first: the next page begins. */
  void endPage() {
    window = second();
  }

  /** Whether a cursor at {@code offset} has read to there and goes on. */
  boolean reaches(long offset) {
    return size > 0 && offset >= start && offset <= start + size;
  }

  boolean hasRead() {
    return size > 0;
  }

  /** How much memory it takes of the heap. */
  int heldBytes() {
    return buffer.length;
  }

  private void read(long offset, int count, boolean goesOn) throws IOException {
    if (goesOn && takePlace()) {
      file.readOn(offset, buffer, 0, count);
    } else {
      file.readFully(offset, buffer, 0, count);
    }
  }

  /** Takes the place of the file's stream, if it may; false: it does not have it. */
  boolean takePlace() {
    hasPlace =
        hasPlace
            || switch (way) {
              case SHORT -> false;
              case LONG -> file.takePlace();
              case PAGES -> file.takeFreePlace();
            };
    return hasPlace;
  }

  @Override
  public void close() {
    if (hasPlace) {
      hasPlace = false;
      file.leavePlace();
    }
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
