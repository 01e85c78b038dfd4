package io.stele.tabletserver;

import io.stele.model.RowRange;
import io.stele.record.ClearedRows;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clears rows of tablets, once for a change of their table: which rows were is in the tablet's
 * record, written together with what it does to the files.
 */
final class RowClearing {
  private static final Logger LOG = LoggerFactory.getLogger(RowClearing.class);

  private RowClearing() {}

  /** Which of {@code rows} the tablet has and were not cleared for the change. */
  static List<RowRange> left(HostedTablet hosted, long change, RowRange rows) {
    Optional<RowRange> here = hosted.tablet().extent().intersection(rows);
    return here.isEmpty() ? List.of() : hosted.record().cleared().left(change, here.get());
  }

  /** Clears what is left; called with the tablet's permit of minor compactions. */
  static void clear(ProcessRuntime runtime, HostedTablet hosted, long change, RowRange rows)
      throws IOException {
    Tablet tablet = hosted.tablet();
    for (RowRange range : left(hosted, change, rows)) {
      tablet.minorCompact(); // Most of the memtable, while writes go on.
      try {
        Futures.await(runtime, tablet.pauseWrites(), "pausing the writes of tablet " + tablet.id());
        ClearedRows before = hosted.record().cleared();
        tablet.clear(range, before.with(change, List.of(range)));
      } finally {
        tablet.resumeWrites();
      }
      LOG.info("Rows {} of tablet {} are cleared", range, hosted.id());
    }
  }
}
