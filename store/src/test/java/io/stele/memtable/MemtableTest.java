package io.stele.memtable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.OneCell;
import io.stele.model.Bytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemtableTest {
  private final Memtable memtable = new Memtable();

  private void add(String row, long timestamp, long sequence, int ordinal) {
    byte[] key = ColumnKey.of(Bytes.of(row), "f", Bytes.EMPTY);
    memtable.add(
        new OneCell(
            key, key.length, timestamp, sequence, ordinal, CellType.PUT, new byte[] {1}, 0, 1));
  }

  private static List<String> rest(CellCursor cursor, boolean placed) throws IOException {
    List<String> cells = new ArrayList<>();
    for (boolean more = placed || cursor.next(); more; more = cursor.next()) {
      cells.add(
          ColumnKey.row(cursor.key(), cursor.keyLength())
              + "@"
              + cursor.timestamp()
              + "#"
              + cursor.sequence()
              + "."
              + cursor.ordinal());
    }
    return cells;
  }

  @Test
  void cellsComeInTheOrderOfCellsWhateverTheOrderTheyWentIn() throws IOException {
    add("b", 1, 4, 0);
    add("a", 1, 1, 0);
    add("a", 2, 1, 1);
    add("a", 1, 3, 0);
    add("a", 1, 3, 1);
    assertThat(rest(memtable.cursor(Long.MAX_VALUE), false))
        .containsExactly("a@2#1.1", "a@1#3.1", "a@1#3.0", "a@1#1.0", "b@1#4.0");
  }

  @Test
  void aCursorPassesOverWhatIsAboveItsReadPoint() throws IOException {
    add("a", 1, 1, 0);
    add("a", 2, 2, 0);
    add("b", 1, 3, 0);
    assertThat(rest(memtable.cursor(1), false)).containsExactly("a@1#1.0");
    CellCursor cursor = memtable.cursor(2);
    assertThat(cursor.seek(ColumnKey.ofRow(Bytes.of("b")))).isFalse();
    assertThat(cursor.seek(ColumnKey.ofRow(Bytes.of("a")))).isTrue();
    assertThat(rest(cursor, true)).containsExactly("a@2#2.0", "a@1#1.0");
  }

  @Test
  void theSameCellTwiceCountsOnce() {
    add("a", 1, 1, 0);
    long bytes = memtable.bytes();
    add("a", 1, 1, 0);
    assertThat(memtable.cellCount()).isEqualTo(1);
    assertThat(memtable.bytes()).isEqualTo(bytes).isGreaterThan(100);
  }

  @Test
  void aFrozenMemtableTakesNothing() {
    memtable.freeze();
    assertThat(memtable.isEmpty()).isTrue();
    assertThatThrownBy(() -> add("a", 1, 1, 0)).isInstanceOf(IllegalStateException.class);
  }
}
