package io.stele.tabletserver;

import io.stele.runtime.Futures;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;

/**
 * Work on a tablet that no write may overtake. Writes wait meanwhile, so the memtable is written
 * out before. Safe for use by any number of threads.
 */
final class PausedWrites {
  private PausedWrites() {}

  /** Does {@code work} while the tablet's writes are paused, with little in its memtable. */
  static void during(ProcessRuntime runtime, Tablet tablet, IoConsumer<Tablet> work)
      throws IOException {
    tablet.minorCompact(); // Most of the memtable, while writes go on.
    try {
      begin(runtime, tablet);
      work.accept(tablet);
    } finally {
      tablet.resumeWrites();
    }
  }

  /** Pauses writes, and returns when those that were begun are done. The caller resumes them. */
  static void begin(ProcessRuntime runtime, Tablet tablet) throws IOException {
    Futures.await(runtime, tablet.pauseWrites(), "pausing the writes of tablet " + tablet.id());
  }
}
