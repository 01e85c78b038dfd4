package io.stele.sim;

import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.metadata.CopiedNode;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceRestore;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What happens if the lock service of a {@link SimulatedCluster} loses all its nodes, and an
 * operator restores them, all at one moment. For the holder of the simulation's baton alone.
 */
final class LostNodes {
  private final SimulatedCluster cluster;

  LostNodes(SimulatedCluster cluster) {
    this.cluster = cluster;
  }

  /** Does it, if the copy is up to date; whether it did. */
  boolean loseAndRestore() {
    MemoryLockStore store = cluster.ensemble().store();
    SimulatedProcess outside = cluster.simulation().outside();
    try {
      Optional<LockServiceRestore> restore = copy(store);
      if (restore.isEmpty()
          || !copied(store.lasting()).equals(copied(data(restore.get().copy().nodes())))) {
        cluster.simulation().note(outside, "loses no nodes: the copy is not up to date");
        return false;
      }
      cluster.killAll();
      store.clear();
      restore.get().restore();
      cluster.simulation().note(outside, "has lost and restored the nodes of the lock service");
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<LockServiceRestore> copy(MemoryLockStore store) throws IOException {
    FileSystem fs = cluster.files().disk().mount();
    try {
      Layout layout = Layout.open(fs, new Path(Keys.ROOT_DIR.in(cluster.conf())));
      return Optional.of(
          new LockServiceRestore(
              cluster.simulation().outside(), fs, layout, store.connect(work -> {})));
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.NOT_FOUND && e.code() != SteleException.Code.REFUSED) {
        throw e;
      }
      return Optional.empty(); // It is refused: the copy is not complete, or is known to be older.
    }
  }

  private static Map<String, Bytes> data(Map<String, CopiedNode> nodes) {
    Map<String, Bytes> data = new TreeMap<>();
    nodes.forEach((path, node) -> data.put(path, node.data()));
    return data;
  }

  /** What must be in the copy, of these nodes. */
  private static Map<String, Bytes> copied(Map<String, Bytes> nodes) {
    Map<String, Bytes> copied = new TreeMap<>(nodes);
    copied
        .keySet()
        .removeIf(
            path ->
                !path.equals(LockPaths.ROOT)
                    && !path.startsWith(LockPaths.TABLES + "/")
                    && !path.startsWith(LockPaths.NAMES + "/")
                    && !path.startsWith(LockPaths.JOBS + "/"));
    return copied;
  }
}
