package io.stele.sim;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.WorkerPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all {@link MemoryLockService}s of one cluster share: the tree of nodes, in memory.
 *
 * <p>Safe for use by any number of threads.
 */
public final class MemoryLockStore {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryLockStore.class);

  /** No session: of a node that stays. */
  static final long PERSISTENT = 0;

  /**
   * One node; replaced whole.
   *
   * @param change the number of the change that made it, among those of all nodes
   */
  record Node(Bytes data, int version, long owner, long change) {}

  /** A watch on {@code path}: told of changes to it and to the list of its children. */
  record Watcher(String path, Runnable changed) {}

  @GuardedBy("this")
  private final TreeMap<String, Node> nodes = new TreeMap<>();

  @GuardedBy("this")
  private final List<Watcher> watchers = new ArrayList<>();

  @GuardedBy("this")
  private long lastSession;

  @GuardedBy("this")
  private long changes;

  /** A process's connection, called back on its own thread. */
  public MemoryLockService connect() {
    WorkerPool callbacks = SystemRuntime.INSTANCE.pool("memory-lock-callbacks", 1);
    Executor untilClosed =
        work -> {
          try {
            callbacks.execute(work);
          } catch (RejectedExecutionException e) {
            LOG.debug("What is called back after the end is moot", e);
          }
        };
    return new MemoryLockService(this, untilClosed, callbacks::close);
  }

  /**
   * A process's connection, called back by {@code callbacks}: in order, and not before {@code
   * execute} returns.
   */
  public MemoryLockService connect(Executor callbacks) {
    return new MemoryLockService(this, callbacks, () -> {});
  }

  synchronized long newSession() {
    return ++lastSession;
  }

  synchronized Optional<Node> node(String path) {
    return Optional.ofNullable(nodes.get(path));
  }

  synchronized List<String> children(String path) {
    String prefix = path + "/";
    return nodes.tailMap(prefix, true).keySet().stream()
        .takeWhile(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .filter(name -> name.indexOf('/') < 0)
        .toList();
  }

  synchronized boolean create(String path, Bytes data, long owner) {
    if (nodes.containsKey(path)) {
      return false;
    }
    int slash = path.lastIndexOf('/');
    if (slash > 0) {
      create(path.substring(0, slash), Bytes.EMPTY, PERSISTENT);
    }
    nodes.put(path, new Node(data, 0, owner, ++changes));
    changed(path, true);
    return true;
  }

  /** Replaces the data of a node that {@code allowed} accepts; the new version. */
  synchronized Optional<Integer> write(String path, Bytes data, Predicate<Node> allowed) {
    Node node = nodes.get(path);
    if (node == null || !allowed.test(node)) {
      return Optional.empty();
    }
    nodes.put(path, new Node(data, node.version() + 1, node.owner(), ++changes));
    changed(path, false);
    return Optional.of(node.version() + 1);
  }

  /** Deletes a node that {@code allowed} accepts. */
  synchronized boolean delete(String path, Predicate<Node> allowed) {
    Node node = nodes.get(path);
    if (node == null || !allowed.test(node)) {
      return false;
    }
    nodes.remove(path);
    changed(path, true);
    return true;
  }

  /** The data of all nodes that stay, by path. */
  synchronized Map<String, Bytes> lasting() {
    Map<String, Bytes> data = new TreeMap<>();
    nodes.forEach(
        (path, node) -> {
          if (node.owner() == PERSISTENT) {
            data.put(path, node.data());
          }
        });
    return data;
  }

  /** Loses all nodes, those of sessions too. */
  synchronized void clear() {
    List.copyOf(nodes.keySet()).forEach(path -> delete(path, node -> true));
  }

  synchronized void endSession(long session) {
    List<String> owned =
        nodes.entrySet().stream()
            .filter(node -> node.getValue().owner() == session)
            .map(node -> node.getKey())
            .toList();
    owned.forEach(path -> delete(path, node -> true));
  }

  synchronized void add(Watcher watcher) {
    watchers.add(watcher);
  }

  @SuppressWarnings("ReferenceEquality") // Two may watch alike: this one goes.
  synchronized void remove(Watcher watcher) {
    watchers.removeIf(other -> other == watcher);
  }

  // Only hands the calls over to executors, so that none runs within this store's monitor.
  @GuardedBy("this")
  private void changed(String path, boolean listChanged) {
    int slash = path.lastIndexOf('/');
    String parent = slash > 0 ? path.substring(0, slash) : "";
    for (Watcher watcher : List.copyOf(watchers)) {
      if (watcher.path().equals(path) || (listChanged && watcher.path().equals(parent))) {
        watcher.changed().run();
      }
    }
  }
}
