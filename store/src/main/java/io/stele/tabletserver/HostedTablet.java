package io.stele.tabletserver;

import io.stele.log.LogKind;
import io.stele.metadata.TabletRecord;
import io.stele.model.TabletId;
import io.stele.tablet.Tablet;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A tablet that this server has loaded, and what the server knows of it besides.
 *
 * <p>Two permits keep its maintenance apart: one minor compaction at a time, and one larger piece
 * (merging or major compaction, split, unloading) at a time; what ends the tablet takes both, the
 * larger first. Safe for use by any number of threads.
 */
final class HostedTablet {
  private static final Duration REST_AFTER_FAILURE = Duration.ofSeconds(5);

  private final Tablet tablet;
  private final RecordManifest manifest;
  private final long majorDueNanos;
  private volatile long restUntilNanos = System.nanoTime();
  private final AtomicBoolean majorTaken = new AtomicBoolean();
  private final Semaphore minor = new Semaphore(1);
  private final Semaphore larger = new Semaphore(1);

  /**
   * A tablet just opened.
   *
   * @param majorDueNanos when, by {@link System#nanoTime}, all of it should have been written again
   */
  HostedTablet(Tablet tablet, RecordManifest manifest, long majorDueNanos) {
    this.tablet = tablet;
    this.manifest = manifest;
    this.majorDueNanos = majorDueNanos;
  }

  TabletId id() {
    return tablet.id();
  }

  Tablet tablet() {
    return tablet;
  }

  RecordManifest manifest() {
    return manifest;
  }

  /** The tablet's record as this server last read or wrote it. */
  TabletRecord record() {
    return manifest.record();
  }

  LogKind kind() {
    return kindOf(id());
  }

  /** Which of a server's logs, budgets and threads a tablet belongs to. */
  static LogKind kindOf(TabletId tablet) {
    return tablet.table().isSystem() ? LogKind.META : LogKind.USER;
  }

  /** Has maintenance wait a while: some of it just failed. */
  void rest() {
    restUntilNanos = System.nanoTime() + REST_AFTER_FAILURE.toNanos();
  }

  /** Whether maintenance failed a moment ago. */
  boolean isResting() {
    return System.nanoTime() - restUntilNanos < 0;
  }

  /** Held by a minor compaction. */
  Semaphore minor() {
    return minor;
  }

  /** Held by any other maintenance. */
  Semaphore larger() {
    return larger;
  }

  /** Whether a major compaction is due; true once. */
  boolean takeMajorDue() {
    return System.nanoTime() - majorDueNanos > 0 && majorTaken.compareAndSet(false, true);
  }
}
