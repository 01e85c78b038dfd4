package io.stele.client;

import static io.stele.client.WebtableWriters.mutation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.stele.model.Bytes;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A {@link BatchWriter} whose records another attempt of a task may write again. */
class TaskBatchWriterTest {
  private final FakeTablets tablets = new FakeTablets();

  private BatchWriter writer() {
    return new WebtableWriters(tablets).open();
  }

  @Test
  void atItsEndATaskSaysThatAllItsRecordsAreSettled() throws IOException {
    tablets.split(Bytes.of("m"), "b");
    try (BatchWriter writer = writer()) {
      writer.add(mutation("a", "v"));
      writer.add(mutation("z", "v"));
    }
    assertThat(tablets.settles())
        .hasSize(2) // Servers.
        .allMatch(one -> one.getOperations().getSettled().getBelow() == 3)
        .allMatch(one -> one.getTableId().equals("t1"));
  }

  @Test
  void aTaskThatWritesOtherRecordsThanAnEarlierAttemptFails() throws IOException {
    tablets.settled(new Settled(3, 4711));
    BatchWriter writer = writer();
    writer.add(mutation("a", "v"));
    writer.flush(); // So far nobody can know.
    writer.add(mutation("b", "v"));
    assertThatThrownBy(writer::flush)
        .isInstanceOf(MutationsFailedException.class)
        .hasMessageContaining("one of the numbers 1 to 2 differs");
    assertThatThrownBy(writer::close).hasMessageContaining("one of the numbers 1 to 2 differs");
  }

  @Test
  void aTaskThatWritesLessThanAnEarlierAttemptFails() throws IOException {
    tablets.settled(new Settled(10, 4711));
    BatchWriter writer = writer();
    writer.add(mutation("a", "v"));
    assertThatThrownBy(writer::close).hasMessageContaining("at least 9");
  }

  @Test
  void aTaskOfWhichARecordFailedSendsNothingMore() throws IOException {
    tablets.fault(
        entry ->
            entry.mutation().row().equals(Bytes.of("bad"))
                ? Optional.of(SteleException.refused("a bad row"))
                : Optional.empty());
    BatchWriter writer = writer();
    writer.add(mutation("bad", "v"));
    assertThatThrownBy(writer::flush).hasMessageContaining("a bad row");
    writer.add(mutation("later", "v"));
    assertThatThrownBy(writer::flush).hasMessageContaining("nothing more is sent");
    assertThatThrownBy(writer::close).hasMessageContaining("nothing more is sent");
    assertThat(tablets.applied()).isEmpty();
  }

  @Test
  void aRecordOfATaskIsNotAppliedAfterOneOfItsRowThatWasRefused() throws IOException {
    tablets.fault(
        entry ->
            entry.mutation().equals(mutation("r", "bad"))
                ? Optional.of(SteleException.refused("a bad value"))
                : Optional.empty());
    tablets.hold();
    BatchWriter writer = writer();
    writer.add(mutation("first", "v")); // Under way: what follows gathers in one batch.
    writer.add(mutation("r", "bad"));
    writer.add(mutation("r", "good"));
    tablets.goOn();
    assertThatThrownBy(writer::flush).hasMessageContaining("a bad value");
    assertThat(tablets.applied())
        .singleElement()
        .matches(entry -> entry.mutation().row().equals(Bytes.of("first")));
  }

  @Test
  void anAttemptThatDiffersDoesNotSayThatItsRecordWasNotApplied() throws IOException {
    tablets.settled(new Settled(2, 4711));
    BatchWriter writer = writer();
    writer.add(mutation("a", "v"));
    MutationsFailedException failure =
        catchThrowableOfType(MutationsFailedException.class, writer::flush);
    assertThat(failure.code()).isEqualTo(Code.OUTCOME_UNKNOWN);
    assertThat(failure).hasMessageContaining("differs");
  }

  @Test
  void aRecordInDoubtIsNotSaidToBeNotAppliedBecauseAnotherFailed() throws IOException {
    tablets.split(Bytes.of("m"), "b");
    CompletableFuture<Void> lost = new CompletableFuture<>();
    tablets.fault(
        entry -> {
          if (entry.mutation().row().equals(Bytes.of("z"))) {
            return Optional.of(SteleException.refused("a bad row"));
          }
          return lost.isDone() ? Optional.of(FakeTablets.retryLater()) : Optional.empty();
        });
    tablets.afterBatch(
        batch -> {
          boolean first = !lost.isDone();
          lost.complete(null);
          return first
              ? Optional.of(SteleException.outcomeUnknown("lost", null))
              : Optional.empty();
        });
    BatchWriter writer = writer();
    CompletableFuture<Void> doubtful = writer.add(mutation("a", "v"));
    lost.join();
    CompletableFuture<Void> refused = writer.add(mutation("z", "v"));
    assertThatThrownBy(writer::flush).hasMessageContaining("a bad row");
    assertThat(refused).isCompletedExceptionally();
    assertThat(tablets.applied()).hasSize(1);
    assertThatThrownBy(doubtful::join)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(Code.OUTCOME_UNKNOWN));
  }
}
