package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FanOutTest {
  private static final List<Integer> ITEMS = IntStream.range(0, 10).boxed().toList();

  private final Simulation simulation = new Simulation(1, 100_000);
  private final SimulatedProcess process = simulation.process("p");
  private final WorkerPool pool = process.pool("workers", 3);
  private final List<Integer> done = new ArrayList<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private int atOnceMax;

  @Test
  void eachItemIsDoneOnceAndSeveralAtATime() throws Exception {
    assertThat(tookToDoAll(4)).isLessThan(Duration.ofMillis(400));
    assertThat(done).containsExactlyInAnyOrderElementsOf(ITEMS);
    assertThat(atOnceMax).isEqualTo(4);
  }

  @Test
  void theCallerDoesItAloneWhereThePoolIsClosed() throws Exception {
    pool.close();
    assertThat(tookToDoAll(4)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
    assertThat(done).containsExactlyElementsOf(ITEMS);
  }

  @Test
  void theFirstFailureIsThrownAndLeavesTheRest() {
    assertThatThrownBy(
            () ->
                simulation.run(
                    () ->
                        FanOut.each(
                            simulation.outside(),
                            simulation.outside().pool("own", 1),
                            2,
                            ITEMS,
                            item -> {
                              if (item == 3) {
                                throw new IllegalStateException("bug");
                              }
                              done.add(item);
                            })))
        .hasMessage("bug");
    assertThat(done).doesNotContain(3).hasSizeLessThan(ITEMS.size());
  }

  private Duration tookToDoAll(int width) throws Exception {
    simulation.run(
        () -> simulation.outside().await(process.start("all", () -> doAll(width)).ended()));
    return Duration.ofNanos(simulation.nowNanos());
  }

  private void doAll(int width) {
    try {
      FanOut.each(process, pool, width, ITEMS, this::work);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void work(int item) {
    atOnceMax = Math.max(atOnceMax, atOnce.incrementAndGet());
    try {
      process.sleep(Duration.ofMillis(100));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    atOnce.decrementAndGet();
    done.add(item);
  }
}
