package io.stele.yarn;

import io.stele.lock.LockPaths;
import io.stele.lock.UnreachableException;
import io.stele.lock.VersionedData;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletsRequestProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stele's processes, found by what they registered in the lock service.
 *
 * <p>Where a tablet server is does not change, so its lock need be read only once for that. Whether
 * it drains may change, so {@link #registered(Map)} reads all locks now and then.
 */
final class SteleServers implements Servers {
  private static final Logger LOG = LoggerFactory.getLogger(SteleServers.class);

  /** The most that a call may take: none waits for what it begins. */
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);

  /** So many servers are called at once. */
  private static final int CALLS_MAX = 16;

  /** Why an operator cannot undo a drain of ours, and what to do. */
  static final String DRAIN_REASON =
      "the ApplicationMaster gives its container back, and asks until it has ended; 'stele yarn"
          + " status' says why. Another takes its place if as many are wanted: 'stele yarn flex"
          + " tabletserver N' changes how many are";

  private static final Duration EXITED_WAIT = Duration.ofMinutes(2);
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final ProcessRuntime runtime;
  private final ControlPlane plane;
  private final ApplicationSnapshot.Limits limits;
  private final LockConnection locks;

  /** As last read. */
  private final AtomicReference<Map<ServerId, ServerInfo>> known = new AtomicReference<>(Map.of());

  private volatile Deadline readAgain; // What the locks of those say.

  SteleServers(
      ProcessRuntime runtime,
      ControlPlane plane,
      ApplicationSnapshot.Limits limits,
      LockConnection locks) {
    this.runtime = runtime;
    this.plane = plane;
    this.limits = limits;
    this.locks = locks;
    this.readAgain = Deadline.after(runtime, DRAINING_AGE_MAX);
  }

  @Override
  public void drain(String containerId, boolean unlessLast) throws IOException {
    DrainRequestProto request =
        DrainRequestProto.newBuilder()
            .setUnlessLast(unlessLast)
            .setReason(DRAIN_REASON)
            .setReasonHoldsMillis(limits.nextAttemptWithin().toMillis())
            .build();
    Deadline deadline = Deadline.after(runtime, limits.drainTimeout());
    ServerInfo server =
        findInTime(containerId, deadline)
            .map(Map.Entry::getValue)
            .orElseThrow(() -> new NotRegisteredException(containerId));
    plane.call(
        server.control(),
        TabletServerProtocol.class,
        ANSWER_TIMEOUT,
        protocol -> protocol.drain(null, request));
  }

  private Optional<Map.Entry<ServerId, ServerInfo>> findInTime(
      String containerId, Deadline deadline) throws IOException {
    return whenReachable(
        containerId, deadline, () -> ServerInfo.inContainer(registeredServers(), containerId));
  }

  /** Waits for a lock service that is away, which says nothing about what runs in a container. */
  private <T> T whenReachable(String containerId, Deadline deadline, IoCallable<T> call)
      throws IOException {
    while (true) {
      try {
        return call.call();
      } catch (UnreachableException e) {
        if (deadline.isOver()) {
          throw e;
        }
        LOG.info("Cannot tell yet which server runs in {}: {}", containerId, e.getMessage());
      }
      pause();
    }
  }

  /** The tablet servers that hold their locks. */
  private Map<ServerId, ServerInfo> registeredServers() throws IOException {
    Map<ServerId, ServerInfo> before = Objects.requireNonNull(known.get());
    Map<ServerId, ServerInfo> now = ServerInfo.all(locks.get(), before);
    known.compareAndSet(before, now); // If all were read again meanwhile, that is newer.
    return now;
  }

  /** The same; what their locks say was read a moment ago. */
  private Map<ServerId, ServerInfo> readNowAndThen() throws IOException {
    if (!readAgain.isOver()) {
      return registeredServers();
    }
    Deadline next = Deadline.after(runtime, DRAINING_AGE_MAX);
    Map<ServerId, ServerInfo> now = ServerInfo.all(locks.get());
    known.set(now); // Only now: others, which call meanwhile, need not read all locks.
    readAgain = next;
    return now;
  }

  @Override
  public void exited(String containerId, boolean seen) throws IOException {
    Deadline deadline = Deadline.after(runtime, EXITED_WAIT);
    while (true) {
      // A server that ended in order gave its lock up itself, and there is nothing to tell.
      Optional<ServerId> server = findInTime(containerId, deadline).map(Map.Entry::getKey);
      if (server.isEmpty()) {
        return;
      }
      try {
        tellMaster(server.get(), seen);
        LOG.info("Told the master that {} ({}) has ended", server.get(), containerId);
        forgetOthers();
        return;
      } catch (IOException | SteleException e) {
        if (deadline.isOver()) {
          throw new IOException("cannot tell the master that " + server.get() + " has ended", e);
        }
        LOG.info("Cannot tell the master yet that {} has ended: {}", server.get(), e.toString());
      }
      pause();
    }
  }

  /** Gives up connections to servers that are gone. */
  private void forgetOthers() throws IOException {
    Set<Address> there = new HashSet<>();
    registeredServers().values().forEach(info -> there.add(info.control()));
    MasterInfo.address(locks.get()).ifPresent(there::add);
    plane.retain(there);
  }

  @Override
  public void deposeMaster(String containerId) throws IOException {
    Deadline deadline = Deadline.after(runtime, EXITED_WAIT);
    if (whenReachable(containerId, deadline, () -> takeLock(containerId))) {
      LOG.info("The master in {} has ended, or must: another is elected now", containerId);
    }
  }

  /** Returns whether it was the master's in the container. */
  private boolean takeLock(String containerId) throws IOException {
    Optional<VersionedData> lock = locks.get().read(LockPaths.MASTER);
    return lock.isPresent()
        && MasterInfo.decode(lock.get().data()).isIn(containerId)
        && locks.get().delete(LockPaths.MASTER, lock.get().version());
  }

  private void tellMaster(ServerId server, boolean seen) throws IOException {
    Address master =
        MasterInfo.address(locks.get())
            .orElseThrow(() -> new IOException("no master of this cluster is active"));
    ServerExitedRequestProto request =
        ServerExitedRequestProto.newBuilder().setServerId(server.toString()).setSeen(seen).build();
    plane.call(
        master,
        MasterProtocol.class,
        ANSWER_TIMEOUT,
        protocol -> protocol.serverExited(null, request));
  }

  @Override
  public Registered registered(Map<String, ComponentKind> running) throws IOException {
    Set<String> containers = new TreeSet<>();
    Set<String> draining = new TreeSet<>();
    if (running.containsValue(ComponentKind.TABLET_SERVER)) {
      for (ServerInfo info : readNowAndThen().values()) {
        info.container().ifPresent(info.draining() ? draining::add : containers::add);
      }
      containers.addAll(draining);
    }
    // It does not matter which of several masters is active.
    if (running.containsValue(ComponentKind.MASTER)
        && locks.get().read(LockPaths.MASTER).isPresent()) {
      running.forEach(
          (container, kind) -> {
            if (kind == ComponentKind.MASTER) {
              containers.add(container);
            }
          });
    }
    containers.retainAll(running.keySet());
    draining.retainAll(running.keySet());
    return new Registered(containers, draining);
  }

  @Override
  public Map<String, Integer> stopRanks(Set<String> containers, Duration timeout)
      throws IOException {
    Map<String, Integer> ranks = new ConcurrentSkipListMap<>();
    Set<Address> withSystemTablets = ConcurrentHashMap.newKeySet();
    List<ServerInfo> toStop =
        registeredServers().values().stream()
            .filter(server -> server.container().filter(containers::contains).isPresent())
            .toList();
    try (WorkerPool threads = runtime.pool("stop", CALLS_MAX)) {
      FanOut.eachIo(
          runtime,
          threads,
          CALLS_MAX,
          toStop,
          server -> {
            OptionalInt rank = stopRank(server);
            rank.ifPresent(found -> ranks.put(server.container().orElseThrow(), found));
            if (rank.orElse(0) > 0) {
              withSystemTablets.add(server.control());
            }
          },
          "asking servers which tablets they have");
      if (withSystemTablets.size() > 1) {
        // Each of them needs what another serves to give its user tablets up: all do so before any
        // ends.
        Deadline deadline = Deadline.after(runtime, timeout);
        FanOut.eachIo(
            runtime,
            threads,
            CALLS_MAX,
            withSystemTablets,
            server -> unloadUserTablets(server, deadline),
            "having servers with METADATA give their other tablets away");
      }
    }
    return ranks;
  }

  /** Empty if the server did not say which tablets it has. */
  private OptionalInt stopRank(ServerInfo server) throws IOException {
    try {
      return OptionalInt.of(stopRank(tabletsOf(server.control())));
    } catch (IOException | SteleException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      LOG.warn("{} did not report which tablets it has", server.control(), e);
      return OptionalInt.empty();
    }
  }

  /** Tablet servers with user tablets only write METADATA, METADATA's write the root tablet. */
  private static int stopRank(List<TabletRefProto> tablets) {
    return tablets.stream()
        .map(TabletRefProto::getTableId)
        .mapToInt(
            table ->
                table.equals(TableId.ROOT.toString())
                    ? 2
                    : table.equals(TableId.METADATA.toString()) ? 1 : 0)
        .max()
        .orElse(0);
  }

  private List<TabletRefProto> tabletsOf(Address server) throws IOException {
    return plane
        .call(
            server,
            TabletServerProtocol.class,
            ANSWER_TIMEOUT,
            protocol -> protocol.report(null, EmptyProto.getDefaultInstance()))
        .getTabletsList()
        .stream()
        .map(HostedTabletProto::getTablet)
        .toList();
  }

  /**
   * Waits until the server has no user tablets, or the time is up: it then drains with them. One
   * that does not answer is asked again; one that is not there, or refuses, is not.
   *
   * @throws InterruptedIOException if the thread was interrupted; no other failure is thrown
   */
  private void unloadUserTablets(Address server, Deadline deadline) throws IOException {
    // Again until there is none left: a split may put two in the place of one.
    boolean left = true;
    while (left && !deadline.isOver()) {
      try {
        left = beginToUnloadUserTablets(server);
      } catch (ConnectException | SteleException e) {
        LOG.warn("{} did not unload its user tablets", server, e);
        return;
      } catch (IOException e) {
        if (Futures.isInterruption(e)) {
          throw e;
        }
        LOG.warn("{} did not say whether it unloads its user tablets; will ask again", server, e);
      }
      if (left) {
        pause();
      }
    }
  }

  /** Returns whether there was any. */
  private boolean beginToUnloadUserTablets(Address server) throws IOException {
    List<TabletRefProto> left = userTabletsOf(server);
    if (left.isEmpty()) {
      return false;
    }
    UnloadTabletsRequestProto request =
        UnloadTabletsRequestProto.newBuilder().addAllTablets(left).build();
    plane.call(
        server,
        TabletServerProtocol.class,
        ANSWER_TIMEOUT,
        protocol -> protocol.unloadTablets(null, request));
    return true;
  }

  private List<TabletRefProto> userTabletsOf(Address server) throws IOException {
    return tabletsOf(server).stream().filter(tablet -> stopRank(List.of(tablet)) == 0).toList();
  }

  private void pause() throws InterruptedIOException {
    try {
      runtime.sleep(PAUSE);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for Stele's processes");
    }
  }
}
