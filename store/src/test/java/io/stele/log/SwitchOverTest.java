package io.stele.log;

import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.SlowDisk.Hang;
import io.stele.model.Durability;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.FaultInjector.Effect;
import io.stele.sim.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The log goes on with its other writer when one is slow, and nothing is lost or told twice. */
class SwitchOverTest extends SlowLogFixture {
  /** How a slow flush ends. */
  enum End {
    SUCCEEDS,
    FAILS,
    FAILS_AFTER_IT_WAS_DONE,
    NEVER
  }

  @ParameterizedTest
  @EnumSource(End.class)
  void whatASlowFlushHoldsIsAcknowledgedThroughTheStandbyHoweverTheFirstEnds(End end)
      throws Exception {
    List<Long> order = Collections.synchronizedList(new ArrayList<>());
    Hang hang = switchFromFirst(order);
    assertThat(log.statistics().switchOvers()).isEqualTo(1);
    assertThat(order).containsExactly(2L, 3L);
    assertThat(sequences(2)).containsExactly(2L, 3L);
    switch (end) {
      case SUCCEEDS -> hang.succeed();
      case FAILS -> hang.fail(new Effect.Fail());
      case FAILS_AFTER_IT_WAS_DONE -> hang.fail(new Effect.FailAfter());
      case NEVER -> {}
    }
    if (end != End.NEVER) {
      log.awaitStandby(); // The first writer has ended its segment and made another.
      assertThat(sequences(1)).containsExactly(1L, 2L); // The second twice, or a torn tail.
    }
    append(4);
    assertThat(order).containsExactly(2L, 3L);
    assertThat(log.statistics().records()).isEqualTo(4);
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L, 3L, 4L);
    assertThat(failure).isNotDone();
  }

  @Test
  void aFlushThatIsNotSlowIsWaitedFor() throws Exception {
    append(1);
    Hang hang = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10));
    hang.await();
    clock.pass(SlowFlushes.SLOW_MIN);
    hang.succeed();
    second.get();
    assertThat(log.statistics().switchOvers()).isZero();
    assertThat(sequences(2)).isEmpty();
  }

  @Test
  void aFileSystemThatIsSlowAsAWholeIsNotFloodedWithSegments() throws Exception {
    Hang first = switchFromFirst();
    first.succeed();
    log.awaitStandby();
    Hang second = hang(Operation.FLUSH, 2);
    CompletableFuture<Void> waiting = log.append(record(TABLET, 4, 10));
    second.await();
    clock.pass(Duration.ofSeconds(5));
    clock.awaitLooks(10);
    second.succeed();
    waiting.get();
    assertThat(log.statistics().switchOvers()).isEqualTo(1);
    assertThat(sequences(2)).containsExactly(2L, 3L, 4L);

    Hang third = hang(Operation.FLUSH, 2);
    CompletableFuture<Void> again = log.append(record(TABLET, 5, 10));
    third.await();
    clock.pass(SlowFlushes.SWITCH_INTERVAL);
    again.get();
    assertThat(log.statistics().switchOvers()).isEqualTo(2);
    assertThat(sequences(3)).containsExactly(5L);
  }

  @Test
  void neitherAHangingCloseNorAHangingCreationDelaysAnybody() throws Exception {
    Hang closing = hang(Operation.CLOSE, 1);
    switchFromFirst().succeed();
    closing.await();
    append(4);
    Hang creating = hang(Operation.CREATE, 3);
    closing.succeed();
    creating.await();
    append(5);
    assertThat(sequences(2)).containsExactly(2L, 3L, 4L, 5L);
  }

  @Test
  void whenTheStandbyFailsTooWhatWaitsGoesToTheNextSegment() throws Exception {
    Hang hang = switchPastSecond();
    append(3);
    hang.succeed();
    log.awaitStandby();
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L, 3L);
  }

  @Test
  void aWriterThatHangsWithoutAStandbyIsInterruptedAndItsRecordsGoToTheNextSegment()
      throws Exception {
    Hang creating = hang(Operation.CREATE, 3);
    switchFromFirst().succeed();
    creating.await(); // From here on nobody stands by.
    Hang flushing = inject(Hang.interruptible(Operation.FLUSH, "user-2.log"));
    CompletableFuture<Void> waiting = log.append(record(TABLET, 4, 10));
    flushing.await();
    clock.pass(WriterState.HUNG_AFTER);
    waiting.get();
    creating.succeed(); // Too late: a higher segment is in use.
    append(5);
    while (segments().contains(3)) { // It has acknowledged nothing, or it would stay.
      spin();
    }
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  /** Then its tablets are written out, so that nothing depends on a file that nobody closes. */
  @Test
  void aSegmentWhoseWriterHangsForGoodIsAmongThoseThatFailed() throws Exception {
    Hang hang = switchFromFirst();
    clock.pass(WriterState.HUNG_AFTER);
    while (!hang.wasInterrupted()) {
      spin();
    }
    assertThat(log.inFailedSegments()).isEmpty();
    clock.pass(WriterState.HUNG_AFTER);
    while (log.inFailedSegments().isEmpty()) {
      spin();
    }
    assertThat(log.inFailedSegments()).containsExactly(TABLET);
    hang.succeed();
  }

  @Test
  void aFullSegmentIsFollowedAtOnceByTheOneThatStandsBy() throws Exception {
    close();
    open(OPTIONS.withSegmentBytes(1000));
    Hang closing = hang(Operation.CLOSE, 1);
    fs.disk()
        .inject( // It is on disk before, not when it is closed: no other sees that.
            FaultInjector.at(
                Operation.FLUSH,
                path -> path.getName().equals("user-1.log"),
                3, // The batch, the records that the summary follows, and that.
                new Effect.Fail()));
    log.append(record(TABLET, 1, 2000)).get();
    closing.await();
    append(2);
    assertThat(sequences(2)).containsExactly(2L);
    assertThat(fs.disk().unsyncedBytes(LogDirectory.segment(DIRECTORY, TabletKind.USER, 1)))
        .isZero();
    assertThat(log.statistics().switchOvers()).isZero();
  }

  @Test
  void aSegmentGoesOnWhileNobodyStandsByUpToTwiceItsSize() throws Exception {
    close();
    open(OPTIONS.withSegmentBytes(1000));
    Hang creating = hang(Operation.CREATE, 3);
    log.append(record(TABLET, 1, 2000)).get();
    creating.await();
    log.append(record(TABLET, 2, 1200)).get();
    assertThat(sequences(2)).containsExactly(2L);
    log.append(record(TABLET, 3, 1200)).get();
    assertThat(sequences(2)).containsExactly(2L, 3L);
    append(4);
    assertThat(sequences(4)).containsExactly(4L);
  }

  @Test
  void whoIsToldByAFullSegmentIsToldBeforeTheNextIsWritten() throws Exception {
    close();
    open(OPTIONS.withSegmentBytes(1000));
    List<Long> order = Collections.synchronizedList(new ArrayList<>());
    Hang hang = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> full = log.append(record(TABLET, 1, 2000));
    CompletableFuture<Void> told =
        full.thenRun(
            () -> {
              CompletableFuture<Void> next = log.append(record(TABLET, 2, 10));
              next.thenRun(() -> order.add(2L));
              for (int i = 0; i < 100_000 && !next.isDone(); i++) {
                Thread.onSpinWait();
              }
              order.add(1L);
            });
    hang.await();
    hang.succeed();
    told.get();
    append(3);
    assertThat(order).containsExactly(1L, 2L);
  }

  @Test
  void aWriterThatPausesAfterAFailureGoesOnAtOnceWhenItIsNeeded() throws Exception {
    close();
    fs.delete(DIRECTORY, true);
    LogDirectory.create(fs, DIRECTORY);
    fail(Operation.CREATE, 2);
    log =
        CommitLog.open(
            clock, location(), OPTIONS.withRetries(5, Duration.ofHours(1)), failure::complete);
    while (log.statistics().failures() < 1) {
      spin();
    }
    fail(Operation.FLUSH, 1);
    append(1);
    assertThat(sequences(3)).containsExactly(1L);
  } // And closing does not wait for the other, which pauses now.

  @Test
  void aWriterThatWasInterruptedInVainDoesNotTellOthersSo() throws Exception {
    Hang creating = hang(Operation.CREATE, 3);
    switchFromFirst().succeed();
    creating.await();
    Hang flushing = hang(Operation.FLUSH, 2);
    CompletableFuture<Boolean> told =
        log.append(record(TABLET, 4, 10))
            .thenApply(nothing -> Thread.currentThread().isInterrupted());
    flushing.await();
    clock.pass(WriterState.HUNG_AFTER);
    while (!flushing.wasInterrupted()) {
      spin();
    }
    flushing.succeed();
    assertThat(told.get()).isFalse();
  }

  @Test
  void aFencedLogFindsOutWhenItNeedsASegmentThoughNothingIsWritten() throws Exception {
    append(1);
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount()), DIRECTORY, RECOVERY);
    log.roll();
    assertThat(failure.get()).isNotNull();
  }

  @Test
  void aSlowSegmentIsDeletedNeitherBeforeItsWriterIsThroughNorAfterLaterOnes() throws Exception {
    close();
    open(OPTIONS.withSegmentBytes(1000));
    Hang hang = switchFromFirst();
    log.forget(TABLET);
    assertThat(segments()).containsExactly(1, 2);
    log.append(record(tablet(2), 1, 2000))
        .get(); // Fills the second; the same writer makes a third.
    append(4);
    log.forget(tablet(2));
    log.forget(TABLET);
    assertThat(segments()).startsWith(1, 2, 3);
    hang.succeed();
    log.awaitStandby();
    assertThat(segments()).containsExactly(3, 4);
  }

  @Test
  void whatASlowWriterHoldsIsNotEnteredAgainAfterItWasReleased() throws Exception {
    append(1);
    Hang flushing = hang(Operation.FLUSH, 1);
    log.append(record(TABLET, 2, 10));
    flushing.await();
    log.append(record(TABLET, 3, 200_000)); // So much that it is written at once.
    CompletableFuture<Void> last = log.append(record(TABLET, 4, 10));
    Hang writing = hang(Operation.WRITE, 1);
    flushing.succeed();
    writing.await();
    clock.pass(SLOW);
    last.get();
    log.release(TABLET, 4);
    assertThat(log.oldestNeeded()).isEmpty();
    writing.succeed();
    log.awaitStandby();
    assertThat(log.oldestNeeded()).isEmpty();
    assertThat(segments()).containsExactly(2, 3);
  }

  @Test
  void theAgeOfTheOldestRecordThatIsNeededIsTold() throws Exception {
    assertThat(log.oldestNeeded()).isEmpty();
    append(1);
    clock.pass(Duration.ofMinutes(30));
    log.append(record(tablet(2), 1, 10)).get();
    clock.pass(Duration.ofMinutes(31));
    OldestNeeded oldest = log.oldestNeeded().orElseThrow();
    assertThat(oldest.age()).isEqualTo(Duration.ofMinutes(61));
    assertThat(oldest.beingWritten()).isTrue();
    assertThat(oldest.tablets()).containsOnlyKeys(TABLET, tablet(2));
    log.roll();
    while (segments().size() < 3) { // The next that stands by: the roll is over.
      spin();
    }
    log.forget(TABLET);
    log.forget(tablet(2));
    assertThat(log.oldestNeeded()).isEmpty();
    assertThat(segments()).containsExactly(2, 3);
    append(2);
    assertThat(log.oldestNeeded().orElseThrow().age()).isZero();
  }

  /** Moments of a switch at which all may end. */
  enum Moment {
    STANDBY_UNUSED,
    FLUSH_HANGS,
    SWITCHED_FIRST_HANGS,
    FIRST_SUCCEEDED,
    FIRST_FAILED,
    FIRST_CLOSES
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void aCrashLosesNothingThatWasAcknowledged(Moment moment) throws Exception {
    close();
    for (int seed = 0; seed < 20; seed++) {
      for (boolean power : new boolean[] {false, true}) {
        crash(moment, power, seed);
      }
    }
  }

  private void crash(Moment moment, boolean power, int seed) throws Exception {
    SwitchOverTest life = new SwitchOverTest();
    life.open(OPTIONS.withDurability(power ? Durability.HSYNC : Durability.HFLUSH));
    int acknowledged = 3;
    switch (moment) {
      case STANDBY_UNUSED -> {
        life.append(1);
        acknowledged = 1;
      }
      case FLUSH_HANGS -> {
        life.append(1);
        Hang hang = life.hang(Operation.FLUSH, 1);
        CompletableFuture<Void> second = life.log.append(record(TABLET, 2, 10));
        hang.await();
        assertThat(second).isNotDone();
        acknowledged = 1;
      }
      case SWITCHED_FIRST_HANGS -> life.switchFromFirst();
      case FIRST_SUCCEEDED -> {
        life.switchFromFirst().succeed();
        life.log.awaitStandby();
      }
      case FIRST_FAILED -> {
        life.switchFromFirst().fail(new Effect.Fail());
        life.log.awaitStandby();
      }
      case FIRST_CLOSES -> {
        Hang closing = life.hang(Operation.CLOSE, 1);
        life.switchFromFirst().succeed();
        closing.await();
      }
    }
    if (power) {
      life.fs.disk().powerLoss(new Random(seed));
    } else {
      life.fs.disk().crash(new Random(seed));
    }
    life.close();
    life.fs.disk().heal();
    CrashableFileSystem after = life.fs.disk().mount();
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, after), DIRECTORY, RECOVERY);
    List<Long> read = replayedSequences(after, RECOVERY);
    assertThat(read)
        .as("seed %d", seed)
        .hasSizeGreaterThanOrEqualTo(acknowledged)
        .isEqualTo(List.of(1L, 2L, 3L).subList(0, read.size()));
  }

  @Test
  void aSlowWriterThatWakesAfterTheFenceAcknowledgesNothing() throws Exception {
    append(1);
    Hang hang = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10));
    hang.await();
    CrashableFileSystem master = fs.disk().mount();
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, master), DIRECTORY, RECOVERY);
    assertThat(replayedSequences(master, RECOVERY)).containsExactly(1L);
    hang.succeed();
    assertUnknown(second);
    assertThat(failure.get()).isNotNull();
    assertThat(replayedSequences(master, RECOVERY)).containsExactly(1L);
    assertThat(master.exists(DIRECTORY)).isFalse();
  }

  @Test
  void aSwitchAfterTheFenceAcknowledgesNothing() throws Exception {
    append(1);
    Hang hang = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10));
    hang.await();
    CrashableFileSystem master = fs.disk().mount();
    WholeFence.fence(
        WholeFence.of(SystemRuntime.INSTANCE, master),
        DIRECTORY,
        RECOVERY); // The lease of the standby, too.
    clock.pass(SLOW);
    assertUnknown(second); // While the first still hangs.
    assertThat(failure.get()).isNotNull();
    hang.succeed();
    log.close();
    assertThat(replayedSequences(master, RECOVERY)).containsExactly(1L);
    assertThat(LogDirectory.segments(master, RECOVERY))
        .extracting(Segment::number)
        .containsExactly(1L, 2L);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closingWritesWhatWaitsAndLeavesAStreamThatHangs(boolean interruptible) throws Exception {
    append(1);
    Hang hang =
        inject(
            interruptible
                ? Hang.interruptible(Operation.FLUSH, "user-1.log")
                : Hang.of(Operation.FLUSH, "user-1.log"));
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10));
    hang.await();
    clock.pass(SLOW);
    second.get();
    CompletableFuture<Void> third = log.append(record(TABLET, 3, 10));
    Thread closer = new Thread(log::close);
    closer.start();
    third.get();
    while (closer.isAlive()) {
      clock.pass(Duration.ofSeconds(1));
      spin();
    }
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L, 3L);
    log.tasks().stream().skip(1).forEach(task -> task.ended().join());
    if (interruptible) {
      log.tasks().get(0).ended().join();
    } else {
      assertThat(log.tasks().get(0).ended()).isNotDone(); // Until its stream comes back.
    }
  }

  @Test
  void aLogThatIsClosedLeavesNoStandbyBehind() throws Exception {
    append(1);
    log.close();
    assertThat(segments()).containsExactly(1);
    assertThat(failure).isNotDone();
  }

  private static void assertUnknown(CompletableFuture<Void> done) {
    assertThatThrownBy(done::get)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
  }
}
