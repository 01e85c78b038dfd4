package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes that stay in the lock service when all processes of a cluster have ended, as they were
 * last read; but for the root tablet's record, and for what only says which processes there were.
 * Those of kinds that a later version has added are among them.
 *
 * <p>A name and its table are read together: the name before and after the table, until it is the
 * same. All are read once; afterwards only those that may have changed, as each read is a
 * transaction of the lock service. For one thread.
 */
public final class LastingNodes {
  /** Nodes without others below them. */
  static final List<String> SINGLE =
      List.of(
          LockPaths.REGISTRATION,
          LockPaths.FORGOTTEN_CHANGES,
          LockPaths.TABLE_IDS,
          LockPaths.BALANCE);

  /** Nodes of which those below them count. */
  static final List<String> PARENTS = List.of(LockPaths.NAMES, LockPaths.TABLES, LockPaths.JOBS);

  /**
   * Nodes of processes, and those below them; the root tablet's, which is copied by itself; and the
   * list of changes that clear rows, which a master makes again.
   */
  static final List<String> LEFT_OUT =
      List.of(
          LockPaths.ROOT,
          LockPaths.MASTER,
          LockPaths.SERVERS,
          LockPaths.SUSPECTS,
          LockPaths.APPLICATION,
          LockPaths.CLEARINGS);

  private static final Logger LOG = LoggerFactory.getLogger(LastingNodes.class);
  private static final int ATTEMPTS_MAX = 5;

  private final LockService locks;
  private final Map<String, CopiedNode> nodes = new TreeMap<>();
  private List<String> unknown = List.of(); // Paths of nodes of later versions.

  /** Nothing is read yet. */
  public LastingNodes(LockService locks) {
    this.locks = locks;
  }

  /** The nodes by their paths. */
  Map<String, CopiedNode> nodes() {
    return nodes;
  }

  /** Reads all of them. */
  public void readAll() throws IOException {
    nodes.clear();
    unknown = locks.lasting().stream().filter(path -> !isKnown(path)).toList();
    for (String name : locks.children(LockPaths.NAMES)) {
      readName(name);
    }
    for (String id : locks.children(LockPaths.TABLES)) {
      if (!nodes.containsKey(LockPaths.TABLES + "/" + id)) {
        read(LockPaths.TABLES + "/" + id); // It has no name yet, or no more.
      }
    }
    readOthers();
  }

  /** Whether a node is of a kind that this version knows. */
  static boolean isKnown(String path) {
    return SINGLE.contains(path)
        || PARENTS.contains(path)
        || PARENTS.stream().anyMatch(parent -> LockPaths.childName(parent, path).isPresent())
        || LEFT_OUT.stream().anyMatch(out -> path.equals(out) || path.startsWith(out + "/"));
  }

  /**
   * Reads a name, its table, and the table that it had before.
   *
   * @throws SteleException RETRY_LATER if it changes all the time
   */
  public void readName(String name) throws IOException {
    String path = LockPaths.tableName(name);
    Optional<TableId> last = holder(name, Optional.ofNullable(nodes.get(path)));
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Optional<VersionedData> before = locks.read(path);
      put(path, before);
      if (last.isPresent()) {
        read(LockPaths.table(last.get()));
      }
      Optional<TableId> table = holder(name, before.map(CopiedNode::of));
      if (table.isPresent() && !table.equals(last)) {
        read(LockPaths.table(table.get()));
      }
      if (locks.read(path).equals(before)) {
        return;
      }
    }
    throw SteleException.retryLater("table " + name + " is being changed all the time");
  }

  private static Optional<TableId> holder(String name, Optional<CopiedNode> node)
      throws IOException {
    try {
      return node.isEmpty() ? Optional.empty() : TableNames.holder(name, node.get().data());
    } catch (NewerFormatException e) {
      LOG.debug("It is unknown which table has the name {}: it is read with all others", name, e);
      return Optional.empty();
    }
  }

  /** Reads all but names and tables; of the kinds that only later versions know, as listed last. */
  public void readOthers() throws IOException {
    for (String path : SINGLE) {
      read(path);
    }
    for (String path : unknown) {
      read(path);
    }
    nodes.keySet().removeIf(path -> LockPaths.childName(LockPaths.JOBS, path).isPresent());
    for (String job : locks.children(LockPaths.JOBS)) {
      String path = LockPaths.job(job);
      OptionalLong change = locks.lastChange(path);
      Optional<VersionedData> node = locks.read(path);
      if (change.isPresent() && node.isPresent()) {
        nodes.put(
            path, new CopiedNode(node.get().data(), node.get().version(), change.getAsLong()));
      }
    }
  }

  private void read(String path) throws IOException {
    put(path, locks.read(path));
  }

  private void put(String path, Optional<VersionedData> node) {
    if (node.isPresent()) {
      nodes.put(path, CopiedNode.of(node.get()));
    } else {
      nodes.remove(path);
    }
  }
}
