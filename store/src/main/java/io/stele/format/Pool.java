package io.stele.format;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Things that are dear to make and can be used again, by one thread at a time. Not a thread's own:
 * a server has more threads than it compresses in at once, and what a thread owns outside of the
 * heap is lost with it. Safe for use by any number of threads.
 */
final class Pool<T> {
  /** More are made when more are needed at once, and are not kept. */
  private static final int KEPT_MAX = 2 * Runtime.getRuntime().availableProcessors();

  private final Supplier<T> maker;
  private final Consumer<T> closer;
  private final BlockingQueue<T> idle = new ArrayBlockingQueue<>(KEPT_MAX);

  Pool(Supplier<T> maker, Consumer<T> closer) {
    this.maker = maker;
    this.closer = closer;
  }

  T take() {
    T one = idle.poll();
    return one == null ? maker.get() : one;
  }

  /** Takes back what {@link #take} gave. */
  void giveBack(T one) {
    if (!idle.offer(one)) {
      closer.accept(one);
    }
  }
}
