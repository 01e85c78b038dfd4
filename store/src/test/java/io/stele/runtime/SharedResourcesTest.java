package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedResourcesTest {
  private static final String KEY = "key";

  private final Timers timers = new Timers();
  private final SharedResources<String, Resource> lasting =
      new SharedResources<>(timers, Duration.ofSeconds(1));
  private final SharedResources<String, Resource> closedAtOnce =
      new SharedResources<>(SystemRuntime.INSTANCE, Duration.ZERO);
  private final CountDownLatch goOn = new CountDownLatch(1);

  private static final class Resource implements AutoCloseable {
    private volatile int closed;

    @Override
    public void close() {
      closed++;
    }

    boolean isOpen() {
      return closed == 0;
    }
  }

  /** Timers that a test runs; what they start has ended when they return. */
  private static final class Timers extends ForwardingRuntime {
    private final Queue<Runnable> due = new ArrayDeque<>();

    @Override
    public Timer after(Duration delay, Runnable work) {
      due.add(work);
      return () -> {};
    }

    @Override
    public Task start(String name, Runnable work) {
      Task task = super.start(name, work);
      task.ended().join();
      return task;
    }

    void runNext() {
      due.remove().run();
    }
  }

  @Test
  void aResourceIsOpenedOnceAndClosedWithItsLastShare() throws IOException {
    SharedResources.Share<Resource> one = closedAtOnce.share(KEY, Resource::new);
    SharedResources.Share<Resource> two = closedAtOnce.share(KEY, Resource::new);
    SharedResources.Share<Resource> other = closedAtOnce.share("other", Resource::new);
    assertThat(two.resource()).isSameAs(one.resource());
    assertThat(other.resource()).isNotSameAs(one.resource());
    assertThat(closedAtOnce.count()).isEqualTo(2);
    one.close();
    assertThat(two.resource().isOpen()).isTrue();
    two.close();
    assertThat(two.resource().closed).isEqualTo(1);
    assertThat(other.resource().isOpen()).isTrue();
    assertThat(closedAtOnce.count()).isEqualTo(1);
    try (SharedResources.Share<Resource> again = closedAtOnce.share(KEY, Resource::new)) {
      assertThat(again.resource()).isNotSameAs(one.resource());
    }
  }

  @Test
  void aShareThatIsClosedTwiceTakesNothingFromOthers() throws IOException {
    SharedResources.Share<Resource> twice = closedAtOnce.share(KEY, Resource::new);
    SharedResources.Share<Resource> other = closedAtOnce.share(KEY, Resource::new);
    twice.close();
    twice.close();
    assertThat(other.resource().isOpen()).isTrue();
    other.close();
    assertThat(other.resource().closed).isEqualTo(1);
  }

  @Test
  void aResourceThatIsToLastIsClosedAWhileAfterItsLastUse() throws IOException {
    SharedResources.Share<Resource> first = lasting.share(KEY, Resource::new);
    Resource resource = first.resource();
    first.close();
    SharedResources.Share<Resource> again = lasting.share(KEY, Resource::new);
    assertThat(again.resource()).as("not closed yet").isSameAs(resource);
    timers.runNext();
    assertThat(resource.isOpen()).as("it is used again").isTrue();
    again.close();
    lasting.share(KEY, Resource::new).close();
    timers.runNext();
    assertThat(resource.isOpen()).as("it was used since").isTrue();
    timers.runNext();
    assertThat(resource.closed).isEqualTo(1);
    assertThat(lasting.count()).isZero();
    assertThat(lasting.share(KEY, Resource::new).resource()).isNotSameAs(resource);
  }

  @Test
  void whoeverWaitsForAnotherThatFailsTriesForItself() throws Exception {
    CompletableFuture<SharedResources.Share<Resource>> failing =
        beginInAnotherThread(
            () -> {
              throw new IOException("nobody answers");
            });
    CompletableFuture<SharedResources.Share<Resource>> other = inAnotherThread(Resource::new);
    goOn.countDown();
    assertThatThrownBy(failing::join).hasRootCauseMessage("nobody answers");
    assertThat(other.join().resource().isOpen()).isTrue();
    other.join().close();
    assertThat(closedAtOnce.count()).isZero();
  }

  @Test
  void whoeverIsInterruptedHoldsNothing() throws Exception {
    CompletableFuture<SharedResources.Share<Resource>> first = beginInAnotherThread(Resource::new);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> closedAtOnce.share(KEY, Resource::new))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    goOn.countDown();
    first.join().close();
    assertThat(first.join().resource().closed).isEqualTo(1);
    assertThat(closedAtOnce.count()).isZero();
  }

  /** Returns when a thread is opening the resource; that goes on when {@link #goOn} is 0. */
  private CompletableFuture<SharedResources.Share<Resource>> beginInAnotherThread(
      IoCallable<Resource> opener) {
    CountDownLatch opening = new CountDownLatch(1);
    CompletableFuture<SharedResources.Share<Resource>> share =
        inAnotherThread(
            () -> {
              opening.countDown();
              await(goOn);
              return opener.call();
            });
    await(opening);
    return share;
  }

  private CompletableFuture<SharedResources.Share<Resource>> inAnotherThread(
      IoCallable<Resource> opener) {
    CompletableFuture<SharedResources.Share<Resource>> result = new CompletableFuture<>();
    SystemRuntime.INSTANCE.start(
        "other",
        () -> {
          try {
            result.complete(closedAtOnce.share(KEY, opener));
          } catch (IOException | RuntimeException e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
