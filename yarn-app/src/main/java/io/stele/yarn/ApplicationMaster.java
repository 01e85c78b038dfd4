package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
 * because its machine hung. So an attempt acts only if YARN has answered a heartbeat that was sent
 * within half of that time: two attempts never act at once.
 */
final class ApplicationMaster implements ResourceManager.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationMaster.class);
  private static final Duration TICK = Duration.ofSeconds(1);

  /** The end of everything is saved within this, or not at all. */
  private static final Duration FINISH_WAIT = Duration.ofSeconds(5);

  /** Starts processes in containers. */
  interface Starter {
    /**
     * Checks that processes can be started with the deployment. Blocks.
     *
     * @throws SteleException REFUSED if they cannot be with what this attempt has read
     * @throws IOException if its files cannot be read
     */
    void check(Deployment deployment) throws IOException;

    /** Starts the slot's process in the container, as it is deployed. Blocks. */
    void start(SlotId slot, Container container, Deployment deployment) throws IOException;
  }

  private final String applicationId;
  private final ResourceManager resourceManager;
  private final Servers servers;
  private final Starter starter;
  private final StateFile stateFile;
  private final ProcessRuntime runtime;
  private final InstantSource clock;
  private final ApplicationState state;
  private final EventQueue events;
  private final BlockingCalls calls;
  private final ExitReports exits;
  private final ContainerActions actions;
  private final NodeListing nodes;
  private final ServerListing registered;
  private final StateSaving saving;

  /** Until it is done no container is asked for. */
  private final Claiming claiming;

  private boolean ranking;

  /** When the application ends though that could not be saved; empty while something runs. */
  private Optional<Instant> finishBy = Optional.empty();

  private OptionalInt exitCode = OptionalInt.empty();
  private final WaitLog waits = new WaitLog();
  private final HeartbeatAnswers answers;

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

  /**
   * @param deployment what the application was submitted with
   */
  ApplicationMaster(
      String applicationId,
      YarnSettings settings,
      Deployment deployment,
      ResourceManagerFactory resourceManager,
      Environment environment) {
    this.applicationId = applicationId;
    this.state = new ApplicationState(settings, deployment);
    this.servers = environment.servers();
    this.starter = environment.starter();
    this.stateFile = environment.stateFile();
    this.runtime = environment.runtime();
    this.clock = forwardClock(runtime);
    this.events = new EventQueue(runtime);
    this.calls = new BlockingCalls(runtime, events, "blocking-call");
    this.exits = new ExitReports(servers, runtime, events);
    this.answers = new HeartbeatAnswers(runtime, state.limits().answerAge());
    this.resourceManager = resourceManager.connect(this);
    this.actions =
        new ContainerActions(
            environment, this.resourceManager, state, events, answers::areRecent, clock);
    this.nodes = new NodeListing(this.resourceManager, state, calls, clock);
    this.registered = new ServerListing(servers, state.registrations(), calls, clock);
    this.claiming =
        new Claiming(applicationId, environment.locks(), this.resourceManager, state, calls);
    this.saving = new StateSaving(stateFile, calls, clock);
  }

  /** A clock that is never adjusted, so pauses and timeouts have their intended length. */
  private static InstantSource forwardClock(ProcessRuntime runtime) {
    Instant start = runtime.wallClock().instant();
    long startNanos = runtime.nanoTime();
    return () -> start.plusNanos(runtime.nanoTime() - startNanos);
  }

  /**
   * Works until the application has ended or YARN shuts this attempt down.
   *
   * @return the process's exit code
   */
  int run(String host, int rpcPort, String trackingUrl) throws IOException, InterruptedException {
    stateFile.readWhenReachable(runtime).ifPresent(this::takeOver);
    nodes.listNow();
    answers.answered(runtime.nanoTime());
    List<Container> inherited = resourceManager.register(host, rpcPort, trackingUrl);
    state.registered(clock.instant());
    LOG.info("Registered; {} containers of the previous attempt still run", inherited.size());
    recovered(inherited);
    if (!inherited.isEmpty()) { // The attempt before this one asked for them.
      claiming.wasDone();
    }
    while (exitCode.isEmpty()) {
      Optional<Runnable> event = events.poll(TICK);
      while (event.isPresent()) {
        perform(event.get());
        event = events.poll();
      }
      perform(this::turn);
    }
    calls.close();
    actions.close();
    exits.close();
    return exitCode.getAsInt();
  }

  private void takeOver(StateFile.Saved saved) {
    state.takeOver(saved, applicationId, clock.instant());
    if (saved.state().getApplicationId().equals(applicationId)) {
      claiming.wasDone(); // An attempt writes it when it has the cluster.
    }
  }

  /** A snapshot for any thread. */
  StatusResponseProto status() {
    return status;
  }

  /**
   * Keeps {@code count} of the kind running from now on; for any thread.
   *
   * @return done once that is saved for later attempts; fails if the application is being stopped,
   *     and with OUTCOME_UNKNOWN while the cluster cannot be claimed: nothing is saved before
   */
  CompletableFuture<Void> flex(ComponentKind kind, int count) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    events.add(
        () -> {
          if (isStopping(answer)) {
            return;
          }
          LOG.info("Asked to keep {} of {}", count, kind.id());
          state.orders().want(kind, count, clock.instant());
          saving.whenSaved(answer);
        });
    return answer;
  }

  /**
   * Ends everything in order; for any thread. Returns like {@link #flex}.
   *
   * @param timeout for how long the operator waits; empty if each server has the time to drain that
   *     is configured
   */
  CompletableFuture<Void> stop(Optional<Duration> timeout) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    events.add(
        () -> {
          LOG.info(
              "Asked to stop{}",
              timeout.map(all -> " within " + all.toSeconds() + " s").orElse(""));
          state.orders().stop(timeout, clock.instant());
          saving.whenSaved(answer);
        });
    return answer;
  }

  /**
   * Starts containers with the deployment from now on; for any thread. Once no tablet server that
   * was started with another one is left, it replaces the masters. Returns like {@link #flex};
   * fails like {@link Starter#check}, with nothing changed.
   */
  CompletableFuture<Void> deploy(Deployment deployment) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    events.add(
        () ->
            calls.run(
                () -> starter.check(deployment),
                () -> deploy(deployment, answer),
                answer::completeExceptionally));
    return answer;
  }

  private void deploy(Deployment deployment, CompletableFuture<Void> answer) {
    if (isStopping(answer)) {
      return;
    }
    LOG.info("Asked to start containers with {}", deployment);
    state.deploy(deployment);
    saving.whenSaved(answer);
  }

  /** Whether all is to end: nothing else can be asked for then, as the answer says. */
  private boolean isStopping(CompletableFuture<Void> answer) {
    if (state.orders().isStopping()) {
      answer.completeExceptionally(SteleException.refused("the application is being stopped"));
    }
    return state.orders().isStopping();
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
    status = state.status(now); // Whatever keeps this turn from doing more is told in it.
    if (!answers.areRecent()) {
      return;
    }
    if (!claiming.isDone()) {
      state.unclaimed().ifPresent(saving::refuse);
    }
    if (!claiming.isDone() && !state.orders().isStopping()) {
      claiming.start(other -> fail("another application already runs the cluster: " + other));
      return;
    }
    // One step that fails must not keep the others from being taken.
    state.unknownToYarn(now).forEach(held -> perform(() -> giveUp(held)));
    List<Action> plan = Planner.plan(state.snapshot(now));
    if (plan.stream().noneMatch(action -> action.kind() == Action.Kind.FINISH)) {
      finishBy = Optional.empty(); // YARN may tell late of something that still runs.
    }
    for (Action action : plan) {
      perform(() -> take(action, now));
    }
    state.setHeadroom(resourceManager.headroomMb());
    WaitLog.lines(waits.due(state.slots().asks(), now), ask -> state.wait(ask, now))
        .forEach(line -> LOG.warn("{}", line));
    status = state.status(now);
    if (claiming.isDone()) {
      saving.save(state.toProto(applicationId));
    }
    nodes.listWhenDue(status.getComponentsList().stream().anyMatch(c -> !c.hasContainer()));
    registered.listWhenDue();
  }

  private void take(Action action, Instant now) {
    switch (action.kind()) {
      case REQUEST -> {
        Ask ask = ((Action.Request) action).ask();
        LOG.info("{}: asking for a container {}", ask.slot(), ask.placement());
        resourceManager.request(ask);
        state.slots().asked(ask);
      }
      case CANCEL -> {
        Ask ask = ((Action.Cancel) action).ask();
        resourceManager.withdraw(ask.slot());
        state.slots().notAsked(ask.slot());
      }
      case LAUNCH -> actions.launch(((Action.Launch) action).container(), now);
      case CHECK -> actions.check(((Action.Check) action).container(), now);
      case DRAIN -> actions.drain(((Action.Drain) action).container(), now);
      case STOP -> actions.stop(((Action.Stop) action).container(), now);
      case RELEASE -> actions.release(((Action.Release) action).container(), now);
      case RANK_SERVERS -> rank(now);
      case FINISH -> finish(now);
      case GIVE_UP -> fail(((Action.GiveUp) action).reason());
    }
  }

  private void rank(Instant now) {
    if (ranking) {
      return;
    }
    ranking = true;
    Set<String> tabletServers = state.tabletServers();
    Duration unloadTimeout = state.orders().unloadTimeout(state.limits().drainTimeout(), now);
    calls.call(
        () -> servers.stopRanks(tabletServers, unloadTimeout),
        state.orders()::setStopRanks,
        failure -> {
          LOG.warn(
              "Cannot tell which server has METADATA: stopping all tablet servers at once",
              failure);
          state.orders().setStopRanks(Map.of());
        });
  }

  /** YARN will not report the end of a container that it does not know, which may go on unseen. */
  private void giveUp(HeldContainer held) {
    LOG.warn(
        "{}: giving up {} on {}: YARN has not reported it in time, or has not listed its node for a"
            + " long time",
        held.slot(),
        held.id(),
        held.node());
    ContainerId id = ContainerId.fromString(held.id());
    resourceManager.release(id);
    ended( // Its process may go on, and YARN find it again.
        ContainerStatus.newInstance(id, ContainerState.COMPLETE, "", ContainerExitStatus.ABORTED));
  }

  /**
   * All is down as asked. Whoever waits for that reads in the state file how it went, so the end is
   * saved first; without HDFS it is not waited for.
   */
  private void finish(Instant now) {
    Instant latest = finishBy.orElse(now.plus(FINISH_WAIT));
    finishBy = Optional.of(latest);
    if (!claiming.isDone()
        || saving.hasSaved(state.toProto(applicationId))
        || !now.isBefore(latest)) {
      unregister(FinalApplicationStatus.SUCCEEDED, StopOutcome.diagnostics(state.notDrained()), 0);
    }
  }

  private void fail(String reason) {
    LOG.error("Giving up: {}", reason);
    unregister(FinalApplicationStatus.FAILED, reason, 1);
  }

  private void unregister(FinalApplicationStatus outcome, String message, int code) {
    try {
      resourceManager.unregister(outcome, message);
      exitCode = OptionalInt.of(code);
    } catch (IOException e) {
      throw SteleException.outcomeUnknown("unregistering failed and will be retried", e);
    }
  }

  // What YARN reports, on its threads.

  @Override
  public void allocated(List<Container> given) {
    events.add(() -> given.forEach(container -> actions.hold(container, false)));
  }

  @Override
  public void recovered(List<Container> inherited) {
    events.add(() -> inherited.forEach(container -> actions.hold(container, true)));
  }

  @Override
  public void refused(SlotId slot, String reason) {
    events.add(
        () -> {
          if (state.slots().refused(slot, reason, clock.instant())) {
            LOG.warn(
                "{}: YARN refuses a container for it; will ask again in {} s: {}",
                slot,
                Slots.REFUSAL_PAUSE.toSeconds(),
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
    actions.forget(id);
    Optional<HeldContainer> held = state.ended(id, exit, clock.instant());
    LOG.info(
        "{}: {}",
        held.map(c -> c.slot().toString()).orElse("no slot"),
        exit.describe(id, held.map(HeldContainer::node).orElse("an unknown node")));
    exits.report(id, exit.wasSeen());
  }

  @Override
  public void nodesChanged(List<NodeReport> reports) {
    events.add(
        () -> {
          for (NodeReport report : reports) {
            resourceManager
                .toNode(report)
                .ifPresentOrElse(
                    node -> state.nodes().updated(node, clock.instant()),
                    () -> state.nodes().removed(resourceManager.nodeName(report.getNodeId())));
          }
        });
  }

  @Override
  public void preempted(Set<ContainerId> wanted) {
    events.add(
        () -> {
          for (ContainerId id : wanted) {
            if (state.markPreempted(id.toString())) {
              LOG.warn("YARN preempts {}: it is about to take it away for another queue", id);
            }
          }
        });
  }

  @Override
  public void answered(long sentNanos) {
    answers.answered(sentNanos);
  }

  @Override
  public void shutDown(String reason) {
    events.add(
        () -> {
          LOG.warn("This attempt of the ApplicationMaster ends: {}", reason);
          exitCode = OptionalInt.of(2);
        });
  }
}
