package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class WaitingTest {
  private static final Duration TASK_TIMEOUT = Duration.ofSeconds(30);

  @Test
  void aWaitOfTenMinutesTellsItsOwnerLongBeforeATaskWouldBeTimedOut() throws Exception {
    Simulation simulation = new Simulation(1, 100_000);
    simulation.run(
        () -> {
          SimulatedProcess runtime = simulation.outside();
          List<Long> ticks = new ArrayList<>();
          long start = runtime.nanoTime();
          ticks.add(start);
          Waiting waiting = Waiting.of(runtime, Optional.of(() -> ticks.add(runtime.nanoTime())));
          CompletableFuture<String> answer = new CompletableFuture<>();
          runtime.after(Duration.ofMinutes(10), () -> answer.complete("late"));
          assertThat(waiting.await(answer, "waiting")).isEqualTo("late");
          ticks.add(runtime.nanoTime());
          assertThat(runtime.nanoTime() - start).isGreaterThan(Duration.ofMinutes(9).toNanos());
          for (int i = 1; i < ticks.size(); i++) {
            assertThat(ticks.get(i) - ticks.get(i - 1)).isLessThan(TASK_TIMEOUT.toNanos() / 3);
          }
        });
  }

  @Test
  void whatIsThereIsNotWaitedFor() throws Exception {
    Simulation simulation = new Simulation(1, 100_000);
    simulation.run(
        () -> {
          List<String> ticks = new ArrayList<>();
          Waiting waiting = Waiting.of(simulation.outside(), Optional.of(() -> ticks.add("tick")));
          assertThat(waiting.await(CompletableFuture.completedFuture(1), "waiting")).isEqualTo(1);
          assertThatThrownBy(
                  () ->
                      waiting.await(
                          CompletableFuture.failedFuture(SteleException.refused("no")), "waiting"))
              .isInstanceOf(SteleException.class);
          assertThat(ticks).isEmpty();
        });
  }

  @Test
  void aPersonWhoWaitsIsToldOnceWhatFor() throws Exception {
    Simulation simulation = new Simulation(1, 100_000);
    simulation.run(
        () -> {
          List<String> told = new ArrayList<>();
          SimulatedProcess runtime = simulation.outside();
          Waiting waiting = new Waiting(runtime, Optional.empty(), LongWaits.toPerson(told::add));
          for (Duration takes : List.of(Duration.ofSeconds(2), Duration.ofSeconds(40))) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            runtime.after(takes, () -> answer.complete("late"));
            assertThat(waiting.await(answer, "waiting", "it takes long")).isEqualTo("late");
            if (takes.compareTo(LongWaits.LONG) < 0) {
              assertThat(told).isEmpty();
            }
          }
          assertThat(told).containsExactly("it takes long");
        });
  }

  /** What calls of {@code lengths}, one after the other, log. */
  private static List<String> logged(Optional<Runnable> tick, int... lengths) throws Exception {
    List<String> logged = new ArrayList<>();
    Simulation simulation = new Simulation(1, 100_000);
    simulation.run(
        () -> {
          SimulatedProcess runtime = simulation.outside();
          long start = runtime.nanoTime();
          LongWaits waits =
              LongWaits.toLog(
                  runtime,
                  line ->
                      logged.add(
                          Duration.ofNanos(runtime.nanoTime() - start).toSeconds()
                              + " s: "
                              + line));
          Waiting waiting = new Waiting(runtime, tick, waits);
          for (int seconds : lengths) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            runtime.after(Duration.ofSeconds(seconds), () -> answer.complete("late"));
            waiting.await(answer, "waiting", "call of " + seconds + " s");
          }
        });
    return logged;
  }

  @Test
  void theLogOfAProgramSaysOnceWhatACallWaitsForAndThenSeldom() throws Exception {
    for (Optional<Runnable> tick :
        List.<Optional<Runnable>>of(Optional.empty(), Optional.of(() -> {}))) {
      assertThat(logged(tick, 2, 130))
          .containsExactly("5 s: call of 130 s", "65 s: call of 130 s", "125 s: call of 130 s");
      assertThat(logged(tick, 4, 5, 6, 50))
          .as("one for all calls")
          .containsExactly("3 s: call of 4 s");
    }
  }
}
