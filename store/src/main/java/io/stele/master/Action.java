package io.stele.master;

import io.stele.model.ServerId;
import io.stele.model.TabletId;

/** One thing for the master to do. Doing it again does no harm. */
sealed interface Action {
  /** The tablet concerned. */
  TabletId tablet();

  /** Write into the tablet's record, which names nobody, that {@code server} is to load it. */
  record Assign(TabletId tablet, ServerId server) implements Action {}

  /** Ask the server that the record names to load the tablet. */
  record Load(TabletId tablet, ServerId server) implements Action {}

  /** Ask the server that has the tablet to give it up, throwing its data away. */
  record Discard(TabletId tablet, ServerId server) implements Action {}

  /** Write into the tablet's record, which names a fenced server, that nobody has it. */
  record Release(TabletId tablet, ServerId server) implements Action {}
}
