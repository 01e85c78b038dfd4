package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.VersionedData;
import io.stele.model.CorruptionException;
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
      Optional<String> name = below(LockPaths.NAMES, node.getKey());
      if (name.isPresent()) {
        Optional<TableId> table = TableNames.holder(name.get(), node.getValue().data());
        table.ifPresent(id -> keepIfLost(LockPaths.table(id), nodes, former));
      }
      CopiedNode was = former.get(node.getKey());
      // One that was written since may be of a later version.
      boolean isWritten = was != null && node.getValue().version() > was.version();
      if (was != null && !isWritten && isDamaged(node.getKey(), node.getValue())) {
        nodes.put(node.getKey(), was);
      }
    }
    return Map.copyOf(nodes);
  }

  private static Optional<String> below(String parent, String path) {
    return path.startsWith(parent + "/")
        ? Optional.of(path.substring(parent.length() + 1))
        : Optional.empty();
  }

  private static void keepIfLost(
      String path, Map<String, CopiedNode> nodes, Map<String, CopiedNode> former) {
    if (former.containsKey(path) && nodes.putIfAbsent(path, former.get(path)) == null) {
      LOG.warn("Node {} is not in the lock service; its copy stays", path);
    }
  }

  private static boolean isDamaged(String path, CopiedNode node) {
    Optional<String> table = below(LockPaths.TABLES, path);
    Optional<String> job = below(LockPaths.JOBS, path);
    try {
      if (table.isPresent()) {
        TableCodec.decode(new TableId(table.get()), node.data(), node.version());
      } else if (job.isPresent()) {
        JobCodec.decode(job.get(), new VersionedData(node.data(), node.version()));
      }
      return false;
    } catch (CorruptionException e) {
      LOG.warn("Node {} of the lock service is damaged; its copy stays as it was", path, e);
      return true;
    }
  }
}
