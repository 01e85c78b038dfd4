package io.stele.client;

import static io.stele.client.WebtableWriters.mutation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.stele.metadata.Attempts;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.ReadModifyWrite;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import io.stele.wire.MutateBatch;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.Response;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class BatchWriterTest {
  private final FakeTablets tablets = new FakeTablets();
  private final Random random = new Random(1);

  /** Makes writers of a task, until something else is said. */
  private WebtableWriters writers() {
    return new WebtableWriters(tablets);
  }

  private BatchWriter writer() {
    return writers().open();
  }

  /** A writer that goes on after a failure; one of a task sends nothing more. */
  private BatchWriter writerOfNoTask() {
    return writers().ofNoTask().open();
  }

  private BatchWriter writerOfNoTask(ProcessRuntime runtime, Duration timeout) {
    return new WebtableWriters(runtime, tablets).timeout(timeout).ofNoTask().open();
  }

  private static MutationsFailedException failureOf(ThrowingCallable call) {
    return catchThrowableOfType(MutationsFailedException.class, call);
  }

  private List<String> rowsApplied() {
    return tablets.applied().stream().map(entry -> entry.mutation().row().toUtf8()).toList();
  }

  @Test
  void whatWasAddedIsAppliedAfterAFlush() throws IOException {
    tablets.split(Bytes.of("m"), "b");
    try (BatchWriter writer = writer()) {
      for (String row : List.of("a", "z", "b", "y")) {
        writer.add(mutation(row, "v"));
      }
      writer.flush();
      assertThat(rowsApplied()).containsExactlyInAnyOrder("a", "b", "y", "z");
    }
  }

  /** Whoever holds the future must not keep others of the row from their turn. */
  @Test
  @Timeout(60)
  void anOperationWhoseFutureIsCancelledEndsLikeOthers() throws IOException {
    AtomicBoolean failing = new AtomicBoolean();
    Tablets mistaken =
        new Tablets() {
          @Override
          public CompletableFuture<TabletLocation> locate(
              TableId table, Bytes row, Deadline deadline) {
            if (failing.getAndSet(false)) {
              throw new IllegalStateException("planted");
            }
            return tablets.locate(table, row, deadline);
          }

          @Override
          public void failed(TabletLocation location, Attempts.Decision.Again next) {}

          @Override
          public CompletableFuture<Response> once(
              TabletLocation to, TabletAccess.Message message, Duration timeout) {
            return tablets.once(to, message, timeout);
          }

          @Override
          public CompletableFuture<TabletAccess.Answer> send(
              TabletAccess.RowRequest request, Deadline deadline) {
            return tablets.send(request, deadline);
          }
        };
    BatchWriter writer = new WebtableWriters(mistaken).ofNoTask().open();
    tablets.fault(
        entry ->
            entry.mutation().toString().contains("first")
                ? Optional.of(FakeTablets.retryLater())
                : Optional.empty());
    tablets.hold();
    CompletableFuture<Void> first = writer.add(mutation("r", "first"));
    CompletableFuture<Void> second = writer.add(mutation("r", "second"));
    first.cancel(false);
    failing.set(true); // When it is located again.
    tablets.goOn();
    assertThatThrownBy(writer::flush).isInstanceOf(MutationsFailedException.class);
    assertThat(second).isCompleted();
    assertThat(rowsApplied()).containsExactly("r");
  }

  @Test
  void mutationsOfARowStayInOrderThroughRefusalsSplitsAndLostAnswers() throws IOException {
    Set<String> refusedOnce = new HashSet<>();
    tablets.fault(
        entry -> {
          boolean hit = random.nextInt(4) == 0 && refusedOnce.add(entry.mutation().toString());
          return hit ? Optional.of(FakeTablets.retryLater()) : Optional.empty();
        });
    tablets.afterBatch(
        batch ->
            batch % 3 == 1
                ? Optional.of(SteleException.outcomeUnknown("the server was lost", null))
                : Optional.empty());
    try (BatchWriter writer = writer()) {
      for (int i = 0; i < 500; i++) {
        writer.add(mutation("row" + i % 20, Integer.toString(i)));
        if (i == 250) {
          tablets.split(Bytes.of("row15"), "b");
        }
      }
    }
    Map<Bytes, List<Integer>> values = new HashMap<>();
    for (MutateBatch.Entry entry : tablets.applied()) {
      String value = entry.mutation().toString().replaceAll("(?s).*value=(\\d+).*", "$1");
      values
          .computeIfAbsent(entry.mutation().row(), row -> new ArrayList<>())
          .add(Integer.valueOf(value));
    }
    assertThat(values).hasSize(20);
    assertThat(values.values()).allSatisfy(list -> assertThat(list).hasSize(25).isSorted());
  }

  @Test
  @Timeout(60)
  void manyMutationsOfOneRowGoTogetherInOrder() throws IOException {
    int count = 30_000;
    tablets.hold();
    try (BatchWriter writer = writers().bufferBytes(64 << 20).open()) {
      for (int i = 0; i < count; i++) {
        writer.add(mutation("hot", Integer.toString(i)));
      }
      tablets.goOn();
    }
    assertThat(tablets.batches()).hasSizeLessThan(count / 100);
    assertThat(tablets.applied()).hasSize(count);
    assertThat(tablets.applied()).extracting(entry -> entry.id().orElseThrow().number()).isSorted();
  }

  @Test
  void operationsThatLookAtTheRowKeepTheirPlaceAmongItsMutations() throws IOException {
    Bytes hot = Bytes.of("hot");
    try (BatchWriter writer = writer()) {
      for (int i = 0; i < 300; i++) {
        switch (i % 3) {
          case 0 -> writer.add(mutation("hot", Integer.toString(i)));
          case 1 -> writer.add(ReadModifyWrite.increment(hot, "f", Bytes.of("n"), i));
          default ->
              writer.add(
                  CheckAndMutate.ifNone(
                      Filter.newestIs(Column.of("f", ""), Bytes.of("x")), mutation("hot", "y")));
        }
      }
    }
    assertThat(tablets.singles()).hasSize(200);
    assertThat(tablets.order()).hasSize(300).isSorted();
  }

  @Test
  void aMutationRefusedForGoodDoesNotHoldUpThoseBehindIt() throws IOException {
    tablets.fault(
        entry ->
            entry.id().orElseThrow().number() % 7 == 3
                ? Optional.of(SteleException.refused("not this one"))
                : Optional.empty());
    BatchWriter writer = writerOfNoTask();
    for (int i = 0; i < 70; i++) {
      writer.add(mutation("hot", Integer.toString(i)));
    }
    MutationsFailedException failure = failureOf(writer::close);
    assertThat(failure.count()).isEqualTo(10);
    assertThat(tablets.applied()).hasSize(60);
  }

  @Test
  void everyMutationOfABatchAsksForItsOwnDurability() throws IOException {
    try (BatchWriter writer = writer()) {
      for (int i = 0; i < 50; i++) {
        Mutation mutation = mutation(String.format("row%02d", i), "v");
        if (i % 5 == 0) {
          writer.add(mutation, Durability.HSYNC);
        } else {
          writer.add(mutation);
        }
      }
    }
    assertThat(tablets.applied())
        .hasSize(50)
        .allSatisfy(
            entry -> {
              int number = Integer.parseInt(entry.mutation().row().toUtf8().substring(3));
              assertThat(entry.durability())
                  .isEqualTo(number % 5 == 0 ? Durability.HSYNC : Durability.HFLUSH);
            });
  }

  @Test
  void operationIdsFollowTheOrderOfAdding() throws IOException {
    try (BatchWriter writer = writer()) {
      for (int i = 0; i < 50; i++) {
        writer.add(mutation(String.format("row%02d", i), "v"));
      }
    }
    assertThat(tablets.applied())
        .allSatisfy(
            entry -> {
              int place = Integer.parseInt(entry.mutation().row().toUtf8().substring(3));
              assertThat(entry.id()).contains(new OperationId(1, 2, place + 1));
            });
    assertThat(tablets.batches())
        .allMatch(batch -> batch.getOperations().getFirstIncomplete() == 1);
  }

  /** A runtime that counts the timers that are neither over nor cancelled. */
  private static final class CountingTimers extends ForwardingRuntime {
    final Set<Object> pending = ConcurrentHashMap.newKeySet();

    @Override
    public Timer after(Duration delay, Runnable work) {
      Object mark = new Object();
      pending.add(mark);
      Timer timer =
          super.after(
              delay,
              () -> {
                pending.remove(mark);
                work.run();
              });
      return () -> {
        pending.remove(mark);
        timer.cancel();
      };
    }
  }

  @Test
  void noTimerKeepsAMutationThatHasItsOutcome() throws IOException {
    Set<OperationId> refusedOnce = new HashSet<>();
    tablets.fault(
        entry -> {
          if (refusedOnce.add(entry.id().orElseThrow())) {
            return Optional.of(FakeTablets.retryLater());
          }
          return entry.mutation().row().equals(Bytes.of("bad"))
              ? Optional.of(SteleException.refused("not this one"))
              : Optional.empty();
        });
    CountingTimers timers = new CountingTimers();
    BatchWriter writer = writerOfNoTask(timers, Duration.ofSeconds(600));
    for (int i = 0; i < 100; i++) {
      writer.add(mutation("row" + i % 50, Integer.toString(i)));
    }
    writer.add(mutation("bad", "v"));
    assertThatThrownBy(writer::flush).isInstanceOf(MutationsFailedException.class);
    assertThat(refusedOnce).hasSize(101);
    assertThat(tablets.applied()).hasSize(100);
    assertThat(timers.pending).isEmpty();
    writer.close();
  }

  @Test
  void aMutationThatCannotBeSentAgainMayBeAppliedIfItWasSentBefore() throws IOException {
    AtomicBoolean broken = new AtomicBoolean();
    tablets.fault(
        entry -> {
          broken.set(true);
          return Optional.of(SteleException.outcomeUnknown("no answer", new IOException()));
        });
    ForwardingRuntime withoutTimers =
        new ForwardingRuntime() {
          @Override
          public Timer after(Duration delay, Runnable work) {
            if (broken.get()) {
              throw new RejectedExecutionException("no timer can be set");
            }
            return super.after(delay, work);
          }
        };
    BatchWriter writer = writerOfNoTask(withoutTimers, Duration.ofSeconds(600));
    CompletableFuture<Void> added = writer.add(mutation("row", "v"));
    assertThatThrownBy(writer::close).isInstanceOf(MutationsFailedException.class);
    assertUnknown(added);
  }

  @Test
  @Timeout(60)
  void aMutationThatWasAppliedIsNeverSaidNotToBe() throws IOException {
    AtomicBoolean first = new AtomicBoolean(true);
    tablets.fault(
        entry -> first.getAndSet(false) ? Optional.of(FakeTablets.retryLater()) : Optional.empty());
    ForwardingRuntime brokenTimers =
        new ForwardingRuntime() {
          @Override
          public Timer after(Duration delay, Runnable work) {
            Timer timer = super.after(delay, work);
            return delay.compareTo(Duration.ofSeconds(100)) < 0
                ? timer
                : () -> {
                  timer.cancel();
                  throw new IllegalStateException("planted");
                };
          }
        };
    BatchWriter writer = writerOfNoTask(brokenTimers, Duration.ofSeconds(600));
    CompletableFuture<Void> added = writer.add(mutation("row", "v"));
    assertThatThrownBy(writer::close).isInstanceOf(MutationsFailedException.class);
    assertThat(tablets.applied()).hasSize(1);
    assertUnknown(added);
  }

  private static void assertUnknown(CompletableFuture<Void> added) {
    assertThatThrownBy(added::get)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
  }

  @Test
  void theWriterWaitsWhileTheBufferIsFull() throws IOException {
    List<Integer> sizes = new ArrayList<>();
    try (BatchWriter writer = writers().bufferBytes(1000).open()) {
      for (int i = 0; i < 200; i++) {
        writer.add(mutation("row" + i, "v"));
      }
    }
    tablets.batches().forEach(batch -> sizes.add(batch.getMutationsCount()));
    assertThat(sizes).allMatch(size -> size <= 1000 / 100);
    assertThat(tablets.applied()).hasSize(200);
  }

  @Test
  @Timeout(60)
  void theWriterWaitsForItsOldestOperationThatManyHaveOvertaken() throws Exception {
    tablets.split(Bytes.of("m"), "b");
    AtomicBoolean away = new AtomicBoolean(true);
    tablets.fault(
        entry ->
            away.get() && entry.mutation().row().toUtf8().equals("z")
                ? Optional.of(FakeTablets.retryLater())
                : Optional.empty());
    int aheadMax = 100;
    try (BatchWriter writer = writers().openAheadBy(aheadMax)) {
      writer.add(mutation("z", "v"));
      for (int i = 1; i < aheadMax; i++) {
        writer.add(mutation("a" + i, "v")).get();
      }
      CompletableFuture<Void> waits =
          CompletableFuture.runAsync(
              () -> {
                try {
                  writer.add(mutation("b", "v"));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      assertThatThrownBy(() -> waits.get(100, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      away.set(false);
      waits.get();
    }
    assertThat(rowsApplied()).hasSize(aheadMax + 1).contains("z", "b");
  }

  @Test
  void batchesAreSmallEnoughNotToHaveRegionsOfTheHeapToThemselves() throws IOException {
    String value = "v".repeat(1000);
    try (BatchWriter writer = writers().bufferBytes(8 << 20).open()) {
      for (int i = 0; i < 3000; i++) {
        writer.add(mutation("row" + i, value));
      }
    }
    assertThat(tablets.applied()).hasSize(3000);
    assertThat(tablets.batches())
        .extracting(
            batch -> batch.getMutationsList().stream().mapToInt(one -> one.getBlockBytes()).sum())
        .allMatch(bytes -> bytes < 512 << 10); // Half of the smallest region of G1.
  }

  @Test
  void whatIsDeletedCountsAsLongAsItsName() throws IOException {
    String qualifier = "q".repeat(50_000);
    try (BatchWriter writer = writers().bufferBytes(8 << 20).open()) {
      for (int i = 0; i < 200; i++) {
        writer.add(Mutation.of("row" + i).deleteColumn("f", qualifier));
      }
    }
    assertThat(tablets.batches()).allMatch(batch -> batch.getMutationsCount() <= 512 / 50);
  }

  @Test
  void aMutationThatWaitedForItsRowEndsInTimeThoughABatchIsUnderWay() throws Exception {
    tablets.hold();
    BatchWriter writer = writers().timeout(Duration.ofMillis(500)).ofNoTask().open();
    CompletableFuture<Void> held = writer.add(mutation("b", "v"));
    CompletableFuture<Void> waits;
    synchronized (tablets) { // Which does not answer meanwhile.
      writer.add(ReadModifyWrite.increment(Bytes.of("a"), "f", Bytes.of("n"), 1));
      waits = writer.add(mutation("a", "v"));
    }
    assertThatThrownBy(() -> waits.get(30, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(Code.RETRY_LATER));
    assertThat(held).isNotDone();
    tablets.goOn();
    assertThatThrownBy(writer::close).isInstanceOf(MutationsFailedException.class);
  }

  @Test
  void aMutationWithLittleTimeLeftDoesNotShareIt() throws Exception {
    AtomicLong passed = new AtomicLong();
    ProcessRuntime runtime =
        new ForwardingRuntime() {
          @Override
          public long nanoTime() {
            return super.nanoTime() + passed.get();
          }
        };
    tablets.hold();
    try (BatchWriter writer = writerOfNoTask(runtime, Duration.ofSeconds(30))) {
      writer.add(mutation("first", "v"));
      passed.set(TimeUnit.SECONDS.toNanos(1));
      writer.add(mutation("old", "v"));
      passed.set(TimeUnit.SECONDS.toNanos(29) + TimeUnit.MILLISECONDS.toNanos(500));
      writer.add(mutation("new", "v"));
      passed.set(TimeUnit.MILLISECONDS.toNanos(1200));
      writer.add(mutation("other old", "v"));
      passed.set(TimeUnit.SECONDS.toNanos(29) + TimeUnit.MILLISECONDS.toNanos(500));
      writer.add(mutation("newer", "v"));
      tablets.goOn();
    }
    assertThat(rowsApplied()).containsExactly("first", "old", "other old", "new", "newer");
    assertThat(tablets.batches())
        .extracting(batch -> batch.getMutationsCount())
        .containsExactly(1, 2, 2);
  }

  @Test
  void whatFailedIsToldByTheFutureAndByTheNextFlushOnce() throws IOException {
    tablets.fault(
        entry ->
            entry.mutation().row().equals(Bytes.of("bad"))
                ? Optional.of(SteleException.refused("no such thing"))
                : Optional.empty());
    try (BatchWriter writer = writerOfNoTask()) {
      writer.add(mutation("good", "v"));
      var bad = writer.add(mutation("bad", "v"));
      MutationsFailedException failure = failureOf(writer::flush);
      assertThat(failure.code()).isEqualTo(Code.REFUSED);
      assertThat(failure.count()).isEqualTo(1);
      assertThat(failure).hasMessageContaining("bad").hasMessageContaining("no such thing");
      assertThat(failure.failed().get(0).operation().row()).isEqualTo(Bytes.of("bad"));
      assertThat(bad).isCompletedExceptionally();
      writer.flush();
    }
    assertThat(rowsApplied()).containsExactly("good");
  }

  @Test
  void anUnknownOutcomeIsSaidToBeSoHoweverManyFailedBefore() throws IOException {
    tablets.fault(entry -> Optional.of(SteleException.refused("no such thing")));
    try (BatchWriter writer = writerOfNoTask()) {
      List<CompletableFuture<Void>> refused = new ArrayList<>();
      for (int i = 0; i < 1001; i++) {
        refused.add(writer.add(mutation("bad" + i, "v")));
      }
      refused.forEach(one -> assertThat(one).failsWithin(Duration.ofSeconds(10)));
      int before = tablets.batches().size();
      tablets.afterBatch(
          batch ->
              batch == before
                  ? Optional.of(SteleException.outcomeUnknown("lost", null))
                  : Optional.empty());
      writer.add(mutation("lost", "v"));
      MutationsFailedException failure = failureOf(writer::flush);
      assertThat(failure.count()).isEqualTo(1002);
      assertThat(failure.code()).isEqualTo(Code.OUTCOME_UNKNOWN);
    }
  }

  @Test
  void aMutationThatIsWrongFromTheOutsetIsNotSent() throws IOException {
    try (BatchWriter writer = writer()) {
      assertThatThrownBy(() -> writer.add(Mutation.of("r").put("g", "", "v")))
          .hasMessageContaining("no family \"g\"")
          .hasMessageContaining("it has f");
      assertThatThrownBy(() -> writer.add(mutation("r", "v".repeat(1001))))
          .hasMessageContaining("1001 bytes");
      assertThatThrownBy(() -> writer.add(Mutation.of("r"))).hasMessageContaining("no edits");
    }
    assertThat(tablets.batches()).isEmpty();
  }

  @Test
  void aTabletThatNobodyServesIsReportedAsNotAppliedWhenTheTimeIsUp() throws IOException {
    tablets.fault(entry -> Optional.of(new NotServingTabletException("gone")));
    BatchWriter writer = writers().timeout(Duration.ofMillis(300)).open();
    writer.add(mutation("r", "v"));
    MutationsFailedException failure = failureOf(writer::close);
    assertThat(failure.code()).isEqualTo(Code.RETRY_LATER);
    assertThat(failure)
        .hasMessageContaining("row \"r\" of table webtable")
        .hasMessageContaining("not applied");
  }

  @Test
  void aMutationWhoseAnswersAreAllLostIsReportedAsUnknown() throws IOException {
    tablets.afterBatch(batch -> Optional.of(SteleException.outcomeUnknown("lost", null)));
    BatchWriter writer = writers().timeout(Duration.ofMillis(300)).open();
    writer.add(mutation("r", "v"));
    MutationsFailedException failure = failureOf(writer::close);
    assertThat(failure.code()).isEqualTo(Code.OUTCOME_UNKNOWN);
    assertThat(tablets.applied()).hasSize(1);
  }

  @Test
  void aRefusalAfterALostAnswerIsUnknownToo() throws IOException {
    tablets.afterBatch(
        batch ->
            batch == 0
                ? Optional.of(SteleException.outcomeUnknown("lost", null))
                : Optional.of(SteleException.refused("older than the window")));
    BatchWriter writer = writer();
    writer.add(mutation("r", "v"));
    MutationsFailedException failure = failureOf(writer::close);
    assertThat(failure.code()).isEqualTo(Code.OUTCOME_UNKNOWN);
  }

  @Test
  void aClosedWriterTakesNoMore() throws IOException {
    BatchWriter writer = writer();
    writer.close();
    assertThatThrownBy(() -> writer.add(mutation("r", "v")))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void manyMutationsTravelTogether() throws IOException {
    tablets.hold();
    try (BatchWriter writer = writers().bufferBytes(8 << 20).open()) {
      for (int i = 0; i < 5000; i++) {
        writer.add(mutation("row" + i, "v"));
      }
      tablets.goOn();
    }
    assertThat(tablets.applied()).hasSize(5000);
    assertThat(tablets.batches()).hasSizeLessThan(10);
  }

  @Test
  void anErrorOnTheWayEndsTheMutation() throws IOException {
    tablets.fault(
        entry -> {
          throw new AssertionError("planted");
        });
    BatchWriter writer = writer();
    writer.add(mutation("r", "v"));
    MutationsFailedException failure = failureOf(writer::close);
    assertThat(failure.code()).isEqualTo(Code.OUTCOME_UNKNOWN);
    assertThat(failure).hasMessageContaining("planted");
  }

  @Test
  void writersWithIdsOfTheirOwnShareABatcherButNoBatch() throws IOException {
    Batcher batcher = writers().batcher();
    OperationId other = new OperationId(3, 4, 100);
    try (BatchWriter one = writers().open(batcher);
        BatchWriter two = writers().ofTaskFrom(other).open(batcher)) {
      for (int i = 0; i < 100; i++) {
        one.add(mutation("one" + i, "v"));
        two.add(mutation("two" + i, "v"));
      }
    }
    assertThat(tablets.applied())
        .hasSize(200)
        .allSatisfy(
            entry ->
                assertThat(entry.id().orElseThrow().clientHigh())
                    .isEqualTo(entry.mutation().row().toUtf8().startsWith("one") ? 1 : 3));
  }
}
