package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogKind;
import io.stele.log.LogOptions;
import io.stele.log.LogRecord;
import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Writers, readers and compactions at the same time, on a real commit log. */
class TabletConcurrencyTest {
  private static final Path ROOT = new Path("/stele");
  private static final TabletId ID = new TabletId(new TableId("t1"), "00000000000000aa");
  private static final TableSchema SCHEMA =
      TableSchema.of("busy", "a", "b").withBlockBytes(1 << 10);
  private static final int ROWS = 40;
  private static final int WRITERS = 3;
  private static final int WRITES = 1500;
  private static final Bytes COUNTER = Bytes.of("counter");

  @Test
  void everyRowReadIsOneMutationWholeAndReadPointsNeverGoBack() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    ServerId server = new ServerId("host", 1, 1);
    Path directory = new Path(ROOT, "logs/" + server);
    LogDirectory.create(fs, directory);
    AtomicBoolean writing = new AtomicBoolean(true);
    AtomicInteger writersLeft = new AtomicInteger(WRITERS);
    ExecutorService threads = Executors.newCachedThreadPool();
    try (CommitLog log =
            CommitLog.open(
                fs,
                directory,
                server,
                LogKind.USER,
                LogOptions.DEFAULT.withSegmentBytes(20_000),
                failure -> {});
        Tablet tablet = open(fs, log)) {
      List<Future<Boolean>> all = new ArrayList<>();
      for (int writer = 0; writer < WRITERS; writer++) {
        int number = writer;
        all.add(
            threads.submit(
                () -> {
                  try {
                    write(tablet, number);
                  } finally {
                    writing.compareAndSet(writersLeft.decrementAndGet() == 0, false);
                  }
                  return true;
                }));
      }
      all.add(threads.submit(reader(tablet, writing, 1)));
      all.add(threads.submit(reader(tablet, writing, 2)));
      all.add(threads.submit(compactor(writing, tablet::minorCompact)));
      all.add(
          threads.submit(
              compactor(writing, () -> tablet.mergingCompact() || tablet.majorCompact())));
      for (Future<Boolean> one : all) {
        assertThat(one.get(120, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(tablet.failure()).isEmpty();
      assertThat(
              tablet
                  .read(ReadRequest.of(RowQuery.row(COUNTER)))
                  .rows()
                  .get(0)
                  .cells()
                  .get(0)
                  .value())
          .isEqualTo(Bytes.ofLong((long) WRITERS * (WRITES / 10)));
    } finally {
      threads.shutdownNow();
    }
  }

  private static Tablet open(CrashableFileSystem fs, CommitLog log) throws Exception {
    TabletSpec spec = TabletSpec.empty(ID, 1, RowRange.ALL, SCHEMA);
    TabletLog seam =
        new TabletLog() {
          @Override
          public CompletableFuture<Void> append(LogRecord record, Durability durability) {
            return log.append(record, durability);
          }

          @Override
          public void release(long sequence) {
            log.release(ID, sequence);
          }
        };
    return Tablet.open(
        spec,
        new TabletEnvironment(
            fs,
            ROOT,
            NoBlockCache.INSTANCE,
            MemoryAccount.NONE,
            seam,
            new TestManifest(spec),
            InstantSource.system(),
            CompactionPace.UNLIMITED,
            TabletOptions.DEFAULT),
        List.of());
  }

  private static void write(Tablet tablet, int writer) throws Exception {
    Random random = new Random(writer);
    List<CompletableFuture<OperationResult>> inFlight = new ArrayList<>();
    for (int i = 0; i < WRITES; i++) {
      if (i % 10 == 0) {
        inFlight.add(
            tablet.apply(
                OperationRequest.of(ReadModifyWrite.increment(COUNTER, "a", Bytes.EMPTY, 1))));
        continue;
      }
      String stamp = writer + "-" + i;
      Mutation mutation = Mutation.of("row" + random.nextInt(ROWS));
      if (random.nextInt(20) == 0) {
        mutation = mutation.deleteRow();
      }
      for (String qualifier : List.of("1", "2", "3")) {
        mutation = mutation.put("a", qualifier, stamp).put("b", qualifier, stamp);
      }
      inFlight.add(tablet.apply(OperationRequest.of(mutation)));
      if (inFlight.size() >= 20) {
        for (CompletableFuture<OperationResult> one : inFlight) {
          one.get(60, TimeUnit.SECONDS);
        }
        inFlight.clear();
      }
    }
    for (CompletableFuture<OperationResult> one : inFlight) {
      one.get(60, TimeUnit.SECONDS);
    }
  }

  private static Callable<Boolean> reader(Tablet tablet, AtomicBoolean writing, long seed) {
    return () -> {
      Random random = new Random(seed);
      long lastReadPoint = 0;
      while (writing.get()) {
        RowQuery query =
            random.nextBoolean() ? RowQuery.ALL : RowQuery.row("row" + random.nextInt(ROWS));
        ReadResult result = tablet.read(ReadRequest.of(query));
        assertThat(result.readPoint()).isGreaterThanOrEqualTo(lastReadPoint);
        lastReadPoint = result.readPoint();
        for (Row row : result.rows()) {
          if (!row.key().equals(COUNTER)) {
            Set<Bytes> stamps = row.cells().stream().map(Cell::value).collect(Collectors.toSet());
            assertThat(stamps).as(() -> "torn: " + row).hasSize(1);
            assertThat(row.cells()).as(() -> "torn: " + row).hasSize(6);
          }
        }
        assertThat(tablet.readPoint()).isGreaterThanOrEqualTo(lastReadPoint);
        assertThat(tablet.oldestReadablePoint()).isLessThanOrEqualTo(tablet.readPoint());
      }
      return true;
    };
  }

  private static Callable<Boolean> compactor(AtomicBoolean writing, Callable<Boolean> compaction) {
    return () -> {
      while (writing.get()) {
        if (!compaction.call()) {
          Thread.onSpinWait();
        }
      }
      return true;
    };
  }
}
