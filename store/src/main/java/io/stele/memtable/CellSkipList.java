package io.stele.memtable;

import io.stele.format.CellCursor;
import java.util.Arrays;

/**
 * The cells of an arena in order: a skip list, of whose nodes a quarter is on the second level, a
 * quarter of these on the third, and so on.
 *
 * <p>One thread at a time adds; any number of threads read it at the same time without a lock. A
 * new node is linked from the lowest level up, so that what can be found on a level can be found on
 * all below, and never goes away.
 */
final class CellSkipList {
  private final CellArena arena;

  // Between which nodes, on each level, the last cell was added: where it ends the next one often
  // belongs, as the cells of a row come in order, and bulk loads row after row.
  private final int[] before = new int[CellArena.LEVELS_MAX];
  private final int[] after = new int[CellArena.LEVELS_MAX];
  private int random = 0x9e3779b9;

  /** How many levels have a node. A reader that sees an old value only takes longer. */
  private int levels = 1;

  CellSkipList(CellArena arena) {
    this.arena = arena;
    Arrays.fill(before, CellArena.HEAD);
  }

  CellArena arena() {
    return arena;
  }

  /** Adds the current cell of {@code cell}; returns false if the list already has it. */
  boolean add(CellCursor cell) {
    int height = randomHeight();
    int node = arena.write(height, cell);
    int[] chunk = arena.chunk(node);
    int at = CellArena.offset(node);
    if (!belongsAfterLast(chunk, at) && !find(chunk, at)) {
      return false;
    }
    arena.keep(node, cell);
    for (int level = 0; level < height; level++) {
      arena.prepareLink(node, level, after[level]);
    }
    for (int level = 0; level < height; level++) {
      arena.link(before[level], level, node);
      before[level] = node;
    }
    levels = Math.max(levels, height);
    return true;
  }

  /** The first node; 0: none. */
  int first() {
    return arena.next(CellArena.HEAD, 0);
  }

  /** The node after {@code node}; 0: none. */
  int next(int node) {
    return arena.next(node, 0);
  }

  /** The first node whose key is at or above the one in {@code words}; 0: none. */
  int seek(int[] words, int length) {
    int node = CellArena.HEAD;
    int known = 0; // At or above the key, seen on the level above.
    for (int level = levels - 1; ; level--) {
      int next = arena.next(node, level);
      while (next != known && isBelow(next, words, length)) {
        node = next;
        next = arena.next(node, level);
      }
      if (level == 0) {
        return next;
      }
      known = next;
    }
  }

  private boolean isBelow(int node, int[] words, int length) {
    if (node == 0) {
      return false;
    }
    int[] chunk = arena.chunk(node);
    int at = CellArena.offset(node);
    return CellArena.compareKeys(chunk, at + 1, chunk[at], words, 0, length) < 0;
  }

  /** Whether a node belongs right behind the one added last. */
  private boolean belongsAfterLast(int[] chunk, int at) {
    return (before[0] == CellArena.HEAD || compare(before[0], chunk, at) < 0)
        && (after[0] == 0 || compare(after[0], chunk, at) > 0);
  }

  /**
   * Finds the neighbours of a node on each level; returns false if the list already has its cell.
   */
  private boolean find(int[] chunk, int at) {
    int node = CellArena.HEAD;
    int known = 0;
    boolean there = false;
    for (int level = levels - 1; level >= 0; level--) {
      int next = arena.nextAsWritten(node, level);
      while (next != known && next != 0) {
        int order = compare(next, chunk, at);
        if (order >= 0) {
          there |= order == 0;
          break;
        }
        node = next;
        next = arena.nextAsWritten(node, level);
      }
      before[level] = node;
      after[level] = next;
      known = next;
    }
    return !there;
  }

  private int compare(int node, int[] chunk, int at) {
    return CellArena.compare(arena.chunk(node), CellArena.offset(node), chunk, at);
  }

  private int randomHeight() {
    random ^= random << 13; // Marsaglia, "Xorshift RNGs", 2003.
    random ^= random >>> 17;
    random ^= random << 5;
    return Math.min(CellArena.LEVELS_MAX, 1 + Integer.numberOfTrailingZeros(random) / 2);
  }
}
