package io.stele.log;

import io.stele.runtime.ProcessRuntime;
import java.util.Optional;
import java.util.concurrent.locks.Condition;

/**
 * Notices which of a log's writers stand still: those whose flush is slow, so that another is to
 * write their batch too, and those whose call to the file system hangs, so that they are given up.
 *
 * <p>While no writer has called the file system, the watchdog sleeps until one does ({@link
 * #begin}). Otherwise it checks them again and again.
 *
 * <p>Guarded by the lock of the {@link CommitPipeline}.
 */
final class WriterWatch {
  private final ProcessRuntime runtime;
  private final Condition watching;
  private final WriterTurns turns;
  private final SegmentLedger ledger;
  private final SlowFlushes slowFlushes = new SlowFlushes();
  private boolean sleeps;

  /**
   * A watch over writers.
   *
   * @param watching what the watchdog waits for, and nothing else
   * @param ledger told of the segments of writers that are given up
   */
  WriterWatch(ProcessRuntime runtime, Condition watching, WriterTurns turns, SegmentLedger ledger) {
    this.runtime = runtime;
    this.watching = watching;
    this.turns = turns;
    this.ledger = ledger;
  }

  /** A writer is going to ask something of the file system. */
  void begin(WriterState writer) {
    writer.begin(runtime.nanoTime());
    if (sleeps) {
      watching.signal(); // Otherwise it checks soon enough anyway.
    }
  }

  /** A writer's flush has ended well. */
  void completed(WriterState writer) {
    slowFlushes.add(runtime.nanoTime() - writer.sinceNanos());
    writer.end();
  }

  /** Has the watchdog check now: the log may have ended. */
  void wake() {
    watching.signal();
  }

  /** Waits, without the lock, until it is time to check the writers; or, rarely, for less. */
  @SuppressWarnings("WaitNotInLoop") // The caller checks, and waits again.
  void await(Optional<BatchInFlight> inFlight) throws InterruptedException {
    if (turns.isAnyBusy()) {
      watching.awaitNanos(slowFlushes.nanosToNextLook(inFlight, runtime.nanoTime()));
    } else {
      sleeps = true;
      watching.await();
      sleeps = false;
    }
  }

  /**
   * Whether the flush of that batch is slow, so that the writer that stands by, if any, is to
   * become active; this is counted as a switch.
   */
  boolean switchIfSlow(Optional<BatchInFlight> inFlight) {
    return slowFlushes.switchIfSlow(inFlight.filter(one -> turns.hasStandby()), runtime.nanoTime());
  }

  /**
   * Gives up the writers whose calls hang, and are not waited for.
   *
   * @param isEnding whether the log takes no more records
   * @return whether one was given up
   */
  boolean giveUpHung(boolean isEnding) {
    long now = runtime.nanoTime();
    boolean any = false;
    for (WriterState writer : turns.writers()) {
      writer.checkIfStuck(now);
      if (writer.giveUpIfHung(turns.isActive(writer), isEnding, now)) {
        writer.givenUp = true;
        ledger.failed(writer.number); // What it acknowledged is in a file that nobody closes.
        ledger.ended(writer.number);
        any = true;
      }
    }
    return any;
  }

  /** How long flushes took. */
  SlowFlushes flushes() {
    return slowFlushes;
  }
}
