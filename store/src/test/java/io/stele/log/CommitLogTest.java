package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.Durability;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.FaultInjector.Effect;
import io.stele.sim.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CommitLogTest extends LogTestCase {
  /** Returns when so many segments were created. */
  private static void awaitSegments(CommitLog log, int count) {
    await(() -> log.statistics().segments() >= count);
  }

  /** The next flush counts {@code flushing} down and waits for {@code goOn}. */
  private void holdNextFlush(CountDownLatch flushing, CountDownLatch goOn) {
    fs.disk()
        .inject(
            FaultInjector.at(
                Operation.FLUSH,
                path -> true,
                1,
                new Effect.Delay(
                    () -> {
                      flushing.countDown();
                      await(goOn);
                    })));
  }

  private RecordSource read() throws IOException {
    return WholeLog.read(fs, DIRECTORY, TabletKind.USER);
  }

  @Test
  void whatIsAcknowledgedCanBeReadBack() throws Exception {
    List<LogRecord> records =
        LongStream.range(0, 100).mapToObj(i -> record(TABLET, i, (int) i * 10)).toList();
    try (CommitLog log = open(OPTIONS)) {
      for (LogRecord record : records) {
        log.append(record).get();
      }
    }
    assertThat(all(read())).isEqualTo(records);
  }

  @Test
  void recordsOfTwoKindsAndOtherTabletsAreKeptApart() throws Exception {
    try (CommitLog user = open(OPTIONS);
        CommitLog meta = open(TabletKind.SYSTEM, OPTIONS)) {
      user.append(record(tablet(1), 1, 10)).get();
      meta.append(record(tablet(9), 1, 10)).get();
      user.append(record(tablet(2), 1, 10)).get();
    }
    assertThat(all(WholeLog.only(tablet(2), read()))).containsExactly(record(tablet(2), 1, 10));
    assertThat(all(WholeLog.read(fs, DIRECTORY, TabletKind.SYSTEM)))
        .containsExactly(record(tablet(9), 1, 10));
  }

  /** Otherwise slow flushes would no longer be seen, and a call that hangs would hang for ever. */
  @Test
  void aWatchdogThatFailsEndsTheLog() throws Exception {
    ProcessRuntime runtime =
        new ForwardingRuntime() {
          @Override
          public long nanoTime() {
            if (Thread.currentThread().getName().endsWith("-watch")) {
              throw new OutOfMemoryError("as if");
            }
            return super.nanoTime();
          }
        };
    CompletableFuture<IOException> failed = new CompletableFuture<>();
    try (CommitLog log =
        CommitLog.open(
            runtime,
            new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER),
            OPTIONS,
            failed::complete)) {
      for (long sequence = 1; !failed.isDone(); sequence++) { // It looks while a writer is busy.
        log.append(record(TABLET, sequence, 10)).handle((done, failure) -> done).get();
      }
      assertThat(failed.get()).hasMessageContaining("watchdog").hasMessageContaining("as if");
    }
  }

  @Test
  void oneFlushServesAllWhoWait() throws Exception {
    CountDownLatch flushing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (CommitLog log = open(OPTIONS)) {
      holdNextFlush(flushing, goOn);
      List<CompletableFuture<Void>> acknowledged = new ArrayList<>();
      acknowledged.add(log.append(record(TABLET, 0, 10)));
      flushing.await();
      for (int i = 1; i <= 50; i++) {
        acknowledged.add(log.append(record(TABLET, i, 10)));
      }
      assertThat(acknowledged).noneMatch(CompletableFuture::isDone);
      goOn.countDown();
      CompletableFuture.allOf(acknowledged.toArray(CompletableFuture[]::new)).get();
      assertThat(log.statistics().flushes()).isEqualTo(2);
      assertThat(log.statistics().records()).isEqualTo(51);
    }
  }

  @Test
  void recordsAreWrittenWithTheFirstThatNoneFollows() throws Exception {
    try (CommitLog log = open(OPTIONS)) {
      List<CompletableFuture<Void>> acknowledged = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        acknowledged.add(log.append(record(TABLET, i, 10), Durability.HFLUSH, true));
      }
      acknowledged.add(log.append(record(TABLET, 50, 10)));
      CompletableFuture.allOf(acknowledged.toArray(CompletableFuture[]::new)).get();
      assertThat(log.statistics().flushes()).isEqualTo(1);
      assertThat(log.statistics().records()).isEqualTo(51);
    }
  }

  @Test
  void recordsAreWrittenWhenTheirCallerSaysSo() throws Exception {
    try (CommitLog log = open(OPTIONS)) {
      log.flushSoon(); // There is nothing to write yet.
      CompletableFuture<Void> first = log.append(record(TABLET, 0, 10), Durability.HFLUSH, true);
      CompletableFuture<Void> second = log.append(record(TABLET, 1, 10), Durability.HFLUSH, true);
      log.flushSoon();
      CompletableFuture.allOf(first, second).get();
      assertThat(log.statistics().flushes()).isEqualTo(1);
    }
  }

  @Test
  void aFullBatchIsWrittenThoughMoreFollow() throws Exception {
    LogOptions small =
        new LogOptions(1 << 20, 1 << 20, 1000, Durability.HFLUSH, 1, 6, OPTIONS.retryPause());
    try (CommitLog log = open(small)) {
      CompletableFuture<Void> first = log.append(record(TABLET, 0, 500), Durability.HFLUSH, true);
      log.append(record(TABLET, 1, 500), Durability.HFLUSH, true);
      first.get();
    }
  }

  @Test
  void aLogThatIsClosedWritesRecordsThatMoreWereToFollow() throws Exception {
    CompletableFuture<Void> last;
    try (CommitLog log = open(OPTIONS)) {
      last = log.append(record(TABLET, 0, 10), Durability.HFLUSH, true);
    }
    last.get();
    assertThat(all(read())).containsExactly(record(TABLET, 0, 10));
  }

  @Test
  void sixteenThreadsShareFlushesAndAreAcknowledgedInOrder() throws Exception {
    int threads = 16;
    int each = 200;
    List<Long> order = Collections.synchronizedList(new ArrayList<>());
    fs.disk()
        .inject(
            FaultInjector.always(Operation.FLUSH, path -> true, new Effect.Delay(Thread::yield)));
    try (CommitLog log = open(OPTIONS)) {
      Object sequenceLock = new Object();
      long[] next = {0};
      List<Thread> writers = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        Thread writer =
            new Thread(
                () -> {
                  for (int i = 0; i < each; i++) {
                    CompletableFuture<Void> done;
                    synchronized (sequenceLock) {
                      long sequence = next[0]++;
                      done =
                          log.append(record(TABLET, sequence, 10))
                              .thenRun(() -> order.add(sequence));
                    }
                    done.join();
                  }
                });
        writer.start();
        writers.add(writer);
      }
      for (Thread writer : writers) {
        writer.join();
      }
      assertThat(log.statistics().flushes()).isLessThan(threads * each);
    }
    assertThat(order)
        .containsExactlyElementsOf(LongStream.range(0, threads * each).boxed().toList());
    assertThat(all(read())).hasSize(threads * each);
  }

  @Test
  void aFailedFlushIsRepeatedInTheNextSegmentAndNobodyNotices() throws Exception {
    List<Effect> effects = List.of(new Effect.Fail(), new Effect.FailAfter());
    for (Effect effect : effects) {
      fs.delete(DIRECTORY, true);
      LogDirectory.create(fs, DIRECTORY);
      try (CommitLog log = open(OPTIONS)) {
        log.append(record(TABLET, 1, 10)).get();
        fs.disk().inject(FaultInjector.at(Operation.FLUSH, path -> true, 1, effect));
        log.append(record(TABLET, 2, 10)).get();
        log.append(record(TABLET, 3, 10)).get();
        awaitSegments(
            log, 3); // The failed one, the one that took over, and the next that stands by.
        assertThat(log.statistics().failures()).isEqualTo(1);
      }
      assertThat(replayed(fs, DIRECTORY))
          .extracting(LogRecord::sequence)
          .containsExactly(1L, 2L, 3L);
    }
  }

  @Test
  void theTabletsOfASegmentThatFailedAreNamedUntilTheyNeedItNoMore() throws Exception {
    for (Operation failing : List.of(Operation.FLUSH, Operation.CLOSE)) {
      fs.delete(DIRECTORY, true);
      LogDirectory.create(fs, DIRECTORY);
      try (CommitLog log = open(OPTIONS)) {
        log.append(record(tablet(1), 1, 10)).get();
        log.append(record(tablet(2), 1, 10)).get();
        log.awaitStandby();
        assertThat(log.inFailedSegments()).isEmpty();
        fs.disk().inject(FaultInjector.at(failing, path -> true, 1, new Effect.Fail()));
        if (failing == Operation.CLOSE) {
          log.roll();
        }
        log.append(record(tablet(3), 1, 10)).get();
        await(() -> !log.inFailedSegments().isEmpty());
        log.append(record(tablet(4), 1, 10)).get();
        assertThat(log.inFailedSegments()).contains(tablet(1), tablet(2)).doesNotContain(tablet(4));
        log.release(tablet(1), 1);
        log.forget(tablet(2));
        log.release(tablet(3), 1);
        assertThat(log.inFailedSegments()).isEmpty();
      }
    }
  }

  @Test
  void aLogWhoseFileSystemIsAwayRefusesWritesAndGoesOnWhenItIsBack() throws Exception {
    try (CommitLog log = open(OPTIONS)) {
      log.append(record(TABLET, 1, 10)).get();
      for (Operation operation : Operation.values()) {
        fs.disk().inject(FaultInjector.always(operation, path -> true, new Effect.Fail()));
      }
      CompletableFuture<Void> waiting = log.append(record(TABLET, 2, 10));
      await(() -> log.refusal().isPresent());
      assertThat(log.refusal().orElseThrow()).contains("cannot be written now", "injected");
      await(() -> log.statistics().failures() > 3L * OPTIONS.attemptsMax());
      assertThat(waiting).isNotDone();
      assertThat(failure).isNotDone();
      fs.disk().heal();
      waiting.get();
      await(() -> log.refusal().isEmpty());
      log.append(record(TABLET, 3, 10)).get();
    }
    assertThat(replayed(fs, DIRECTORY)).extracting(LogRecord::sequence).containsExactly(1L, 2L, 3L);
    assertThat(LogDirectory.segments(fs, DIRECTORY))
        .as("files that were only begun are deleted")
        .hasSizeLessThan(OPTIONS.attemptsMax());
  }

  @Test
  void aLogWhoseSegmentsCanBeCreatedButNotWrittenRefusesWritesToo() throws Exception {
    Map<Path, Integer> flushes = new ConcurrentHashMap<>();
    fs.disk()
        .inject(
            (asked, path) ->
                asked == Operation.FLUSH && flushes.merge(path, 1, Integer::sum) > 1
                    ? Optional.of(new Effect.Fail())
                    : Optional.empty());
    try (CommitLog log = open(OPTIONS)) {
      CompletableFuture<Void> waiting = log.append(record(TABLET, 1, 10));
      await(() -> log.refusal().isPresent());
      long failures = log.statistics().failures();
      assertThat(failures).isGreaterThanOrEqualTo(OPTIONS.attemptsMax());
      while (log.statistics().failures() < failures + 5) {
        assertThat(log.refusal()).isPresent(); // Also while a writer tries.
      }
      assertThat(waiting).isNotDone();
      fs.disk().heal();
      waiting.get();
      await(() -> log.refusal().isEmpty());
    }
  }

  @Test
  void aLogThatIsClosedWhileItsFileSystemIsAwayGivesUpAndSaysThatTheOutcomeIsUnknown()
      throws Exception {
    CommitLog log = open(OPTIONS);
    fs.disk().inject(FaultInjector.always(Operation.CREATE, path -> true, new Effect.Fail()));
    fs.disk().inject(FaultInjector.always(Operation.FLUSH, path -> true, new Effect.Fail()));
    CompletableFuture<Void> waiting = log.append(record(TABLET, 1, 10));
    log.close();
    assertOutcome(waiting, SteleException.Code.OUTCOME_UNKNOWN);
    assertThat(failure.get()).hasMessageContaining("injected");
    assertOutcome(log.append(record(TABLET, 2, 10)), SteleException.Code.RETRY_LATER);
  }

  @Test
  void aLogWhoseFileSystemWasClosedEnds() throws Exception {
    CommitLog log = open(OPTIONS);
    fs.disk().crash(new Random(1));
    assertOutcome(log.append(record(TABLET, 1, 10)), SteleException.Code.OUTCOME_UNKNOWN);
    assertThat(failure.get()).hasMessageContaining("closed");
  }

  @Test
  void aFencedLogEndsAtOnceAndDoesNotBringItsDirectoryBack() throws Exception {
    CommitLog log = open(OPTIONS);
    log.append(record(TABLET, 1, 10)).get();
    Path recovery = new Path("crash:/recovery/" + SERVER);
    assertThat(WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs), DIRECTORY, recovery))
        .contains(recovery);
    assertOutcome(log.append(record(TABLET, 2, 10)), SteleException.Code.OUTCOME_UNKNOWN);
    assertThat(failure.get()).isNotNull();
    assertThat(fs.exists(DIRECTORY)).isFalse();
    assertThat(all(WholeLog.read(fs, recovery, TabletKind.USER)))
        .containsExactly(record(TABLET, 1, 10));
  }

  @Test
  void fencingMayBeRepeatedAndAServerWithoutALogIsNoError() throws Exception {
    Path recovery = new Path("crash:/recovery/" + SERVER);
    LogFence fence = WholeFence.of(SystemRuntime.INSTANCE, fs);
    assertThat(WholeFence.fence(fence, DIRECTORY, recovery)).contains(recovery);
    assertThat(WholeFence.fence(fence, DIRECTORY, recovery)).contains(recovery);
    assertThat(
            WholeFence.fence(
                fence, new Path("crash:/logs/other"), new Path("crash:/recovery/other")))
        .isEmpty();
    LogDirectory.create(fs, DIRECTORY);
    assertThat(WholeFence.fence(fence, DIRECTORY, recovery)).contains(recovery);
    assertThat(fs.exists(DIRECTORY)).isFalse();
    fs.create(new Path(DIRECTORY, "user-1.log")).close();
    assertThatThrownBy(() -> WholeFence.fence(fence, DIRECTORY, recovery))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("created again");
  }

  @Test
  void segmentsRollAtTheirSizeAndGoWhenNobodyNeedsThem() throws Exception {
    try (CommitLog log = open(OPTIONS.withSegmentBytes(1000))) {
      for (int i = 1; i <= 10; i++) {
        awaitSegments(log, i + 1);
        log.append(record(tablet(1), i, 600)).get();
        log.append(record(tablet(2), i, 600)).get();
      }
      awaitSegments(log, 12);
      log.append(record(tablet(3), 1, 10)).get();
      assertThat(LogDirectory.segments(fs, DIRECTORY)).hasSize(12); // One stands by.
      assertThat(log.oldestNeeded().orElseThrow().segments()).isEqualTo(11);
      assertThat(log.oldestNeeded().orElseThrow().tablets())
          .containsOnly(java.util.Map.entry(tablet(1), 1L), java.util.Map.entry(tablet(2), 1L));
      log.release(tablet(1), 10);
      assertThat(LogDirectory.segments(fs, DIRECTORY)).hasSize(12);
      log.release(tablet(2), 4);
      assertThat(LogDirectory.segments(fs, DIRECTORY))
          .extracting(Segment::number)
          .startsWith(5L)
          .hasSize(8);
      assertThat(log.oldestNeeded().orElseThrow().segment()).isEqualTo(5);
      log.forget(tablet(2));
      assertThat(LogDirectory.segments(fs, DIRECTORY))
          .extracting(Segment::number)
          .containsExactly(11L, 12L);
      assertThat(log.oldestNeeded().orElseThrow().tablets()).containsOnlyKeys(tablet(3));
      assertThat(log.oldestNeeded().orElseThrow().beingWritten()).isTrue();
      log.roll();
      awaitSegments(log, 13);
      log.append(record(tablet(4), 1, 10)).get();
      log.forget(tablet(3));
      log.forget(tablet(4));
      assertThat(log.oldestNeeded()).isEmpty();
    }
    assertThat(all(WholeLog.only(tablet(1), read()))).isEmpty();
  }

  @Test
  void noRoomIsSaidBeforeAnythingIsQueuedAndComesBack() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (CommitLog log = open(OPTIONS.withQueuedBytesMax(1000))) {
      fs.disk()
          .inject(
              FaultInjector.at(
                  Operation.FLUSH, path -> true, 1, new Effect.Delay(() -> await(goOn))));
      assertThat(log.refusal()).isEmpty();
      CompletableFuture<Void> big = log.append(record(TABLET, 1, 2000));
      assertThat(log.refusal()).isPresent();
      goOn.countDown();
      big.get();
      assertThat(log.refusal()).isEmpty();
    }
  }

  @Test
  void aRecordMaySurviveALossOfPowerWhenItAsksForIt() throws Exception {
    CommitLog log = open(OPTIONS);
    log.append(record(TABLET, 1, 10), Durability.HSYNC, false).get();
    log.append(record(TABLET, 2, 10)).get();
    fs.disk().powerLoss(new java.util.Random(7));
    CrashableFileSystem after = fs.disk().mount();
    assertThat(all(WholeLog.read(after, DIRECTORY, TabletKind.USER)))
        .first()
        .isEqualTo(record(TABLET, 1, 10));
    log.close();
  }

  @Test
  void oneRecordThatAsksForItSyncsTheFlushItSharesWithOthers() throws Exception {
    CountDownLatch flushing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Path file = LogDirectory.segment(DIRECTORY, TabletKind.USER, 1);
    try (CommitLog log = open(OPTIONS)) {
      holdNextFlush(flushing, goOn);
      CompletableFuture<Void> first = log.append(record(TABLET, 1, 10));
      flushing.await();
      first.thenRun(() -> assertUnsynced(file, true));
      List<CompletableFuture<Void>> shared = new ArrayList<>();
      shared.add(log.append(record(TABLET, 2, 10)));
      shared.add(log.append(record(TABLET, 3, 10), Durability.HSYNC, false));
      shared.add(log.append(record(TABLET, 4, 10)));
      goOn.countDown();
      CompletableFuture.allOf(shared.toArray(CompletableFuture[]::new)).get();
      assertThat(log.statistics().flushes()).isEqualTo(2);
      assertUnsynced(file, false);
      log.append(record(TABLET, 5, 10)).get();
      assertUnsynced(file, true);
    }
  }

  private void assertUnsynced(Path file, boolean some) {
    try {
      assertThat(fs.disk().unsyncedBytes(file) > 0).isEqualTo(some);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aFileSystemThatCannotFlushIsRefused() {
    fs.disk().withoutFlush();
    assertThatThrownBy(() -> open(OPTIONS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not support hflush");
  }

  @Test
  void aServersDirectoryIsMadeOnceAndNotByTheLog() throws Exception {
    assertThatThrownBy(() -> LogDirectory.create(fs, DIRECTORY))
        .isInstanceOf(FileAlreadyExistsException.class);
    fs.delete(DIRECTORY, true);
    assertThatThrownBy(() -> open(OPTIONS)).isInstanceOf(java.io.FileNotFoundException.class);
  }

  @Test
  void aMissingSegmentAndOneThatLostAcknowledgedBytesAreDamage() throws Exception {
    try (CommitLog log = open(OPTIONS.withSegmentBytes(1))) {
      for (int i = 1; i <= 5; i++) {
        log.append(record(TABLET, i, 100)).get();
      }
    }
    List<Long> numbers =
        LogDirectory.segments(fs, DIRECTORY).stream().map(Segment::number).toList();
    assertThat(numbers).hasSizeGreaterThanOrEqualTo(5);
    Path second = LogDirectory.segment(DIRECTORY, TabletKind.USER, numbers.get(1));
    fs.disk().truncate(second, (int) fs.getFileStatus(second).getLen() - 1);
    assertThatThrownBy(() -> all(read()))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(second.getName())
        .hasMessageContaining("acknowledged");
    fs.delete(second, false);
    assertThatThrownBy(() -> all(read()))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(second.getName())
        .hasMessageContaining("missing");
    fs.delete(LogDirectory.segment(DIRECTORY, TabletKind.USER, numbers.get(0)), false);
    assertThat(all(read())).extracting(LogRecord::sequence).containsExactly(3L, 4L, 5L);
  }

  @Test
  void closingWritesWhatWaits() throws Exception {
    CommitLog log = open(OPTIONS);
    List<CompletableFuture<Void>> acknowledged = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      boolean moreFollow = i >= 50; // What never follows is not waited for.
      acknowledged.add(log.append(record(TABLET, i, 10), Durability.HFLUSH, moreFollow));
    }
    log.close();
    assertThat(acknowledged).allMatch(done -> done.isDone() && !done.isCompletedExceptionally());
    assertOutcome(log.append(record(TABLET, 100, 10)), SteleException.Code.RETRY_LATER);
    assertThat(failure).isNotDone();
  }

  private static void assertOutcome(CompletableFuture<Void> done, SteleException.Code code) {
    assertThatThrownBy(() -> done.get(30, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
