package io.stele.master;

import io.stele.metadata.LockServiceCopy;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the copy of the lock service's nodes in the root directory up to date while this master is
 * active: soon after a change of a schema, and at least once a minute. What the copy does not have
 * yet when the lock service loses its data is lost with it.
 *
 * <p>For one thread; {@link #schemaChanged} may be called by any.
 */
final class LockServiceCopier implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(LockServiceCopier.class);
  private static final Duration INTERVAL_MIN = Duration.ofSeconds(2);
  private static final Duration INTERVAL_MAX = Duration.ofMinutes(1);

  private final ProcessRuntime runtime;
  private final LockServiceCopy copy;
  private final LoopSignal changed;

  LockServiceCopier(ProcessRuntime runtime, LockServiceCopy copy) {
    this.runtime = runtime;
    this.copy = copy;
    this.changed = new LoopSignal(runtime);
  }

  /** A change of a schema has ended: copy soon. */
  void schemaChanged() {
    changed.wakeUp();
  }

  /** Copies again and again, until it is interrupted. */
  @Override
  public void run() {
    while (true) {
      try {
        copyOnce();
        runtime.sleep(INTERVAL_MIN);
        changed.await(INTERVAL_MAX);
      } catch (InterruptedException e) {
        return; // The master is closed.
      }
    }
  }

  private void copyOnce() {
    try {
      copy.copyNodes();
    } catch (IOException | SteleException e) {
      LOG.warn(
          "The lock service's nodes could not be copied to the root directory; will retry in {}",
          INTERVAL_MAX,
          e);
    }
  }
}
