package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.LastingNodes;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the copy of the lock service's nodes in the root directory up to date while this master is
 * active: soon after a change of a schema has ended, and at least once a minute. What the copy does
 * not have yet when the lock service loses its data is lost with it.
 *
 * <p>All names and tables are read when the master begins, and once in an hour; in between only
 * those that this master has changed: each read is a transaction of the lock service.
 *
 * <p>For one thread; {@link #schemaChanged} may be called by any.
 */
final class LockServiceCopier implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(LockServiceCopier.class);
  private static final Duration INTERVAL_MIN = Duration.ofSeconds(2);
  private static final Duration INTERVAL_MAX = Duration.ofMinutes(1);
  private static final Duration ALL_EVERY = Duration.ofHours(1);

  private final ProcessRuntime runtime;
  private final LockServiceCopy copy;
  private final LastingNodes nodes;
  private final TabletRecordReader records;
  private final LoopSignal signal;
  private Optional<Long> allReadNanos = Optional.empty();

  @GuardedBy("this")
  private final Set<String> changed = new TreeSet<>();

  /**
   * A copier.
   *
   * @param nodes of the lock service, of which nothing is read yet
   * @param records reads the root tablet's record
   */
  LockServiceCopier(
      ProcessRuntime runtime,
      LockServiceCopy copy,
      LastingNodes nodes,
      TabletRecordReader records) {
    this.runtime = runtime;
    this.copy = copy;
    this.nodes = nodes;
    this.records = records;
    this.signal = new LoopSignal(runtime);
  }

  /** A change of a schema under that name has ended: copy soon. */
  void schemaChanged(String name) {
    synchronized (this) {
      changed.add(name);
    }
    signal.wakeUp();
  }

  /** Copies again and again, until it is interrupted. */
  @Override
  public void run() {
    while (true) {
      try {
        copyIfPossible();
        runtime.sleep(INTERVAL_MIN);
        signal.await(INTERVAL_MAX);
      } catch (InterruptedException | InterruptedIOException e) {
        return; // The master is closed.
      }
    }
  }

  /** A copy that fails hinders nobody. */
  private void copyIfPossible() throws InterruptedIOException {
    try {
      copyOnce();
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "ZooKeeper's nodes could not be copied to the root directory; will retry in {}",
          INTERVAL_MAX,
          e);
      allReadNanos = Optional.empty();
    }
  }

  private void copyOnce() throws IOException {
    Set<String> names;
    synchronized (this) {
      names = new TreeSet<>(changed);
      changed.clear();
    }
    long now = runtime.nanoTime();
    if (allReadNanos.isEmpty() || now - allReadNanos.get() >= ALL_EVERY.toNanos()) {
      nodes.readAll();
      allReadNanos = Optional.of(now);
    } else {
      for (String name : names) {
        nodes.readName(name);
      }
      nodes.readOthers();
    }
    copy.copyNodes(nodes);
    Optional<TabletRecord> root = records.readRoot();
    if (root.isPresent() && copy.copyRootIfBehind(root.get())) {
      LOG.info("Copied the root tablet's record, as its server has not");
    }
  }
}
