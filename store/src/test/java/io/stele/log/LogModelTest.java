package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.Durability;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random records, failures, streams that hang so that the log switches its writers, and a crash:
 * what tablets replay afterwards is all that they still need of the first records appended, those
 * that were acknowledged among them, and nothing else.
 */
@Timeout(120)
class LogModelTest {
  private static final Path LOGS = new Path("crash:/logs/" + LogRecords.SERVER);
  private static final Path RECOVERY = new Path("crash:/recovery/" + LogRecords.SERVER);
  private static final int TABLETS = 5;

  /** How the writing process ends. */
  private enum End {
    /** All processes die. */
    CRASH,
    POWER_LOSS,
    /** It dies alone, and is seen to: its segments stay open for a while. */
    KILL;

    void befall(CrashableDisk disk, CrashableFileSystem process, Random random) {
      switch (this) {
        case CRASH -> disk.crash(random);
        case POWER_LOSS -> disk.powerLoss(random);
        case KILL -> disk.kill(process, random);
      }
    }
  }

  /** How often a hanging stream is looked at before it is let go. */
  private static final int LOOKS = 100_000;

  static LongStream seeds() {
    return Seeds.of(60);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyAcknowledgedRecordSurvivesACrashInOrderAndNoneIsTorn(long seed) throws Exception {
    Random random = new Random(seed);
    CrashableDisk disk = new CrashableDisk();
    CrashableFileSystem fs = disk.mount();
    End ends = End.values()[random.nextInt(End.values().length)];
    LogDirectory.create(fs, LOGS);
    CompletableFuture<IOException> failure = new CompletableFuture<>();
    SlowDisk.Clock clock = new SlowDisk.Clock();
    CommitLog log =
        CommitLog.open(
            clock,
            new LogLocation(fs, LOGS, LogRecords.SERVER, TabletKind.USER),
            LogOptions.DEFAULT
                .withSegmentBytes(1000 + random.nextInt(100_000))
                .withDurability(ends == End.POWER_LOSS ? Durability.HSYNC : Durability.HFLUSH)
                .withRetries(4, Duration.ofNanos(1000)),
            failure::complete);
    double failures = random.nextInt(3) == 0 ? 0 : random.nextDouble() / 10;
    SlowDisk.RandomHangs hangs =
        new SlowDisk.RandomHangs(
            new Random(seed + 2), random.nextInt(3) == 0 ? 0 : random.nextDouble() / 5);
    disk.inject(hangs);
    disk.inject(FaultInjector.random(new Random(seed + 1), failures, path -> true));

    List<LogRecord> appended = new ArrayList<>();
    List<CompletableFuture<Void>> outcomes = new ArrayList<>();
    Map<TabletId, Long> sequences = new HashMap<>();
    Map<TabletId, Long> released = new HashMap<>();
    int steps = random.nextInt(600);
    for (int step = 0; step < steps && !failure.isDone(); step++) {
      TabletId tablet = LogRecords.tablet(random.nextInt(TABLETS));
      switch (random.nextInt(14)) {
        case 0 -> awaitAny(outcomes, random, clock, hangs);
        case 1 -> {
          long sequence = sequences.getOrDefault(tablet, 0L);
          long upTo = Math.max(0, sequence - random.nextInt(10));
          released.merge(tablet, upTo, Math::max);
          log.release(tablet, upTo);
        }
        case 2 -> log.roll();
        case 3 -> clock.pass(Duration.ofMillis(random.nextInt(2000)));
        case 4 -> hangs.letGo();
        default -> {
          long sequence = sequences.merge(tablet, 1L, Long::sum);
          LogRecord record = LogRecords.random(tablet, sequence, random);
          appended.add(record);
          outcomes.add(log.append(record));
        }
      }
    }
    ends.befall(disk, fs, random);
    hangs.letGoForEver();
    log.close();
    disk.heal();

    CrashableFileSystem later = disk.mount();
    Map<TabletId, List<LogRecord>> replayed =
        fenceAndReplay(seed, later, ends == End.KILL, released);
    disk.powerLoss(random);
    assertThat(replay(disk.mount(), later.makeQualified(RECOVERY), released))
        .as("seed %d: what was replayed once survives a loss of power", seed)
        .isEqualTo(replayed);
    assertReplayed(seed, replayed, appended, acknowledged(outcomes), released);
    assertThatThrownBy(() -> log.append(LogRecords.record(LogRecords.TABLET, 1, 1)).get())
        .as("seed %d: a log that ended takes nothing", seed)
        .isNotNull();
  }

  /** What tablets replay, before the file system has closed all segments and after. */
  private static Map<TabletId, List<LogRecord>> fenceAndReplay(
      long seed, CrashableFileSystem fs, boolean ended, Map<TabletId, Long> released)
      throws IOException {
    LogFence fence = WholeFence.of(SystemRuntime.INSTANCE, fs);
    Path fenced = fence.rename(LOGS, RECOVERY).orElseThrow();
    fence.close(fenced, ended ? LogOwner.ENDED : LogOwner.UNKNOWN, () -> {});
    Map<TabletId, List<LogRecord>> replayed = replay(fs, fenced, released);
    closeAll(fs, fenced);
    assertThat(replay(fs, fenced, released))
        .as("seed %d: when the file system has closed all segments", seed)
        .isEqualTo(replayed);
    return replayed;
  }

  private static Map<TabletId, List<LogRecord>> replay(
      CrashableFileSystem fs, Path fenced, Map<TabletId, Long> released) throws IOException {
    Map<TabletId, List<LogRecord>> replayed = new HashMap<>();
    for (int i = 0; i < TABLETS; i++) {
      TabletId tablet = LogRecords.tablet(i);
      RecordSource records =
          WholeLog.only(tablet, WholeLog.readFenced(fs, fenced, TabletKind.USER));
      long above = released.getOrDefault(tablet, 0L);
      replayed.put(tablet, LogRecords.replayed(records, tablet, above));
    }
    return replayed;
  }

  private static void closeAll(CrashableFileSystem fs, Path fenced) throws IOException {
    for (Segment segment : LogDirectory.segments(fs, fenced)) {
      boolean closed = fs.recoverLease(segment.path());
      while (!closed) {
        closed = fs.isFileClosed(segment.path());
      }
    }
  }

  /**
   * Replay gives the first ones, all that were acknowledged among them, without what was released.
   */
  private static void assertReplayed(
      long seed,
      Map<TabletId, List<LogRecord>> byTablet,
      List<LogRecord> appended,
      int acknowledged,
      Map<TabletId, Long> released) {
    Set<LogRecord> replayed = new HashSet<>();
    for (List<LogRecord> records : byTablet.values()) {
      assertThat(records)
          .as("seed %d: of a tablet, in order", seed)
          .isSortedAccordingTo(Comparator.comparingLong(LogRecord::sequence));
      replayed.addAll(records);
    }
    int end = acknowledged;
    for (int i = end; i < appended.size(); i++) {
      end = replayed.contains(appended.get(i)) ? i + 1 : end;
    }
    assertThat(replayed)
        .as("seed %d: the first %d of %d that were appended", seed, end, appended.size())
        .isEqualTo(needed(appended.subList(0, end), released));
  }

  /** How many were acknowledged; asserts that they are the first ones. */
  private static int acknowledged(List<CompletableFuture<Void>> outcomes) {
    int count = 0;
    for (CompletableFuture<Void> outcome : outcomes) {
      assertThat(outcome).isDone();
      count += outcome.isCompletedExceptionally() ? 0 : 1;
    }
    assertThat(outcomes.subList(0, count)).noneMatch(CompletableFuture::isCompletedExceptionally);
    return count;
  }

  private static Set<LogRecord> needed(List<LogRecord> records, Map<TabletId, Long> released) {
    return records.stream()
        .filter(record -> record.sequence() > released.getOrDefault(record.tablet(), 0L))
        .collect(Collectors.toSet());
  }

  /** Waits for one, while time passes and hanging streams are let go late. */
  private static void awaitAny(
      List<CompletableFuture<Void>> outcomes,
      Random random,
      SlowDisk.Clock clock,
      SlowDisk.RandomHangs hangs) {
    if (!outcomes.isEmpty()) {
      CompletableFuture<Void> one = outcomes.get(random.nextInt(outcomes.size()));
      boolean waited = false;
      for (int i = 1; !one.isDone(); i++) {
        if (!waited && hangs.any()) {
          clock.pass(SlowFlushes.SWITCH_INTERVAL);
          waited = true;
        }
        if (i % LOOKS == 0) {
          hangs.letGo();
          waited = false;
        }
        assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // By JUnit's time limit.
        Thread.onSpinWait();
      }
    }
  }
}
