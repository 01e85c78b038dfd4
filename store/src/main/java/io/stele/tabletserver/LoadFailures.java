package io.stele.tabletserver;

import io.stele.model.Bytes;
import io.stele.model.TabletId;

/** Receives tablets that could not be loaded, at once. */
@FunctionalInterface
interface LoadFailures {
  /**
   * A load is over, and the tablet is not served here.
   *
   * @param row the key of its row in METADATA
   * @param epoch of the assignment
   */
  void notLoaded(TabletId tablet, Bytes row, long epoch, Throwable why);
}
