package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.Operations;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.Simulation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Calls with different time limits on one connection. */
class TimeLimitTest {
  private static final TableRef PATIENT =
      new TableRef(
          Waiting.silent(SystemRuntime.INSTANCE),
          FakeTablets.TABLE,
          "webtable",
          Duration.ofMinutes(5));

  private final FakeTablets tablets = new FakeTablets();
  private final Operations operations = new Operations(SystemRuntime.INSTANCE);
  private final Batcher batcher = new Batcher(SystemRuntime.INSTANCE, tablets, FakeTablets.TABLE);

  private CompletableFuture<Void> put(TableRef table, String row) {
    return batcher
        .writer(table, operations)
        .submit(Mutation.of(row).put("f", "q", "v"), Durability.HFLUSH);
  }

  @Test
  void oneThatCannotBeAppliedEndsInItsTime() {
    tablets.fault(entry -> Optional.of(FakeTablets.retryLater()));

    CompletableFuture<Void> hasty = put(PATIENT.withTimeout(Duration.ofMillis(200)), "hasty");

    assertThatThrownBy(() -> hasty.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
        .hasMessageContaining("(Table.withTimeout)");
  }

  @Test
  void oneWithLittleTimeIsInNoBatchOfOthersWhoseTimeItWouldCut() throws Exception {
    tablets.hold();
    List<CompletableFuture<Void>> all =
        List.of(
            put(PATIENT, "under way"),
            put(PATIENT, "waits for it"),
            put(PATIENT.withTimeout(Duration.ofMinutes(1)), "hasty"));
    tablets.goOn();
    for (CompletableFuture<Void> one : all) {
      one.get(30, TimeUnit.SECONDS);
    }
    assertThat(tablets.batches()).hasSize(3);
  }

  /**
   * What hangs on its way when its time is over is refused once a later write was acknowledged,
   * whatever else the connection has under way.
   */
  @Test
  void aWriteWhoseTimeIsOverIsNoLongerOutstandingForTheNext() throws Exception {
    TableRef hasty = PATIENT.withTimeout(Duration.ofMillis(200));
    AtomicBoolean away = new AtomicBoolean(true);
    tablets.fault(
        entry ->
            away.get() && entry.mutation().row().equals(Bytes.of("away"))
                ? Optional.of(FakeTablets.retryLater())
                : Optional.empty());
    CompletableFuture<Void> patient = submit(PATIENT, "away");
    tablets.afterBatch(batch -> Optional.of(SteleException.outcomeUnknown("lost", null)));
    CompletableFuture<Void> lost = submit(hasty, "lost");
    assertThatThrownBy(() -> lost.get(30, TimeUnit.SECONDS))
        .hasMessageContaining("(Table.withTimeout)");

    tablets.afterBatch(batch -> Optional.empty());
    submit(hasty, "later").get(30, TimeUnit.SECONDS);

    List<OperationId> ids =
        tablets.applied().stream().map(entry -> entry.id().orElseThrow()).toList();
    assertThat(ids).hasSize(2);
    assertThat(tablets.batches())
        .filteredOn(batch -> batch.getOperations().getClientHigh() == ids.get(1).clientHigh())
        .last()
        .satisfies(
            batch ->
                assertThat(batch.getOperations().getFirstIncomplete())
                    .isGreaterThan(ids.get(0).number()));
    away.set(false);
    patient.get(30, TimeUnit.SECONDS);
  }

  /** As above: a write that had to wait for the schema does not get more time than it has. */
  @Test
  void aWriteIsOlderThanThoseThatBeganWhileItsSchemaWasRead() throws Exception {
    Simulation simulation = new Simulation(1, 1_000_000);
    simulation.run(
        () -> {
          ProcessRuntime runtime = simulation.outside();
          FakeTablets simulated = new FakeTablets(runtime.pool("answers", 1));
          TableRef table =
              new TableRef(
                  Waiting.silent(runtime), FakeTablets.TABLE, "webtable", Duration.ofSeconds(30));
          Batcher.Writer writer = new Batcher(runtime, simulated, FakeTablets.TABLE).writer(table);
          simulated.fault(
              entry ->
                  entry.mutation().row().equals(Bytes.of("away"))
                      ? Optional.of(FakeTablets.retryLater())
                      : Optional.empty());
          BegunOperation begun =
              BegunOperation.of(
                  Mutation.of("lost").put("f", "q", "v"), writer.operations(), table.deadline());
          runtime.sleep(Duration.ofSeconds(10)); // Its schema is read.
          CompletableFuture<Void> away =
              writer.submit(Mutation.of("away").put("f", "q", "v"), Durability.HFLUSH);
          runtime.sleep(Duration.ofSeconds(10));
          simulated.afterBatch(batch -> Optional.of(SteleException.outcomeUnknown("lost", null)));
          CompletableFuture<Void> lost = writer.submit(begun, Durability.HFLUSH);
          assertThat(runtime.await(lost, Duration.ofSeconds(10))).isTrue();
          assertThat(lost).isCompletedExceptionally();

          simulated.afterBatch(batch -> Optional.empty());
          runtime.await(writer.submit(Mutation.of("later").put("f", "q", "v"), Durability.HFLUSH));

          assertThat(away).as("is under way").isNotDone();
          assertThat(simulated.applied().get(0).id()).contains(begun.id());
          assertThat(simulated.batches())
              .last()
              .satisfies(
                  batch ->
                      assertThat(batch.getOperations().getFirstIncomplete())
                          .isGreaterThan(begun.id().number()));
        });
  }

  private CompletableFuture<Void> submit(TableRef table, String row) {
    return batcher.writer(table).submit(Mutation.of(row).put("f", "q", "v"), Durability.HFLUSH);
  }
}
