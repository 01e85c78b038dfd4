package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.SlowDisk.Hang;
import io.stele.model.TabletKind;
import io.stele.runtime.Task;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.FaultInjector.Effect;
import io.stele.sim.Operation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A log on a disk whose calls hang or fail as a test wants it, and a clock that it sets. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT) // They wait for what the log looks at now and then.
abstract class SlowLogFixture {
  static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  static final Path RECOVERY = new Path("crash:/recovery/" + SERVER);
  static final LogOptions OPTIONS = LogOptions.DEFAULT.withRetries(5, Duration.ofMillis(1));
  static final Duration SLOW = SlowFlushes.SLOW_MIN.plusMillis(1);

  final CrashableFileSystem fs = CrashableFileSystem.create();
  final SlowDisk.Clock clock = new SlowDisk.Clock();
  final CompletableFuture<IOException> failure = new CompletableFuture<>();
  final List<Hang> hangs = new ArrayList<>();
  CommitLog log;

  @BeforeEach
  void open() throws Exception {
    open(OPTIONS);
  }

  void open(LogOptions options) throws Exception {
    fs.delete(DIRECTORY, true);
    LogDirectory.create(fs, DIRECTORY);
    log = CommitLog.open(clock, location(), options, failure::complete);
    log.awaitStandby();
  }

  @AfterEach
  void close() throws Exception {
    hangs.forEach(Hang::succeed);
    log.close();
    for (Task task : log.tasks()) {
      task.ended().join(); // None is left behind.
    }
  }

  LogLocation location() {
    return new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER);
  }

  static void spin() {
    assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // By JUnit's time limit.
    Thread.onSpinWait();
  }

  Hang hang(Operation operation, int segment) {
    return inject(Hang.of(operation, "user-" + segment + ".log"));
  }

  Hang inject(Hang hang) {
    hangs.add(hang);
    fs.disk().inject(hang);
    return hang;
  }

  void fail(Operation operation, int segment) {
    fs.disk()
        .inject(
            FaultInjector.at(
                operation,
                path -> path.getName().equals("user-" + segment + ".log"),
                1,
                new Effect.Fail()));
  }

  void append(long sequence) throws Exception {
    log.append(record(TABLET, sequence, 10)).get();
  }

  List<Long> sequences(int segment) throws IOException {
    List<Long> sequences = new ArrayList<>();
    Path file = LogDirectory.segment(DIRECTORY, TabletKind.USER, segment);
    try (LogReader reader = LogReader.open(fs, file)) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        sequences.add(next.get().sequence());
      }
    }
    return sequences;
  }

  static List<Long> replayedSequences(CrashableFileSystem fs, Path directory) throws IOException {
    return replayed(fs, directory).stream().map(LogRecord::sequence).toList();
  }

  List<Integer> segments() throws IOException {
    return LogDirectory.segments(fs, DIRECTORY).stream()
        .map(segment -> (int) segment.number())
        .toList();
  }

  /** Record 1 is acknowledged, and the flush of record 2 hangs until it is taken over. */
  Hang switchFromFirst(List<Long> order) throws Exception {
    append(1);
    Hang hang = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10)).thenRun(() -> order.add(2L));
    hang.await();
    CompletableFuture<Void> third = log.append(record(TABLET, 3, 10)).thenRun(() -> order.add(3L));
    assertThat(second).isNotDone();
    clock.pass(SLOW);
    second.get();
    third.get();
    return hang;
  }

  Hang switchFromFirst() throws Exception {
    return switchFromFirst(Collections.synchronizedList(new ArrayList<>()));
  }

  /**
   * Record 1 is acknowledged in segment 1, whose next flush hangs; 2 fails, so record 2 is in 3.
   */
  Hang switchPastSecond() throws Exception {
    append(1);
    fail(Operation.FLUSH, 2);
    Hang hang = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10));
    hang.await();
    clock.pass(SLOW);
    second.get();
    assertThat(sequences(3)).containsExactly(2L);
    return hang;
  }
}
