package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class HedgedCallTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Simulation simulation = new Simulation(1, 1_000_000);
  private final SimulatedProcess process = simulation.process("caller");
  private final List<CompletableFuture<Integer>> answers = new ArrayList<>();
  private final List<Integer> unused = new ArrayList<>();

  /** Waits for the answer to this attempt. */
  private int attempt() throws IOException {
    CompletableFuture<Integer> answer = new CompletableFuture<>();
    answers.add(answer);
    return Futures.await(process, answer, "an attempt");
  }

  private int call() throws IOException {
    return HedgedCall.first(process, "hedged", PATIENCE, 3, this::attempt, unused::add);
  }

  private CompletableFuture<Integer> begin() {
    CompletableFuture<Integer> result = new CompletableFuture<>();
    process.start("caller", () -> Futures.complete(result, this::call));
    return result;
  }

  private void pass(Duration time) throws InterruptedException {
    simulation.outside().sleep(time);
  }

  @Test
  void anAttemptThatSucceedsInTimeIsTheOnlyOne() throws Exception {
    simulation.run(
        () -> {
          CompletableFuture<Integer> result = begin();
          pass(PATIENCE.minusMillis(1));
          assertThat(answers).hasSize(1);
          answers.get(0).complete(7);
          assertThat(simulation.outside().await(result)).isEqualTo(7);
          pass(PATIENCE.multipliedBy(3));
          assertThat(answers).hasSize(1);
          assertThat(unused).isEmpty();
        });
  }

  @Test
  void theFirstOfSeveralAttemptsThatSucceedsCounts() throws Exception {
    simulation.run(
        () -> {
          CompletableFuture<Integer> result = begin();
          pass(PATIENCE.multipliedBy(10));
          assertThat(answers).hasSize(6);
          answers.get(1).complete(2);
          assertThat(simulation.outside().await(result)).isEqualTo(2);
          answers.get(0).complete(1);
          answers.get(5).completeExceptionally(new IOException("no"));
          pass(PATIENCE);
          assertThat(unused).containsExactly(1);
        });
  }

  @Test
  void aFailureIsToldWhenNoAttemptIsUnderWay() throws Exception {
    simulation.run(
        () -> {
          CompletableFuture<Integer> result = begin();
          pass(PATIENCE.plusMillis(1));
          answers.get(0).completeExceptionally(new IOException("first"));
          pass(PATIENCE.dividedBy(2));
          assertThat(result).isNotDone();
          answers.get(1).completeExceptionally(new IOException("second"));
          answers.get(2).completeExceptionally(new IOException("third"));
          assertThatThrownBy(() -> simulation.outside().await(result))
              .hasMessageContaining("third");
          pass(PATIENCE.multipliedBy(3));
          assertThat(answers).hasSize(3);
        });
  }

  @Test
  void whatSucceedsAfterTheCallerWasInterruptedIsNotUsed() throws Exception {
    simulation.run(
        () -> {
          CompletableFuture<Integer> result = new CompletableFuture<>();
          Task caller = process.start("caller", () -> Futures.complete(result, this::call));
          pass(Duration.ofSeconds(1));
          caller.interrupt();
          assertThatThrownBy(() -> simulation.outside().await(result))
              .hasCauseInstanceOf(InterruptedIOException.class);
          answers.get(0).complete(1);
          pass(PATIENCE.multipliedBy(3));
          assertThat(answers).hasSize(1);
          assertThat(unused).containsExactly(1);
        });
  }
}
