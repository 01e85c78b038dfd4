package io.stele.tabletserver;

import io.stele.memtable.MemoryAccount;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.Futures;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;

/**
 * Keeps replay within the budgets of memtables and of operations: a dead server may have had as
 * much in memory as this server is allowed, and this server already has some in use.
 *
 * <p>While there is room, any number of tablets are replayed at a time. A replay that finds no room
 * releases what it has, and starts again when its turn comes. Only the replay that has the turn
 * waits, for the memtables and operations of served tablets to be written out; so no two replays
 * wait for each other. It waits for operations only before its first record, as those that remain
 * are written already, or its own; and then not for long, as their budget may be exceeded.
 *
 * <p>Safe for use by any number of threads.
 */
final class ReplayRoom {
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration PATIENCE_FOR_OPERATIONS = Duration.ofSeconds(10);

  private final ProcessRuntime runtime;
  private final ServerLife life;
  private final HostedTablets tablets;
  private final KindResources resources;
  private final MemtableBudget memtables;
  private final Lock turn;

  /** The room for tablets of one kind. */
  ReplayRoom(ServerContext server, TabletKind kind) {
    this.runtime = server.runtime();
    this.life = server.life();
    this.tablets = server.tablets();
    this.resources = server.resources().of(kind);
    this.memtables = resources.memtables();
    this.turn = runtime.newLock();
  }

  /** There is no room now for a replay that does not have the turn. */
  static final class NoRoomException extends IOException {
    private static final long serialVersionUID = 1L;

    NoRoomException() {
      super("there is no room for a replay in memory at the moment");
    }
  }

  /**
   * Opens a tablet without waiting: the root tablet, because METADATA's memtables are written out
   * by writes to it.
   *
   * @param opening asks for room record by record
   */
  <T> T openAtOnce(IoFunction<Share, T> opening) throws IOException {
    return opening.apply(new Share(Waiting.NEVER));
  }

  /** What to do if there is no room. */
  private enum Waiting {
    /** Start again when it has the turn. */
    LATER,
    /** Wait. */
    NOW,
    /** Continue without room. */
    NEVER
  }

  /**
   * Opens a tablet, and a second time if necessary.
   *
   * @param opening asks for room record by record
   */
  <T> T open(IoFunction<Share, T> opening) throws IOException {
    try {
      return opening.apply(new Share(Waiting.LATER));
    } catch (NoRoomException e) {
      turn.lock();
      try {
        return opening.apply(new Share(Waiting.NOW));
      } finally {
        turn.unlock();
      }
    }
  }

  /** One tablet's part of the budget, from its opening on. */
  final class Share implements MemoryAccount {
    private final Waiting waiting;
    private final AtomicLong own = new AtomicLong();
    private boolean begun; // For the thread that replays.

    private Share(Waiting waiting) {
      this.waiting = waiting;
    }

    @Override
    public void take(long bytes) {
      own.addAndGet(bytes);
      memtables.take(bytes);
    }

    @Override
    public void release(long bytes) {
      own.addAndGet(-bytes);
      memtables.release(bytes);
    }

    /**
     * Returns when there is room for a record of {@code bytes}, or waiting makes no more room.
     *
     * @throws NoRoomException if there is no room and another replay has the turn
     */
    void await(long bytes) throws IOException {
      long begin = runtime.nanoTime();
      while (lacksMemtables(bytes) || lacksOperations(begin)) {
        if (waiting == Waiting.LATER) {
          throw new NoRoomException();
        }
        if (life.isOver() || runtime.nanoTime() - begin > PATIENCE.toNanos()) {
          throw SteleException.retryLater(
              "memtables were not written out to make room for a replay: try again");
        }
        try {
          runtime.sleep(PAUSE);
        } catch (InterruptedException e) {
          throw Futures.interrupted(e, "waiting for room to replay");
        }
      }
      begun = true;
    }

    private boolean lacksMemtables(long bytes) {
      return waiting != Waiting.NEVER && !memtables.hasRoom(bytes) && memtables.bytes() > own.get();
    }

    private boolean lacksOperations(long begin) {
      return switch (waiting) {
        case LATER -> resources.operations().isFull();
        case NOW ->
            !begun
                && resources.operations().isFull()
                && runtime.nanoTime() - begin < PATIENCE_FOR_OPERATIONS.toNanos()
                && operationsAreWrittenSoon();
        case NEVER -> false;
      };
    }
  }

  /** Whether minor compactions of served tablets will soon make room for operations. */
  private boolean operationsAreWrittenSoon() {
    return tablets.all().stream().anyMatch(resources::hasManyOperations);
  }
}
