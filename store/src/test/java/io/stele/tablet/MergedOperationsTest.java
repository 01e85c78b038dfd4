package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.MergedFiles;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a merged tablet remembers of its clients' operations. */
class MergedOperationsTest {
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final Bytes DIGEST = Bytes.of("digest");

  private final ManualClocks clocks = new ManualClocks(5, Instant.EPOCH);

  /** What one tablet remembers. */
  private final class Side {
    final OperationWindow window = newWindow();
    private long sequence;

    void apply(long client, long number) {
      OperationWindow.Begun begun = begin(window, client, number, Duration.ZERO);
      assertThat(begun.known()).isEmpty();
      window.queued(begun.operation(), ++sequence, Bytes.EMPTY);
      window.done(begun.operation());
    }

    /** As a minor compaction does. */
    File write() {
      Bytes block = window.encodeRecent(0, sequence);
      window.moveToWritten(sequence);
      return new File(
          FileRef.builder("file", 1, RowRange.ALL)
              .sequences(1, 9)
              .families(List.of("f"))
              .operationsMicros(OperationsBlock.timeOf(block))
              .build(),
          block);
    }
  }

  private record File(FileRef ref, Bytes block) {}

  private OperationWindow newWindow() {
    return new OperationWindow(clocks, WINDOW, OperationBudget.unlimited());
  }

  private static OperationWindow.Begun begin(
      OperationWindow window, long client, long number, Duration way) {
    return window.begin(
        new OperationId(client, 0, number),
        new Outstanding(1, Optional.of(way)),
        DIGEST,
        new CompletableFuture<>());
  }

  private OperationWindow merged(File lower, File upper) throws Exception {
    List<FileRef> refs = MergedFiles.of(List.of(lower.ref()), List.of(upper.ref()));
    OperationWindow merged = newWindow();
    merged.restore(lower.block(), refs.get(0).operationsMicros(), refs.get(0).merged());
    merged.restore(upper.block(), refs.get(1).operationsMicros(), refs.get(1).merged());
    merged.restored();
    return merged;
  }

  private static void assertRefused(
      OperationWindow window, long client, long number, Duration way) {
    assertThatThrownBy(() -> begin(window, client, number, way))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("older than the window");
  }

  @Test
  void whatBothKnowIsAsLongAgoAsItWasToEach() throws Exception {
    checkYoungAndOld((young, old) -> merged(young, old));
  }

  @Test
  void whatBothKnowIsAsLongAgoAsItWasToEachAlsoTheOtherWayRound() throws Exception {
    checkYoungAndOld((young, old) -> merged(old, young));
  }

  private interface Merge {
    OperationWindow of(File young, File old) throws Exception;
  }

  private void checkYoungAndOld(Merge merge) throws Exception {
    Side old = new Side();
    old.apply(2, 1);
    clocks.pass(WINDOW.multipliedBy(10));
    old.apply(3, 1);
    clocks.pass(WINDOW.multipliedBy(10));
    old.apply(4, 1);
    Side young = new Side(); // A new tablet, whose time begins now.
    young.apply(1, 1);
    clocks.pass(Duration.ofMinutes(1));
    OperationWindow merged = merge.of(young.write(), old.write());
    merged.encodeRecent(0, 0); // Forgets who was silent for long.
    assertThat(begin(merged, 1, 1, Duration.ofMinutes(1)).known()).isPresent();
    assertThat(begin(merged, 4, 1, Duration.ofMinutes(1)).known()).isPresent();
    assertRefused(merged, 2, 1, WINDOW.multipliedBy(20));
  }

  @Test
  void whatOneHasForgottenOfAClientIsRefusedThoughTheOtherKnowsTheClient() throws Exception {
    Side lower = new Side();
    lower.apply(1, 1);
    lower.write(); // To a file that a compaction rewrites when the client is forgotten.
    clocks.pass(WINDOW.multipliedBy(17));
    lower.apply(9, 1);
    Side upper = new Side();
    upper.apply(1, 2);
    clocks.pass(Duration.ofMinutes(1));
    File first = lower.write();
    File second = upper.write();
    OperationWindow merged = merged(first, second);
    Duration sinceFirst = WINDOW.multipliedBy(17).plusMinutes(1);
    assertRefused(merged, 1, 1, sinceFirst);
    assertThat(begin(merged, 1, 2, sinceFirst).known()).isPresent();
    assertThat(begin(merged, 1, 3, Duration.ofMinutes(1)).known()).isEmpty();

    // A compaction makes one block of both, and that is not of before the merge.
    List<FileRef> refs = MergedFiles.of(List.of(first.ref()), List.of(second.ref()));
    OperationWindow both = merged.ofSameLength();
    both.restore(first.block(), refs.get(0).operationsMicros(), true);
    both.restore(second.block(), refs.get(1).operationsMicros(), true);
    both.forgetAs(merged);
    OperationWindow reopened = newWindow();
    Bytes block = both.encodeWritten();
    reopened.restore(block, OperationsBlock.timeOf(block), false);
    reopened.restored();
    assertRefused(reopened, 1, 1, sinceFirst);
    assertThat(begin(reopened, 1, 2, sinceFirst).known()).isPresent();
  }
}
