package io.stele.yarn;

import io.stele.runtime.ProcessRuntime;
import io.stele.yarn.HeldContainer.Phase;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the ApplicationMaster does with the containers it holds: has processes started in them,
 * checked, drained and stopped, and gives them back. Calls that block go to other threads, and what
 * comes of them is noted in the state.
 *
 * <p>Confined to the ApplicationMaster's one thread; never waits.
 */
final class ContainerActions implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ContainerActions.class);

  private final ApplicationMaster.Environment environment;
  private final ResourceManager resourceManager;
  private final ApplicationState state;
  private final InstantSource clock;
  private final NodeCalls nodeCalls;
  private final BlockingCalls drainCalls;
  private final Drains drains;

  /** The containers as YARN knows them, by their ids. */
  private final Map<String, Container> containers = new TreeMap<>();

  /**
   * @param state where is noted what is done
   * @param mayAct whether this attempt may act now
   */
  ContainerActions(
      ApplicationMaster.Environment environment,
      ResourceManager resourceManager,
      ApplicationState state,
      EventQueue events,
      BooleanSupplier mayAct,
      InstantSource clock) {
    this.environment = environment;
    this.resourceManager = resourceManager;
    this.state = state;
    this.clock = clock;
    ProcessRuntime runtime = environment.runtime();
    this.nodeCalls = new NodeCalls(runtime, events);
    // Each may wait for the lock service for as long as a server may take to drain.
    this.drainCalls = new BlockingCalls(runtime, events, "drain");
    this.drains = new Drains(environment.servers(), state, drainCalls, mayAct, clock);
  }

  /**
   * Holds a container from now on.
   *
   * @param inherited whether the attempt before this one was given it
   */
  void hold(Container container, boolean inherited) {
    String id = container.getId().toString();
    Optional<SlotId> slot = SlotId.of(container.getAllocationRequestId());
    if (slot.isEmpty()) {
      LOG.warn("{} fills no slot; releasing it", id);
      resourceManager.release(container.getId());
      return;
    }
    if (inherited && state.hasEnded(id)) {
      LOG.info("{}: {} had ended before YARN listed it", slot.get(), id);
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
      state.slots().notAsked(slot.get());
      state.allocated(id, slot.get(), node, clock.instant());
    }
  }

  /** The container has ended, or is given up, whatever has become of it. */
  void forget(String id) {
    containers.remove(id);
  }

  /** Has the slot's process started. */
  void launch(HeldContainer held, Instant now) {
    LOG.info("{}: starting in {} on {}", held.slot(), held.id(), held.node());
    state.enter(held.id(), Phase.STARTING, now);
    Optional<Container> known = Optional.ofNullable(containers.get(held.id()));
    Deployment deployment = state.orders().deployment();
    nodeCalls.call(
        held.node(),
        () -> {
          environment.starter().start(held.slot(), known.orElseThrow(), deployment);
          return true;
        },
        started -> enterFrom(held.id(), Phase.STARTING, Phase.RUNNING),
        failure -> {
          LOG.warn("{} could not be started in {}", held.slot(), held.id(), failure);
          launchFailed(held, failure);
        });
  }

  private void launchFailed(HeldContainer held, Throwable e) {
    if (state.phaseOf(held.id()).equals(Optional.of(Phase.STARTING))) {
      state.launchFailed(
          held.id(), "could not be started on " + held.node() + "\n" + e, clock.instant());
      resourceManager.release(ContainerId.fromString(held.id()));
    }
  }

  /** Asks the container's node whether anything was started in it. */
  void check(HeldContainer held, Instant now) {
    state.enter(held.id(), Phase.CHECKING, now);
    Optional<Container> known = Optional.ofNullable(containers.get(held.id()));
    nodeCalls.call(
        held.node(),
        () -> {
          Container container = known.orElseThrow();
          return environment.nodeManagers().wasStarted(container.getId(), container.getNodeId());
        },
        started -> checked(held, started),
        failure -> {
          // A node that does not answer may well run it; YARN tells us when it has ended.
          LOG.warn(
              "{}: {} is assumed to be running: its node did not answer",
              held.slot(),
              held.id(),
              failure);
          enterFrom(held.id(), Phase.CHECKING, Phase.RUNNING);
        });
  }

  /**
   * What was never started is given back: its token is the earlier attempt's and may be too old.
   */
  private void checked(HeldContainer held, boolean started) {
    LOG.info("{}: {} was {}started", held.slot(), held.id(), started ? "" : "never ");
    if (started) {
      enterFrom(held.id(), Phase.CHECKING, Phase.RUNNING);
    } else if (state.phaseOf(held.id()).equals(Optional.of(Phase.CHECKING))) {
      release(held.in(Phase.ALLOCATED, clock.instant()), clock.instant());
    }
  }

  /** Has the process give its work away and end. */
  void drain(HeldContainer held, Instant now) {
    LOG.info("{}: draining {}", held.slot(), held.id());
    state.enter(held.id(), Phase.DRAINING, now);
    drains.begin(held, cannot -> stop(cannot, clock.instant()));
  }

  /** Has the process killed. */
  void stop(HeldContainer held, Instant now) {
    LOG.info("{}: stopping {}", held.slot(), held.id());
    state.enter(held.id(), Phase.STOPPING, now);
    Optional<Container> known = Optional.ofNullable(containers.get(held.id()));
    nodeCalls.call(
        held.node(),
        () -> {
          Container container = known.orElseThrow();
          environment.nodeManagers().stop(container.getId(), container.getNodeId());
          return true;
        },
        stopped -> {}, // YARN tells us when it has ended.
        failure -> LOG.warn("{}: the node of {} did not stop it", held.slot(), held.id(), failure));
  }

  /** Gives the container back. */
  void release(HeldContainer held, Instant now) {
    LOG.info("{}: releasing {}", held.slot(), held.id());
    resourceManager.release(ContainerId.fromString(held.id()));
    if (held.phase() == Phase.ALLOCATED) {
      state.forget(held.id()); // Nothing runs in it, so its end need not be awaited.
      containers.remove(held.id());
    } else {
      state.enter(held.id(), Phase.RELEASED, now);
    }
  }

  private void enterFrom(String id, Phase from, Phase to) {
    if (state.phaseOf(id).equals(Optional.of(from))) {
      state.enter(id, to, clock.instant());
    }
  }

  @Override
  public void close() {
    nodeCalls.close();
    drainCalls.close();
  }
}
