package io.stele.sim;

import io.stele.runtime.Task;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * A task of a simulation: work on a thread that runs while the task holds the baton.
 *
 * <p>Its state belongs to whoever holds the baton; {@link #baton} hands it over.
 */
final class SimulatedTask implements Task {
  /** Why a wait ended. */
  enum Wake {
    NOTIFIED,
    TIMED_OUT,
    INTERRUPTED
  }

  private final SimulatedProcess process;
  private final String name;
  private final long number;
  private final Runnable work;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private volatile boolean baton;
  private volatile Optional<Thread> carrier = Optional.empty();
  private boolean begun;
  private boolean waiting;
  private boolean interruptible;
  private boolean interrupted;
  private Wake wake = Wake.NOTIFIED;
  private long waitNumber;
  private String waitsFor = "";
  private Optional<Collection<SimulatedTask>> queue = Optional.empty();
  private int locksHeld;

  SimulatedTask(SimulatedProcess process, String name, Runnable work) {
    this.process = process;
    this.name = name;
    this.number = process.nextTaskNumber();
    this.work = work;
    process.add(this);
  }

  SimulatedProcess process() {
    return process;
  }

  long number() {
    return number;
  }

  // The baton.

  /** Hands the baton to this task's thread. */
  void carry() {
    baton = true;
    if (begun) {
      carrier.ifPresent(LockSupport::unpark); // Else it has not begun to wait.
    } else {
      begun = true;
      process.simulation().carriers().execute(this::run);
    }
  }

  private void run() {
    carrier = Optional.of(Thread.currentThread());
    try {
      if (!process.isEnding()) {
        work.run();
      }
    } catch (ProcessKilled e) {
      // As it should.
    } catch (SimulationFailure e) {
      // Told by the simulation.
    } catch (RuntimeException | Error e) {
      process.simulation().fail("task " + name + " of " + process.name() + " threw " + e, e);
    } finally {
      boolean ignored = Thread.interrupted(); // The thread goes on to carry another task.
      process.remove(this);
      passOnForGood();
    }
  }

  private void passOnForGood() {
    try {
      ended.complete(null);
      process.simulation().ended(this);
    } catch (RuntimeException | Error e) { // Else nobody would have the baton.
      process.simulation().lost(e);
    }
  }

  void awaitBaton() {
    while (!baton) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        interrupted = true;
      }
    }
  }

  boolean isCarriedByCaller() {
    return carrier.isPresent() && carrier.get() == Thread.currentThread();
  }

  // Waiting.

  /**
   * Waits until woken.
   *
   * @param in the queue it waits in, from which it is removed when woken
   */
  Wake await(
      String what,
      Optional<? extends Collection<SimulatedTask>> in,
      Optional<Duration> timeout,
      boolean mayBeInterrupted)
      throws InterruptedException {
    if (Thread.interrupted()) {
      interrupted = true;
    }
    process.checkAlive();
    if (mayBeInterrupted && interrupted) {
      interrupted = false;
      throw new InterruptedException(what);
    }
    waiting = true;
    interruptible = mayBeInterrupted;
    waitsFor = what;
    queue = in.map(tasks -> tasks);
    queue.ifPresent(tasks -> tasks.add(this));
    long thisWait = ++waitNumber;
    Optional<Runnable> cancelTimer =
        timeout.map(
            delay ->
                process
                    .simulation()
                    .schedule(process, delay, "", () -> wake(thisWait, Wake.TIMED_OUT)));
    baton = false;
    process.simulation().pass(this);
    cancelTimer.ifPresent(Runnable::run);
    process.checkAlive();
    if (wake == Wake.INTERRUPTED) {
      interrupted = false;
      throw new InterruptedException(what);
    }
    return wake;
  }

  /** As {@link #await}, and interruptions stay until later. */
  Wake awaitUninterruptibly(
      String what, Optional<? extends Collection<SimulatedTask>> in, Optional<Duration> timeout) {
    try {
      return await(what, in, timeout, false);
    } catch (InterruptedException e) {
      throw new AssertionError("an uninterruptible wait was interrupted", e);
    }
  }

  /** Lets others go first. */
  void yieldBaton() {
    if (locksHeld == 0 && process.simulation().yieldsHere()) {
      process.checkAlive();
      waitsFor = "its turn";
      baton = false;
      process.simulation().makeReady(this);
      process.simulation().pass(this);
      process.checkAlive();
    }
  }

  /** The wait that is under way; see {@link #wake}. */
  long nextWait() {
    return waitNumber + 1;
  }

  /** Ends the wait of that number, if the task is still in it. */
  void wake(long thatWait, Wake why) {
    if (waiting && waitNumber == thatWait) {
      wake(why);
    }
  }

  /** Ends the wait the task is in. */
  void wake(Wake why) {
    if (!waiting) {
      return;
    }
    waiting = false;
    wake = why;
    queue.ifPresent(tasks -> tasks.remove(this));
    queue = Optional.empty();
    process.simulation().makeReady(this);
  }

  /** Makes the task unwind: its wait, and each further one, throws. */
  void end() {
    wake(Wake.NOTIFIED);
  }

  void lockTaken() {
    locksHeld++;
  }

  void lockReleased() {
    locksHeld--;
  }

  /** Where its thread is; may be asked without the baton. */
  List<StackTraceElement> stack() {
    return carrier.map(thread -> List.of(thread.getStackTrace())).orElse(List.of());
  }

  String describe() {
    return process.name() + " " + name + (waiting ? " waits for " + waitsFor : " may run");
  }

  // As the tasks of the product see it.

  @Override
  public void interrupt() {
    interrupted = true;
    if (waiting && interruptible) {
      wake(Wake.INTERRUPTED);
    }
  }

  @Override
  public void clearInterrupt() {
    if (!isCurrent()) {
      throw new IllegalStateException("only the task itself clears its interrupt");
    }
    Thread.interrupted();
    interrupted = false;
  }

  @Override
  public boolean isCurrent() {
    return isCarriedByCaller() && !process.simulation().isInCallback();
  }

  @Override
  public CompletableFuture<Void> ended() {
    return ended.copy();
  }
}
