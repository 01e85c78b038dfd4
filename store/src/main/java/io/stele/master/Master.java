package io.stele.master;

import io.stele.config.ClusterConfig;
import io.stele.lock.Election;
import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.wire.Address;
import io.stele.wire.DataPlane;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One candidate for master: waits until it is elected, is the master for one term, and is over.
 *
 * <p>A master that lost its lock without knowing does no harm: all it writes is conditional on what
 * it read. Safe for use by any number of threads.
 */
public final class Master implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Master.class);

  private final Configuration conf;
  private final ClusterConfig cluster;
  private final FileSystem fs;
  private final LockService locks;
  private final DataPlane plane;
  private final String host;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private Election election;
  private Term term;
  private boolean closed;

  private Master(
      Configuration conf, FileSystem fs, LockService locks, DataPlane plane, String host) {
    this.conf = conf;
    this.cluster = ClusterConfig.of(conf);
    this.fs = fs;
    this.locks = locks;
    this.plane = plane;
    this.host = host;
  }

  /**
   * Stands for election.
   *
   * @param conf checked already
   * @param fs of the root directory
   * @param locks the candidate's own session
   * @param plane to the tablet servers
   * @param host under which others reach this process
   */
  public static Master start(
      Configuration conf, FileSystem fs, LockService locks, DataPlane plane, String host) {
    Master master = new Master(conf, fs, locks, plane, host);
    master.stand();
    return master;
  }

  private synchronized void stand() {
    election =
        Election.stand(
            locks,
            LockPaths.MASTER,
            Bytes.of(host + " " + ProcessHandle.current().pid()),
            new Election.Candidate() {
              @Override
              public void elected(Lock lock) {
                // A thread of the lock service, which must not be kept.
                Thread starter = new Thread(() -> begin(), "master-start");
                starter.setDaemon(true);
                starter.start();
              }

              @Override
              public void lost() {
                end(new IOException("the master's lock is lost: another master takes over"));
              }
            });
  }

  private void begin() {
    try {
      LOG.info("Elected: this is the master of cluster {} now", cluster.name());
      Term begun = Term.begin(conf, cluster, fs, locks, plane, host);
      synchronized (this) {
        if (closed) {
          begun.close();
          return;
        }
        term = begun;
      }
      publish(begun.address());
      LOG.info("The master serves at {}", begun.address());
    } catch (IOException | RuntimeException e) {
      end(e);
    }
  }

  private void publish(Address address) throws IOException {
    Bytes data = Bytes.of(address.toString());
    while (true) {
      Optional<VersionedData> old = locks.read(LockPaths.MASTER_ADDRESS);
      if (old.isPresent()) {
        if (locks.write(LockPaths.MASTER_ADDRESS, data, old.get().version()).isPresent()) {
          return;
        }
        continue; // An earlier master wrote its own just now; that one is over.
      }
      try {
        locks.create(LockPaths.MASTER_ADDRESS, data);
        return;
      } catch (SteleException e) {
        if (locks.read(LockPaths.MASTER_ADDRESS).isEmpty()) {
          throw e;
        }
      }
    }
  }

  private void end(Throwable why) {
    if (ended.completeExceptionally(why)) {
      LOG.warn("The master ends", why);
    }
    // Not on the caller's thread, which may be the lock service's.
    Thread closer = new Thread(this::close, "master-end");
    closer.setDaemon(true);
    closer.start();
  }

  /** Fails when the master cannot go on: it lost its lock, or could not begin. */
  public CompletableFuture<Void> ended() {
    return ended.copy();
  }

  /** Whether this candidate is the active master and serves. */
  public synchronized boolean isActive() {
    return term != null && !closed;
  }

  /** Where the active master serves; empty for a standby. */
  public synchronized Optional<Address> address() {
    return Optional.ofNullable(term).map(Term::address);
  }

  /** Deletes what no tablet needs, now instead of at the next interval. For tests and tools. */
  public int sweep() throws IOException {
    Term active;
    synchronized (this) {
      active = term;
    }
    if (active == null) {
      throw SteleException.retryLater("this master is not the active one");
    }
    return active.sweep();
  }

  /** Ends the term at once and gives the lock up. Nothing is lost by it. */
  @Override
  public void close() {
    Term open;
    Election standing;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      open = term;
      standing = election;
    }
    if (open != null) {
      open.close();
    }
    if (standing != null) {
      standing.close();
    }
    ended.complete(null);
  }
}
