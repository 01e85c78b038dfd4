package io.stele.tablet;

import io.stele.log.LogRecord;
import io.stele.memtable.CountingAccount;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.ServerClock;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;

/** One tablet with its surroundings in memory. */
final class TabletFixture {
  static final Path ROOT = new Path("/stele");
  static final TabletId ID = new TabletId(new TableId("t1"), "00000000000000aa");

  final CrashableFileSystem fs = CrashableFileSystem.create();
  final ManualLog log = new ManualLog();
  final CountingAccount memory = new CountingAccount();
  final TestManifest manifest;
  TabletOptions options = UntimedPages.DEFAULT;
  CompactionPace pace = CompactionPace.UNLIMITED;
  OperationBudget operations = OperationBudget.unlimited();
  long nowMicros = 1_000_000;
  boolean trusted = true;
  Duration passed = Duration.ZERO;
  Runnable onTime = () -> {}; // Called when the tablet asks for the time.
  Tablet tablet;

  TabletFixture(TableSchema schema) throws IOException {
    this(schema, RowRange.ALL);
  }

  TabletFixture(TableSchema schema, RowRange extent) throws IOException {
    manifest = new TestManifest(TabletSpec.empty(ID, 1, extent, schema));
    reopen(List.of());
  }

  /** Opens the tablet as its record has it, under the next epoch. */
  void reopen(List<LogRecord> replay) throws IOException {
    tablet = Tablet.open(manifest.reassigned(), environment(), replay);
  }

  MemoryRoom largeBlocks = MemoryRoom.unlimited();
  final CompactionCounters compactions = new CompactionCounters();

  /** The fixture's wall clock. */
  private final class Clock implements ServerClock {
    @Override
    public Instant instant() {
      onTime.run();
      return Instant.ofEpochSecond(0, nowMicros * 1000);
    }

    @Override
    public boolean isTrusted() {
      return trusted;
    }
  }

  /** The real one, but that more time has {@code passed}. */
  ProcessRuntime runtime() {
    return new ForwardingRuntime() {
      @Override
      public long nanoTime() {
        return super.nanoTime() + passed.toNanos();
      }

      @Override
      public InstantSource wallClock() {
        return new Clock();
      }
    };
  }

  TabletEnvironment environment() {
    return new TabletEnvironment(
        runtime(),
        new Clock(),
        fs,
        ROOT,
        new OpenSSTables(runtime(), fs, NoBlockCache.INSTANCE),
        memory,
        operations,
        log,
        manifest,
        pace,
        options,
        largeBlocks,
        compactions);
  }

  CompletableFuture<OperationResult> apply(RowOperation operation) {
    return tablet.apply(OperationRequest.of(operation));
  }

  /** A read that claims its memory from {@code memory}. */
  static ReadRequest claiming(RowQuery query, MemoryClaim memory) {
    return new ReadRequest(
        query,
        OptionalLong.empty(),
        true,
        0,
        false,
        RowParts.WHOLE,
        memory,
        false,
        Optional.empty());
  }

  /** Puts a value at a timestamp, and waits. */
  void put(String row, String family, String qualifier, long timestamp, String value) {
    apply(Mutation.of(row).put(family, Bytes.of(qualifier), timestamp, Bytes.of(value))).join();
  }

  /** The rows as text: {@code row family:qualifier@timestamp=value ...}. */
  List<String> rows() throws IOException {
    return tablet.read(ReadRequest.of(RowQuery.ALL)).rows().stream()
        .map(TabletFixture::text)
        .toList();
  }

  static String text(Row row) {
    StringBuilder text = new StringBuilder(row.key().toString());
    for (Cell cell : row.cells()) {
      text.append(
          " "
              + cell.family()
              + ":"
              + cell.qualifier()
              + "@"
              + cell.timestampMicros()
              + "="
              + cell.value());
    }
    return text.toString();
  }
}
