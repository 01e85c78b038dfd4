package io.stele.tablet;

import io.stele.model.SteleException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Which operations and clients an {@link OperationWindow} may forget, and when.
 *
 * <p><b>Time.</b> A client that was silent for longer than the window is reduced to a number above
 * all that it ever sent here. After sixteen windows it is forgotten.
 *
 * <p><b>Memory</b> is bounded by an {@link OperationBudget}. It is filled by operations, and by
 * clients: each takes some of it in every tablet to which it has written, even if that was a single
 * operation. Above the budget, the clients that were silent the longest are reduced first, and
 * those that were silent for {@link #SILENT_LEAST} are forgotten. If that is not enough and a minor
 * compaction will make room, new operations are refused with 'retry later' until it has run, which
 * {@link #needsCompaction} asks for. Otherwise the older half of the finished operations of the
 * other clients is forgotten. A retry of anything forgotten is refused, never applied twice. If
 * nothing can be forgotten, a new operation is refused with 'retry later'. A known client may
 * always begin one operation, so that clients that come and go cannot keep it from writing. Jobs
 * leave a quarter to other clients ({@link OperationMemory}).
 *
 * <p>Not safe for use by several threads: it belongs to an {@link OperationWindow}.
 */
final class OperationRoom {
  /** After so many windows of silence a client is forgotten. */
  static final int WINDOWS_KEPT = 16;

  /** A client that sent something within this time is reduced only if there are no others. */
  private static final long BUSY_MICROS = 60_000_000;

  /**
   * A client that sent something within this time, or this part of the window if that is longer, is
   * not forgotten, however little memory there is.
   */
  static final Duration SILENT_LEAST = Duration.ofMinutes(10);

  private static final int SILENT_PART = 6;

  /** If there was nothing to forget, wait this long before looking again. */
  private static final long RELIEF_INTERVAL_MICROS = 1_000_000;

  /** Who needs room. */
  enum Owner {
    /** A task of a job: what it takes stays until the job ends. */
    JOB,
    /** Any other client. */
    CLIENT
  }

  private final RememberedClients clients;
  private final TabletTime time;
  private final long windowMicros;
  private final long silentMinMicros;
  private long reliefDueMicros;

  /** Whether operations are refused for which a minor compaction would make room. */
  private boolean waitsForCompaction;

  /** The room of a window of this length. */
  OperationRoom(RememberedClients clients, TabletTime time, long windowMicros) {
    this.clients = clients;
    this.time = time;
    this.windowMicros = windowMicros;
    this.silentMinMicros = silentMinMicros(windowMicros);
  }

  /** A client is not forgotten before it was silent for so long, however little memory there is. */
  static long silentMinMicros(long windowMicros) {
    return Math.max(TimeUnit.MICROSECONDS.convert(SILENT_LEAST), windowMicros / SILENT_PART);
  }

  /** Whether there is room for another operation, made by forgetting others if need be. */
  boolean makeFor(Owner owner) {
    if (excess(owner) == 0) {
      return true;
    }
    long now = time.nowMicros();
    if (now >= reliefDueMicros) {
      relieve(now);
      waitsForCompaction |= isRelievedByCompaction(owner, now);
    }
    if (excess(owner) == 0) {
      return true;
    }
    reliefDueMicros = Math.max(reliefDueMicros, now + RELIEF_INTERVAL_MICROS);
    return false;
  }

  /** Says that there is no room. */
  SteleException full() {
    return SteleException.retryLater(
        "the tablet remembers "
            + clients.count()
            + " clients and their operations in "
            + clients.memory().bytes()
            + " bytes, its limit, and can forget none yet: try again. It forgets a client that has"
            + " sent nothing for "
            + TimeUnit.MICROSECONDS.toSeconds(silentMinMicros)
            + " s, and a job when it has ended. If it stays so, more clients or jobs write here than"
            + " stele.operations.bytes has room for: make it larger, or let programs keep their"
            + " connection");
  }

  /** Whether operations that are refused now would have room after a minor compaction. */
  private boolean isRelievedByCompaction(Owner owner, long now) {
    long excess = excess(owner);
    if (excess == 0 || !clients.memory().isCompacted()) {
      return false;
    }
    long freed =
        owner == Owner.JOB
            ? clients.sum(client -> client.job().isPresent() ? client.unwrittenBytes() : 0)
            : freedByCompaction(now);
    return freed >= Math.max(excess, clients.memory().worthCompacting());
  }

  private long excess(Owner owner) {
    return owner == Owner.JOB ? clients.memory().excessOfJobs() : clients.memory().excessOfOthers();
  }

  /**
   * By how many bytes usage drops at most, when everything is in files: then clients that were
   * silent for long enough can be forgotten, too.
   */
  private long freedByCompaction(long now) {
    return clients.sum(
        client ->
            isForgettable(client, now) && !client.hasInFlight()
                ? client.bytes()
                : client.unwrittenBytes());
  }

  /** Forgets until usage is slightly below the budget. */
  private void relieve(long now) {
    expire(now);
    OperationMemory memory = clients.memory();
    List<Map.Entry<ClientName, ClientOperations>> silentFirst = clients.silentFirst();
    long enough = memory.enough();
    for (Map.Entry<ClientName, ClientOperations> entry : silentFirst) {
      ClientOperations client = entry.getValue();
      if (memory.bytes() > enough || memory.isShortForJobs()) {
        clients.change(client, each -> each.task().ifPresent(TaskMemory::forgetSample));
      }
      if (mayForgetOf(client) && now - client.lastSeenMicros() > BUSY_MICROS) {
        clients.change(client, ClientOperations::forgetAll);
      }
    }
    for (Map.Entry<ClientName, ClientOperations> entry : silentFirst) {
      if (mayForgetOf(entry.getValue()) && isForgettable(entry.getValue(), now)) {
        forget(entry.getKey(), entry.getValue());
      }
    }
    if (memory.isCompacted() && memory.bytes() - freedByCompaction(now) <= enough) {
      return;
    }
    boolean more = true;
    while (more) {
      more = false;
      for (Map.Entry<ClientName, ClientOperations> entry : silentFirst) {
        if (!entry.getValue().isForgotten() && mayForgetOf(entry.getValue())) {
          more |= clients.forgetOlderHalf(entry.getValue());
        }
      }
    }
  }

  /**
   * Whether a client was silent for so long that it may be forgotten. A task without a job does not
   * say how long it has tried, so it is kept longer.
   */
  private boolean isForgettable(ClientOperations client, long now) {
    long silentMin =
        client.task().isPresent() ? Math.max(windowMicros, silentMinMicros) : silentMinMicros;
    return client.job().isEmpty() && now - client.lastSeenMicros() > silentMin;
  }

  /** Whether room is needed, and operations of this client may make it. */
  private boolean mayForgetOf(ClientOperations client) {
    return client.job().isEmpty()
        && clients.memory().bytes() > clients.memory().enough()
        && clients.memory().mayTakeFromOthers();
  }

  /**
   * Whether a minor compaction should make room soon: it would free more than {@code much}, or
   * operations are refused until it has run.
   */
  boolean needsCompaction(long much) {
    return waitsForCompaction || unwrittenBytes() > much;
  }

  /**
   * By how many bytes usage drops when a minor compaction has written everything that is in no
   * file.
   */
  long unwrittenBytes() {
    return clients.sum(ClientOperations::unwrittenBytes);
  }

  /** Records that a minor compaction has run. */
  void compacted() {
    waitsForCompaction = false;
  }

  /**
   * Forgets what exceeds the budget, and the clients that a block written later no longer knows.
   * For a window that is restored and replayed.
   */
  void restored() {
    for (Map.Entry<ClientName, ClientOperations> entry : clients.inOrder()) {
      ClientOperations client = entry.getValue();
      if (client.job().isEmpty() && time.isForgotten(client.lastSeenMicros())) {
        forget(entry.getKey(), client);
      }
    }
    if (clients.memory().excessOfJobs() > 0) {
      relieve(time.nowMicros());
    }
  }

  /** Reduces clients that were silent for a window, and forgets those that were silent for many. */
  void expire() {
    expire(time.nowMicros());
  }

  private void expire(long now) {
    for (Map.Entry<ClientName, ClientOperations> entry : clients.inOrder()) {
      ClientOperations client = entry.getValue();
      long silent = now - client.lastSeenMicros();
      if (silent > windowMicros && client.job().isEmpty() && !client.hasInFlight()) {
        clients.change(client, ClientOperations::forgetAll);
        if (silent / WINDOWS_KEPT > windowMicros) {
          forget(entry.getKey(), client);
        }
      }
    }
  }

  /**
   * Forgets a client completely, unless something of it is recent: a replay would bring that back
   * without the rest.
   */
  private void forget(ClientName name, ClientOperations client) {
    if (!client.hasRecent()) {
      clients.remove(name, client);
      time.forget(client.lastSeenMicros());
    }
  }
}
