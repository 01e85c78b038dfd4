package io.stele.tabletserver;

import io.stele.log.LogKind;
import io.stele.metadata.TabletRecord;
import io.stele.model.TabletId;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.time.Duration;

/**
 * A tablet that this server has loaded, and what the server knows of it besides.
 *
 * <p>Permits keep its maintenance apart: one minor compaction at a time, and of larger work either
 * some merging and major compactions or one that ends the tablet (split, unloading), which takes
 * all of the larger permits and then the minor one. Safe for use by any number of threads.
 */
final class HostedTablet {
  private static final Duration REST_AFTER_FAILURE = Duration.ofSeconds(5);

  /** How many merging and major compactions of one tablet may run at once. */
  static final int LARGER_MAX = 4;

  private final ProcessRuntime runtime;
  private final Tablet tablet;
  private final RecordManifest manifest;
  private final Permits minor;
  private final Permits larger;
  private volatile long restUntilNanos;

  HostedTablet(ProcessRuntime runtime, Tablet tablet, RecordManifest manifest) {
    this.runtime = runtime;
    this.tablet = tablet;
    this.manifest = manifest;
    this.minor = new Permits(runtime, 1);
    this.larger = new Permits(runtime, LARGER_MAX);
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

  LogKind kind() {
    return kindOf(id());
  }

  /** Which of a server's logs, budgets and threads a tablet belongs to. */
  static LogKind kindOf(TabletId tablet) {
    return tablet.table().isSystem() ? LogKind.META : LogKind.USER;
  }

  /** Has maintenance wait a while: some of it just failed. */
  void rest() {
    restUntilNanos = runtime.nanoTime() + REST_AFTER_FAILURE.toNanos();
  }

  /** Whether maintenance failed a moment ago. */
  boolean isResting() {
    return runtime.nanoTime() - restUntilNanos < 0;
  }

  /** Held by a minor compaction. */
  Permits minor() {
    return minor;
  }

  /** One held by each other compaction, all by what ends the tablet. */
  Permits larger() {
    return larger;
  }
}
