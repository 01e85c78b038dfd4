package io.stele.memtable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.format.CellType;
import io.stele.format.OneCell;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CellSkipListTest {
  private static final int CELLS = 1 << 14;

  /** A link lost above the lowest level changes no answer: it only makes the way to it long. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyLevelHasAQuarterOfTheNodesOfTheOneBelowInTheirOrder(boolean inOrder) {
    CellArena arena = new CellArena(MemoryAccount.NONE);
    CellSkipList cells = new CellSkipList(arena);
    Random random = new Random(7);
    byte[][] keys = new byte[CELLS][];
    for (int i = 0; i < CELLS; i++) {
      keys[i] = new byte[] {(byte) (i >>> 16), (byte) (i >>> 8), (byte) i, 0, 0, 0, 0};
      if (!inOrder) {
        random.nextBytes(keys[i]);
      }
      assertThat(add(cells, keys, i)).isTrue();
      if (i % 3 == 0) {
        assertThat(add(cells, keys, random.nextInt(i + 1))).isFalse();
      }
    }
    Set<Integer> below = level(arena, 0);
    assertThat(below).hasSize(CELLS);
    for (int level = 1; level < 5; level++) {
      Set<Integer> nodes = level(arena, level);
      assertThat(below).containsAll(nodes);
      double share = (double) nodes.size() / below.size();
      assertThat(share).isBetween(0.15, 0.35);
      below = nodes;
    }
  }

  private static boolean add(CellSkipList cells, byte[][] keys, int i) {
    return cells.add(new OneCell(keys[i], keys[i].length, 1, i, 0, CellType.PUT, keys[i], 0, 0));
  }

  private static Set<Integer> level(CellArena arena, int level) {
    Set<Integer> nodes = new HashSet<>();
    int last = 0;
    for (int node = arena.next(CellArena.HEAD, level); node != 0; node = arena.next(node, level)) {
      if (last != 0) {
        assertThat(
                CellArena.compare(
                    arena.chunk(last),
                    CellArena.offset(last),
                    arena.chunk(node),
                    CellArena.offset(node)))
            .isNegative();
      }
      nodes.add(node);
      last = node;
    }
    return nodes;
  }
}
