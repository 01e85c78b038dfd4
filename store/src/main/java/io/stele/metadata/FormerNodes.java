package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.VersionedData;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.TableId;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a copy of the lock service keeps of nodes that are lost or damaged: what it had of them.
 * Otherwise the loss of a single node would get into the copy within an hour, and nothing could
 * bring the node back.
 *
 * <p>A table's node is lost if it is not there and a name has the table. That is so for a moment,
 * too, when a table is dropped: its schema goes when the name is free. Of a job's node nobody can
 * say that it is lost.
 *
 * <p>A node that a later version wrote is copied as it is, whether it is understood or not: it is
 * not damaged. The data of a job's node has no checksum, so one that was written since it was
 * copied may be of a later version.
 */
final class FormerNodes {
  private static final Logger LOG = LoggerFactory.getLogger(FormerNodes.class);

  private FormerNodes() {}

  /**
   * The nodes to copy.
   *
   * @param read what the lock service has now, by path
   * @param former what was copied before
   * @throws CorruptionException if a name is damaged: then it is not known which tables are lost
   */
  static Map<String, CopiedNode> kept(Map<String, CopiedNode> read, Map<String, CopiedNode> former)
      throws CorruptionException {
    Map<String, CopiedNode> nodes = new TreeMap<>(read);
    for (Map.Entry<String, CopiedNode> node : read.entrySet()) {
      Optional<String> name = LockPaths.childName(LockPaths.NAMES, node.getKey());
      if (name.isPresent()) {
        holder(name.get(), node.getValue())
            .ifPresent(id -> keepIfLost(LockPaths.table(id), nodes, former));
      }
      CopiedNode was = former.get(node.getKey());
      if (was != null && isDamaged(node.getKey(), node.getValue(), was)) {
        nodes.put(node.getKey(), was);
      }
    }
    return Map.copyOf(nodes);
  }

  private static Optional<TableId> holder(String name, CopiedNode node) throws CorruptionException {
    try {
      return TableNames.holder(name, node.data());
    } catch (NewerFormatException e) {
      LOG.warn("If the table of name {} has no node any more, the copy does not keep it", name, e);
      return Optional.empty();
    }
  }

  private static void keepIfLost(
      String path, Map<String, CopiedNode> nodes, Map<String, CopiedNode> former) {
    if (former.containsKey(path) && nodes.putIfAbsent(path, former.get(path)) == null) {
      LOG.warn("Node {} is not in ZooKeeper; its copy stays", path);
    }
  }

  private static TableId id(String name) {
    try {
      return new TableId(name);
    } catch (IllegalArgumentException e) {
      throw new NewerFormatException(
          LockPaths.TABLES, "node \"" + name + "\", whose name is no table's id", e);
    }
  }

  private static boolean isDamaged(String path, CopiedNode node, CopiedNode was) {
    Optional<String> table = LockPaths.childName(LockPaths.TABLES, path);
    Optional<String> job = LockPaths.childName(LockPaths.JOBS, path);
    try {
      if (table.isPresent()) {
        TableCodec.decode(id(table.get()), node.data(), node.version());
      } else if (job.isPresent() && node.version() == was.version()) {
        JobCodec.decode(job.get(), new VersionedData(node.data(), node.version()));
      }
      return false;
    } catch (CorruptionException e) {
      LOG.warn("Node {} of ZooKeeper is damaged; its copy stays as it was", path, e);
      return true;
    } catch (NewerFormatException e) {
      LOG.debug("Node {} of ZooKeeper is copied as it is", path, e);
      return false;
    }
  }
}
