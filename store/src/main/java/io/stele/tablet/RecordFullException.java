package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;

/**
 * A change of a tablet's files is too large for one write of its record: nothing was changed. A
 * major compaction makes room, unless pins need the files as they are.
 */
public final class RecordFullException extends SteleException {
  private static final long serialVersionUID = 1L;

  RecordFullException(TabletId tablet, int references, String size) {
    super(
        Code.RETRY_LATER,
        "tablet "
            + tablet
            + " cannot change "
            + references
            + " references to files at once, which take "
            + size
            + " in its record: a major compaction unites its files first, as far as pins allow;"
            + " replace fewer ranges of rows by a job");
  }
}
