package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;

/**
 * Puts the copy of the lock service's nodes that the root directory has ({@link LockServiceCopy})
 * into a lock service that has lost them. No process of the cluster may run.
 *
 * <p>It may stop at any point and be made again: the root tablet's record is put last, and without
 * it no master begins. For one thread.
 */
public final class LockServiceRestore {
  private final ProcessRuntime runtime;
  private final LockService locks;
  private final LockServiceCopy.Contents copy;
  private final FileSystem fs;
  private final Layout layout;

  /**
   * What can be restored.
   *
   * @throws SteleException NOT_FOUND if the directory has no complete copy
   * @throws IOException if the copy cannot be read
   */
  public LockServiceRestore(ProcessRuntime runtime, FileSystem fs, Layout layout, LockService locks)
      throws IOException {
    this.runtime = runtime;
    this.locks = locks;
    this.copy = new LockServiceCopy(runtime, fs, layout, locks).contents();
    this.fs = fs;
    this.layout = layout;
    if (copy.nodesCopied().isEmpty() || copy.rootCopied().isEmpty()) {
      throw SteleException.notFound(
          layout.lockService()
              + " has no complete copy of the lock service's nodes: none was made yet, or this is not"
              + " the root directory of the cluster");
    }
  }

  /** What would be put into the lock service. */
  public LockServiceCopy.Contents copy() {
    return copy;
  }

  /** How many tables it has. */
  public long tables() {
    return copy.nodes().keySet().stream()
        .filter(path -> path.startsWith(LockPaths.TABLES + "/"))
        .count();
  }

  /**
   * Refuses a lock service that has the nodes, or that processes of the cluster use.
   *
   * @throws SteleException REFUSED with what to do first
   */
  public void requireLost() throws IOException {
    List<String> servers = locks.children(LockPaths.SERVERS);
    if (!servers.isEmpty() || locks.read(LockPaths.MASTER).isPresent()) {
      throw SteleException.refused(
          "processes of the cluster "
              + (servers.isEmpty() ? "" : servers + " ")
              + "have locks in the lock service: end all masters and tablet servers first");
    }
    if (locks.read(LockPaths.ROOT).isPresent()) {
      throw SteleException.refused(
          "the lock service has the cluster's nodes: nothing needs to be restored. If they are of an"
              + " earlier state, end all masters and tablet servers, and delete the cluster's node in"
              + " the lock service first");
    }
  }

  /**
   * Puts the nodes into the lock service.
   *
   * @throws SteleException REFUSED as {@link #requireLost} says, or if a node is there with other
   *     data
   */
  public void restore() throws IOException {
    requireLost();
    for (Map.Entry<String, Bytes> node : copy.nodes().entrySet()) {
      if (!node.getKey().equals(LockPaths.ROOT) && !node.getKey().equals(LockPaths.TABLE_IDS)) {
        put(node.getKey(), node.getValue());
      }
    }
    new TableIds(runtime, locks)
        .restore(Optional.ofNullable(copy.nodes().get(LockPaths.TABLE_IDS)), layout.tableNames(fs));
    put(
        LockPaths.ROOT,
        RootRecordRows.asLoaded(
            runtime, Objects.requireNonNull(copy.nodes().get(LockPaths.ROOT)), this::hasLog));
  }

  /** Whether it has one: what is swept was needed by no tablet. */
  private boolean hasLog(ServerId server) throws IOException {
    return fs.exists(layout.logs(server)) || fs.exists(layout.recovery(server));
  }

  private void put(String path, Bytes data) throws IOException {
    try {
      locks.create(path, data);
    } catch (SteleException e) {
      Optional<VersionedData> there = locks.read(path);
      if (there.isEmpty()) {
        throw e;
      }
      if (!there.get().data().equals(data)) {
        throw SteleException.refused(
            "the lock service has a node "
                + path
                + " with other data than the copy of cluster "
                + layout.cluster()
                + ": delete the cluster's node in the lock service, and restore again");
      }
    }
  }
}
