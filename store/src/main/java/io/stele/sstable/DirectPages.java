package io.stele.sstable;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory off the heap, in pages of one size: so it stays within its bound and does not fragment.
 * Pages are taken from the system as they are needed, and never given back to it: reading a page
 * that somebody else has by now gives wrong bytes, not a crash. Safe for use by any number of
 * threads.
 */
final class DirectPages {
  static final int PAGE_BYTES = 4 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(DirectPages.class);
  private static final int SLAB_PAGES = (16 << 20) / PAGE_BYTES;
  private static final int[] NONE = new int[0];

  private final int pagesMax;

  /** Only ever grows; the array is replaced then. */
  private volatile ByteBuffer[] slabs = new ByteBuffer[0];

  @GuardedBy("this")
  private int[] free = new int[0];

  @GuardedBy("this")
  private int freeCount;

  @GuardedBy("this")
  private boolean exhausted;

  /** Memory of at most {@code bytesMax} bytes. */
  DirectPages(long bytesMax) {
    this.pagesMax = (int) Math.min(Integer.MAX_VALUE, bytesMax / PAGE_BYTES);
  }

  /** How many pages these bytes need. */
  static int pagesFor(int bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  }

  /** Takes this many pages; empty if there are not enough. */
  synchronized int[] take(int count) {
    while (freeCount < count) {
      if (!grow()) {
        return NONE;
      }
    }
    int[] pages = new int[count];
    freeCount -= count;
    System.arraycopy(free, freeCount, pages, 0, count);
    return pages;
  }

  /** Gives pages back. */
  synchronized void give(int[] pages) {
    System.arraycopy(pages, 0, free, freeCount, pages.length);
    freeCount += pages.length;
  }

  /** Fills pages with {@code length} bytes of {@code source} from {@code at} on. */
  void write(int[] pages, byte[] source, int at, int length) {
    for (int i = 0, done = 0; done < length; i++, done += PAGE_BYTES) {
      slab(pages[i]).put(place(pages[i]), source, at + done, Math.min(PAGE_BYTES, length - done));
    }
  }

  /** The first {@code length} bytes in pages. */
  byte[] read(int[] pages, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0, done = 0; done < length; i++, done += PAGE_BYTES) {
      slab(pages[i]).get(place(pages[i]), bytes, done, Math.min(PAGE_BYTES, length - done));
    }
    return bytes;
  }

  private ByteBuffer slab(int page) {
    return slabs[page / SLAB_PAGES];
  }

  private static int place(int page) {
    return page % SLAB_PAGES * PAGE_BYTES;
  }

  @GuardedBy("this")
  private boolean grow() {
    int first = slabs.length * SLAB_PAGES;
    int count = Math.min(SLAB_PAGES, pagesMax - first);
    if (exhausted || count <= 0) {
      return false;
    }
    ByteBuffer slab;
    try {
      slab = ByteBuffer.allocateDirect(count * PAGE_BYTES);
    } catch (OutOfMemoryError e) { // There is no way to ask beforehand.
      exhausted = true;
      LOG.warn(
          "The cache has only {} of {} MiB off the heap: Java has no more direct memory. Raise"
              + " -XX:MaxDirectMemorySize, or lower stele.tabletserver.cache.bytes",
          (first * (long) PAGE_BYTES) >> 20,
          (pagesMax * (long) PAGE_BYTES) >> 20,
          e);
      return false;
    }
    List<ByteBuffer> more = new ArrayList<>(List.of(slabs));
    more.add(slab);
    slabs = more.toArray(new ByteBuffer[0]);
    int[] larger = new int[first + count];
    System.arraycopy(free, 0, larger, 0, freeCount);
    for (int page = first + count - 1; page >= first; page--) {
      larger[freeCount++] = page;
    }
    free = larger;
    return true;
  }
}
