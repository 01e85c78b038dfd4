package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Settled;
import org.junit.jupiter.api.Test;

/** Whether an attempt finds out that its records are not those of an earlier one. */
class TaskRecordsTest {
  /** What an attempt says when all its records are settled. */
  private static Settled settled(long... records) {
    TaskRecords attempt = attempt(records);
    attempt.settle(records.length + 1L);
    return attempt.settled();
  }

  private static TaskRecords attempt(long... records) {
    TaskRecords attempt = new TaskRecords(1);
    for (long record : records) {
      attempt.add(record);
    }
    return attempt;
  }

  @Test
  void settledIsWhatWasAppliedFromTheFirstOn() {
    TaskRecords attempt = attempt(7, 8, 9);
    assertThat(attempt.settled()).isEqualTo(Settled.NONE);
    attempt.settle(3);
    assertThat(attempt.settled()).isEqualTo(settled(7, 8));
    attempt.settle(4);
    assertThat(attempt.settled()).isEqualTo(settled(7, 8, 9)).isNotEqualTo(settled(7, 9, 8));
  }

  @Test
  void theSameRecordsAgree() {
    TaskRecords attempt = attempt(7, 8);
    attempt.hear(settled(7));
    attempt.hear(settled(7, 8, 9));
    attempt.add(9);
    attempt.hear(settled(7, 8, 9));
    assertThat(attempt.differs()).isEmpty();
    assertThat(attempt.missing()).isEmpty();
  }

  @Test
  void anotherRecordIsFoundWhenItIsWritten() {
    TaskRecords attempt = attempt(7, 8);
    attempt.hear(settled(7, 8));
    attempt.hear(settled(7, 8, 9));
    assertThat(attempt.differs()).isEmpty();
    attempt.add(10);
    assertThat(attempt.differs().orElseThrow()).hasMessageContaining("number 3 differs");
  }

  @Test
  void anotherRecordIsFoundAfterItWasWritten() {
    TaskRecords attempt = attempt(7, 8, 9, 10);
    attempt.hear(settled(7));
    attempt.hear(settled(7, 8, 99));
    assertThat(attempt.differs().orElseThrow())
        .hasMessageContaining("one of the numbers 2 to 3 differs");
  }

  @Test
  void ofManyAnswersThatAreFarAheadSomeAreKeptAndTheLastOfThem() {
    int records = 10 * TaskRecords.AHEAD_MAX;
    TaskRecords other = new TaskRecords(1);
    TaskRecords same = new TaskRecords(1);
    TaskRecords differs = new TaskRecords(1);
    for (int i = 1; i <= records; i++) {
      other.add(i);
      other.settle(i + 1L);
      same.hear(other.settled());
      differs.hear(other.settled());
      assertThat(same.waiting()).isLessThanOrEqualTo(TaskRecords.AHEAD_MAX);
    }
    assertThat(same.missing().orElseThrow()).hasMessageContaining("at least " + records);
    for (int i = 1; i <= records; i++) {
      same.add(i);
      differs.add(i == records ? 0 : i);
    }
    assertThat(same.missing()).isEmpty();
    assertThat(differs.differs()).isPresent();
  }

  @Test
  void anAttemptThatEndsEarlyIsRefused() {
    TaskRecords attempt = attempt(7, 8);
    attempt.hear(settled(7, 8, 9));
    assertThat(attempt.differs()).isEmpty();
    assertThat(attempt.missing().orElseThrow())
        .hasMessageContaining("at least 3")
        .hasMessageContaining("let the reducer log what it throws");
  }

  @Test
  void whatWasNotAppliedIsNeverSettledNorIsWhatComesAfterIt() {
    TaskRecords attempt = attempt(7, 8, 9);
    attempt.settle(2);
    attempt.stop();
    attempt.add(10);
    attempt.settle(5);
    attempt.hear(settled(1, 2, 3));
    assertThat(attempt.settled()).isEqualTo(settled(7));
  }
}
