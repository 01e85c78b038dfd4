package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * Several cursors as one, in the order of cells, without cells above a read point.
 *
 * <p>A binary heap of the cursors that have a cell, the least on top. Advancing costs one or two
 * comparisons while the next cell is of the same cursor. A forward seek does not touch cursors that
 * are already past the target. Not safe for use by several threads.
 */
final class MergedCursor implements CellCursor {
  private final CellCursor[] all;
  private final CellCursor[] heap;
  private final long readPoint;
  private int size;
  private boolean placed;

  // The current cell: its cursor is one of several kinds, and reads ask for each part repeatedly.
  private byte[] key = {};
  private int keyLength;
  private long timestamp;
  private long sequence;
  private int ordinal;
  private CellType type = CellType.PUT;
  private int valueLength;

  /** Merges {@code cursors}, which are closed with this one; no two of them have the same cell. */
  MergedCursor(List<CellCursor> cursors, long readPoint) {
    this.all = cursors.toArray(new CellCursor[0]);
    this.heap = new CellCursor[all.length];
    this.readPoint = readPoint;
  }

  @Override
  public boolean seek(byte[] key, int length) throws IOException {
    if (placed && size > 0 && compareKey(heap[0], key, length) <= 0) {
      // Forward: those at or above the key stay, those at their end have nothing above it.
      int kept = size;
      size = 0;
      for (int i = 0; i < kept; i++) {
        CellCursor cursor = heap[i];
        if (compareKey(cursor, key, length) >= 0 || cursor.seek(key, length)) {
          heap[size++] = cursor;
        }
      }
    } else {
      placed = true;
      size = 0;
      for (CellCursor cursor : all) {
        if (cursor.seek(key, length)) {
          heap[size++] = cursor;
        }
      }
    }
    heapify();
    return takeReadable();
  }

  @Override
  public boolean next() throws IOException {
    if (!placed) {
      placed = true;
      for (CellCursor cursor : all) {
        if (cursor.next()) {
          heap[size++] = cursor;
        }
      }
      heapify();
    } else if (size == 0) {
      return false;
    } else {
      advance();
    }
    return takeReadable();
  }

  @Override
  public byte[] key() {
    return key;
  }

  @Override
  public int keyLength() {
    return keyLength;
  }

  @Override
  public long timestamp() {
    return timestamp;
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public int ordinal() {
    return ordinal;
  }

  @Override
  public CellType type() {
    return type;
  }

  @Override
  public byte[] valueArray() {
    return heap[0].valueArray();
  }

  @Override
  public int valueOffset() {
    return heap[0].valueOffset();
  }

  @Override
  public int valueLength() {
    return valueLength;
  }

  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (CellCursor cursor : all) {
      try {
        cursor.close();
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Takes the parts of the first cell from here on that is not above the read point. */
  private boolean takeReadable() throws IOException {
    while (size > 0) {
      CellCursor cell = heap[0];
      sequence = cell.sequence();
      if (sequence <= readPoint) {
        key = cell.key();
        keyLength = cell.keyLength();
        timestamp = cell.timestamp();
        ordinal = cell.ordinal();
        type = cell.type();
        valueLength = cell.valueLength();
        return true;
      }
      advance();
    }
    return false;
  }

  private void advance() throws IOException {
    if (!heap[0].next()) {
      heap[0] = heap[--size];
      heap[size] = null;
    }
    siftDown(0);
  }

  private void heapify() {
    Arrays.fill(heap, size, heap.length, null);
    for (int i = size / 2 - 1; i >= 0; i--) {
      siftDown(i);
    }
  }

  private void siftDown(int from) {
    if (from >= size) {
      return;
    }
    CellCursor moving = heap[from];
    int at = from;
    while (true) {
      int child = 2 * at + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && CellCursor.compare(heap[child + 1], heap[child]) < 0) {
        child++;
      }
      if (CellCursor.compare(moving, heap[child]) <= 0) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = moving;
  }

  private static int compareKey(CellCursor cursor, byte[] key, int length) {
    return Arrays.compareUnsigned(cursor.key(), 0, cursor.keyLength(), key, 0, length);
  }
}
