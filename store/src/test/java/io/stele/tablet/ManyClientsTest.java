package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TaskProgress;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A window beside which clients come and go, more than it has memory for. */
class ManyClientsTest {
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final Duration SILENT = OperationRoom.SILENT_LEAST.plusSeconds(1);
  private static final Bytes DIGEST = Bytes.of("digest");
  private static final long STEADY = 1_000_000;
  private static final long TASK = 2_000_000;

  private final ManualClocks clocks = new ManualClocks(5, Instant.EPOCH);
  private final OperationBudget budget = OperationBudget.compacted(100_000);
  private final OperationWindow window = new OperationWindow(clocks, WINDOW, budget);
  private long sequence;

  @Test
  void aSteadyClientIsServedHoweverManyComeAndGo() {
    apply(STEADY, 1, Duration.ZERO);
    int refused = 0;
    for (int client = 1; client <= 2000; client++) {
      try {
        apply(client, 1, Duration.ZERO);
      } catch (SteleException e) {
        assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
        refused++;
      }
      apply(STEADY, client + 1, Duration.ZERO);
      if (client % 50 == 0) {
        minorCompact();
        clocks.pass(Duration.ofSeconds(2));
      }
      assertThat(budget.bytes()).isLessThan(110_000);
    }
    assertThat(refused).isPositive();
  }

  @Test
  void newClientsAreServedWhenSomeHaveBeenSilentForTenMinutes() {
    int known = fill();
    minorCompact();
    clocks.pass(SILENT);
    for (int client = 1; client < known / 10; client++) {
      apply(STEADY + client, 1, Duration.ZERO);
    }
    assertThatThrownBy(() -> apply(1, 1, SILENT))
        .hasMessageContaining("older than the window")
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.REFUSED);
  }

  @Test
  void aMinorCompactionIsAskedForAfterWhichClientsCanBeForgotten() {
    fill();
    window.encodeRecent(0, sequence);
    window.moveToWritten(sequence - 10); // Some are in no file.
    clocks.pass(SILENT);
    int more = 0;
    while (!window.needsCompaction(Long.MAX_VALUE)) {
      assertThat(more).isLessThan(10_000);
      try {
        apply(TASK + ++more, 1, Duration.ZERO);
      } catch (SteleException e) {
        clocks.pass(Duration.ofSeconds(2));
      }
    }
    minorCompact();
    clocks.pass(SILENT);
    apply(STEADY, 1, Duration.ZERO);
  }

  /** Its client says how long it had tried when it sent it, not how long ago that was. */
  @Test
  void aRequestThatArrivesLongAfterItWasSentIsNotAppliedAgain() {
    apply(STEADY, 1, Duration.ZERO);
    clocks.pass(Duration.ofSeconds(1));
    fill();
    minorCompact();
    clocks.pass(SILENT);
    apply(TASK, 1, Duration.ZERO);
    Duration whenSent = SILENT.minusMinutes(4);
    assertThatThrownBy(() -> apply(STEADY, 1, whenSent)).hasMessageContaining("older than");
  }

  @Test
  void aTaskWithoutAJobIsKeptForTheWindow() {
    TaskProgress nothing = new TaskProgress(Optional.empty(), new Settled(1, 0));
    Outstanding said = new Outstanding(1, Optional.empty(), Optional.of(nothing));
    OperationId id = new OperationId(TASK, 0, 1);
    OperationWindow.Begun begun = window.begin(id, said, DIGEST, new CompletableFuture<>());
    window.queued(begun.operation(), ++sequence, Bytes.EMPTY);
    window.done(begun.operation());
    fill();
    minorCompact();
    clocks.pass(SILENT);
    apply(STEADY, 1, Duration.ZERO);
    window.settle(id, nothing);
    assertThat(window.encodeRecent(0, sequence).toByteArray())
        .contains(Bytes.ofLong(TASK).toByteArray());
  }

  /** Has clients write until one is refused; returns how many were not. */
  private int fill() {
    int client = 0;
    try {
      while (true) {
        apply(++client, 1, Duration.ZERO);
        if (client % 20 == 0) {
          minorCompact();
        }
      }
    } catch (SteleException e) {
      assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
    }
    assertThat(client).isGreaterThan(200);
    return client - 1;
  }

  private void minorCompact() {
    window.encodeRecent(0, sequence);
    window.moveToWritten(sequence);
  }

  /** Applies a client's only operation that may be sent again. */
  private void apply(long client, long number, Duration way) {
    OperationWindow.Begun begun =
        window.begin(
            new OperationId(client, 0, number),
            new Outstanding(number, Optional.of(way)),
            DIGEST,
            new CompletableFuture<>());
    assertThat(begun.known()).isEmpty();
    window.queued(begun.operation(), ++sequence, Bytes.EMPTY);
    window.done(begun.operation());
  }
}
