package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.runtime.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

class SimulationTest {
  private static final int STEPS_MAX = 100_000;

  private final Simulation simulation = new Simulation(1, STEPS_MAX);
  private final SimulatedProcess process = simulation.process("p");

  @Test
  void theSameSeedGivesTheSameHistoryAndAnotherSeedAnother() throws Exception {
    Set<Long> hashes = new HashSet<>();
    Set<List<Integer>> orders = new HashSet<>();
    for (int seed = 0; seed < 50; seed++) {
      List<Integer> order = new ArrayList<>();
      long hash = race(seed, order);
      List<Integer> again = new ArrayList<>();
      assertThat(race(seed, again)).isEqualTo(hash);
      assertThat(again).isEqualTo(order);
      hashes.add(hash);
      orders.add(order);
    }
    assertThat(hashes).hasSizeGreaterThan(40);
    assertThat(orders).hasSizeGreaterThan(20);
  }

  private static long race(long seed, List<Integer> order) throws Exception {
    Simulation simulation = new Simulation(seed, STEPS_MAX);
    simulation.run(
        () -> {
          SimulatedProcess process = simulation.process("p");
          List<Task> tasks = new ArrayList<>();
          for (int i = 0; i < 8; i++) {
            int number = i;
            tasks.add(process.start("t" + i, () -> order.add(number)));
          }
          for (Task task : tasks) {
            simulation.outside().await(task.ended());
          }
        });
    return simulation.traceHash();
  }

  @Test
  void virtualTimeJumps() throws Exception {
    Simulation simulation = new Simulation(1, STEPS_MAX);
    simulation.run(() -> simulation.outside().sleep(Duration.ofDays(1000)));
    assertThat(simulation.nowNanos()).isEqualTo(Duration.ofDays(1000).toNanos());
  }

  @Test
  void tasksOfAKilledProcessRunNoFurtherAndOthersDo() throws Exception {
    for (int seed = 0; seed < 50; seed++) {
      Simulation simulation = new Simulation(seed, STEPS_MAX);
      AtomicInteger ticks = new AtomicInteger();
      AtomicInteger unwound = new AtomicInteger();
      simulation.run(
          () -> {
            SimulatedProcess process = simulation.process("victim");
            Lock lock = process.newLock();
            for (int i = 0; i < 3; i++) {
              process.start("ticks", () -> tick(process, lock, ticks, unwound));
            }
            process.after(Duration.ofMillis(100), ticks::incrementAndGet);
            simulation.outside().sleep(Duration.ofMillis(35));
            process.kill();
            int then = ticks.get();
            simulation.outside().sleep(Duration.ofSeconds(1));
            assertThat(ticks).hasValue(then);
          });
      assertThat(unwound).hasValue(3);
    }
  }

  private static void tick(
      SimulatedProcess process, Lock lock, AtomicInteger ticks, AtomicInteger unwound) {
    try {
      while (true) {
        lock.lock();
        try {
          process.sleep(Duration.ofMillis(10));
          ticks.incrementAndGet();
        } finally {
          lock.unlock();
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      unwound.incrementAndGet();
    }
  }

  @Test
  void aStoppedProcessStandsStillWhileItsClockGoesOn() throws Exception {
    Simulation simulation = new Simulation(7, STEPS_MAX);
    simulation.run(
        () -> {
          SimulatedProcess process = simulation.process("stopped");
          List<Long> woke = new ArrayList<>();
          process.start(
              "sleeps",
              () -> {
                try {
                  process.sleep(Duration.ofMillis(10));
                  woke.add(process.nanoTime());
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
          simulation.outside().sleep(Duration.ofMillis(5));
          process.pause();
          simulation.outside().sleep(Duration.ofMillis(100));
          assertThat(woke).isEmpty();
          process.resume();
          simulation.outside().sleep(Duration.ofMillis(1));
          assertThat(woke).containsExactly(Duration.ofMillis(105).toNanos());
        });
  }

  @Test
  void aFrozenProcessLosesTheTimeInWhichItStandsStill() throws Exception {
    Simulation simulation = new Simulation(7, STEPS_MAX);
    simulation.run(
        () -> {
          SimulatedProcess process = simulation.process("frozen");
          SimulatedProcess outside = simulation.outside();
          outside.sleep(Duration.ofMillis(5));
          process.freeze();
          outside.sleep(Duration.ofMillis(40));
          process.freeze(); // Twice at once is no longer than once.
          outside.sleep(Duration.ofMillis(30));
          assertThat(process.nanoTime()).isEqualTo(Duration.ofMillis(5).toNanos());
          process.resume();
          outside.sleep(Duration.ofMillis(1));
          process.resume();
          assertThat(process.nanoTime()).isEqualTo(Duration.ofMillis(6).toNanos());
          assertThat(Duration.between(process.wallClock().instant(), outside.wallClock().instant()))
              .isEqualTo(Duration.ofMillis(70));
        });
  }

  private AbstractThrowableAssert<?, ? extends Throwable> assertRunFails(Simulation.Work work) {
    return assertThatThrownBy(() -> simulation.run(work));
  }

  @Test
  void aCallbackThatWaitsFailsTheSimulation() {
    assertRunFails(
            () -> {
              process.after(Duration.ofMillis(1), () -> sleep(process));
              simulation.outside().sleep(Duration.ofSeconds(1));
            })
        .isInstanceOf(SimulationFailure.class)
        .hasMessageContaining("a callback of p would have to sleep");
  }

  @Test
  void aCallbackThatNeedsALockHeldOverAWaitFailsTheSimulation() {
    Lock lock = process.newLock();
    assertRunFails(
            () -> {
              process.after(Duration.ofMillis(1), lock::lock);
              lock.lock();
              simulation.outside().sleep(Duration.ofSeconds(1));
            })
        .isInstanceOf(SimulationFailure.class)
        .hasMessageContaining("would have to wait for a lock");
  }

  @Test
  void tasksThatWaitForEachOtherForEverAreNamed() {
    assertRunFails(() -> simulation.outside().await(new CompletableFuture<>()))
        .isInstanceOf(SimulationFailure.class)
        .hasMessageContaining("all tasks wait")
        .hasMessageContaining("main waits for a future");
  }

  @Test
  void aTaskThatThrowsFailsTheSimulation() {
    assertRunFails(
            () -> {
              process.start(
                  "bad",
                  () -> {
                    throw new IllegalStateException("bug");
                  });
              simulation.outside().sleep(Duration.ofSeconds(1));
            })
        .isInstanceOf(SimulationFailure.class)
        .hasMessageContaining("bug");
  }

  @Test
  void aSimulationThatFailsWhileAProcessIsStoppedEnds() {
    assertRunFails(
            () -> {
              process.start("sleeps", () -> sleep(process));
              simulation.outside().sleep(Duration.ofNanos(1));
              process.pause();
              simulation.outside().sleep(Duration.ofSeconds(1));
              throw new IllegalStateException("bug");
            })
        .hasMessage("bug");
  }

  @Test
  void aTaskThatGoesOnAfterTheEndFailsTheSimulation() {
    Simulation impatient = new Simulation(1, STEPS_MAX, Duration.ofMillis(200));
    SimulatedProcess process = impatient.process("p");
    AtomicBoolean over = new AtomicBoolean();
    try {
      assertThatThrownBy(
              () ->
                  impatient.run(
                      () -> {
                        process.start("stubborn", () -> sleepUntil(over, process));
                        impatient.outside().sleep(Duration.ofMillis(2));
                      }))
          .isInstanceOf(SimulationFailure.class)
          .hasMessageContaining("p stubborn")
          .hasMessageContaining("sleepUntil");
    } finally {
      over.set(true); // Or its thread would keep a processor busy until all tests are done.
    }
  }

  private static void sleepUntil(AtomicBoolean over, SimulatedProcess process) {
    while (!over.get()) {
      try {
        sleep(process);
      } catch (ProcessKilled e) {
        // The fault that this test plants.
      }
    }
  }

  private static void sleep(SimulatedProcess process) {
    try {
      process.sleep(Duration.ofMillis(1));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
