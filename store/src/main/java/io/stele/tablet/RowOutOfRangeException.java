package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TabletId;

/** The row is not in this tablet: the sender has an outdated location. */
public final class RowOutOfRangeException extends SteleException {
  private static final long serialVersionUID = 1L;

  RowOutOfRangeException(TabletId tablet, RowRange extent, Bytes row) {
    super(
        Code.RETRY_LATER,
        "tablet "
            + tablet
            + " has the rows "
            + extent
            + " and not \""
            + row
            + "\": locate the row again");
  }
}
