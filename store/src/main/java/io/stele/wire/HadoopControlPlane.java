package io.stele.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import org.apache.hadoop.conf.Configuration;

/**
 * The caller's side of the control plane over Hadoop RPC: keeps one {@link ControlClient} for each
 * server, protocol and time limit.
 *
 * <p>Time limits are rounded down, so that calls with whatever time they have left share clients.
 * Who knows which servers there are gives up the others ({@link #retain}); for all others, clients
 * that were not used for a while are dropped when another is made: a server that restarts has
 * another address, and a client keeps a whole configuration in memory. The lock is never held while
 * a client is made, which looks up a name.
 *
 * <p>Safe for use by any number of threads.
 */
final class HadoopControlPlane implements ControlPlane, AutoCloseable {
  /** A client that was not used for so long is dropped. */
  static final Duration IDLE_MAX = Duration.ofMinutes(10);

  private static final int TIMEOUT_BITS = 4;

  private final ProcessRuntime runtime;
  private final Configuration conf;

  @GuardedBy("this")
  private final Map<Key, Kept> clients = new HashMap<>();

  @GuardedBy("this")
  private boolean closed;

  private record Key(Address server, Class<?> protocol, long timeoutMillis) {}

  /** A client and its use; the fields are guarded by the plane. */
  private static final class Kept {
    final ControlClient<?> client;
    int calls; // Under way.
    long usedNanos;

    Kept(ControlClient<?> client) {
      this.client = client;
    }
  }

  HadoopControlPlane(ProcessRuntime runtime, Configuration conf) {
    this.runtime = runtime;
    this.conf = conf;
  }

  @Override
  public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
      throws IOException {
    Kept kept = enter(new Key(server, protocol, rounded(timeout)), protocol);
    try {
      @SuppressWarnings("unchecked") // A key names the protocol of its client.
      ControlClient<P> client = (ControlClient<P>) kept.client;
      return client.call(call);
    } finally {
      leave(kept);
    }
  }

  private synchronized void leave(Kept kept) {
    kept.calls--;
    kept.usedNanos = runtime.nanoTime();
  }

  /** How many clients there are. */
  synchronized int clients() {
    return clients.size();
  }

  /** {@code timeout} in milliseconds, its highest bits only; at least 1. */
  static long rounded(Duration timeout) {
    long millis = Math.max(1, Math.min(timeout.toMillis(), Integer.MAX_VALUE));
    int bits = Long.SIZE - Long.numberOfLeadingZeros(millis);
    int cut = Math.max(0, bits - TIMEOUT_BITS);
    return millis >>> cut << cut;
  }

  /** The client for a call, which is under way until {@link #leave}. */
  private Kept enter(Key key, Class<?> protocol) throws IOException {
    synchronized (this) {
      checkOpen();
      Kept known = clients.get(key);
      if (known != null) {
        known.calls++;
        return known;
      }
    }
    Kept made =
        new Kept(
            ControlClient.connect(
                conf, key.server(), protocol, Duration.ofMillis(key.timeoutMillis())));
    List<ControlClient<?>> unwanted = List.of(made.client);
    try {
      synchronized (this) {
        checkOpen();
        Kept kept = clients.get(key);
        if (kept == null) { // Else another thread was faster.
          unwanted = takeOut((other, idle) -> isIdle(idle));
          clients.put(key, made);
          kept = made;
        }
        kept.calls++;
        return kept;
      }
    } finally {
      unwanted.forEach(ControlClient::close);
    }
  }

  private boolean isIdle(Kept kept) {
    return kept.calls == 0 && runtime.nanoTime() - kept.usedNanos > IDLE_MAX.toNanos();
  }

  @GuardedBy("this")
  private List<ControlClient<?>> takeOut(BiPredicate<Key, Kept> unwanted) {
    List<ControlClient<?>> taken = new ArrayList<>();
    clients
        .entrySet()
        .removeIf(
            entry -> {
              boolean goes = unwanted.test(entry.getKey(), entry.getValue());
              if (goes) {
                taken.add(entry.getValue().client);
              }
              return goes;
            });
    return taken;
  }

  @GuardedBy("this")
  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the control plane of this process is closed");
    }
  }

  @Override
  public void retain(Set<Address> servers) {
    List<ControlClient<?>> gone;
    synchronized (this) {
      gone = takeOut((key, kept) -> !servers.contains(key.server()));
    }
    gone.forEach(ControlClient::close);
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    retain(Set.of());
  }
}
