package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogFence;
import io.stele.log.LogKind;
import io.stele.log.LogOptions;
import io.stele.log.LogRecord;
import io.stele.log.RecordSource;
import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sstable.NoBlockCache;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;

/**
 * Several lives of one tablet on a disk that crashes: in each a client sends operations through a
 * real commit log until the process dies at a random file operation; the next server fences the
 * log, opens the tablet, and the client sends everything again that it has no answer to, under the
 * same ids.
 */
final class CrashRun {
  private static final Path ROOT = new Path("/stele");
  private static final TabletId ID = new TabletId(new TableId("t1"), "00000000000000aa");
  private static final TableSchema SCHEMA =
      TableSchema.of("crash", "a", "b").withBlockBytes(1 << 10);
  private static final Bytes COUNTER = Bytes.of("counter");
  private static final List<Column> STAMPED =
      List.of(Column.of("a", "1"), Column.of("a", "2"), Column.of("b", "1"), Column.of("b", "2"));

  /** An operation of the client. */
  private static final class Sent {
    final RowOperation operation;
    final OperationId id;
    final boolean answerLost;
    CompletableFuture<OperationResult> future = new CompletableFuture<>();

    Sent(RowOperation operation, OperationId id, boolean answerLost) {
      this.operation = operation;
      this.id = id;
      this.answerLost = answerLost;
    }

    boolean isAcknowledged() {
      return future.isDone() && !future.isCompletedExceptionally();
    }
  }

  private final Random random;
  private final CrashableDisk disk = new CrashableDisk();
  private final TestManifest manifest;
  private final Durability durability;
  private final PlainModel model = new PlainModel(SCHEMA);
  private final List<Sent> unanswered = new ArrayList<>();
  private Set<Path> logs = new LinkedHashSet<>();
  private final AtomicLong nowMicros = new AtomicLong(1_000_000);
  private long nextNumber = 1;
  private int lives;
  private long counted;
  private long operations;

  CrashRun(long seed) {
    random = new Random(seed);
    durability = random.nextBoolean() ? Durability.HFLUSH : Durability.HSYNC;
    manifest = new TestManifest(TabletSpec.empty(ID, 1, RowRange.ALL, SCHEMA));
  }

  /** Runs so many lives and returns how many operations the client sent. */
  long run(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      live();
    }
    return operations;
  }

  private void live() throws Exception {
    disk.heal();
    ServerId server = new ServerId("host", 1, ++lives);
    CrashableFileSystem fs = disk.mount();
    fs.mkdirs(ROOT);
    List<LogRecord> replay = recover(fs);
    Path directory = new Path(ROOT, "logs/" + server);
    LogDirectory.create(fs, directory);
    LogOptions options =
        LogOptions.DEFAULT
            .withSegmentBytes(2000 + random.nextInt(20_000))
            .withDurability(durability)
            .withRetries(2, Duration.ZERO);
    try (CommitLog log =
        CommitLog.open(fs, directory, server, LogKind.USER, options, failure -> {})) {
      logs.add(directory);
      manifest.reassigned();
      Tablet tablet =
          Tablet.open(
              manifest.record(),
              new TabletEnvironment(
                  fs,
                  ROOT,
                  NoBlockCache.INSTANCE,
                  MemoryAccount.NONE,
                  of(log),
                  edit -> commit(edit, directory),
                  () -> Instant.ofEpochSecond(0, nowMicros.get() * 1000),
                  CompactionPace.UNLIMITED,
                  TabletOptions.DEFAULT),
              replay);
      sendAgain(tablet, check(tablet));
      dieAt(1 + random.nextInt(random.nextBoolean() ? 60 : 600));
      work(tablet);
      tablet.close();
    }
  }

  /** What the tablet's record says has to be replayed. */
  private List<LogRecord> recover(CrashableFileSystem fs) throws IOException {
    List<LogRecord> records = new ArrayList<>();
    Set<Path> fenced = new LinkedHashSet<>();
    for (Path log : logs) {
      Path to = new Path(ROOT, "recovery/" + log.getName());
      LogFence fence = new LogFence(fs, System::nanoTime, duration -> {});
      fence.fence(new Path(ROOT, "logs/" + log.getName()), to);
      fenced.add(to);
      try (RecordSource source = LogDirectory.read(fs, to, LogKind.USER).only(ID)) {
        for (Optional<LogRecord> next = source.next(); next.isPresent(); next = source.next()) {
          records.add(next.get());
        }
      }
    }
    logs = fenced;
    return records;
  }

  private void commit(ManifestEdit edit, Path own) throws IOException {
    manifest.commit(edit);
    if (edit.coversReplay()) {
      logs.removeIf(log -> !log.equals(own));
    }
  }

  /** From the so-many-th file operation on the process is dead. */
  private void dieAt(int operation) {
    AtomicLong left = new AtomicLong(operation);
    boolean power = durability == Durability.HSYNC && random.nextBoolean();
    Random cut = new Random(random.nextLong());
    FaultInjector death =
        (asked, path) -> {
          if (left.decrementAndGet() == 0) {
            if (power) {
              disk.powerLoss(cut);
            } else {
              disk.crash(cut);
            }
          }
          return Optional.empty();
        };
    disk.inject(death);
  }

  private void work(Tablet tablet) throws Exception {
    while (tablet.failure().isEmpty()) {
      nowMicros.addAndGet(10);
      int dice = random.nextInt(100);
      try {
        if (dice < 90) {
          send(tablet, next());
        } else if (dice < 96) {
          tablet.minorCompact();
        } else if (dice < 98) {
          tablet.mergingCompact();
        } else if (dice < 99) {
          tablet.majorCompact();
        } else {
          tablet.read(ReadRequest.of(RowQuery.ALL));
        }
      } catch (IOException | SteleException e) {
        // Dying. The next operation that is sent finds that the log is gone.
        send(tablet, next());
        awaitAnswers();
      }
    }
    awaitAnswers();
  }

  private Sent next() {
    OperationId id = new OperationId(1, 1, nextNumber++);
    Bytes row = Bytes.of("row" + random.nextInt(6));
    Mutation.Builder stamp = Mutation.builder(row);
    Bytes value = Bytes.of("stamp " + id.number());
    STAMPED.forEach(column -> stamp.put(column.family(), column.qualifier(), value));
    RowOperation operation =
        switch (random.nextInt(6)) {
          case 0, 1 -> ReadModifyWrite.increment(COUNTER, "a", Bytes.of("n"), 1);
          case 2 -> CheckAndMutate.ifAny(new Filter.ValueRegex("stamp .*[02468]"), stamp.build());
          case 3 -> random.nextInt(4) == 0 ? Mutation.of(row).deleteRow() : stamp.build();
          default -> stamp.build();
        };
    operations++;
    return new Sent(operation, id, random.nextInt(3) == 0);
  }

  private void send(Tablet tablet, Sent sent) {
    sent.future =
        tablet.apply(
            new OperationRequest(
                sent.operation, Optional.of(sent.id), firstIncomplete(sent), durability));
    unanswered.add(sent);
  }

  private long firstIncomplete(Sent sent) {
    return unanswered.stream()
        .filter(one -> one.answerLost || !one.isAcknowledged())
        .mapToLong(one -> one.id.number())
        .min()
        .orElse(sent.id.number());
  }

  private void awaitAnswers() throws Exception {
    for (Sent sent : unanswered) {
      try {
        sent.future.handle((result, failure) -> true).get(20, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        throw new AssertionError("no answer to " + sent.operation, e);
      }
    }
  }

  /**
   * The tablet holds what a prefix of the operations sent has made of the table, and all that were
   * acknowledged are in it. Returns how many that are.
   */
  private int check(Tablet tablet) throws IOException {
    int acknowledged = 0;
    for (int i = 0; i < unanswered.size(); i++) {
      acknowledged = unanswered.get(i).isAcknowledged() ? i + 1 : acknowledged;
    }
    int survived = (int) (tablet.readPoint() - counted);
    assertThat(survived).isBetween(acknowledged, unanswered.size());
    counted = tablet.readPoint();
    unanswered.subList(0, survived).forEach(sent -> apply(sent.operation));
    List<Row> expected = new ArrayList<>();
    model.visible(nowMicros.get()).forEach((row, cells) -> expected.add(new Row(row, cells)));
    List<Row> found = tablet.read(ReadRequest.of(RowQuery.ALL)).rows();
    assertThat(withoutTimestamps(found)).isEqualTo(withoutTimestamps(expected));
    return survived;
  }

  /**
   * The client tries again what it has no answer to: what is there already is not done again, the
   * rest is done once.
   */
  private void sendAgain(Tablet tablet, int survived) throws Exception {
    List<Sent> again = new ArrayList<>(unanswered);
    unanswered.clear();
    for (int i = 0; i < again.size(); i++) {
      Sent sent = again.get(i);
      if (i < survived && sent.isAcknowledged() && !sent.answerLost) {
        continue;
      }
      OperationRequest request =
          new OperationRequest(
              sent.operation, Optional.of(sent.id), again.get(0).id.number(), durability);
      nowMicros.addAndGet(10);
      OperationResult result = tablet.apply(request).get(20, TimeUnit.SECONDS);
      if (sent.isAcknowledged()) {
        assertThat(result).isEqualTo(sent.future.join());
      }
      assertThat(tablet.apply(request).get(20, TimeUnit.SECONDS)).isEqualTo(result);
      if (i >= survived) {
        sent.future = CompletableFuture.completedFuture(result);
        unanswered.add(sent);
      }
    }
    check(tablet);
    unanswered.clear();
  }

  private void apply(RowOperation operation) {
    if (operation instanceof Mutation mutation) {
      model.apply(stamped(mutation));
    } else if (operation instanceof CheckAndMutate check) {
      List<Cell> cells = model.row(check.row(), nowMicros.get());
      boolean holds =
          !cells.isEmpty() && !RowFilter.of(check.predicate()).apply(check.row(), cells).isEmpty();
      model.apply(stamped(holds ? check.ifTrue() : check.ifFalse()));
    } else if (operation instanceof ReadModifyWrite increment) {
      long before =
          model.row(increment.row(), nowMicros.get()).stream()
              .findFirst()
              .map(cell -> cell.value().toLong())
              .orElse(0L);
      model.apply(
          stamped(Mutation.of(increment.row()).put("a", Bytes.of("n"), Bytes.ofLong(before + 1))));
    }
  }

  private long modelTime = 1;

  private Mutation stamped(Mutation mutation) {
    modelTime++;
    Mutation.Builder stamped = Mutation.builder(mutation.row());
    mutation
        .edits()
        .forEach(
            edit ->
                stamped.add(
                    edit instanceof Edit.Put put
                        ? new Edit.Put(put.family(), put.qualifier(), modelTime, put.value())
                        : edit));
    return stamped.build();
  }

  private static List<Row> withoutTimestamps(List<Row> rows) {
    return rows.stream()
        .map(
            row ->
                new Row(
                    row.key(),
                    row.cells().stream()
                        .map(cell -> new Cell(cell.family(), cell.qualifier(), 0, cell.value()))
                        .toList()))
        .toList();
  }

  private static TabletLog of(CommitLog log) {
    return new TabletLog() {
      @Override
      public CompletableFuture<Void> append(LogRecord record, Durability durability) {
        return log.append(record, durability);
      }

      @Override
      public void release(long sequence) {
        log.release(ID, sequence);
      }
    };
  }
}
