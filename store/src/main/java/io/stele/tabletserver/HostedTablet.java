package io.stele.tabletserver;

import io.stele.metadata.TabletRecord;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.Futures;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * A tablet that this server has loaded, and what the server knows of it besides.
 *
 * <p>Permits keep the work on it apart. Merging and major compactions, which rewrite SSTables, may
 * run side by side, but not while a split or unloading ends the tablet: that takes all permits of
 * rewrites, then the one of minor compactions. Safe for use by any number of threads.
 */
final class HostedTablet {
  private static final Duration REST_AFTER_FAILURE = Duration.ofSeconds(5);

  /** How many merging and major compactions of one tablet may run at once. */
  static final int REWRITES_MAX = 4;

  private final ProcessRuntime runtime;
  private final Tablet tablet;
  private final RecordManifest manifest;
  private final Permits minor;
  private final Permits rewrites;
  private volatile long restUntilNanos;
  private volatile Optional<TabletRecord> indivisible = Optional.empty();

  HostedTablet(ProcessRuntime runtime, Tablet tablet, RecordManifest manifest) {
    this.runtime = runtime;
    this.tablet = tablet;
    this.manifest = manifest;
    this.minor = new Permits(runtime, 1);
    this.rewrites = new Permits(runtime, REWRITES_MAX);
    this.restUntilNanos = runtime.nanoTime();
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

  TabletKind kind() {
    return TabletKind.of(id());
  }

  /** Has maintenance wait a while: some of it just failed. */
  void rest() {
    restUntilNanos = runtime.nanoTime() + REST_AFTER_FAILURE.toNanos();
  }

  /** Whether maintenance failed a moment ago. */
  boolean isResting() {
    return runtime.nanoTime() - restUntilNanos < 0;
  }

  /** Remembers that no row halves the SSTables of {@code record}: they may be one row. */
  void foundIndivisible(TabletRecord record) {
    indivisible = Optional.of(record);
  }

  /**
   * Whether a split may be tried: the root tablet never, and no other whose SSTables are still
   * those that no row was found to halve.
   */
  boolean maySplit() {
    return !id().equals(TabletId.ROOT)
        && indivisible.filter(found -> found.files().equals(record().files())).isEmpty();
  }

  /** One, held by a minor compaction, and last by what ends the tablet. */
  Permits minor() {
    return minor;
  }

  /** One held by each merging or major compaction, all by what ends the tablet. */
  Permits rewrites() {
    return rewrites;
  }

  /** Takes the permit of minor compactions. */
  void awaitMinor() throws IOException {
    take(minor, 1);
  }

  /** Takes one permit of rewrites. */
  void awaitRewrite() throws IOException {
    take(rewrites, 1);
  }

  /** Takes all permits of rewrites. */
  void awaitRewrites() throws IOException {
    take(rewrites, REWRITES_MAX);
  }

  private void take(Permits permits, int count) throws IOException {
    try {
      permits.acquire(count);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the compactions of tablet " + id());
    }
  }
}
