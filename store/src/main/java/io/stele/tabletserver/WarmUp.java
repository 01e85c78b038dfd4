package io.stele.tabletserver;

import io.stele.lock.LockService;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server does before it has its lock: it opens tablets of others as if it were to serve
 * them, and changes nothing.
 *
 * <p>A new process takes seconds to do something for the first time, because it has to load the
 * classes. No tablet should be away for that long, and many a server gets all tablets of another
 * one as soon as it has its lock: of the next in a rolling restart.
 *
 * <p>Where there is no tablet to open, nothing is lost. For one thread.
 */
final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** A server is not kept from its lock for longer, whatever it waits for. */
  private static final Duration LENGTH_MAX = Duration.ofSeconds(10);

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final TabletRecordReader records;
  private final TabletLoader loader;

  /**
   * A warm-up by loading tablets.
   *
   * @param access of the server, which also learns here where METADATA is
   */
  WarmUp(ProcessRuntime runtime, LockService locks, TabletAccess access, TabletLoader loader) {
    this.runtime = runtime;
    this.locks = locks;
    this.records = new TabletRecords(runtime, locks, access, PATIENCE).reader();
    this.loader = loader;
  }

  /**
   * Opens a tablet of METADATA and one of a user, and reads from them; gives up after {@link
   * #LENGTH_MAX}.
   */
  void run() throws IOException {
    Task task = runtime.start("warm-up", this::openAndRead);
    try {
      if (!runtime.await(task.ended(), LENGTH_MAX)) {
        LOG.warn("The server could not warm up in {}: its first tablet takes longer", LENGTH_MAX);
        task.interrupt();
      }
    } catch (InterruptedException e) {
      task.interrupt();
      throw Futures.interrupted(e, "warming up");
    }
  }

  private void openAndRead() {
    try {
      if (!isRootServed()) {
        return; // The cluster is starting, or has just lost that server.
      }
      List<TabletRecord> tablets = new ArrayList<>();
      tablets.addAll(records.readFrom(TableId.METADATA, Bytes.EMPTY, 1));
      tablets.addAll(records.readUndamaged(RowRange.ALL, 1, damage -> {}));
      for (TabletRecord tablet : tablets) {
        loader.warmUp(tablet);
      }
    } catch (IOException | RuntimeException e) {
      LOG.info("The server could not warm up, so its first tablet takes longer: {}", e.toString());
    }
  }

  private boolean isRootServed() throws IOException {
    Optional<TabletRecord> root = records.readRoot();
    return root.isPresent()
        && root.get().location().isPresent()
        && ServerInfo.all(locks).containsKey(root.get().location().get().server());
  }
}
