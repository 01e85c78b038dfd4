package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.config.ClusterConfig;
import io.stele.files.HdfsOutage;
import io.stele.lock.Election;
import io.stele.lock.Lock;
import io.stele.lock.LockLostException;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.metadata.MasterInfo;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.Transport;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One candidate for master: waits until it is elected, and is the master until it loses its lock.
 *
 * <p>A master that lost its lock without knowing it does no harm: all its writes are conditional on
 * what it read. Safe for use by any number of threads.
 */
public final class Master implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Master.class);
  private static final Duration AGAIN = Duration.ofMillis(200);

  private final Environment environment;
  private final ClusterConfig cluster;
  private final String process; // Tells the lock's holders apart.
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  @GuardedBy("this")
  private Optional<Election> election = Optional.empty();

  @GuardedBy("this")
  private Optional<ActiveMaster> active = Optional.empty();

  @GuardedBy("this")
  private boolean closed;

  /**
   * The surroundings of a master.
   *
   * @param conf already checked
   * @param runtime its clocks, threads and locks
   * @param fs of the root directory
   * @param locks the candidate's own session; stays open
   * @param transport the network; stays open
   * @param container the YARN container the master runs in
   * @param applications used to ask about the applications that run jobs; stays open
   */
  public record Environment(
      Configuration conf,
      ProcessRuntime runtime,
      FileSystem fs,
      LockService locks,
      Transport transport,
      Optional<String> container,
      Applications applications) {}

  private Master(Environment environment) {
    this.environment = environment;
    this.cluster = ClusterConfig.of(environment.conf());
    this.process =
        environment.container().orElseGet(() -> environment.transport().host())
            + "_"
            + HexFormat.of().toHexDigits(environment.runtime().random().nextLong());
  }

  /** Takes part in the election. */
  public static Master start(Environment environment) {
    Master master = new Master(environment);
    master.stand();
    return master;
  }

  private void stand() {
    Election standing =
        Election.stand(
            environment.runtime(),
            environment.locks(),
            LockPaths.MASTER,
            new MasterInfo(process, Optional.empty()).encode(),
            new Election.Candidate() {
              @Override
              public void elected(Lock lock) {
                // The lock service waits for the thread it calls this on.
                environment.runtime().start("master-start", () -> begin(lock));
              }

              @Override
              public void lost() {
                end(new IOException("the master's lock is lost: another master takes over"));
              }
            });
    synchronized (this) {
      if (!closed) {
        election = Optional.of(standing);
        return;
      }
    }
    standing.close(); // It was elected and has failed already.
  }

  private void begin(Lock lock) {
    try {
      LOG.info("Elected: this is now the master of cluster {}", cluster.name());
      ActiveMaster begun = beginWhenReachable(lock);
      if (!take(begun)) {
        begun.close();
        return;
      }
      Address address = begun.address();
      publish(lock, new MasterInfo(process, Optional.of(address)));
      LOG.info("The master serves at {}", address);
    } catch (IOException | RuntimeException | Error e) {
      end(e);
    }
  }

  /**
   * Starts, and waits if the lock service becomes unavailable meanwhile, as no other process can
   * become master then. For HDFS it waits a while only: another process may reach it.
   */
  private ActiveMaster beginWhenReachable(Lock lock) throws IOException {
    Deadline patience = Deadline.after(environment.runtime(), HdfsOutage.PATIENCE);
    while (true) {
      try {
        return ActiveMaster.begin(environment, cluster, this::end);
      } catch (UnreachableException e) {
        if (!lock.isHeld()) {
          throw e;
        }
        LOG.warn("The master cannot start yet; will retry: {}", e.getMessage());
      } catch (IOException e) {
        if (!HdfsOutage.mayHaveCaused(e) || patience.isOver() || !lock.isHeld()) {
          throw e;
        }
        LOG.warn("The master cannot start yet; will retry: {}", e.toString());
      } catch (SteleException e) {
        if (e.code() != SteleException.Code.OUTCOME_UNKNOWN || !lock.isHeld()) {
          throw e;
        }
        LOG.warn("Starting the master failed; will start it again: {}", e.getMessage());
      }
      pause("beginning to be the master");
    }
  }

  private void pause(String what) throws IOException {
    try {
      environment.runtime().sleep(AGAIN);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, what);
    }
  }

  private synchronized boolean take(ActiveMaster begun) {
    if (!closed) {
      active = Optional.of(begun);
    }
    return !closed;
  }

  /** Writes the address into the lock's own node, so that it is this master's or nobody's. */
  private void publish(Lock lock, MasterInfo serving) throws IOException {
    while (true) {
      try {
        lock.update(serving.encode());
        return;
      } catch (LockLostException e) {
        throw e;
      } catch (IOException e) {
        LOG.warn("Cannot publish the master's address yet; will retry: {}", e.toString());
      }
      pause("publishing the master's address");
    }
  }

  private void end(Throwable why) {
    if (ended.completeExceptionally(why)) {
      LOG.warn("The master stops", why);
    }
    // Not on the caller's thread, which may be the lock service's.
    environment.runtime().start("master-end", this::close);
  }

  /** Fails when the master cannot continue: it lost its lock, or could not begin. */
  public CompletableFuture<Void> ended() {
    return ended.copy();
  }

  /** Whether this candidate is the active master and serves. */
  public synchronized boolean isActive() {
    return active.isPresent() && !closed;
  }

  /** The address of the active master; empty for a standby. */
  public synchronized Optional<Address> address() {
    return active.map(ActiveMaster::address);
  }

  /** Deletes unneeded files now instead of at the next interval. For tests and tools. */
  public int sweep() throws IOException {
    Optional<ActiveMaster> sweeping;
    synchronized (this) {
      sweeping = active;
    }
    return sweeping
        .orElseThrow(() -> SteleException.retryLater("this master is not the active one"))
        .sweep();
  }

  /** Stops being the master at once and releases the lock. Nothing is lost by it. */
  @Override
  public void close() {
    Optional<ActiveMaster> open;
    Optional<Election> standing;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      open = active;
      standing = election;
    }
    open.ifPresent(ActiveMaster::close);
    standing.ifPresent(Election::close);
    ended.complete(null);
  }
}
