package io.stele.tablet;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.PendingReplacement;
import io.stele.record.RecordChangeSize;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.Signal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Rows of a tablet that are cleared while it is compacted. */
class ClearedTabletTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", List.of(ColumnFamily.of("f")));
  private static final int FILES = 6;
  private static final String PREFIX = "r".repeat(1_000);

  private final TabletFixture fixture = fixture();
  private int asked;

  private static TabletFixture fixture() {
    try {
      return new TabletFixture(SCHEMA);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Files each of which has a row below "m" and one above. */
  private void files() throws IOException {
    String large = "x".repeat(100_000);
    for (int i = 0; i < FILES; i++) {
      fixture.put("a" + i, "f", "q", 1, large);
      fixture.put("z" + i, "f", "q", 1, large);
      fixture.tablet.minorCompact();
    }
  }

  private void clear(RowRange rows) {
    try {
      fixture.tablet.pauseWrites();
      fixture.tablet.clear(rows, ClearedRows.NONE.with(1, List.of(rows)));
      fixture.tablet.resumeWrites();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Files of which each clearing of {@link #narrow} keeps a part under a pin, with a long name. */
  private void pinnedFiles() throws IOException {
    for (int i = 0; i < 50; i++) {
      fixture.put(PREFIX + 100, "f", "q", i, "");
      fixture.put(PREFIX + 999, "f", "q", i, "");
      fixture.tablet.minorCompact();
    }
    fixture.tablet.pin("job");
  }

  private static RowRange narrow(int i) {
    return RowRange.of(PREFIX + i, PREFIX + (i + 1));
  }

  private RecordChangeSize removalOfCleared() {
    RecordChangeSize size = new RecordChangeSize(RowRange.ALL);
    fixture.manifest.record().files().stream().filter(FileRef::isCleared).forEach(size::remove);
    return size;
  }

  @Test
  void pinsKeepALimitedNumberOfClearedParts() throws IOException {
    pinnedFiles();
    assertFails(
            SteleException.Code.RETRY_LATER,
            () -> {
              for (int i = 100; i < 200; i++) {
                clear(narrow(i));
              }
            })
        .hasMessageContaining("cleared parts of its files");
    fixture.tablet.resumeWrites();
    assertThat(removalOfCleared().fits()).isTrue();

    assertThat(fixture.tablet.unpin("job")).isTrue();
    assertThat(fixture.manifest.record().files()).noneMatch(FileRef::isCleared);
    clear(RowRange.ALL);
    assertThat(fixture.rows()).isEmpty();
  }

  /** A job that has committed cannot wait for the end of a pin. */
  private void replaceUntilOneChangeCouldNotRemoveWhatIsKept() throws IOException {
    pinnedFiles();
    for (int i = 100; i < 200; i++) {
      fixture.tablet.register(List.of(new PendingReplacement("job" + i, narrow(i))));
      fixture.tablet.pauseWrites();
      fixture.tablet.take("job" + i);
      fixture.tablet.resumeWrites();
    }
    assertThat(removalOfCleared().fits()).isFalse();
  }

  @Test
  void thePinEndsHoweverMuchItKeptOfWhatJobsReplaced() throws IOException {
    replaceUntilOneChangeCouldNotRemoveWhatIsKept();
    assertThat(fixture.tablet.unpin("job")).isTrue();
    assertThat(fixture.manifest.record().files()).noneMatch(FileRef::isCleared);
    assertThat(fixture.tablet.keepsUnseen()).isFalse();
  }

  @Test
  void whatIsLeftWhenTheEndOfAPinFailsHalfWayIsRemovedLater() throws IOException {
    replaceUntilOneChangeCouldNotRemoveWhatIsKept();
    fixture.manifest.beforeAnswer(() -> fixture.manifest.next(TestManifest.Mood.FAILS));
    assertThatThrownBy(() -> fixture.tablet.unpin("job")).isInstanceOf(IOException.class);
    fixture.manifest.beforeAnswer(() -> {});
    assertThat(fixture.tablet.pins()).isEmpty();
    assertThat(fixture.rows()).singleElement().asString().startsWith(PREFIX + 999);
    fixture.reopen(List.of());
    assertThat(fixture.tablet.keepsUnseen()).isTrue();
    fixture.tablet.removeUnseen();
    assertThat(fixture.tablet.keepsUnseen()).isFalse();
    assertThat(fixture.manifest.record().files()).noneMatch(FileRef::isCleared);
    assertThat(fixture.rows()).singleElement().asString().startsWith(PREFIX + 999);
  }

  /**
   * The thread that tells of durable operations is held up between two of them: the second is
   * visible and in a file, but still in flight, when the file is replaced.
   */
  @Test
  void anOperationInFlightIsNotForgottenWithTheFileThatHasIt() throws Exception {
    OperationRequest increment =
        OperationRequest.of(
            ReadModifyWrite.increment(Bytes.of("z"), "f", Bytes.of("n"), 1),
            new OperationId(1, 1, 1),
            1);
    CompletableFuture<Void> held = new CompletableFuture<>();
    CompletableFuture<Void> released = new CompletableFuture<>();
    Runnable hold =
        () -> {
          held.complete(null);
          released.join();
        };
    fixture.log.hold(true);
    Mutation before = Mutation.of("a").put("f", Bytes.of("q"), 1, Bytes.of("v"));
    CompletableFuture<Void> first = fixture.apply(before).thenRun(hold);
    CompletableFuture<OperationResult> second = fixture.tablet.apply(increment);
    Thread teller = new Thread(fixture.log::flushLastFirst);
    teller.start();
    held.join();
    try {
      fixture.tablet.minorCompact();
      assertThat(second).isNotDone();
      clear(RowRange.ALL);
      fixture.log.hold(false);
      fixture.reopen(List.of());
    } finally {
      released.complete(null);
      teller.join();
    }
    first.join();
    assertThat(fixture.tablet.apply(increment).join()).isEqualTo(second.join());
    assertThat(fixture.rows()).isEmpty();
  }

  /** Clears rows once a compaction has begun to write. */
  private void clearMeanwhile(RowRange rows) throws IOException {
    fixture.pace =
        bytes -> {
          if (asked++ == 0) {
            clear(rows);
          }
        };
    fixture.reopen(List.of());
  }

  /**
   * Whoever reads the record acts on it, even if the answer to the write of the record is still on
   * its way.
   */
  @Test
  void nothingIsReadBetweenTheWriteOfTheRecordAndItsAnswer() throws IOException {
    fixture.put("a", "f", "q", 1, "old");
    fixture.tablet.minorCompact();
    List<Signal> waited = new ArrayList<>();
    fixture.manifest.beforeAnswer(
        () ->
            assertThatThrownBy(fixture::rows)
                .isInstanceOfSatisfying(
                    UnsettledException.class,
                    e -> {
                      assertThat(e.settled().hasHappened()).isFalse();
                      waited.add(e.settled());
                    }));
    clear(RowRange.ALL);
    fixture.manifest.beforeAnswer(() -> {});
    assertThat(waited).singleElement().matches(Signal::hasHappened);
    assertThat(fixture.rows()).isEmpty();
  }

  /** Applies an operation during whose evaluation, once the row was read, all rows are cleared. */
  private CompletableFuture<OperationResult> applyAcrossClearing(RowOperation operation) {
    MemoryClaim claim =
        bytes -> {
          if (asked++ == 0) {
            clear(RowRange.ALL);
          }
        };
    return fixture.tablet.apply(
        new OperationRequest(
            operation, Optional.empty(), Outstanding.from(0), Durability.HFLUSH, claim));
  }

  @Test
  void anIncrementOfWhatWasClearedMeanwhileIsNotApplied() throws IOException {
    ReadModifyWrite increment = ReadModifyWrite.increment(Bytes.of("a"), "f", Bytes.of("n"), 1);
    for (int i = 0; i < 5; i++) {
      fixture.apply(increment).join();
    }
    fixture.tablet.minorCompact();
    assertThatThrownBy(applyAcrossClearing(increment)::join)
        .hasMessageContaining("were cleared")
        .hasMessageContaining("try again");
    assertThat(fixture.rows()).isEmpty();
    fixture.apply(increment).join();
    assertThat(fixture.rows()).singleElement().asString().endsWith("\\x01");
  }

  @Test
  void aConditionThatHeldForWhatWasClearedMeanwhileDoesNotHold() throws IOException {
    fixture.put("a", "f", "q", 1, "x".repeat(1 << 20));
    fixture.tablet.minorCompact();
    CheckAndMutate change =
        CheckAndMutate.ifAny(
            new Filter.ColumnIs(Column.of("f", "q")), Mutation.of("a").put("f", "q", "new"));
    assertThatThrownBy(applyAcrossClearing(change)::join).hasMessageContaining("try again");
    assertThat(asked).as("the row was read before it was cleared").isPositive();
    assertThat(fixture.rows()).isEmpty();
  }

  @Test
  void readsGoOnAfterAClearingThatFailed() throws IOException {
    fixture.put("a", "f", "q", 1, "old");
    fixture.tablet.minorCompact();
    fixture.manifest.next(TestManifest.Mood.FAILS);
    assertThatThrownBy(() -> clear(RowRange.ALL)).hasMessageContaining("METADATA is away");
    assertThat(fixture.rows()).containsExactly("a f:q@1=old");
  }

  @Test
  void aCompactionOfFilesThatAreClippedMeanwhileIsVoidAndTheRowsStayCleared() throws IOException {
    files();
    clearMeanwhile(RowRange.of("a", "m"));
    assertFails(SteleException.Code.RETRY_LATER, fixture.tablet::majorCompact)
        .hasMessageContaining("cleared during");
    assertThat(fixture.tablet.failure()).isEmpty();
    assertThat(fixture.rows()).hasSize(FILES).allMatch(row -> row.startsWith("z"));

    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).hasSize(FILES).allMatch(row -> row.startsWith("z"));
    fixture.reopen(List.of());
    assertThat(fixture.rows()).hasSize(FILES);
  }

  @Test
  void aCompactionOfFilesThatAreDroppedMeanwhileBringsNothingBack() throws IOException {
    files();
    clearMeanwhile(RowRange.ALL);
    assertThatThrownBy(fixture.tablet::majorCompact).hasMessageContaining("cleared during");
    assertThat(fixture.rows()).isEmpty();
    fixture.reopen(List.of());
    assertThat(fixture.rows()).isEmpty();
  }
}
