package io.stele.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/**
 * The caller's side of the control plane over Hadoop RPC: keeps one {@link ControlClient} for each
 * server, protocol and time limit.
 *
 * <p>Time limits are rounded down, so that calls with whatever time they have left share clients.
 * The lock is never held while a client is made, which looks up a name.
 *
 * <p>Safe for use by any number of threads.
 */
final class HadoopControlPlane implements ControlPlane, AutoCloseable {
  private static final int TIMEOUT_BITS = 4;

  private final Configuration conf;

  @GuardedBy("this")
  private final Map<Key, ControlClient<?>> clients = new HashMap<>();

  @GuardedBy("this")
  private boolean closed;

  private record Key(Address server, Class<?> protocol, long timeoutMillis) {}

  HadoopControlPlane(Configuration conf) {
    this.conf = conf;
  }

  @Override
  public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
      throws IOException {
    return client(new Key(server, protocol, rounded(timeout)), protocol).call(call);
  }

  /** {@code timeout} in milliseconds, its highest bits only; at least 1. */
  static long rounded(Duration timeout) {
    long millis = Math.max(1, Math.min(timeout.toMillis(), Integer.MAX_VALUE));
    int bits = Long.SIZE - Long.numberOfLeadingZeros(millis);
    int cut = Math.max(0, bits - TIMEOUT_BITS);
    return millis >>> cut << cut;
  }

  @SuppressWarnings("unchecked") // A key names the protocol of its client.
  private <P> ControlClient<P> client(Key key, Class<P> protocol) throws IOException {
    synchronized (this) {
      checkOpen();
      ControlClient<?> known = clients.get(key);
      if (known != null) {
        return (ControlClient<P>) known;
      }
    }
    ControlClient<P> made =
        ControlClient.connect(conf, key.server(), protocol, Duration.ofMillis(key.timeoutMillis()));
    ControlClient<?> first;
    synchronized (this) {
      first = closed ? null : clients.putIfAbsent(key, made);
      if (first == null && !closed) {
        return made;
      }
    }
    made.close();
    if (first == null) {
      throw new IOException("the control plane of this process is closed");
    }
    return (ControlClient<P>) first; // Another thread was faster.
  }

  @GuardedBy("this")
  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the control plane of this process is closed");
    }
  }

  @Override
  public void retain(Set<Address> servers) {
    List<ControlClient<?>> gone = new ArrayList<>();
    synchronized (this) {
      clients
          .entrySet()
          .removeIf(
              entry -> {
                boolean unwanted = !servers.contains(entry.getKey().server());
                if (unwanted) {
                  gone.add(entry.getValue());
                }
                return unwanted;
              });
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
