package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Signal;

/**
 * A tablet cannot answer yet, because a change of its files is being committed: others may already
 * know that it was made. The caller repeats the read once {@link #settled} has happened.
 */
public final class UnsettledException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final transient Signal settled;

  UnsettledException(TabletId tablet, Signal settled) {
    super(
        Code.RETRY_LATER,
        "tablet "
            + tablet
            + " waits for METADATA to say whether its files were changed: try again");
    this.settled = settled;
  }

  /**
   * Happens when the tablet can answer again, or has stopped; on a thread that holds locks of the
   * tablet.
   */
  public Signal settled() {
    return settled;
  }
}
