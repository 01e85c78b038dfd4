package io.stele.yarn;

import io.stele.runtime.IoCallable;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Makes the ApplicationMaster's blocking calls on other threads. How a call ended comes back as an
 * event, whatever it ended with: a call whose end was never heard of would seem to go on for ever.
 *
 * <p>Safe for use by any number of threads; never waits. What takes results and failures runs on
 * the thread that takes the events.
 */
final class BlockingCalls implements AutoCloseable {
  private static final int CALLS_MAX = 16;

  private final ProcessRuntime runtime;
  private final EventQueue events;
  private final WorkerPool threads;

  /**
   * @param name what its threads are called: calls wait only for others of the same name
   */
  BlockingCalls(ProcessRuntime runtime, EventQueue events, String name) {
    this(runtime, events, name, CALLS_MAX);
  }

  /**
   * @param name what its threads are called: calls wait only for others of the same name
   * @param callsMax how many are made at once
   */
  BlockingCalls(ProcessRuntime runtime, EventQueue events, String name, int callsMax) {
    this.runtime = runtime;
    this.events = events;
    this.threads = runtime.pool(name, callsMax);
  }

  /**
   * Makes the call. One of the two becomes an event.
   *
   * @param done takes the result
   * @param failed takes what the call threw, be it an {@link Error}
   */
  <T> void call(IoCallable<T> call, Consumer<T> done, Consumer<Throwable> failed) {
    threads.execute(
        () -> {
          try {
            T result = call.call();
            events.add(() -> done.accept(result));
          } catch (IOException | RuntimeException | Error e) {
            events.add(() -> failed.accept(e));
          }
        });
  }

  /** The same for a call without a result. */
  void run(IoRunnable run, Runnable done, Consumer<Throwable> failed) {
    call(
        () -> {
          run.run();
          return true;
        },
        ended -> done.run(),
        failed);
  }

  /** Makes {@code event} one after {@code pause}. */
  void later(Duration pause, Runnable event) {
    runtime.after(pause, () -> events.add(event));
  }

  @Override
  public void close() {
    threads.close();
  }
}
