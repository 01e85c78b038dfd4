package io.stele.tablet;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.OneCell;
import io.stele.log.LogRecord;
import io.stele.memtable.CountingAccount;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.GcPolicy;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.MemoryRoom;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** From when to when the memory of memtables is counted. */
class TabletMemoryTest {
  private final TabletFixture fixture;

  TabletMemoryTest() throws IOException {
    fixture = new TabletFixture(TableSchema.of("t", "f"));
  }

  private void fill() {
    for (int i = 0; i < 100; i++) {
      fixture.put("r" + i, "f", "q", i, "value".repeat(20));
    }
  }

  @Test
  void itIsCountedUntilItsMinorCompaction() throws IOException {
    assertThat(fixture.memory.bytes()).isZero();
    fill();
    assertThat(fixture.memory.bytes())
        .isEqualTo(fixture.tablet.statistics().memtableBytes())
        .isGreaterThan(10_000);
    fixture.tablet.minorCompact();
    assertThat(fixture.memory.bytes()).isZero();
    fill();
    assertThat(fixture.memory.bytes()).isEqualTo(fixture.tablet.statistics().memtableBytes());
    fixture.tablet.close();
    assertThat(fixture.memory.bytes()).isZero();
  }

  /** Whatever the policy keeps: only the newest version counts for the next. */
  @Test
  void anIncrementTakesTheSameMemoryHoweverManyVersionsThereAre() throws IOException {
    TabletFixture all =
        new TabletFixture(TableSchema.of("t", List.of(new ColumnFamily("f", GcPolicy.keepAll()))));
    ReadModifyWrite increment = ReadModifyWrite.increment(Bytes.of("a"), "f", Bytes.of("n"), 1);
    for (int i = 0; i < 2000; i++) {
      all.apply(increment).join();
    }
    AtomicLong taken = new AtomicLong();
    OperationRequest next =
        new OperationRequest(
            increment, Optional.empty(), Outstanding.from(0), Durability.HFLUSH, taken::addAndGet);
    assertThat(all.tablet.apply(next).join().row()).isPresent();
    assertThat(taken.get()).isLessThan(10_000);
  }

  /** However many columns are asked for, the filters of files are asked with one key at a time. */
  @Test
  void aReadOfManyColumnsOfALongRowHoldsOneOfTheirKeysAtATime() throws IOException {
    fixture.put("other", "f", "q", 1, "");
    fixture.tablet.minorCompact();
    RowQuery query = RowQuery.row("r".repeat(60_000));
    for (int i = 0; i < 2_000; i++) {
      query = query.column("f", "q" + i);
    }
    ReadRequest request = ReadRequest.of(query);
    assertThat(fixture.tablet.read(request).rows()).isEmpty();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(fixture.tablet.read(request).rows()).isEmpty();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .as("bytes taken, of 120 MB that the keys have")
        .isLessThan(12_000_000);
  }

  private long claimed(RowQuery query) throws IOException {
    AtomicLong claimed = new AtomicLong();
    fixture.tablet.read(TabletFixture.claiming(query, claimed::addAndGet));
    return claimed.get();
  }

  @Test
  void aReadClaimsABlockOfEachFileThatItMerges() throws IOException {
    String value = "v".repeat(40_000);
    for (int i = 0; i < 30; i++) {
      for (String row : List.of("a", "b", "c", "d")) {
        fixture.put(row, "f", "q" + i, i, value);
      }
      fixture.tablet.minorCompact();
    }
    RowQuery first = RowQuery.ALL.filter(new Filter.RowKeyRegex("a")).limit(1);
    RowQuery oneColumn = first.column("f", "q1");
    long each = claimed(oneColumn) / 30;
    assertThat(each).isGreaterThan(40_000);
    RowQuery twice = oneColumn.range(RowRange.of("a", "b")).range(RowRange.of("x", "y"));
    assertThat(claimed(twice)).as("one range after the other").isLessThan(45 * each);
    assertFails(
            SteleException.Code.RETRY_LATER,
            () ->
                fixture.tablet.read(
                    TabletFixture.claiming(
                        oneColumn,
                        bytes -> {
                          if (bytes > 1_000_000) {
                            throw SteleException.refused("more than there is");
                          }
                        })))
        .hasMessageContaining("30 at once take");
  }

  @Test
  void minorCompactionsThatFailDoNotMakeMoreAndMoreMemtables() throws IOException {
    for (int i = 0; i < 50; i++) {
      fixture.put("r" + i, "f", "q", 1, "");
    }
    long ofOne = fixture.tablet.statistics().memtableBytes();
    fixture.tablet.minorCompact();
    fixture
        .fs
        .disk()
        .inject(
            FaultInjector.always(
                Operation.CREATE,
                path -> path.getName().endsWith(".sst"),
                new FaultInjector.Effect.Fail()));
    for (int i = 0; i < 50; i++) {
      fixture.put("r" + i, "f", "q", 2, "");
      assertThatThrownBy(fixture.tablet::minorCompact).isInstanceOf(IOException.class);
    }
    assertThat(fixture.tablet.statistics().memtableBytes()).isLessThan(2 * ofOne);
    fixture.fs.disk().heal();
    assertThat(fixture.tablet.minorCompact()).isTrue();
    assertThat(fixture.tablet.statistics().memtableBytes()).isLessThan(ofOne);
    assertThat(fixture.rows()).hasSize(50).allMatch(row -> row.contains("@2="));
  }

  @Test
  void aMajorCompactionOfMoreLargeBlocksThanThereIsMemoryForIsMadeInParts() throws IOException {
    String value = "v".repeat(600_000);
    fixture.largeBlocks = new MemoryRoom("large blocks", 12L * value.length());
    fixture.tablet.close();
    fixture.reopen(List.of());
    for (int i = 0; i < 25; i++) {
      fixture.put("r" + i % 3, "f", "q", i, value + i);
      fixture.tablet.minorCompact();
    }
    assertThat(fixture.manifest.record().files()).hasSize(25);
    assertThat(fixture.tablet.majorCompact()).isTrue();
    assertThat(fixture.manifest.record().files()).hasSize(1);
    assertThat(fixture.compactions.rewriting().compactions())
        .as("three in parts, and one of these")
        .isEqualTo(4);
    assertThat(fixture.largeBlocks.bytes()).isZero();
    assertThat(fixture.rows())
        .extracting(row -> row.substring(row.lastIndexOf('v') + 1))
        .containsExactly("24", "22", "23");
  }

  @Test
  void whatIsReplayedIsCountedAndWhatCannotBeOpenedIsNot() throws IOException {
    fill();
    List<LogRecord> records = new ArrayList<>(fixture.log.crash(0));
    fixture.tablet.close();
    fixture.reopen(records);
    assertThat(fixture.memory.bytes())
        .isEqualTo(fixture.tablet.statistics().memtableBytes())
        .isGreaterThan(10_000);
    fixture.tablet.close();
    records.remove(50);
    assertThatThrownBy(() -> fixture.reopen(records)).isInstanceOf(SteleException.class);
    assertThat(fixture.memory.bytes()).isZero();
  }

  @Test
  void aMemtableIsCountedAndReadableForAsLongAsSomebodyReadsIt() throws IOException {
    CountingAccount account = new CountingAccount();
    Memtable memtable = new Memtable(account);
    memtable.add(new OneCell(new byte[] {1}, 1, 1, 1, 0, CellType.PUT, new byte[100], 0, 100));
    CurrentState current =
        new CurrentState(TabletFixture.ID, new TabletState(memtable, List.of(), List.of(), 0, 0));
    memtable.release();
    Memtable empty = new Memtable(account);
    current.swap(now -> now.freeze(empty, 1, CompletableFuture.completedFuture(null)));
    empty.release();
    long bytes = account.bytes();
    assertThat(bytes).isPositive();

    TabletState read = current.acquire();
    current.swap(
        now -> now.minorCompacted(now.frozen(), new CompactionWriter.Output(List.of(), 0, 0)));
    assertThat(account.bytes()).isEqualTo(bytes);
    try (CellCursor cursor = read.frozen().get(0).memtable().cursor(1)) {
      assertThat(cursor.next()).isTrue();
    }
    read.release();
    assertThat(account.bytes()).isZero();
  }
}
