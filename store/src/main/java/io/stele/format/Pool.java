package io.stele.format;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Keeps objects that are costly to make, for use by one thread at a time. They are not
 * thread-local: a server has more threads than compress at once, and memory outside the heap would
 * be lost with its thread. Safe for use by any number of threads.
 */
final class Pool<T> {
  /** Beyond this number, objects are made when needed and not kept. */
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
