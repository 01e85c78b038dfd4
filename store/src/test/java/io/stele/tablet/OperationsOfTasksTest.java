package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TaskProgress;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a tablet remembers of the tasks of a job. */
class OperationsOfTasksTest {
  private static final String JOB = "job";
  private static final int TASKS = 100;
  private static final Duration WINDOW = Duration.ofMinutes(30);

  private final ManualClocks clocks = new ManualClocks(5, Instant.EPOCH);
  private final OperationBudget budget = new OperationBudget(1 << 20);
  private final OperationWindow window = open();
  private final List<LoggedOperation> logged = new ArrayList<>();
  private long sequence;

  private OperationWindow open() {
    return open(budget);
  }

  private OperationWindow open(OperationBudget its) {
    OperationWindow opened = new OperationWindow(clocks, WINDOW, its);
    opened.admit(JOB, 0);
    return opened;
  }

  private static Outstanding said(long settledBelow) {
    long digest = 0;
    for (long number = 1; number < Math.min(settledBelow, 10_000); number++) {
      digest = Settled.after(digest, number);
    }
    return said(JOB, settledBelow, digest);
  }

  private static Outstanding said(String job, long settledBelow, long digest) {
    return new Outstanding(
        1,
        Optional.empty(),
        Optional.of(new TaskProgress(Optional.of(job), new Settled(settledBelow, digest))));
  }

  private static OperationWindow.Begun begin(
      OperationWindow window, long task, long number, String what, Outstanding said) {
    return window.begin(
        new OperationId(task, 0, number), said, Bytes.of(what), new CompletableFuture<>());
  }

  /** Applies a record that is new, of which all before are settled. */
  private void apply(long task, long number, String what) {
    apply(task, number, what, said(number));
  }

  private void apply(long task, long number, String what, Outstanding said) {
    OperationWindow.Begun begun = begin(window, task, number, what, said);
    assertThat(begun.known()).as("record %s", number).isEmpty();
    logged.add(begun.operation().logged(Bytes.EMPTY));
    window.queued(begun.operation(), ++sequence, Bytes.EMPTY);
    window.done(begun.operation());
  }

  private static Settled settled(OperationWindow window, long task, long number, String what) {
    OperationWindow.Begun again = begin(window, task, number, what, said(1));
    return again.known().orElseThrow().join().settled().orElseThrow();
  }

  private static void assertNew(OperationWindow window, long task, long number) {
    OperationWindow.Begun begun = begin(window, task, number, "new", said(1));
    assertThat(begun.known()).isEmpty();
    window.abandon(begun.operation());
  }

  /** {@code -Dstele.records} is how many records there are, of a hundred tasks. */
  @Test
  void memoryDoesNotGrowWithTheNumberOfRecords() {
    long count = Long.getLong("stele.records", 1_000_000) / TASKS;
    long few = 0;
    for (long number = 1; number <= count; number++) {
      Outstanding said = said(JOB, number, number);
      for (int task = 1; task <= TASKS; task++) {
        apply(window, task, number, said);
      }
      if (number % 1000 == 0) {
        window.moveToWritten(sequence);
      }
      few = number == 1000 ? window.bytes() : few;
    }
    assertThat(window.bytes()).isLessThan(few + TASKS * 300L).isLessThan(TASKS * 1200L);
    assertThat(budget.bytes()).isEqualTo(window.bytes());
    for (int task = 1; task <= TASKS; task++) {
      assertThat(settled(window, task, 77, "record").below()).isEqualTo(count);
    }
    System.out.printf("%d records: %d bytes%n", count * TASKS, window.bytes());
  }

  @Test
  void anotherAttemptFindsItsRecordsAppliedHoursLater() {
    for (long number = 1; number <= 100; number++) {
      apply(1, number, "record " + number);
    }
    window.moveToWritten(sequence);
    for (int hour = 0; hour < 30; hour++) {
      clocks.pass(Duration.ofHours(1));
      window.encodeRecent(0, 0); // A minor compaction forgets who was silent.
    }
    for (long number = 1; number < 100; number++) {
      assertThat(settled(window, 1, number, "record " + number).below()).isEqualTo(100);
    }
    assertThat(begin(window, 1, 100, "record 100", said(1)).known()).isPresent();
    assertNew(window, 1, 101);
    assertNew(window, 2, 1); // A task that has written nothing here yet.
  }

  @Test
  void anAttemptThatWritesAnotherRecordIsToldWhich() {
    for (long number = 1; number <= 20; number++) {
      apply(1, number, "record " + number);
    }
    assertThatThrownBy(() -> begin(window, 1, 7, "another", said(1)))
        .hasMessageContaining("number 7 differs")
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.REFUSED);
    assertThatThrownBy(() -> begin(window, 1, 20, "another", said(1)))
        .hasMessageContaining("number 20 differs");
  }

  @Test
  void attemptsThatSayDifferentThingsOfTheSameRecordsAreRefused() {
    apply(1, 1, "record");
    apply(1, 10, "record", said(JOB, 10, 77));
    assertThatThrownBy(() -> begin(window, 1, 11, "record", said(JOB, 10, 78)))
        .hasMessageContaining("attempts differ");
  }

  @Test
  void recordsAboveWhatIsSettledAreKeptOneByOne() {
    apply(1, 9, "record 9", said(3));
    apply(1, 5, "record 5", said(3));
    assertNew(window, 1, 7);
    assertThat(begin(window, 1, 5, "record 5", said(1)).known()).isPresent();
    apply(1, 8, "record 8", said(7));
    assertThat(settled(window, 1, 5, "record 5").below()).isEqualTo(7);
    assertNew(window, 1, 7);
  }

  @Test
  void whatIsSettledIsInBlocksSoThatOtherServersAndHalvesOfASplitKnowIt() throws Exception {
    for (long number = 1; number <= 60; number++) {
      apply(1, number, "record " + number);
    }
    OperationWindow moved = open();
    moved.restore(window.encodeRecent(0, sequence), 0, false);
    moved.restored();
    checkKnows60(moved);
    window.moveToWritten(sequence);
    OperationWindow compacted = open();
    compacted.restore(window.encodeWritten(), 0, false);
    compacted.restored();
    checkKnows60(compacted);
  }

  private static void checkKnows60(OperationWindow window) {
    assertThat(window.jobs()).containsExactly(JOB);
    for (long number = 1; number < 60; number++) {
      assertThat(settled(window, 1, number, "record " + number).below()).isEqualTo(60);
    }
    assertThatThrownBy(
            () -> {
              for (long number = 1; number < 60; number++) {
                begin(window, 1, number, "another", said(1));
              }
            })
        .hasMessageContaining("differs");
    assertThat(begin(window, 1, 60, "record 60", said(1)).known()).isPresent();
    assertNew(window, 1, 61);
  }

  @Test
  void aMergedTabletKnowsOfATaskWhatEitherKnew() throws Exception {
    apply(1, 5, "record 5", said(5));
    OperationWindow other = open();
    for (long number : new long[] {20, 21}) {
      OperationWindow.Begun begun = begin(other, 1, number, "record " + number, said(20));
      other.queued(begun.operation(), number, Bytes.EMPTY);
      other.done(begun.operation());
    }
    for (boolean turned : new boolean[] {false, true}) {
      OperationWindow merged = open();
      merged.restore(turned ? other.encodeRecent(0, 99) : window.encodeRecent(0, 99), 0, true);
      merged.restore(turned ? window.encodeRecent(0, 99) : other.encodeRecent(0, 99), 0, true);
      merged.restored();
      assertThat(settled(merged, 1, 5, "record 5").below()).isEqualTo(20);
      assertThat(begin(merged, 1, 21, "record 21", said(1)).known()).isPresent();
      assertNew(merged, 1, 22);
    }
  }

  @Test
  void aMergingCompactionKeepsWhatIsSettled() throws Exception {
    for (long number = 1; number <= 60; number++) {
      apply(1, number, "record " + number);
    }
    Bytes block = window.encodeRecent(0, 30);
    window.moveToWritten(30);
    Bytes later = window.encodeRecent(30, 60);
    window.moveToWritten(60);
    OperationWindow united = window.ofSameLength();
    united.restore(later, 0, false);
    united.restore(block, 0, false);
    united.forgetAs(window);
    OperationWindow opened = open();
    opened.restore(united.encodeWritten(), 0, false);
    opened.restored();
    checkKnows60(opened);
  }

  @Test
  void aReplayOfTheLogKnowsTheTaskAndItsJob() {
    for (long number = 1; number <= 60; number++) {
      apply(1, number, "record " + number);
    }
    assertThat(logged.stream().filter(one -> one.task().orElseThrow().job().isPresent()))
        .as("records that name the job")
        .hasSize(1);
    OperationWindow replayed = open();
    for (int i = 0; i < logged.size(); i++) {
      replayed.replay(logged.get(i), i + 1);
    }
    replayed.restored();
    checkKnows60(replayed);
  }

  @Test
  void whatTheTasksOfAJobWroteIsForgottenWhenItIsOverAndWhoComesLateIsAskedAgain() {
    apply(1, 1, "record");
    apply(1, 2, "record");
    window.endJob(JOB);
    assertThat(window.bytes()).isZero();
    assertThat(budget.bytes()).isZero();
    assertThat(window.jobs()).isEmpty();
    assertThatThrownBy(() -> begin(window, 1, 1, "record", said(1)))
        .hasMessageContaining("must be found out first");
    window.admit(JOB, 0); // By one who had looked before it ended.
    assertThat(window.admits(JOB)).isFalse();
  }

  @Test
  void operationsThatAreInFlightWhenTheirJobEndsTakeNoMemoryAfterThat() {
    OperationWindow.Begun queued = begin(window, 1, 1, "record", said(1));
    window.queued(queued.operation(), ++sequence, Bytes.EMPTY);
    OperationWindow.Begun second = begin(window, 1, 2, "record", said(1));
    OperationWindow.Begun third = begin(window, 1, 3, "record", said(1));
    window.endJob(JOB);
    window.done(queued.operation());
    window.abandon(second.operation());
    window.queued(third.operation(), ++sequence, Bytes.of("result"));
    window.done(third.operation());
    assertThat(window.bytes()).isZero();
    assertThat(budget.bytes()).isZero();
  }

  @Test
  void aTaskThatHasEndedTakesNoMoreThanItsMark() {
    for (long number = 1; number <= 500; number++) {
      apply(1, number, "record " + number, said(1)); // All in one batch.
    }
    long before = window.bytes();
    window.settle(new OperationId(1, 0, 1), said(501).task().orElseThrow());
    assertThat(window.bytes()).isLessThan(before / 50).isLessThan(2000);
    assertThat(settled(window, 1, 500, "record 500").below()).isEqualTo(501);
    window.settle(new OperationId(2, 0, 1), said(501).task().orElseThrow());
    assertNew(window, 2, 1);
  }

  @Test
  void wantOfMemoryTakesSamplesButNotWhatIsSettled() {
    OperationWindow crowded = open(new OperationBudget(20_000));
    int task = 0;
    try {
      for (task = 1; task < 1000; task++) {
        for (long number = 1; number <= 40; number++) {
          apply(crowded, task, number, said(number));
        }
        clocks.pass(Duration.ofHours(2));
      }
    } catch (SteleException e) {
      assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
      assertThat(e).hasMessageContaining("stele.operations.bytes");
    }
    assertThat(task).isBetween(20, 999);
    for (int one = 1; one < task; one++) {
      assertThat(settled(crowded, one, 39, "record").below()).isEqualTo(40);
    }
  }

  /** Tasks of a live job fill their part of the memory: other clients go on as before. */
  @Test
  void aJobOfMoreTasksThanThereIsRoomForHindersNoOtherClient() {
    OperationBudget small = new OperationBudget(40_000);
    OperationWindow crowded = open(small);
    long other = 1_000_000;
    apply(crowded, other, 1, new Outstanding(1, Optional.empty(), Optional.empty()));
    assertThatThrownBy(
            () -> {
              for (int task = 1; task < 1000; task++) {
                apply(crowded, task, 1, said(1));
              }
            })
        .hasMessageContaining("stele.operations.bytes");
    Outstanding said = new Outstanding(1, Optional.empty(), Optional.empty());
    assertThat(begin(crowded, other, 1, "record", said).known()).as("a retry").isPresent();
    for (long number = 2; number < 500; number++) {
      apply(crowded, other, number, new Outstanding(number, Optional.empty(), Optional.empty()));
    }
    assertThat(small.bytes()).isLessThan(45_000);
    assertThatThrownBy(() -> apply(crowded, 999, 1, said(1)))
        .hasMessageContaining("stele.operations.bytes");
    crowded.endJob(JOB);
    assertThat(small.bytes()).isLessThan(2_000);
  }

  private void apply(OperationWindow to, long task, long number, Outstanding said) {
    OperationWindow.Begun begun = begin(to, task, number, "record", said);
    to.queued(begun.operation(), ++sequence, Bytes.EMPTY);
    to.done(begun.operation());
  }
}
