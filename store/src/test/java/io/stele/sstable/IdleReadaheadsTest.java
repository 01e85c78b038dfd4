package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scans that read page by page. */
class IdleReadaheadsTest {
  private static final int ROWS = 20_000;
  private static final int PAGE_ROWS = 1000;
  private static final int FIRST_BYTES = 40_000; // More than a page.
  private static final int STREAM_BYTES = 10_000;
  private static final int HELD_BYTES = FIRST_BYTES + STREAM_BYTES;

  private static final ReadOptions PAGE = ReadOptions.once(MemoryClaim.NONE).first(FIRST_BYTES);

  @TempDir private Path directory;
  private final List<TestCell> cells = new ArrayList<>();
  private ArrayFileSystem fs;
  private long nanos;
  private IdleReadaheads idle = new IdleReadaheads(() -> nanos, 1 << 20, STREAM_BYTES);

  /** Nothing lies between the blocks that a scan reads. */
  @BeforeEach
  void aFileOfManyBlocks() throws IOException {
    for (int i = 0; i < ROWS; i++) {
      cells.add(TestCell.put(row(i), "q", i, "value " + i));
    }
    SSTableOptions options =
        SSTableOptions.DEFAULT.withBlockBytes(4096).withCodec(Codec.NONE).withBloom(Bloom.NONE);
    fs = new ArrayFileSystem(SSTableFiles.bytes(directory, options, 7, cells));
  }

  private static String row(int i) {
    return String.format("row%06d", i);
  }

  private SSTable open() throws IOException {
    return SSTable.open(
        fs, SSTableFiles.ANYWHERE, fs.length(), NoBlockCache.INSTANCE, FileCaching.NORMAL, idle);
  }

  /** A page that begins with a row, and closes its cursor as it meets the first row behind it. */
  private static List<TestCell> page(SSTable table, int begin) throws IOException {
    RowRange rest = new RowRange(Bytes.of(row(begin)), Bytes.EMPTY);
    List<TestCell> page = new ArrayList<>();
    try (CellCursor cursor = table.cursor(rest, PAGE)) {
      while (cursor.next() && page.size() < PAGE_ROWS) {
        page.add(TestCell.current(cursor));
      }
    }
    return page;
  }

  private List<TestCell> expected(int begin) {
    return cells.subList(begin, Math.min(begin + PAGE_ROWS, ROWS));
  }

  private void checkPages(SSTable table, int begin, int end) throws IOException {
    for (int at = begin; at < end; at += PAGE_ROWS) {
      assertThat(page(table, at)).isEqualTo(expected(at));
    }
  }

  @Test
  void pagesOfAScanReadTheFileOnceFromFrontToBack() throws IOException {
    try (SSTable table = open()) {
      fs.reads = 0;
      fs.bytesRead = 0;
      checkPages(table, 0, ROWS);
      assertThat(fs.seeks).isEqualTo(1);
      assertThat(fs.readsInPlace).isGreaterThan(5).isEqualTo(fs.reads - 1);
      assertThat(fs.bytesRead).isLessThanOrEqualTo(fs.length());
      assertThat(idle.bytes()).isZero(); // It has ended.
    }
  }

  @Test
  void withoutMemoryEachPageReadsAnew() throws IOException {
    idle = new IdleReadaheads(() -> nanos, FIRST_BYTES / 2, STREAM_BYTES);
    try (SSTable table = open()) {
      fs.bytesRead = 0;
      checkPages(table, 0, ROWS);
      assertThat(fs.readsInPlace).isZero();
      assertThat(fs.bytesRead).isGreaterThan(fs.length() * 5 / 4);
      assertThat(idle.bytes()).isZero();
    }
  }

  @Test
  void aPageElsewhereInTheFileReadsAnew() throws IOException {
    try (SSTable table = open()) {
      assertThat(page(table, 0)).isEqualTo(expected(0));
      assertThat(page(table, 10_000)).isEqualTo(expected(10_000));
      assertThat(page(table, 5_000)).isEqualTo(expected(5_000));
      assertThat(fs.readsInPlace).isZero();
    }
  }

  @Test
  void aReadOverALongWayTakesThePlaceThatAScanHasLeft() throws IOException {
    ReadOptions longWay = new ReadOptions(false, 8 << 10, false);
    try (SSTable table = open()) {
      page(table, 0);
      assertThat(idle.bytes()).isPositive();
      assertThat(SSTableFiles.scan(table, RowRange.ALL, longWay)).isEqualTo(cells);
      assertThat(fs.readsInPlace).isGreaterThan(5);
      assertThat(idle.bytes()).isZero();
      checkPages(table, PAGE_ROWS, ROWS);
    }
  }

  @Test
  void ofSeveralScansOfAFileTheFirstGoesStraightOn() throws IOException {
    try (SSTable table = open()) {
      for (int i = 0; i < 5; i++) {
        int first = i * PAGE_ROWS;
        int other = 10_000 + first;
        int before = fs.readsInPlace;
        int readsBefore = fs.reads;
        assertThat(page(table, first)).isEqualTo(expected(first));
        assertThat(fs.readsInPlace - before).isEqualTo(i == 0 ? 0 : fs.reads - readsBefore);
        before = fs.readsInPlace;
        assertThat(page(table, other)).isEqualTo(expected(other));
        assertThat(fs.readsInPlace).isEqualTo(before);
      }
      assertThat(fs.seeks).isEqualTo(1);
    }
  }

  @Test
  void largeBuffersAreClaimedByEachPage() throws IOException {
    ReadOptions large =
        new ReadOptions(ReadOptions.Cache.LOOK, 4 << 20, 4 << 20, false, MemoryClaim.NONE);
    idle = new IdleReadaheads(() -> nanos, 64 << 20, 0);
    ArrayFileSystem values =
        new ArrayFileSystem(SSTableFiles.bytes(directory, SSTableOptions.DEFAULT, 8, largeCells()));
    try (SSTable table =
            SSTable.open(
                values,
                SSTableFiles.ANYWHERE,
                values.length(),
                NoBlockCache.INSTANCE,
                FileCaching.NORMAL,
                idle);
        CellCursor cursor = table.cursor(RowRange.ALL, large)) {
      assertThat(cursor.next()).isTrue();
    }
    assertThat(idle.bytes()).isZero();
    assertThat(values.openStreams).isZero();
  }

  private static List<TestCell> largeCells() {
    List<TestCell> large = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      byte[] value = new byte[1 << 20];
      new Random(i).nextBytes(value);
      Bytes key = Bytes.wrap(ColumnKey.of(Bytes.of(row(i)), "f", Bytes.of("q")));
      large.add(new TestCell(key, i, i, 0, CellType.PUT, Bytes.wrap(value)));
    }
    return large;
  }

  @Test
  void theScanThatLeftFirstMakesRoomForOthers() throws IOException {
    idle = new IdleReadaheads(() -> nanos, 2 * HELD_BYTES, STREAM_BYTES);
    try (SSTable first = open();
        SSTable second = open();
        SSTable third = open()) {
      for (SSTable table : List.of(first, second, third)) {
        page(table, 0);
        assertThat(idle.bytes()).isPositive().isLessThanOrEqualTo(2 * HELD_BYTES);
      }
      fs.readsInPlace = 0;
      checkPages(first, PAGE_ROWS, 2 * PAGE_ROWS);
      assertThat(fs.readsInPlace).isZero();
      checkPages(third, PAGE_ROWS, 3 * PAGE_ROWS);
      assertThat(fs.readsInPlace).isPositive();
    }
    assertThat(idle.bytes()).isZero(); // They are closed.
  }

  @Test
  void whatIsNotTakenForLongIsClosed() throws IOException {
    try (SSTable table = open();
        SSTable later = open()) {
      page(table, 0);
      nanos += 4_000_000_000L;
      page(later, 0);
      long both = idle.bytes();
      idle.closeUnused();
      assertThat(idle.bytes()).isEqualTo(both);
      nanos += 2_000_000_000L;
      idle.closeUnused();
      assertThat(idle.bytes()).isEqualTo(both / 2);
      checkPages(table, PAGE_ROWS, ROWS);
      checkPages(later, PAGE_ROWS, ROWS);
    }
  }

  @Test
  void aScanOfAClosedFileLeavesNothing() throws IOException {
    SSTable table = open();
    CellCursor cursor = table.cursor(RowRange.ALL, PAGE);
    assertThat(cursor.next()).isTrue();
    table.close();
    cursor.close();
    assertThat(idle.bytes()).isZero();
  }

  @Test
  void aClosedCursorCannotUseWhatAnotherHasTaken() throws IOException {
    try (SSTable table = open()) {
      CellCursor closed = table.cursor(RowRange.ALL, PAGE);
      assertThat(closed.next()).isTrue();
      closed.close();
      try (CellCursor taker = table.cursor(RowRange.ALL, PAGE)) {
        assertThat(taker.next()).isTrue();
        closed.close();
        assertThatThrownBy(closed::next).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> closed.seek(ColumnKey.ofRow(Bytes.of(row(0)))))
            .isInstanceOf(IOException.class);
        assertThat(idle.bytes()).isZero();
      }
    }
  }

  @Test
  void aPageWhosePlaceIsLostReadsAtPositions() throws IOException {
    try (SSTable table = open()) {
      page(table, 0);
      fs.failingInPlace = true;
      checkPages(table, PAGE_ROWS, ROWS);
      assertThat(fs.readsInPlace).isPositive();
    }
  }

  @Test
  void scansThatTakeTurnsReadWhatIsThere() throws IOException {
    Random random = new Random(7);
    idle = new IdleReadaheads(() -> nanos, 5 * HELD_BYTES / 2, STREAM_BYTES);
    try (SSTable one = open();
        SSTable other = open()) {
      int[] at = new int[4];
      for (int i = 0; i < 400; i++) {
        int scan = random.nextInt(at.length);
        assertThat(page(scan % 2 == 0 ? one : other, at[scan])).isEqualTo(expected(at[scan]));
        at[scan] = (at[scan] + PAGE_ROWS) % ROWS;
        nanos += random.nextInt(1_000_000_000);
        if (random.nextInt(5) == 0) {
          idle.closeUnused();
        }
      }
      assertThat(fs.readsInPlace).isPositive();
    }
    assertThat(idle.bytes()).isZero();
  }
}
