package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** What every {@link ProcessRuntime} does. */
public abstract class ProcessRuntimeContract {
  /** Something that may wait. */
  protected interface Work {
    void run(ProcessRuntime runtime) throws Exception;
  }

  /** Runs {@code work} where it may wait through the runtime it is given. */
  protected abstract void with(Work work) throws Exception;

  @Test
  void timePassesWhileSleeping() throws Exception {
    with(
        runtime -> {
          long begin = runtime.nanoTime();
          runtime.sleep(Duration.ofMillis(20));
          assertThat(runtime.nanoTime() - begin).isGreaterThanOrEqualTo(20_000_000);
        });
  }

  @Test
  void aTaskRunsAndItsEndIsTold() throws Exception {
    with(
        runtime -> {
          AtomicInteger ran = new AtomicInteger();
          Task task = runtime.start("adds", ran::incrementAndGet);
          runtime.await(task.ended());
          assertThat(ran).hasValue(1);
          assertThat(task.isCurrent()).isFalse();
        });
  }

  @Test
  void anInterruptedTaskLeavesItsSleep() throws Exception {
    with(
        runtime -> {
          CompletableFuture<String> result = new CompletableFuture<>();
          Task task =
              runtime.start(
                  "sleeps",
                  () -> {
                    try {
                      runtime.sleep(Duration.ofDays(1));
                      result.complete("slept");
                    } catch (InterruptedException e) {
                      result.complete("interrupted");
                    }
                  });
          task.interrupt();
          assertThat(runtime.await(result)).isEqualTo("interrupted");
        });
  }

  @Test
  void anInterruptedTaskDoesNotBeginToWait() throws Exception {
    with(
        runtime -> {
          Futures.interruptAgain();
          assertThatThrownBy(() -> runtime.sleep(Duration.ofMillis(1)))
              .isInstanceOf(InterruptedException.class);
          runtime.sleep(Duration.ofMillis(1)); // The interrupt is cleared.
        });
  }

  @Test
  void aFutureIsWaitedForWithAndWithoutALimit() throws Exception {
    with(
        runtime -> {
          CompletableFuture<String> never = new CompletableFuture<>();
          assertThat(runtime.await(never, Duration.ofMillis(10))).isFalse();
          CompletableFuture<String> soon = new CompletableFuture<>();
          runtime.after(Duration.ofMillis(10), () -> soon.complete("done"));
          assertThat(runtime.await(soon)).isEqualTo("done");
          CompletableFuture<String> failed = CompletableFuture.failedFuture(new IOException("x"));
          assertThat(runtime.await(failed, Duration.ofMillis(10))).isTrue();
          assertThatThrownBy(() -> runtime.await(failed)).isInstanceOf(ExecutionException.class);
        });
  }

  @Test
  void aCancelledTimerDoesNothing() throws Exception {
    with(
        runtime -> {
          AtomicInteger ran = new AtomicInteger();
          do { // On a machine that stood still it has run before it is cancelled.
            ran.set(0);
            Timer timer = runtime.after(Duration.ofMillis(50), ran::incrementAndGet);
            timer.cancel();
          } while (ran.get() > 0);
          CompletableFuture<Void> later = new CompletableFuture<>();
          runtime.after(Duration.ofMillis(80), () -> later.complete(null));
          runtime.await(later);
          assertThat(ran).hasValue(0);
        });
  }

  @Test
  void aPoolRunsNoMoreAtOnceThanItMay() throws Exception {
    with(
        runtime -> {
          WorkerPool pool = runtime.pool("workers", 2);
          AtomicInteger atOnce = new AtomicInteger();
          AtomicInteger most = new AtomicInteger();
          List<CompletableFuture<Void>> all = new ArrayList<>();
          for (int i = 0; i < 6; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            all.add(done);
            pool.execute(
                () -> {
                  most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                  try {
                    runtime.sleep(Duration.ofMillis(2));
                  } catch (InterruptedException e) {
                    done.completeExceptionally(e);
                  }
                  atOnce.decrementAndGet();
                  done.complete(null);
                });
          }
          for (CompletableFuture<Void> done : all) {
            runtime.await(done);
          }
          assertThat(most).hasValue(2);
          pool.close();
          assertThatThrownBy(() -> pool.execute(() -> {}))
              .isInstanceOf(RejectedExecutionException.class);
        });
  }

  @Test
  void aClosedPoolInterruptsWhatRuns() throws Exception {
    with(
        runtime -> {
          WorkerPool pool = runtime.pool("workers", 1);
          CompletableFuture<Void> begun = new CompletableFuture<>();
          CompletableFuture<String> result = new CompletableFuture<>();
          pool.execute(
              () -> {
                begun.complete(null);
                try {
                  runtime.sleep(Duration.ofDays(1));
                } catch (InterruptedException e) {
                  result.complete("interrupted");
                }
              });
          runtime.await(begun);
          pool.close();
          assertThat(runtime.await(result)).isEqualTo("interrupted");
        });
  }

  @Test
  void aLockIsHeldByOneAtATimeAlsoWhileItsHolderSleeps() throws Exception {
    with(
        runtime -> {
          Lock lock = runtime.newLock();
          List<String> order = new ArrayList<>();
          CompletableFuture<Void> locked = new CompletableFuture<>();
          Task other =
              runtime.start(
                  "holder",
                  () -> {
                    lock.lock();
                    lock.lock();
                    locked.complete(null);
                    try {
                      runtime.sleep(Duration.ofMillis(10));
                      order.add("holder");
                    } catch (InterruptedException e) {
                      order.add("interrupted");
                    } finally {
                      lock.unlock();
                      lock.unlock();
                    }
                  });
          runtime.await(locked);
          assertThat(lock.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
          lock.lock();
          order.add("next");
          lock.unlock();
          runtime.await(other.ended());
          assertThat(order).containsExactly("holder", "next");
        });
  }

  @Test
  void aConditionWakesWhoWaitsForIt() throws Exception {
    with(
        runtime -> {
          Lock lock = runtime.newLock();
          Condition changed = lock.newCondition();
          AtomicInteger value = new AtomicInteger();
          runtime.start(
              "changes",
              () -> {
                lock.lock();
                value.set(1);
                changed.signalAll();
                lock.unlock();
              });
          lock.lock();
          while (value.get() == 0) {
            changed.await();
          }
          assertThat(changed.awaitNanos(1_000_000)).isLessThanOrEqualTo(0);
          lock.unlock();
        });
  }

  @Test
  void whoWantsManyPermitsIsNotPassedOver() throws Exception {
    with(
        runtime -> {
          Permits permits = new Permits(runtime, 2);
          permits.acquire(1);
          List<String> order = new ArrayList<>();
          Task all =
              runtime.start(
                  "all",
                  () -> {
                    try {
                      permits.acquire(2);
                      order.add("all");
                      permits.release(2);
                    } catch (InterruptedException e) {
                      order.add("interrupted");
                    }
                  });
          for (int i = 0; i < 1000 && permits.tryAcquire(1); i++) { // Until "all" waits.
            permits.release(1);
            runtime.sleep(Duration.ofMillis(1));
          }
          assertThat(permits.tryAcquire(1)).isFalse();
          assertThat(permits.acquire(1, Duration.ofMillis(5))).isFalse();
          permits.release(1);
          runtime.await(all.ended());
          assertThat(order).containsExactly("all");
          assertThat(permits.free()).isEqualTo(2);
        });
  }

  @Test
  void aDeadlineComes() throws Exception {
    with(
        runtime -> {
          Deadline deadline = Deadline.after(runtime, Duration.ofMillis(5));
          assertThat(deadline.isOver()).isFalse();
          runtime.sleep(Duration.ofMillis(6));
          assertThat(deadline.isOver()).isTrue();
          assertThat(deadline.remaining()).isZero();
        });
  }
}
