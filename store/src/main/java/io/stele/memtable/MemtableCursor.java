package io.stele.memtable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.util.Arrays;

/**
 * A cursor over the cells of a memtable up to a read point. Values are not copied; a key is copied
 * only when it is asked for and differs from the cell's before.
 */
final class MemtableCursor implements CellCursor {
  private static final int[] NO_KEY = {0};

  private final CellSkipList cells;
  private final long readPoint;
  private boolean placed;
  private int node;
  private int[] chunk = NO_KEY;
  private int at;
  private int numbers;
  private byte[] key = new byte[64];
  // The node whose key is in the array.
  private int[] keyChunk = NO_KEY;
  private int keyAt;
  private int[] target = new int[16];

  MemtableCursor(CellSkipList cells, long readPoint) {
    this.cells = cells;
    this.readPoint = readPoint;
  }

  @Override
  public boolean seek(byte[] wanted, int length) {
    placed = true;
    if (length == 0) {
      return load(cells.first());
    }
    int words = CellArena.words(length);
    if (target.length < words) {
      target = new int[words];
    }
    CellArena.pack(wanted, length, target, 0);
    return load(cells.seek(target, length));
  }

  @Override
  public boolean next() {
    if (!placed) {
      placed = true;
      return load(cells.first());
    }
    return node != 0 && load(cells.next(node));
  }

  /** Makes {@code first}, or the next cell after it up to the read point, the current one. */
  private boolean load(int first) {
    for (node = first; node != 0; node = cells.next(node)) {
      chunk = cells.arena().chunk(node);
      at = CellArena.offset(node);
      numbers = CellArena.numbers(chunk, at);
      if (CellArena.sequence(chunk, numbers) <= readPoint) {
        return true;
      }
    }
    return false;
  }

  @Override
  public byte[] key() {
    if (at != keyAt || chunk != keyChunk) {
      copyKey();
    }
    return key;
  }

  private void copyKey() {
    int length = chunk[at];
    int end = at + 1 + CellArena.words(length);
    int keyLength = keyChunk[keyAt];
    int keyEnd = keyAt + 1 + CellArena.words(keyLength);
    int same = Arrays.mismatch(chunk, at + 1, end, keyChunk, keyAt + 1, keyEnd);
    if (same >= 0 || length != keyLength) {
      if (key.length < length) {
        key = Arrays.copyOf(key, Math.max(length, key.length * 2));
      }
      // A word that was not full is copied in any case: the bytes after its end are another's.
      int full = keyLength / Integer.BYTES;
      CellArena.unpack(chunk, at, same < 0 ? full : Math.min(same, full), key);
    }
    keyChunk = chunk;
    keyAt = at;
  }

  @Override
  public int keyLength() {
    return chunk[at];
  }

  @Override
  public long timestamp() {
    return CellArena.timestamp(chunk, numbers);
  }

  @Override
  public long sequence() {
    return CellArena.sequence(chunk, numbers);
  }

  @Override
  public int ordinal() {
    return CellArena.ordinal(chunk, numbers);
  }

  @Override
  public CellType type() {
    return CellArena.type(chunk, numbers);
  }

  @Override
  public byte[] valueArray() {
    return cells.arena().valueArray(chunk, numbers);
  }

  @Override
  public int valueOffset() {
    return CellArena.valueOffset(chunk, numbers);
  }

  @Override
  public int valueLength() {
    return CellArena.valueLength(chunk, numbers);
  }
}
