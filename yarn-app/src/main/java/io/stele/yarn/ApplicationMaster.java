package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import io.stele.yarn.HeldContainer.Phase;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the requested number of components running. It is a thin shell: reports of YARN and
 * requests of operators become events; one thread takes the events, records them in {@link
 * ApplicationState} and takes the actions that {@link Planner} decides. Calls that block go to
 * other threads and come back as events.
 *
 * <p>Only that one thread touches the state; the published status is a snapshot for all others.
 *
 * <p>YARN starts another attempt if it hears nothing from this one for some time, for instance
 * because its machine stood still. So an attempt acts only if YARN has answered a heartbeat that
 * was sent within half of that time: two attempts never act at once.
 */
final class ApplicationMaster implements ResourceManager.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationMaster.class);
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final int CALLS_MAX = 16;
  private static final Duration DRAIN_INTERVAL = Duration.ofSeconds(5);
  private static final Duration NODES_INTERVAL = Duration.ofMinutes(1);
  private static final Duration NODES_INTERVAL_PLACING = Duration.ofSeconds(5);

  /** Starts processes in containers. */
  interface Starter {
    /** Starts the slot's process in the container. Blocks. */
    void start(SlotId slot, Container container) throws IOException;
  }

  private final String applicationId;
  private final ResourceManager resourceManager;
  private final NodeManagers nodeManagers;
  private final Servers servers;
  private final Starter starter;
  private final StateFile stateFile;
  private final LockConnection locks;
  private final ProcessRuntime runtime;
  private final InstantSource clock;
  private final ApplicationState state;
  private final EventQueue events;
  private final WorkerPool calls; // That block.
  private final Map<String, Container> containers = new TreeMap<>();
  private ApplicationStateProto saved = ApplicationStateProto.getDefaultInstance();

  /** Whether the cluster is this application's: until then no container is asked for. */
  private boolean claimed;

  private boolean claiming;
  private boolean saving;
  private boolean listingNodes;
  private boolean listingServing;
  private boolean ranking;
  private Instant nodesListed = Instant.EPOCH;
  private OptionalInt exitCode = OptionalInt.empty();
  private final WaitLog waits = new WaitLog();
  private final Answers answers;

  private volatile StatusResponseProto status = StatusResponseProto.getDefaultInstance();

  /** Makes the ResourceManager's client, which needs a listener. */
  interface ResourceManagerFactory {
    ResourceManager connect(ResourceManager.Listener listener);
  }

  /**
   * What an attempt takes from its process.
   *
   * @param runtime its clock and threads
   * @param nodeManagers starts and stops containers
   * @param servers Stele's processes in them
   * @param starter starts a slot's process
   * @param stateFile what outlives the attempt
   * @param locks where the cluster is taken for the application
   */
  record Environment(
      ProcessRuntime runtime,
      NodeManagers nodeManagers,
      Servers servers,
      Starter starter,
      StateFile stateFile,
      LockConnection locks) {}

  ApplicationMaster(
      String applicationId,
      YarnSettings settings,
      ResourceManagerFactory resourceManager,
      Environment environment) {
    this.applicationId = applicationId;
    this.state = new ApplicationState(settings);
    this.nodeManagers = environment.nodeManagers();
    this.servers = environment.servers();
    this.starter = environment.starter();
    this.stateFile = environment.stateFile();
    this.locks = environment.locks();
    this.runtime = environment.runtime();
    this.clock = forwardClock(runtime);
    this.events = new EventQueue(runtime);
    this.calls = runtime.pool("node-call", CALLS_MAX);
    this.answers = new Answers(runtime, state.limits().answerAge());
    this.resourceManager = resourceManager.connect(this);
  }

  /** A clock that nobody sets: pauses and timeouts are as long as they are meant to be. */
  private static InstantSource forwardClock(ProcessRuntime runtime) {
    Instant start = runtime.wallClock().instant();
    long startNanos = runtime.nanoTime();
    return () -> start.plusNanos(runtime.nanoTime() - startNanos);
  }

  /**
   * Works until the application has ended or this attempt is dismissed.
   *
   * @return the process's exit code
   */
  int run(String host, int rpcPort, String trackingUrl) throws IOException, InterruptedException {
    stateFile.readWhenReachable(runtime).ifPresent(this::takeOver);
    listNodesNow();
    answers.answered(runtime.nanoTime());
    List<Container> left = resourceManager.register(host, rpcPort, trackingUrl);
    LOG.info("Registered; {} containers of the previous attempt still run", left.size());
    recovered(left);
    claimed |= !left.isEmpty(); // The attempt before this one asked for them.
    while (exitCode.isEmpty()) {
      Optional<Runnable> event = events.poll(TICK);
      while (event.isPresent()) {
        perform(event.get());
        event = events.poll();
      }
      perform(this::turn);
    }
    calls.close();
    return exitCode.getAsInt();
  }

  private void takeOver(ApplicationStateProto left) {
    state.takeOver(left, applicationId);
    // An attempt writes it when it has the cluster.
    claimed = left.getApplicationId().equals(applicationId);
  }

  /** A snapshot for any thread. */
  StatusResponseProto status() {
    return status;
  }

  /** Keeps {@code count} of the kind running from now on; for any thread. */
  void flex(ComponentKind kind, int count) {
    events.add(
        () -> {
          LOG.info("Asked to keep {} of {}", count, kind.id());
          state.want(kind, count);
        });
  }

  /** Ends everything in order; for any thread. */
  void stop() {
    events.add(
        () -> {
          LOG.info("Asked to stop");
          state.stop();
        });
  }

  private static void perform(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException e) {
      // The next turn sees the same state and tries again.
      LOG.error("A step of the ApplicationMaster failed", e);
    }
  }

  private void turn() {
    if (exitCode.isPresent()) {
      return;
    }
    Instant now = clock.instant();
    state.passTime(now);
    if (!answers.areRecent()) {
      status = state.status(now);
      return;
    }
    if (!claimed && !state.isStopping()) {
      claim();
      return;
    }
    state.unknownToYarn().forEach(this::giveUp);
    for (Action action : Planner.plan(state.snapshot(now))) {
      take(action, now);
    }
    state.roomIs(resourceManager.roomMb());
    waits
        .due(state.asks(), now)
        .forEach(ask -> LOG.warn("{}: {}", ask.slot(), state.wait(ask, now)));
    status = state.status(now);
    save();
    listNodesWhenNeeded(now);
    listServingWhenNeeded();
  }

  /** Takes the cluster for this application, or ends it where another one has the cluster. */
  private void claim() {
    if (claiming) {
      return;
    }
    claiming = true;
    blocking(
        () -> {
          try {
            Optional<String> other =
                new ClusterClaim(locks.get()).take(applicationId, resourceManager);
            events.add(() -> claimEnded(other));
          } catch (IOException | RuntimeException | Error e) {
            LOG.warn("Cannot tell whether another application runs the cluster; will ask again", e);
            later(() -> claiming = false);
          }
        });
  }

  private void claimEnded(Optional<String> other) {
    claiming = false;
    if (other.isEmpty()) {
      LOG.info("This application has claimed the cluster");
      claimed = true;
    } else {
      String reason = "another application already runs the cluster: " + other.get();
      LOG.error("Giving up: {}", reason);
      unregister(FinalApplicationStatus.FAILED, reason, 1);
    }
  }

  private void take(Action action, Instant now) {
    switch (action.kind()) {
      case REQUEST -> {
        Ask ask = ((Action.Request) action).ask();
        LOG.info("{}: asking for a container {}", ask.slot(), ask.placement());
        resourceManager.request(ask);
        state.asked(ask);
      }
      case CANCEL -> {
        Ask ask = ((Action.Cancel) action).ask();
        resourceManager.withdraw(ask.slot());
        state.notAsked(ask.slot());
      }
      case LAUNCH -> launch(((Action.Launch) action).container(), now);
      case CHECK -> check(((Action.Check) action).container(), now);
      case DRAIN -> drain(((Action.Drain) action).container(), now);
      case STOP -> stop(((Action.Stop) action).container(), now);
      case RELEASE -> release(((Action.Release) action).container(), now);
      case RANK_SERVERS -> rank();
      case FINISH -> unregister(FinalApplicationStatus.SUCCEEDED, "stopped as asked", 0);
      case GIVE_UP -> {
        String reason = ((Action.GiveUp) action).reason();
        LOG.error("Giving up: {}", reason);
        unregister(FinalApplicationStatus.FAILED, reason, 1);
      }
    }
  }

  private void launch(HeldContainer held, Instant now) {
    LOG.info("{}: starting in {} on {}", held.slot(), held.id(), held.node());
    state.enter(held.id(), Phase.STARTING, now);
    Optional<Container> known = Optional.ofNullable(containers.get(held.id()));
    blocking(
        () -> {
          try {
            starter.start(held.slot(), known.orElseThrow());
            events.add(() -> enterFrom(held.id(), Phase.STARTING, Phase.RUNNING));
          } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{} could not be started in {}", held.slot(), held.id(), e);
            events.add(() -> launchFailed(held, e));
          }
        });
  }

  private void launchFailed(HeldContainer held, Throwable e) {
    if (state.phaseOf(held.id()).equals(Optional.of(Phase.STARTING))) {
      state.launchFailed(
          held.id(), "could not be started on " + held.node() + "\n" + e, clock.instant());
      resourceManager.release(ContainerId.fromString(held.id()));
    }
  }

  private void check(HeldContainer held, Instant now) {
    state.enter(held.id(), Phase.CHECKING, now);
    Optional<Container> known = Optional.ofNullable(containers.get(held.id()));
    blocking(
        () -> {
          try {
            Container container = known.orElseThrow();
            boolean started = nodeManagers.wasStarted(container.getId(), container.getNodeId());
            LOG.info("{}: {} was {}started", held.slot(), held.id(), started ? "" : "never ");
            events.add(() -> checked(held, started));
          } catch (IOException | RuntimeException | Error e) {
            // A node that does not answer may well run it; YARN tells us when it has ended.
            LOG.warn(
                "{}: {} is assumed to be running: its node did not answer",
                held.slot(),
                held.id(),
                e);
            events.add(() -> enterFrom(held.id(), Phase.CHECKING, Phase.RUNNING));
          }
        });
  }

  /**
   * What was never started is given back: its token is the earlier attempt's and may be too old.
   */
  private void checked(HeldContainer held, boolean started) {
    if (started) {
      enterFrom(held.id(), Phase.CHECKING, Phase.RUNNING);
    } else if (state.phaseOf(held.id()).equals(Optional.of(Phase.CHECKING))) {
      release(held.in(Phase.ALLOCATED, clock.instant()), clock.instant());
    }
  }

  private void drain(HeldContainer held, Instant now) {
    LOG.info("{}: draining {}", held.slot(), held.id());
    state.enter(held.id(), Phase.DRAINING, now);
    blocking(
        () -> {
          try {
            servers.drain(held.id());
            drainAgainLater(held);
          } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{}: {} cannot be drained; stopping it", held.slot(), held.id(), e);
            events.add(
                () -> {
                  if (state.phaseOf(held.id()).equals(Optional.of(Phase.DRAINING))) {
                    stop(held, clock.instant());
                  }
                });
          }
        });
  }

  /** A drain that fails makes the server take its tablets back; only if asked it tries again. */
  private void drainAgainLater(HeldContainer held) {
    runtime.after(DRAIN_INTERVAL, () -> events.add(() -> drainAgain(held)));
  }

  private void drainAgain(HeldContainer held) {
    if (!state.phaseOf(held.id()).equals(Optional.of(Phase.DRAINING))) {
      return;
    }
    if (!answers.areRecent()) {
      drainAgainLater(held);
      return;
    }
    blocking(
        () -> {
          try {
            servers.drain(held.id());
          } catch (IOException | RuntimeException | Error e) {
            // It may be about to end as it was asked to: its time to drain is the limit.
            LOG.info("{}: cannot ask {} again to drain: {}", held.slot(), held.id(), e.toString());
          }
          drainAgainLater(held);
        });
  }

  private void rank() {
    if (ranking) {
      return;
    }
    ranking = true;
    Set<String> tabletServers = state.tabletServers();
    blocking(
        () -> {
          Map<String, Integer> ranks = ranked(tabletServers);
          events.add(() -> state.stopRanksAre(ranks));
        });
  }

  private Map<String, Integer> ranked(Set<String> tabletServers) {
    try {
      return servers.stopRanks(tabletServers);
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("Cannot tell which server has METADATA: stopping all tablet servers at once", e);
      return Map.of();
    }
  }

  private void stop(HeldContainer held, Instant now) {
    LOG.info("{}: stopping {}", held.slot(), held.id());
    state.enter(held.id(), Phase.STOPPING, now);
    Optional<Container> known = Optional.ofNullable(containers.get(held.id()));
    blocking(
        () -> {
          try {
            Container container = known.orElseThrow();
            nodeManagers.stop(container.getId(), container.getNodeId());
          } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{}: the node of {} did not stop it", held.slot(), held.id(), e);
          }
        });
  }

  private void release(HeldContainer held, Instant now) {
    LOG.info("{}: releasing {}", held.slot(), held.id());
    resourceManager.release(ContainerId.fromString(held.id()));
    if (held.phase() == Phase.ALLOCATED) {
      state.forget(held.id()); // Nothing runs in it, so its end need not be awaited.
      containers.remove(held.id());
    } else {
      state.enter(held.id(), Phase.RELEASED, now);
    }
  }

  /** YARN will not report the end of a container that it does not know, which may go on unseen. */
  private void giveUp(HeldContainer held) {
    LOG.warn(
        "{}: YARN has forgotten {}: it has not listed {} for {} s",
        held.slot(),
        held.id(),
        held.node(),
        state.limits().nodeExpiry().toSeconds());
    ContainerId id = ContainerId.fromString(held.id());
    resourceManager.release(id);
    ended(
        ContainerStatus.newInstance(id, ContainerState.COMPLETE, "", ContainerExitStatus.ABORTED));
  }

  private void enterFrom(String id, Phase from, Phase to) {
    if (state.phaseOf(id).equals(Optional.of(from))) {
      state.enter(id, to, clock.instant());
    }
  }

  private void unregister(FinalApplicationStatus outcome, String message, int code) {
    try {
      resourceManager.unregister(outcome, message);
      exitCode = OptionalInt.of(code);
    } catch (IOException e) {
      throw SteleException.outcomeUnknown("unregistering failed and will be retried", e);
    }
  }

  /**
   * Does the call on another thread. The call must catch what goes wrong, errors too, and report it
   * as an event: otherwise it would look as if it went on for ever.
   */
  private void blocking(Runnable call) {
    calls.execute(call);
  }

  /** Does it in a while: what is tried again is not tried without a pause. */
  private void later(Runnable event) {
    runtime.after(TICK, () -> events.add(event));
  }

  /** Writes the state when it has changed, one write at a time. */
  private void save() {
    ApplicationStateProto current = state.toProto(applicationId);
    if (!claimed || saving || current.equals(saved)) {
      return;
    }
    saving = true;
    blocking(
        () -> {
          if (write(current)) {
            events.add(
                () -> {
                  saving = false;
                  saved = current;
                });
          } else {
            later(() -> saving = false);
          }
        });
  }

  private boolean write(ApplicationStateProto current) {
    try {
      stateFile.write(current);
      return true;
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("Cannot write the state file; will retry", e);
      return false;
    }
  }

  private void listNodesNow() {
    try {
      state.nodesAre(resourceManager.nodes(), clock.instant());
    } catch (IOException e) {
      LOG.warn("The nodes are not known: asking for containers on any node", e);
    }
    nodesListed = clock.instant();
  }

  /**
   * Changes of nodes are reported. How full they are is asked while something is to be placed, and
   * which there are from time to time: a ResourceManager that has restarted does not report those
   * that did not come back.
   */
  private void listNodesWhenNeeded(Instant now) {
    boolean placing = status.getComponentsList().stream().anyMatch(c -> !c.hasContainer());
    Duration interval = placing ? NODES_INTERVAL_PLACING : NODES_INTERVAL;
    if (listingNodes || now.isBefore(nodesListed.plus(interval))) {
      return;
    }
    listingNodes = true;
    blocking(
        () -> {
          Optional<List<Node>> nodes = listed();
          events.add(
              () -> {
                listingNodes = false;
                nodesListed = clock.instant();
                nodes.ifPresentOrElse(
                    alive -> state.nodesAre(alive, nodesListed), state::nodesAreUnknown);
              });
        });
  }

  /** Reads from the lock service which servers run, while some started process is not ready yet. */
  private void listServingWhenNeeded() {
    Map<String, ComponentKind> running = state.runningNotServing();
    if (running.isEmpty() || listingServing) {
      return;
    }
    listingServing = true;
    blocking(
        () -> {
          Set<String> serving = serving(running);
          events.add(() -> serving.forEach(state::serves));
          later(() -> listingServing = false);
        });
  }

  private Set<String> serving(Map<String, ComponentKind> running) {
    try {
      return servers.serving(running);
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("Cannot read from the lock service which servers run; will ask again", e);
      return Set.of();
    }
  }

  private Optional<List<Node>> listed() {
    try {
      return Optional.of(resourceManager.nodes());
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("Cannot list the nodes; using the last list", e);
      return Optional.empty();
    }
  }

  // What YARN reports, on its threads.

  @Override
  public void allocated(List<Container> given) {
    events.add(() -> given.forEach(container -> hold(container, false)));
  }

  @Override
  public void recovered(List<Container> inherited) {
    events.add(() -> inherited.forEach(container -> hold(container, true)));
  }

  private void hold(Container container, boolean inherited) {
    String id = container.getId().toString();
    Optional<SlotId> slot = SlotId.of(container.getAllocationRequestId());
    if (slot.isEmpty()) {
      LOG.warn("{} fills no slot; releasing it", id);
      resourceManager.release(container.getId());
      return;
    }
    String node = resourceManager.nodeName(container.getNodeId());
    containers.put(id, container);
    if (inherited) {
      LOG.info("{}: inherited {} on {}", slot.get(), id, node);
      state.recovered(id, slot.get(), node, clock.instant());
    } else {
      LOG.info("{}: given {} on {}", slot.get(), id, node);
      resourceManager.withdraw(slot.get());
      state.notAsked(slot.get());
      state.allocated(id, slot.get(), node, clock.instant());
    }
  }

  @Override
  public void refused(SlotId slot, String reason) {
    events.add(
        () -> {
          if (state.refused(slot, reason, clock.instant())) {
            LOG.warn(
                "{}: YARN refuses a container for it; will ask again in {} s: {}",
                slot,
                ApplicationState.REFUSAL_PAUSE.toSeconds(),
                reason);
            resourceManager.withdraw(slot);
          }
        });
  }

  @Override
  public void completed(List<ContainerStatus> ended) {
    events.add(() -> ended.forEach(this::ended));
  }

  private void ended(ContainerStatus ended) {
    String id = ended.getContainerId().toString();
    ContainerExit exit = new ContainerExit(ended.getExitStatus(), ended.getDiagnostics());
    containers.remove(id);
    Optional<HeldContainer> held = state.ended(id, exit, clock.instant());
    LOG.info(
        "{}: {} {}",
        held.map(c -> c.slot().toString()).orElse("no slot"),
        id,
        exit.describe(held.map(HeldContainer::node).orElse("an unknown node")));
    // Also one that ended between two attempts: only the lock's data tells what it was.
    blocking(
        () -> {
          try {
            servers.exited(id, exit.wasSeen());
          } catch (IOException | RuntimeException | Error e) {
            LOG.warn(
                "Cannot tell the master that {} ended: it will find out when the lock expires",
                id,
                e);
          }
        });
  }

  @Override
  public void nodesChanged(List<NodeReport> reports) {
    events.add(
        () -> {
          for (NodeReport report : reports) {
            resourceManager
                .toNode(report)
                .ifPresentOrElse(
                    node -> state.nodeIs(node, clock.instant()),
                    () -> state.nodeIsGone(resourceManager.nodeName(report.getNodeId())));
          }
        });
  }

  @Override
  public void calledBack(Set<ContainerId> wanted) {
    events.add(
        () -> {
          for (ContainerId id : wanted) {
            if (state.callBack(id.toString())) {
              LOG.warn("YARN is about to take {} away for another queue", id);
            }
          }
        });
  }

  @Override
  public void answered(long sentNanos) {
    answers.answered(sentNanos);
  }

  @Override
  public void dismissed(String reason) {
    events.add(
        () -> {
          LOG.warn("This attempt of the ApplicationMaster ends: {}", reason);
          exitCode = OptionalInt.of(2);
        });
  }
}
