package io.stele.tabletserver;

import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.TabletId;
import java.util.List;

/** Receives the results of a server's work on tablets at once, so that nobody has to poll. */
interface TabletNews {
  /**
   * A load is over, and the tablet is not served here.
   *
   * @param row the key of its row in METADATA
   * @param epoch of the assignment
   */
  void notLoaded(TabletId tablet, Bytes row, long epoch, Throwable why);

  /** Tablets were loaded, unloaded or split: their records as they are now. Never waits. */
  void changed(List<TabletRecord> tablets);
}
