package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Makes a call, and makes it again while the attempts before are still under way, each time more
 * often at once: the first attempt that succeeds counts. For calls that may take long by bad luck,
 * such as writing a file, where another attempt uses other nodes (J. Dean, L. A. Barroso: The Tail
 * at Scale, CACM 2013, "hedged requests").
 *
 * <p>Safe for use by any number of threads. Attempts run on threads of their own, which may outlive
 * the call.
 */
public final class HedgedCall<T> {
  private final ProcessRuntime runtime;
  private final String name;
  private final IoCallable<T> call;
  private final Consumer<T> unused;
  private final CompletableFuture<T> outcome = new CompletableFuture<>();

  @GuardedBy("this")
  private int underWay;

  private HedgedCall(ProcessRuntime runtime, String name, IoCallable<T> call, Consumer<T> unused) {
    this.runtime = runtime;
    this.name = name;
    this.call = call;
    this.unused = unused;
  }

  /**
   * Returns the result of the first attempt that succeeds.
   *
   * @param name of the attempts' threads, for logs
   * @param patience how long to wait for the attempts so far before more begin; none begins after
   *     all of them have failed
   * @param roundsMax how often attempts begin: one, then two, then three, and so on
   * @param call may be made by several threads at a time
   * @param unused gets the results of later attempts, on their threads
   * @throws IOException if all attempts failed, or the thread was interrupted ({@link
   *     java.io.InterruptedIOException}); attempts that are under way go on
   */
  public static <T> T first(
      ProcessRuntime runtime,
      String name,
      Duration patience,
      int roundsMax,
      IoCallable<T> call,
      Consumer<T> unused)
      throws IOException {
    return new HedgedCall<>(runtime, name, call, unused).first(patience, roundsMax);
  }

  private T first(Duration patience, int roundsMax) throws IOException {
    try {
      begin(1);
      for (int round = 2; round <= roundsMax && !runtime.await(outcome, patience); round++) {
        begin(round);
      }
      return Futures.await(runtime, outcome, name);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, name);
    } finally {
      outcome.cancel(false); // If the thread was interrupted: nobody uses a later result.
    }
  }

  private void begin(int attempts) {
    synchronized (this) {
      underWay += attempts;
    }
    for (int i = 0; i < attempts; i++) {
      runtime.start(name, this::attempt);
    }
  }

  private void attempt() {
    T result;
    try {
      result = call.call();
    } catch (ProcessEnded e) {
      throw e;
    } catch (IOException | RuntimeException | Error e) {
      failed(e);
      return;
    }
    if (!outcome.complete(result)) {
      unused.accept(result);
    }
  }

  private void failed(Throwable failure) {
    boolean last;
    synchronized (this) {
      last = --underWay == 0;
    }
    if (last) {
      outcome.completeExceptionally(failure);
    }
  }
}
