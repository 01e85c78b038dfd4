package io.stele.yarn;

import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Makes the ApplicationMaster's calls of NodeManagers. Those of one node are made one after
 * another, so a node that does not answer takes one thread, however many containers it has. Nothing
 * else waits for these calls.
 *
 * <p>Confined to the ApplicationMaster's one thread; never waits.
 */
final class NodeCalls implements AutoCloseable {
  /** Only while more nodes than this do not answer do calls of others wait. */
  private static final int NODES_MAX = 64;

  private final BlockingCalls calls;

  /** For each node with a call under way those that wait for it, in their order. */
  private final Map<String, Queue<Runnable>> waiting = new HashMap<>();

  NodeCalls(ProcessRuntime runtime, EventQueue events) {
    this.calls = new BlockingCalls(runtime, events, "node-call", NODES_MAX);
  }

  /**
   * Makes the call once those of its node before it have ended. One of the two becomes an event.
   *
   * @param done takes the result
   * @param failed takes what the call threw, be it an {@link Error}
   */
  <T> void call(String node, IoCallable<T> call, Consumer<T> done, Consumer<Throwable> failed) {
    Runnable begin =
        () ->
            calls.call(
                call,
                result -> {
                  next(node);
                  done.accept(result);
                },
                failure -> {
                  next(node);
                  failed.accept(failure);
                });
    Queue<Runnable> others = waiting.putIfAbsent(node, new ArrayDeque<>());
    if (others == null) {
      begin.run();
    } else {
      others.add(begin);
    }
  }

  private void next(String node) {
    Queue<Runnable> others = waiting.getOrDefault(node, new ArrayDeque<>());
    if (others.isEmpty()) {
      waiting.remove(node);
    } else {
      others.remove().run();
    }
  }

  @Override
  public void close() {
    calls.close();
  }
}
