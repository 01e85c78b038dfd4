package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the copy of the lock service's nodes that the root directory has ({@link LockServiceCopy})
 * into a lock service that has lost them. No process of the cluster may run.
 *
 * <p>What was changed since the copy is lost, and has left traces in tablets. So no number is given
 * out again that may have been: those of tables, of changes of schemas, and versions of schemas
 * continue far beyond the copied ones.
 *
 * <p>It may stop at any point and be made again. The registration is put first: by it the nodes are
 * known to be of this cluster. The root tablet's record is put last: without it no master begins.
 * For one thread.
 */
public final class LockServiceRestore {
  private static final Logger LOG = LoggerFactory.getLogger(LockServiceRestore.class);

  /** More changes are not made under one name between two copies. */
  private static final long CHANGES_SKIPPED = 10_000;

  /** More often a schema is not written between two copies; each costs a write here. */
  private static final int VERSIONS_SKIPPED = 16;

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final LockServiceCopy.Contents copy;
  private final FileSystem fs;
  private final Layout layout;
  private final TableNames names;

  /**
   * What can be restored.
   *
   * @throws SteleException NOT_FOUND if the directory has no complete copy, REFUSED if the copy is
   *     older than the root tablet
   * @throws IOException if the copy cannot be read
   */
  public LockServiceRestore(ProcessRuntime runtime, FileSystem fs, Layout layout, LockService locks)
      throws IOException {
    this.runtime = runtime;
    this.locks = locks;
    this.copy = new LockServiceCopy(runtime, fs, layout, locks).contents();
    this.fs = fs;
    this.layout = layout;
    this.names = new TableNames(runtime, locks);
    if (copy.nodesCopied().isEmpty() || copy.rootCopied().isEmpty()) {
      throw SteleException.notFound(
          layout.lockService()
              + " has no complete copy of ZooKeeper's nodes: none was made yet, or this is not"
              + " the root directory of the cluster");
    }
  }

  /** What would be put into the lock service. */
  public LockServiceCopy.Contents copy() {
    return copy;
  }

  /** How many tables it has. */
  public long tables() {
    return below(LockPaths.TABLES).size();
  }

  /** The copied nodes below {@code parent}, in the order of their last changes. */
  private List<Map.Entry<String, CopiedNode>> below(String parent) {
    return copy.nodes().entrySet().stream()
        .filter(node -> LockPaths.childName(parent, node.getKey()).isPresent())
        .sorted(Comparator.comparingLong(node -> node.getValue().change()))
        .toList();
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
              + "have locks in ZooKeeper: end all masters and tablet servers first");
    }
    if (locks.read(LockPaths.ROOT).isPresent()) {
      throw SteleException.refused(
          "ZooKeeper has the cluster's nodes: nothing needs to be restored. If they are of an"
              + " earlier state, end all masters and tablet servers, and delete the cluster's node in"
              + " ZooKeeper first");
    }
    Optional<VersionedData> registration = locks.read(LockPaths.REGISTRATION);
    boolean isOurs =
        registration.isEmpty()
            ? locks.children(LockPaths.TABLES).isEmpty()
                && locks.children(LockPaths.NAMES).isEmpty()
            : registration.get().data().equals(copied(LockPaths.REGISTRATION).data());
    if (!isOurs) {
      throw SteleException.refused(
          "ZooKeeper has nodes of another cluster than "
              + layout.cluster()
              + ": correct stele.cluster.name or stele.root.dir, or delete the cluster's node in"
              + " ZooKeeper, and restore again");
    }
  }

  /**
   * Puts the nodes into the lock service. One of a kind that only later versions know is passed
   * over if it is too large: this version needs none.
   *
   * @throws SteleException REFUSED as {@link #requireLost} says, or if a node that must be changed
   *     is of a later version, or one of a known kind is too large: nothing was restored
   */
  public void restore() throws IOException {
    requireLost();
    Map<String, Bytes> changed = new TreeMap<>();
    changeNames(changed);
    Bytes root = RootRecordRows.asLoaded(runtime, copied(LockPaths.ROOT).data(), this::hasLog);
    changed.forEach((path, data) -> LockPaths.check(path, data, path));
    LockPaths.check(LockPaths.ROOT, root, LockPaths.ROOT);
    copy.nodes().forEach(LockServiceRestore::checkSize);
    put(LockPaths.REGISTRATION, copied(LockPaths.REGISTRATION).data());
    new TableIds(runtime, locks)
        .restore(
            Optional.ofNullable(copy.nodes().get(LockPaths.TABLE_IDS)).map(CopiedNode::data),
            layout.tableNames(fs));
    for (Map.Entry<String, CopiedNode> table : below(LockPaths.TABLES)) {
      put(table.getKey(), table.getValue().data());
      raise(table.getKey(), table.getValue().version() + VERSIONS_SKIPPED);
    }
    for (Map.Entry<String, Bytes> node : changed.entrySet()) {
      put(node.getKey(), node.getValue());
    }
    for (Map.Entry<String, CopiedNode> job : below(LockPaths.JOBS)) {
      put(job.getKey(), job.getValue().data());
    }
    if (copy.nodes().containsKey(LockPaths.BALANCE)) {
      put(LockPaths.BALANCE, copied(LockPaths.BALANCE).data());
    }
    for (Map.Entry<String, CopiedNode> node : copy.nodes().entrySet()) {
      if (!LastingNodes.isKnown(node.getKey())) {
        putIfPossible(node.getKey(), node.getValue().data());
      }
    }
    put(LockPaths.ROOT, root);
  }

  /** The names, and the number up to which changes may be forgotten. */
  private void changeNames(Map<String, Bytes> changed) throws IOException {
    CopiedNode forgotten = copy.nodes().get(LockPaths.FORGOTTEN_CHANGES);
    long last = forgotten == null ? 0 : TableNames.forgotten(forgotten.data());
    for (Map.Entry<String, CopiedNode> node : below(LockPaths.NAMES)) {
      String name = new Path(node.getKey()).getName();
      Bytes data = node.getValue().data();
      last = Math.max(last, TableNames.sequence(name, data));
      changed.put(node.getKey(), names.skip(name, data, CHANGES_SKIPPED));
    }
    changed.put(LockPaths.FORGOTTEN_CHANGES, names.forgotten(last + CHANGES_SKIPPED));
  }

  private CopiedNode copied(String path) {
    return Objects.requireNonNull(copy.nodes().get(path), () -> "no copy of " + path);
  }

  /** Whether it has one: what is swept was needed by no tablet. */
  private boolean hasLog(ServerId server) throws IOException {
    return fs.exists(layout.logs(server)) || fs.exists(layout.recovery(server));
  }

  /** Creates a node, unless a restore that stopped has created it. */
  private void put(String path, Bytes data) throws IOException {
    try {
      locks.create(path, data);
    } catch (SteleException e) {
      if (locks.read(path).isEmpty()) {
        throw e;
      }
    }
  }

  private static void checkSize(String path, CopiedNode node) {
    if (LastingNodes.isKnown(path)) {
      LockPaths.check(path, node.data(), path);
    }
  }

  /** Puts a node of a kind that this version does not know, unless it is refused as too large. */
  private void putIfPossible(String path, Bytes data) throws IOException {
    try {
      put(path, data);
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.REFUSED) {
        throw e;
      }
      LOG.error(
          "Node {} of a later version cannot be restored: save the files in {}, which have it",
          path,
          layout.lockService(),
          e);
    }
  }

  /** Writes a node until it has been written so often. */
  private void raise(String path, int version) throws IOException {
    Optional<VersionedData> node = locks.read(path);
    while (node.isPresent() && node.get().version() < version) {
      locks.write(path, node.get().data(), node.get().version());
      node = locks.read(path);
    }
  }
}
