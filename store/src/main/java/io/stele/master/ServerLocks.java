package io.stele.master;

import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The locks of the tablet servers, and the notes that a server is suspect, in the lock service.
 * Each method throws IOException if the lock service cannot be reached.
 *
 * <p>Safe for use by any number of threads.
 */
final class ServerLocks {
  private static final Logger LOG = LoggerFactory.getLogger(ServerLocks.class);

  /** A note that cannot be made in so many tries is not tried for ever. */
  private static final int NOTE_TRIES = 10;

  private final LockService locks;

  ServerLocks(LockService locks) {
    this.locks = locks;
  }

  /**
   * The servers that hold their locks.
   *
   * @param known servers whose locks need not be read again if they still hold them
   */
  Map<ServerId, ServerInfo> read(Map<ServerId, ServerInfo> known) throws IOException {
    return ServerInfo.all(locks, known);
  }

  /** Whether the server holds its lock. */
  boolean hasLock(ServerId server) throws IOException {
    return locks.read(LockPaths.server(server)).isPresent();
  }

  /** Takes the server's lock away; nothing happens if it holds none. */
  void revoke(ServerId server) throws IOException {
    Optional<VersionedData> lock = locks.read(LockPaths.server(server));
    while (lock.isPresent() && !locks.delete(LockPaths.server(server), lock.get().version())) {
      lock = locks.read(LockPaths.server(server)); // Its last renewal came in between.
    }
  }

  /**
   * Records, for later masters too, that the lock was not lost because the server was silent, and
   * how long the server's lease is: its configuration may be another than the master's.
   */
  void suspect(ServerId server) throws IOException {
    String note = LockPaths.suspect(server);
    Bytes lease = leaseInLock(server);
    for (int tries = 1; ; tries++) {
      Optional<VersionedData> noted = locks.read(note);
      if (noted.isPresent() && (lease.isEmpty() || noted.get().data().equals(lease))) {
        return;
      }
      try {
        if (noted.isEmpty()) {
          locks.create(note, lease);
        } else {
          locks.write(note, lease, noted.get().version());
        }
      } catch (SteleException e) {
        if (tries == NOTE_TRIES) {
          throw new IOException("cannot note in ZooKeeper that " + server + " is suspect", e);
        }
        LOG.debug("Another has noted it, or it is unknown whether this has: reading again", e);
      }
    }
  }

  /**
   * The lease of a server as its lock has it, to be noted; empty if there is none. One that cannot
   * be read may be the longest that there is.
   */
  private Bytes leaseInLock(ServerId server) throws IOException {
    Optional<VersionedData> lock = locks.read(LockPaths.server(server));
    if (lock.isEmpty()) {
      return Bytes.EMPTY;
    }
    try {
      Duration lease = ServerInfo.decode(lock.get().data(), server).lease();
      return lease.isZero() ? Bytes.EMPTY : Bytes.of(lease.toString());
    } catch (CorruptionException | NewerFormatException e) {
      LOG.error("The lock of {} does not say how long its lease is", server, e);
      return Bytes.of(Keys.LEASE_MAX.toString());
    }
  }

  /** How long the lease of a suspect is; zero if that was not recorded. */
  Duration suspectsLease(ServerId server) throws IOException {
    Optional<VersionedData> note = locks.read(LockPaths.suspect(server));
    String lease = note.map(found -> found.data().toUtf8()).orElse("");
    try {
      return lease.isEmpty() ? Duration.ZERO : Duration.parse(lease);
    } catch (DateTimeParseException e) {
      throw new IOException(LockPaths.suspect(server) + " does not have a lease: " + lease, e);
    }
  }

  /** Whether a master has recorded that the server is suspect. */
  boolean isSuspected(ServerId server) throws IOException {
    return locks.read(LockPaths.suspect(server)).isPresent();
  }

  /** Removes what {@link #suspect} recorded; nothing happens if there is nothing. */
  void forgetSuspicion(ServerId server) throws IOException {
    Optional<VersionedData> note = locks.read(LockPaths.suspect(server));
    if (note.isPresent()) {
      locks.delete(LockPaths.suspect(server), note.get().version());
    }
  }
}
