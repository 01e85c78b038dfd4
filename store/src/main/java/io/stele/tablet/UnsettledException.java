package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.util.concurrent.CompletableFuture;

/**
 * A tablet cannot answer yet, because a change of its files is being committed: others may already
 * know that it was made. The caller repeats the read once {@link #settled} completes.
 */
public final class UnsettledException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final transient CompletableFuture<Void> settled;

  UnsettledException(TabletId tablet, CompletableFuture<Void> settled) {
    super(
        Code.RETRY_LATER,
        "tablet "
            + tablet
            + " waits for METADATA to say whether its files were changed: try again");
    this.settled = settled;
  }

  /**
   * Completes when the tablet can answer again, or has stopped; never fails. It completes on a
   * thread that holds locks of the tablet: callbacks must not block.
   */
  public CompletableFuture<Void> settled() {
    return settled;
  }
}
