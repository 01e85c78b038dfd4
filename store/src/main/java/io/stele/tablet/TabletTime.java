package io.stele.tablet;

import io.stele.runtime.ProcessRuntime;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A tablet's own time, in microseconds: how long it has been open, on any server, by the monotonic
 * clocks of its servers. It runs slower than real time, because it stands still during moves and
 * crashes; the blocks of operations carry it from server to server. So everything is at least as
 * old as the tablet says. Only durations are compared, never the readings of two clocks.
 *
 * <p>There are two points in it. No forgotten client was seen after the <em>horizon</em>. A client
 * that was seen before the <em>merged horizon</em> may be known only in part: the tablet was merged
 * from two, one of which may have forgotten the client.
 *
 * <p>A client says how long an operation has been in progress when it sends a request, and nobody
 * counts how long that request is on its way. So every operation is taken to be older than its
 * client says, by more than the longest time that this may take. A server closes a connection of
 * which nothing comes ({@link io.stele.wire.DataServer#SILENCE_MAX}), so what a machine sends after
 * it stood still for longer does not arrive. A machine whose clocks stand still makes an operation
 * look younger, too.
 *
 * <p>Not safe for use by several threads: it belongs to an {@link OperationWindow}.
 */
final class TabletTime {
  /** The clocks of two machines may drift apart by at most one part in this many. */
  private static final int DRIFT_PARTS = 16;

  private static final long NONE = 0;

  private final ProcessRuntime runtime;
  private final long onTheWayMaxMicros;
  private long openedNanos;
  private long openedMicros; // The tablet's time at opening.
  private long horizonMicros = NONE;
  private long mergedHorizonMicros = NONE;

  /**
   * The time of a new tablet, which starts now.
   *
   * @param onTheWayMaxMicros how long a request may be on its way; clients are not forgotten so
   *     soon
   */
  TabletTime(ProcessRuntime runtime, long onTheWayMaxMicros) {
    this.runtime = runtime;
    this.onTheWayMaxMicros = onTheWayMaxMicros;
    this.openedNanos = runtime.nanoTime();
  }

  long nowMicros() {
    return openedMicros + TimeUnit.NANOSECONDS.toMicros(runtime.nanoTime() - openedNanos);
  }

  /** Whether something that began this long ago, by its sender, may lie before the horizon. */
  boolean mayBeForgotten(LongSupplier ageMicros) {
    return mayBeBefore(horizonMicros, ageMicros);
  }

  /** Whether something that began this long ago may lie before the merged horizon. */
  boolean mayBeKnownInPart(LongSupplier ageMicros) {
    return mayBeBefore(mergedHorizonMicros, ageMicros);
  }

  private boolean mayBeBefore(long horizon, LongSupplier ageMicros) {
    if (horizon == NONE) {
      return false;
    }
    long age = ageMicros.getAsLong();
    return age + age / DRIFT_PARTS + onTheWayMaxMicros >= nowMicros() - horizon;
  }

  /**
   * Whether a client was last seen before the horizon. With no horizon, none was: also not one seen
   * at the tablet's first moment.
   */
  boolean isForgotten(long lastSeenMicros) {
    return horizonMicros != NONE && lastSeenMicros <= horizonMicros;
  }

  /** A client that was last seen at this time is forgotten. */
  void forget(long lastSeenMicros) {
    horizonMicros = Math.max(horizonMicros, Math.max(1, lastSeenMicros));
  }

  /** What a block that is written now says. */
  OperationsBlock.Header header() {
    return new OperationsBlock.Header(nowMicros(), horizonMicros, mergedHorizonMicros);
  }

  /**
   * Takes in what a block says; blocks may be taken in any order.
   *
   * @param micros the time when the block was written, if later than the block says
   * @param merged whether the tablet was merged with another since then
   * @return how many microseconds to add to all times in the block
   */
  long restore(OperationsBlock.Header header, long micros, boolean merged) {
    long later = Math.max(0, micros - header.micros());
    openedMicros = Math.max(openedMicros, header.micros() + later);
    long mergedHorizon = header.mergedHorizonMicros();
    if (header.horizonMicros() != NONE) {
      horizonMicros = Math.max(horizonMicros, header.horizonMicros() + later);
      mergedHorizon = merged ? header.horizonMicros() : mergedHorizon;
    }
    if (mergedHorizon != NONE) {
      mergedHorizonMicros = Math.max(mergedHorizonMicros, mergedHorizon + later);
    }
    return later;
  }

  /** Continues as the time from which {@code header} was just taken. */
  void follow(OperationsBlock.Header header) {
    openedNanos = runtime.nanoTime();
    openedMicros = header.micros();
    horizonMicros = header.horizonMicros();
    mergedHorizonMicros = header.mergedHorizonMicros();
  }
}
