package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resources that many use and that are open once: one for each key. Whoever comes first opens it,
 * and it is closed after the last has given its share back; a failure to close it is logged.
 *
 * <p>Safe for use by any number of threads; the monitor is not held while a resource is opened or
 * closed.
 */
public final class SharedResources<K, R extends AutoCloseable> {
  private static final Logger LOG = LoggerFactory.getLogger(SharedResources.class);

  private final ProcessRuntime runtime;
  private final Duration unusedMax;

  @GuardedBy("this")
  private final Map<K, Shared<R>> open = new HashMap<>();

  private static final class Shared<R> {
    final CompletableFuture<R> resource = new CompletableFuture<>();
    int holders;
    int releases; // By the last holder.
  }

  /**
   * None are open yet.
   *
   * @param unusedMax how long a resource stays open that nobody uses. If zero, it is closed by the
   *     thread that gives back the last share; otherwise by a thread of its own
   */
  public SharedResources(ProcessRuntime runtime, Duration unusedMax) {
    this.runtime = runtime;
    this.unusedMax = unusedMax;
  }

  /** One user's share of a resource. */
  public interface Share<R> extends AutoCloseable {
    /** The resource; not to be closed. */
    R resource();

    /** Gives the share back. Doing so again does nothing: the resource may be that of others. */
    @Override
    void close();
  }

  private final class Held implements Share<R> {
    private final K key;
    private final Shared<R> shared;
    private final R resource;
    private final AtomicBoolean closed = new AtomicBoolean();

    Held(K key, Shared<R> shared, R resource) {
      this.key = key;
      this.shared = shared;
      this.resource = resource;
    }

    @Override
    public R resource() {
      return resource;
    }

    @Override
    public void close() {
      if (!closed.getAndSet(true)) {
        release(key, shared, resource);
      }
    }
  }

  /**
   * Shares the resource of {@code key} with those who have it, or opens it.
   *
   * @param opener opens the resource, and waits until it is open; called if nobody has it
   * @throws IOException if it cannot be opened
   */
  public Share<R> share(K key, IoCallable<? extends R> opener) throws IOException {
    while (true) {
      Shared<R> shared;
      boolean first;
      synchronized (this) {
        first = !open.containsKey(key);
        shared = open.computeIfAbsent(key, none -> new Shared<>());
        shared.holders++;
      }
      if (first) {
        return new Held(key, shared, open(key, shared, opener));
      }
      try {
        return new Held(key, shared, runtime.await(shared.resource));
      } catch (InterruptedException e) {
        shared.resource.thenAccept(resource -> release(key, shared, resource));
        throw Futures.interrupted(e, "waiting for another thread that opens " + key);
      } catch (ExecutionException e) {
        // Of another user, perhaps for a reason of its own: this one tries for itself.
        LOG.debug("Another user could not open {}", key, e);
      }
    }
  }

  private R open(K key, Shared<R> shared, IoCallable<? extends R> opener) throws IOException {
    try {
      R resource = opener.call();
      shared.resource.complete(resource);
      return resource;
    } catch (IOException | RuntimeException | Error e) {
      synchronized (this) {
        open.remove(key, shared);
      }
      shared.resource.completeExceptionally(e);
      throw e;
    }
  }

  private void release(K key, Shared<R> shared, R resource) {
    int release;
    synchronized (this) {
      if (--shared.holders > 0) {
        return;
      }
      release = ++shared.releases;
      if (unusedMax.isZero()) {
        open.remove(key, shared);
      }
    }
    if (unusedMax.isZero()) {
      close(key, resource);
    } else {
      runtime.after(unusedMax, () -> closeUnused(key, shared, resource, release));
    }
  }

  private void closeUnused(K key, Shared<R> shared, R resource, int release) {
    synchronized (this) {
      if (shared.holders > 0 || shared.releases != release) {
        return; // It is used again, or was, and is closed later.
      }
      open.remove(key, shared);
    }
    runtime.start("close-unused", () -> close(key, resource));
  }

  private void close(K key, R resource) {
    try {
      resource.close();
    } catch (Exception e) {
      LOG.warn("Closing {}, which is no longer used, failed", key, e);
    }
  }

  /** How many resources are open, or being opened. */
  public synchronized int count() {
    return open.size();
  }
}
