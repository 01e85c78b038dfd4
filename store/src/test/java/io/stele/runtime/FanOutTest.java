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

  @Test
  void anIoExceptionIsThrownAsItIsAndLeavesTheRest() {
    IOException failure = new IOException("disk");
    assertThatThrownBy(
            () ->
                simulation.run(
                    () ->
                        FanOut.eachIo(
                            simulation.outside(),
                            simulation.outside().pool("own", 1),
                            2,
                            ITEMS,
                            item -> {
                              if (item == 3) {
                                throw failure;
                              }
                              done.add(item);
                            },
                            "working")))
        .isSameAs(failure);
    assertThat(done).doesNotContain(3).hasSizeLessThan(ITEMS.size());
  }

  @Test
  void anInterruptedCallerIsStillInterruptedAndLearnsDuringWhat() throws Exception {
    CompletableFuture<Void> begun = new CompletableFuture<>();
    CompletableFuture<Void> goOn = new CompletableFuture<>();
    try (WorkerPool own = SystemRuntime.INSTANCE.pool("own", 1)) {
      Thread caller = Thread.currentThread();
      assertThatThrownBy(
              () ->
                  FanOut.eachIo(
                      SystemRuntime.INSTANCE,
                      own,
                      2,
                      List.of(1, 2),
                      item -> {
                        if (Thread.currentThread() == caller) {
                          begun.join(); // The other thread has the other item.
                          caller.interrupt();
                        } else {
                          begun.complete(null);
                          goOn.join();
                        }
                      },
                      "working"))
          .isInstanceOf(InterruptedIOException.class)
          .hasMessage("interrupted: working");
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      goOn.complete(null);
    }
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
