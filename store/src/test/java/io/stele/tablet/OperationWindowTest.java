package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.ByteReader;
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
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OperationWindowTest {
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final Bytes DIGEST = Bytes.of("digest");

  private final ManualClocks clocks = new ManualClocks(5, Instant.EPOCH);
  private final OperationBudget budget = new OperationBudget(100_000);
  private final OperationWindow window = new OperationWindow(clocks, WINDOW, budget);
  private long sequence;

  @Test
  void aBlockHasItsClientsInAscendingOrder() throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 50; i++) {
      OperationId id = new OperationId(random.nextLong(), random.nextLong(), 1);
      window.abandon(
          window
              .begin(id, Outstanding.from(1), Bytes.ofLong(i), new CompletableFuture<>())
              .operation());
    }
    for (Bytes block : List.of(window.encodeRecent(0, 10), window.encodeWritten())) {
      assertThat(clients(block)).hasSize(50).isSorted();
    }
  }

  @Test
  void aClientThatWasForgottenIsRefusedWhatItMayHaveSentBefore() {
    apply(1, 1, Outstanding.from(1), Bytes.EMPTY);
    clocks.pass(WINDOW.multipliedBy(17));
    window.encodeRecent(0, 0);
    assertThat(window.bytes()).as("bytes of nobody").isZero();
    assertRefused(1, 1, under(WINDOW.multipliedBy(17)));
    assertRefused(1, 2, under(WINDOW.multipliedBy(17)));
    assertRefused(1, 1, new Outstanding(1, Optional.of(WINDOW.multipliedBy(16).plusMinutes(59))));
    apply(2, 1, under(Duration.ofMinutes(1)), Bytes.EMPTY);
    apply(3, 1, new Outstanding(1, Optional.empty()), Bytes.EMPTY);
  }

  @Test
  void aClientSeenAtTheVeryBeginningIsNotTakenForForgotten() throws Exception {
    apply(1, 1, Outstanding.from(1), Bytes.of("result"));
    OperationWindow moved = new OperationWindow(clocks, WINDOW, budget);
    moved.restore(window.encodeWritten(), 0, false);
    moved.restored();
    OperationId again = new OperationId(1, 0, 1);
    assertThat(moved.begin(again, Outstanding.from(1), DIGEST, new CompletableFuture<>()).known())
        .isPresent();
  }

  @Test
  void aClientWithAnOperationThatIsInNoFileIsReducedButNotForgotten() {
    OperationWindow.Begun begun = begin(1, 1, Outstanding.from(1));
    window.queued(begun.operation(), 7, Bytes.EMPTY);
    window.done(begun.operation());
    clocks.pass(WINDOW.multipliedBy(17));
    window.encodeRecent(0, 6);
    assertThat(window.bytes()).isEqualTo(ClientOperations.CLIENT_BYTES);
    window.moveToWritten(7);
    window.encodeRecent(7, 7);
    assertThat(window.bytes()).isZero();
  }

  @Test
  void silenceIsTimeInWhichTheTabletWasOpenWhateverServersShow() throws Exception {
    apply(1, 1, Outstanding.from(1), Bytes.EMPTY);
    clocks.pass(WINDOW.multipliedBy(9));
    Bytes block = window.encodeRecent(0, sequence);
    ManualClocks others = new ManualClocks(-(1L << 62), Instant.EPOCH.plus(Duration.ofDays(9999)));
    OperationWindow moved = new OperationWindow(others, WINDOW, budget);
    moved.restore(block, 0, false);
    others.pass(WINDOW.multipliedBy(6));
    moved.encodeRecent(0, 0);
    assertThat(moved.bytes()).as("bytes after 15 windows").isPositive();
    others.pass(WINDOW.multipliedBy(2));
    moved.encodeRecent(0, 0);
    assertThat(moved.bytes()).as("bytes after 17 windows").isZero();
  }

  @Test
  void theResultsOfOneClientAreBoundedAndWhatIsForgottenIsRefused() {
    Outstanding stuck = under(Duration.ZERO);
    for (int number = 2; number < 1000; number++) {
      apply(1, number, stuck, Bytes.of(new byte[1000]));
      assertThat(budget.bytes()).isLessThan(102_000);
    }
    assertThat(begin(1, 999, stuck).known()).isPresent();
    assertRefused(1, 2, stuck);
    assertRefused(1, 1, stuck);
  }

  @Test
  void whatAMinorCompactionMakesSmallIsNotForgottenNewOnesWaitForIt() {
    OperationBudget compacted = OperationBudget.compacted(100_000);
    OperationWindow busy = new OperationWindow(clocks, WINDOW, compacted);
    Outstanding stuck = under(Duration.ZERO);
    int number = 2;
    assertThat(compacted.isTight()).isFalse();
    for (int compactions = 0; compactions < 10; compactions++) {
      try {
        while (true) {
          OperationId id = new OperationId(1, 0, number);
          OperationWindow.Begun begun = busy.begin(id, stuck, DIGEST, new CompletableFuture<>());
          busy.queued(begun.operation(), number, Bytes.EMPTY);
          busy.done(begun.operation());
          number++;
        }
      } catch (SteleException e) {
        assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
      }
      assertThat(compacted.isTight()).isTrue();
      assertThat(busy.unwrittenBytes()).isGreaterThan(compacted.share() / 4);
      busy.moveToWritten(number);
      clocks.pass(Duration.ofSeconds(2));
    }
    assertThat(number).isGreaterThan(1000);
    OperationId first = new OperationId(1, 0, 2);
    assertThat(busy.begin(first, stuck, DIGEST, new CompletableFuture<>()).known()).isPresent();
  }

  /** The operations of a job that are in files leave little room for those that are in none. */
  @Test
  void aMinorCompactionIsAskedForThatMakesLittleRoomButEnough() {
    OperationBudget compacted = OperationBudget.compacted(100_000);
    OperationWindow busy = new OperationWindow(clocks, WINDOW, compacted);
    busy.admit("job", 0);
    long much = compacted.share() / 4;
    long number = 1;
    while (compacted.bytes() < 65_000) {
      remember(busy, number++);
      busy.moveToWritten(number);
    }
    assertThat(busy.needsCompaction(much)).isFalse();
    for (int compactions = 0; compactions < 5; compactions++) {
      clocks.pass(Duration.ofSeconds(2));
      long first = number;
      try {
        while (true) {
          remember(busy, number++);
        }
      } catch (SteleException e) {
        assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
      }
      assertThat(number).isGreaterThan(first + 10);
      assertThat(busy.unwrittenBytes()).isLessThan(much);
      assertThat(busy.needsCompaction(much)).isTrue();
      busy.moveToWritten(number);
      assertThat(busy.needsCompaction(much)).isFalse();
    }
    while (compacted.bytes() < 74_900) { // Hardly anything is gained any more.
      clocks.pass(Duration.ofSeconds(2));
      remember(busy, number++);
      busy.moveToWritten(number);
    }
    assertThatThrownBy(
            () -> {
              while (true) {
                remember(busy, Long.MAX_VALUE / 2 + busy.bytes());
              }
            })
        .hasMessageContaining("stele.operations.bytes");
    assertThat(busy.needsCompaction(much)).isFalse();
  }

  /** A record of a task that says of none that it is settled. */
  private void remember(OperationWindow to, long number) {
    TaskProgress nothing = new TaskProgress(Optional.of("job"), new Settled(1, 0));
    Outstanding said = new Outstanding(1, Optional.empty(), Optional.of(nothing));
    OperationWindow.Begun begun =
        to.begin(new OperationId(7, 0, number), said, DIGEST, new CompletableFuture<>());
    to.queued(begun.operation(), number, Bytes.EMPTY);
    to.done(begun.operation());
  }

  @Test
  void manyClientsAreBoundedAndWhatIsForgottenIsRefused() {
    for (int client = 1; client < 1000; client++) {
      apply(client, 1, under(Duration.ZERO), Bytes.EMPTY);
      clocks.pass(WINDOW.dividedBy(100));
      assertThat(budget.bytes()).isLessThan(102_000);
    }
    assertRefused(1, 1, under(WINDOW.multipliedBy(10)));
    assertThat(begin(999, 1, under(Duration.ZERO)).known()).isPresent();
  }

  @Test
  void whereNothingCanBeForgottenOperationsAreToBeSentLater() {
    assertThatThrownBy(
            () -> {
              for (int client = 1; client < 1000; client++) {
                begin(client, 1, under(Duration.ZERO));
              }
            })
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("try again")
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.RETRY_LATER);
    assertThat(budget.bytes()).isLessThan(102_000);
  }

  @Test
  void whoIsBelowItsShareIsNotRefusedForWhatOthersTake() {
    OperationWindow other = new OperationWindow(clocks, WINDOW, budget);
    for (int number = 1; number < 300; number++) {
      apply(1, number, under(Duration.ZERO), Bytes.EMPTY);
    }
    for (int number = 1; number < 100; number++) {
      other.begin(new OperationId(7, 7, number), under(Duration.ZERO), DIGEST, future());
    }
    assertThat(budget.bytes()).isLessThan(200_000);
    other.close();
    window.close();
    assertThat(budget.bytes()).isZero();
  }

  private static Outstanding under(Duration way) {
    return new Outstanding(1, Optional.of(way));
  }

  private static CompletableFuture<OperationResult> future() {
    return new CompletableFuture<>();
  }

  private OperationWindow.Begun begin(long client, long number, Outstanding outstanding) {
    return window.begin(new OperationId(client, 0, number), outstanding, DIGEST, future());
  }

  /** Applies a new operation, and has it written to a file. */
  private void apply(long client, long number, Outstanding outstanding, Bytes result) {
    OperationWindow.Begun begun = begin(client, number, outstanding);
    assertThat(begun.known()).isEmpty();
    window.queued(begun.operation(), ++sequence, result);
    window.done(begun.operation());
    window.moveToWritten(sequence);
  }

  private void assertRefused(long client, long number, Outstanding outstanding) {
    assertThatThrownBy(() -> begin(client, number, outstanding))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("older than the window");
  }

  /** The high halves of the names of a block's clients, which have no operations. */
  private static List<Long> clients(Bytes block) throws Exception {
    ByteReader in = new ByteReader(block.toByteArray());
    in.readByte();
    in.readVarlong();
    in.readVarlong();
    in.readVarlong();
    List<Long> clients = new ArrayList<>();
    while (in.remaining() > 0) {
      clients.add(in.readLong());
      in.readLong();
      in.readVarlong();
      in.readVarlong();
      assertThat(in.readByte()).as("whether it is a task").isZero();
      assertThat(in.readVarint()).isZero();
    }
    return clients;
  }
}
