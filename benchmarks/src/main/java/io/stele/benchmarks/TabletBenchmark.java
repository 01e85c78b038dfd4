package io.stele.benchmarks;

import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.LogRecord;
import io.stele.log.RecordSource;
import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.sstable.OpenSSTables;
import io.stele.tablet.CompactionCounters;
import io.stele.tablet.CompactionPace;
import io.stele.tablet.LogNeed;
import io.stele.tablet.OperationBudget;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.ReadResult;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletEnvironment;
import io.stele.tablet.TabletLog;
import io.stele.tablet.TabletOptions;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a tablet takes for a row that is in the cache, for an operation up to the log's queue, and
 * for one through the commit log with many others in flight.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 6, time = 1)
public class TabletBenchmark {
  private static final TabletId TABLET = new TabletId(new TableId("t1"), "00000000000000aa");
  private static final ServerId SERVER = new ServerId("localhost", 1, 1);
  private static final String FAMILY = "family";
  private static final Bytes QUALIFIER = Bytes.of("qualifier");
  private static final int ROWS = 10_000;
  private static final int IN_FLIGHT = 64;

  /** A log for which everything is durable at once. */
  private static final TabletLog NO_LOG =
      new TabletLog() {
        @Override
        public CompletableFuture<Void> append(LogRecord record, LogNeed need) {
          return CompletableFuture.completedFuture(null);
        }

        @Override
        public void release(long sequence) {}
      };

  private final SplittableRandom random = new SplittableRandom(5);
  private final Bytes value = Bytes.wrap(new byte[100], 0, 100);
  private BenchmarkFiles files;
  private CommitLog log;
  private Tablet stored;
  private Tablet unlogged;
  private Tablet logged;

  /** A tablet with its rows in an SSTable, and the commit log. */
  @Setup
  public void open() throws IOException {
    files = BenchmarkFiles.open("local");
    stored = tablet(NO_LOG);
    for (int i = 0; i < ROWS; i++) {
      stored.apply(put(row(i)));
    }
    stored.minorCompact();
    Path logs = new Path(files.root(), "logs");
    LogDirectory.create(files.fs(), logs);
    log = open(logs);
  }

  private CommitLog open(Path logs) throws IOException {
    return CommitLog.open(
        SystemRuntime.INSTANCE,
        new LogLocation(files.fs(), logs, SERVER, TabletKind.USER),
        LogOptions.DEFAULT,
        failure -> {});
  }

  /** Empty tablets, so that memory suffices. */
  @Setup(Level.Iteration)
  public void empty() throws IOException {
    unlogged = tablet(NO_LOG);
    logged = tablet(TabletLog.of(log, TABLET));
  }

  /** Ends what is open. */
  @TearDown
  public void close() throws IOException {
    log.close();
    stored.close();
    files.close();
  }

  private Tablet tablet(TabletLog tabletLog) throws IOException {
    TableSchema schema =
        TableSchema.of(
            "t",
            List.of(new ColumnFamily(FAMILY, GcPolicy.keepAll())),
            LocalityGroup.of(LocalityGroup.DEFAULT_NAME));
    return Tablet.open(
        TabletSpec.empty(TABLET, 1, RowRange.ALL, schema),
        new TabletEnvironment(
            SystemRuntime.INSTANCE,
            ServerClock.trusting(SystemRuntime.INSTANCE.wallClock()),
            files.fs(),
            files.root(),
            new OpenSSTables(
                SystemRuntime.INSTANCE, files.fs(), new CaffeineBlockCache(1L << 30, 0)),
            MemoryAccount.NONE,
            OperationBudget.unlimited(),
            tabletLog,
            edit -> {},
            CompactionPace.UNLIMITED,
            TabletOptions.DEFAULT,
            MemoryRoom.unlimited(),
            new CompactionCounters()),
        RecordSource.of(List.of()));
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%09d", number));
  }

  private OperationRequest put(Bytes row) {
    return OperationRequest.of(Mutation.of(row.toString()).put(FAMILY, QUALIFIER, value));
  }

  /** A row that is in the cache. */
  @Benchmark
  public ReadResult cachedRead() throws IOException {
    return stored.read(ReadRequest.of(RowQuery.row(row(random.nextInt(ROWS)))));
  }

  /** An operation up to the log's queue, and its publishing. */
  @Benchmark
  public Object queuedWrite() {
    return unlogged.apply(put(row(random.nextInt(ROWS))));
  }

  /** An operation through the commit log, on the local file system. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public void loggedWrite() {
    List<CompletableFuture<?>> inFlight = new ArrayList<>(IN_FLIGHT);
    for (int i = 0; i < IN_FLIGHT; i++) {
      inFlight.add(logged.apply(put(row(random.nextInt(ROWS)))));
    }
    inFlight.forEach(CompletableFuture::join);
  }
}
