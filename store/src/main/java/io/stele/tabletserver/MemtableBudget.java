package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.memtable.MemoryAccount;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.Durations;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that all memtables of one kind of tablets may use. As it fills up, the largest are
 * compacted, then writes are delayed, the longer the less is left; at the limit they are refused,
 * before the heap is in danger.
 *
 * <p>A large write that is refused would find no room for ever while smaller ones take all that
 * compactions make. So for a while room is kept for one such write: smaller ones are refused that
 * would take it. Then, for as long, none is kept, so that smaller writes do not starve either; and
 * for longer each time that no such write came in while room was kept, as when compactions fail.
 * Room is kept for one write at a time: others wait for their turn, larger ones too.
 *
 * <p>Root and METADATA have their own budget, as a server full of user data must still be able to
 * write METADATA. The sum is always exact: memtables report what they allocate and release. Safe
 * for use by any number of threads.
 */
final class MemtableBudget implements MemoryAccount {
  private static final double COMPACT_ABOVE = 0.6;
  private static final double DELAY_ABOVE = 0.8;

  /** Longer than most compactions of a memtable take: writers are slowed, but no more than that. */
  static final Duration DELAY_MAX = Duration.ofMillis(200);

  /** Room is kept only for writes that take more than one in so many bytes of all. */
  private static final int KEPT_SHARE = 16;

  /**
   * How long room is kept: the compaction of the largest memtables takes less, and clients try
   * again several times meanwhile.
   */
  static final Duration KEPT = Duration.ofSeconds(15);

  /** After the first period that ended by time; doubled after each further one. */
  private static final Duration PAUSE = KEPT;

  static final Duration PAUSE_MAX = Duration.ofMinutes(5);

  private static final Kept NOTHING = new Kept(0, 0);

  private final ProcessRuntime runtime;
  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong reserved = new AtomicLong(); // By writes on their way.
  private final AtomicLong refused = new AtomicLong(); // The largest write since something went.

  private volatile Kept kept = NOTHING;

  @GuardedBy("this")
  private long noneKeptUntilNanos;

  /** Follows the next period that ends by time. */
  @GuardedBy("this")
  private Duration pause = PAUSE;

  /** Room for a write of {@code bytes}, kept since {@code sinceNanos}; none if 0. */
  private record Kept(long bytes, long sinceNanos) {}

  MemtableBudget(ProcessRuntime runtime, long bytesMax) {
    this.runtime = runtime;
    this.bytesMax = bytesMax;
    this.noneKeptUntilNanos = runtime.nanoTime();
  }

  @Override
  public void take(long taken) {
    bytes.addAndGet(taken);
  }

  @Override
  public void release(long gone) {
    bytes.addAndGet(-gone);
    refused.set(0);
  }

  /** The most memory that the memtables may use. */
  long bytesMax() {
    return bytesMax;
  }

  /** The memory that the memtables use now. */
  long bytes() {
    return bytes.get();
  }

  /**
   * How many bytes of memtables should be compacted although none is large by itself: together they
   * use much memory, or they left no room for a large write. At most 0: none.
   */
  long excess() {
    long now = bytes();
    long wanted = Math.max(refused.get(), keptFrom(0));
    return Math.max(now - (long) (bytesMax * COMPACT_ABOVE), now + wanted - bytesMax);
  }

  /**
   * How long a write must wait before it is processed: zero up to four fifths of the bound, from
   * there in proportion up to {@link #DELAY_MAX} at the bound and above.
   */
  Duration delay() {
    double share = (double) bytes() / bytesMax;
    double urgency = Math.min(1, (share - DELAY_ABOVE) / (1 - DELAY_ABOVE));
    return Duration.ofMillis(Math.round(DELAY_MAX.toMillis() * Math.max(0, urgency)));
  }

  /**
   * Whether there is room for {@code wanted} bytes; if not, memtables are written out to make room.
   */
  boolean hasRoom(long wanted) {
    if (bytes() + reserved.get() + wanted <= bytesMax) {
      return true;
    }
    refused.accumulateAndGet(wanted, Math::max);
    return false;
  }

  /**
   * Room for one write, kept until its cells are in a memtable and counted there, or the write has
   * failed. More can be requested by callers that learn only later how much the write takes. For
   * use by one thread at a time.
   */
  final class Reservation implements MemoryClaim, AutoCloseable {
    private final TabletKind kind;
    private long own;

    private Reservation(TabletKind kind) {
      this.kind = kind;
    }

    @Override
    public void take(long more) {
      enter(kind, own, more);
      own += more;
    }

    @Override
    public void close() {
      reserved.addAndGet(-own);
      own = 0;
    }
  }

  /**
   * Reserves room for a write, or refuses it if there is none. So writes that arrive at the same
   * moment do not all count on the same room.
   *
   * @param writeBytes the memory that the write takes
   * @throws SteleException RETRY_LATER if there is no room now, REFUSED if there never will be
   */
  Reservation reserve(TabletKind kind, long writeBytes) {
    Reservation reservation = new Reservation(kind);
    reservation.take(writeBytes);
    return reservation;
  }

  /**
   * Reserves {@code more} for a write that has {@code own}; a single write may reserve everything.
   */
  private void enter(TabletKind kind, long own, long more) {
    long writeBytes = own + more;
    if (writeBytes > bytesMax) {
      throw SteleException.refused(
          "a mutation makes cells of "
              + writeBytes
              + " bytes, each with its row key, and all memtables of this server's "
              + kind
              + " tablets together may have "
              + bytesMax
              + ": make several mutations of it, or raise stele.tabletserver.memtable.total.bytes");
    }
    long left = bytesMax - keptFrom(writeBytes);
    long now = bytes() + reserved.getAndAdd(more) - own;
    if (now + writeBytes <= left) {
      Kept mine = kept;
      if (mine.bytes() > 0 && writeBytes >= mine.bytes()) {
        end(mine, true);
      }
      return;
    }
    reserved.addAndGet(-more);
    refused.accumulateAndGet(writeBytes, Math::max);
    keep(writeBytes);
    throw SteleException.retryLater(
        "the memtables of this server's "
            + kind
            + " tablets have "
            + now
            + " bytes, of "
            + bytesMax
            + " allowed"
            + (left < bytesMax ? ", and room is kept for a larger write that waits" : "")
            + ". There is no room for "
            + writeBytes
            + " more until they are compacted: try again later");
  }

  /** How many bytes are kept from a write of that size now. */
  private long keptFrom(long writeBytes) {
    Kept now = kept;
    if (writeBytes >= now.bytes()) {
      return 0;
    }
    if (runtime.nanoTime() - now.sinceNanos() >= KEPT.toNanos()) {
      end(now, false);
      return 0;
    }
    return now.bytes();
  }

  /** Keeps room for a write that was refused, if it is large and none is kept. */
  private synchronized void keep(long writeBytes) {
    long now = runtime.nanoTime();
    if (kept.bytes() == 0 && writeBytes > bytesMax / KEPT_SHARE && now - noneKeptUntilNanos >= 0) {
      kept = new Kept(writeBytes, now);
      if (now - noneKeptUntilNanos >= PAUSE_MAX.toNanos()) {
        pause = PAUSE; // What hindered the last one was long ago.
      }
    }
  }

  /**
   * Ends a period, unless it has ended.
   *
   * @param used whether a write came in for which the room was kept; otherwise its time is over
   */
  private synchronized void end(Kept one, boolean used) {
    if (!kept.equals(one)) {
      return;
    }
    kept = NOTHING;
    long now = runtime.nanoTime();
    noneKeptUntilNanos = now + (used ? now - one.sinceNanos() : pause.toNanos());
    pause = used ? PAUSE : Durations.min(pause.multipliedBy(2), PAUSE_MAX);
  }
}
