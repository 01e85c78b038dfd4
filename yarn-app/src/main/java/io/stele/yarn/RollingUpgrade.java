package io.stele.yarn;

import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.ControlClient;
import io.stele.wire.application.ApplicationProtos.DeployRequestProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;

/**
 * Replaces the outdated processes of an application: restarts its tablet servers one after another,
 * and waits until the ApplicationMaster has then replaced the masters. The ApplicationMaster knows
 * what is outdated, so an interrupted upgrade continues where it stopped.
 *
 * <p>For use by one thread.
 */
final class RollingUpgrade {
  private static final Duration POLL = Duration.ofMillis(250);
  private static final String TO_GO_ON =
      ". 'stele yarn status' shows more; run the upgrade again to continue, or run it with the earlier version and settings to go back";

  private final ProcessRuntime runtime;
  private final IoCallable<ApplicationStatus> statuses;
  private final IoFunction<String, Optional<ServerId>> servers;
  private final Consumer<String> progress;
  private final StatusLines lines;

  /** How often upgraded tablet servers had failed when first seen, by slot. */
  private final Map<String, Integer> failuresBefore = new TreeMap<>();

  /** The slots that were seen to run. */
  private final Set<String> haveRun = new TreeSet<>();

  /** The slots of tablet servers that were seen to wait until they are tried again. */
  private final Set<String> haveWaited = new TreeSet<>();

  /** The containers of outdated processes when they were last seen. */
  private Set<String> outdatedBefore = Set.of();

  /** Why the next tablet server may not be replaced yet, as the master last told. */
  private Optional<String> waitsFor = Optional.empty();

  /**
   * An upgrade that has yet to begin.
   *
   * @param statuses reads the application's status
   * @param servers finds the tablet server in a container, once it has registered itself
   * @param progress takes lines for people
   */
  RollingUpgrade(
      ProcessRuntime runtime,
      IoCallable<ApplicationStatus> statuses,
      IoFunction<String, Optional<ServerId>> servers,
      Consumer<String> progress) {
    this.runtime = runtime;
    this.statuses = statuses;
    this.servers = servers;
    this.progress = progress;
    this.lines = new StatusLines(progress);
  }

  /**
   * Has the ApplicationMaster start processes with the deployment from now on.
   *
   * @throws SteleException REFUSED if it is of a version that cannot do so, or processes cannot be
   *     started with it: nothing was changed
   */
  static void begin(
      ControlClient<ApplicationProtocol> master, Deployment deployment, String application)
      throws IOException {
    DeployRequestProto request =
        DeployRequestProto.newBuilder().setDeployment(deployment.toProto()).build();
    try {
      master.call(service -> service.deploy(null, request));
    } catch (RemoteException e) {
      if (!e.getClassName().equals(RpcNoSuchMethodException.class.getName())) {
        throw e;
      }
      throw new SteleException(
          SteleException.Code.REFUSED,
          application
              + " was started by a version of Stele that cannot be upgraded in place: stop it with"
              + " 'stele yarn stop', and start this version with 'stele yarn start'; the data stays",
          e);
    }
  }

  /**
   * Returns when every process is of the new deployment and runs. It does not notice another
   * upgrade to the same deployment: start only one.
   *
   * @param deployment what processes must be started with
   * @param patience how long one process may take
   * @throws SteleException RETRY_LATER if one takes longer or upgraded ones end again and again,
   *     REFUSED if a tablet server cannot give its tablets away, the application has ended, or
   *     another upgrade to another deployment has begun since
   */
  void run(Configuration conf, Deployment deployment, Duration patience) throws IOException {
    try (Stele stele = Stele.connect(conf)) {
      Deadline deadline = Deadline.after(runtime, patience);
      while (true) {
        ApplicationStatus status = statuses.call();
        lines.show(status);
        requireLatest(deployment, status);
        List<ComponentStatus> outdated =
            status.components().stream().filter(ComponentStatus::outdated).toList();
        if (outdated.isEmpty() && isComplete(status)) {
          status.components().stream()
              .filter(one -> !one.running())
              .forEach(
                  one -> progress.accept(describe(one) + ": the upgrade does not wait for it"));
          return;
        }
        if (hasReplaced(status)) {
          deadline = Deadline.after(runtime, patience);
        }
        List<ComponentStatus> awaited = awaited(status);
        if (!awaited.isEmpty()) {
          waitsFor = Optional.empty();
        }
        check(status, deadline, patience);
        requireUpgradedRun(status);
        // The master is asked only then: it is not needed, and may be away, while masters end.
        if (awaited.isEmpty() && outdated.stream().anyMatch(RollingUpgrade::isTabletServer)) {
          Optional<ServerId> next = next(status, stele.admin().clusterStatus());
          if (next.isPresent()) {
            restart(stele, next.get(), patience);
            deadline = Deadline.after(runtime, patience);
          }
        }
        pause();
      }
    }
  }

  /**
   * Whether an outdated process has gone since the last time. An ApplicationMaster that does not
   * answer, or has just begun, says nothing of that.
   */
  boolean hasReplaced(ApplicationStatus status) {
    if (!status.reachable() || status.components().isEmpty()) {
      return false;
    }
    Set<String> left =
        status.components().stream()
            .filter(ComponentStatus::outdated)
            .map(ComponentStatus::container)
            .collect(Collectors.toUnmodifiableSet());
    boolean someHaveGone = !left.containsAll(outdatedBefore);
    outdatedBefore = left;
    return someHaveGone;
  }

  /**
   * Refuses where there is to be only one tablet server.
   *
   * @throws SteleException REFUSED
   */
  static void requireSeveral(ApplicationStatus status) {
    if (status.of(ComponentKind.TABLET_SERVER).stream().map(ComponentStatus::id).distinct().count()
        == 1) {
      throw SteleException.refused(
          "there is only one tablet server, and no other could take its tablets: 'stele yarn flex"
              + " tabletserver 2' starts another");
    }
  }

  /** Ends the upgrade where upgraded tablet servers have ended twice by their own fault since. */
  void requireUpgradedRun(ApplicationStatus status) {
    int ended = 0;
    List<String> words = new ArrayList<>();
    for (ComponentStatus one : status.of(ComponentKind.TABLET_SERVER)) {
      if (one.outdated()) {
        continue;
      }
      int since = one.failures() - failuresBefore.computeIfAbsent(one.id(), id -> one.failures());
      if (since > 0) {
        ended += since;
        words.add(one.id() + " " + one.note());
      }
    }
    if (ended >= 2) {
      throw SteleException.retryLater(
          "upgraded tablet servers do not keep running: "
              + String.join("; ", words)
              + ". The others stay as they are"
              + TO_GO_ON);
    }
  }

  /**
   * Whether all is done: every component runs, but those that have never run for lack of room. Of
   * each kind some must run.
   */
  boolean isComplete(ApplicationStatus status) {
    noteThoseThatRan(status);
    return status.reachable()
        && !status.stopping()
        && !status.components().isEmpty()
        && Arrays.stream(ComponentKind.values())
            .map(status::of)
            .allMatch(
                all ->
                    all.isEmpty()
                        || (all.stream().anyMatch(ComponentStatus::running)
                            && all.stream().noneMatch(this::isAwaited)));
  }

  private void noteThoseThatRan(ApplicationStatus status) {
    status.components().stream()
        .filter(ComponentStatus::running)
        .forEach(one -> haveRun.add(one.id()));
  }

  /**
   * Whether a component must run before others are replaced: each that has a container, as it may
   * never come up; each that ran before; and each that has failed lately, as it is tried again
   * within a minute. One for which YARN has had no room all along holds nothing up.
   */
  private boolean isAwaited(ComponentStatus one) {
    return !one.running()
        && (!one.container().isEmpty() || haveRun.contains(one.id()) || one.failures() > 0);
  }

  /**
   * The tablet servers that must run before the next is replaced.
   *
   * <p>If only one runs, nobody serves while it is replaced. So it also waits for each that has
   * ended before, however long ago, and each that this upgrade has seen wait for its next try.
   */
  List<ComponentStatus> awaited(ApplicationStatus status) {
    noteThoseThatRan(status);
    List<ComponentStatus> servers = status.of(ComponentKind.TABLET_SERVER);
    boolean onlyOneRuns = servers.stream().filter(ComponentStatus::running).count() == 1;
    List<ComponentStatus> awaited = new ArrayList<>();
    for (ComponentStatus one : servers) {
      if (one.state().equals("WAITING")) {
        haveWaited.add(one.id());
      }
      boolean hasEnded = haveWaited.contains(one.id()) || one.restarts() > 0;
      if (isAwaited(one) || (!one.running() && onlyOneRuns && hasEnded)) {
        awaited.add(one);
      }
    }
    return awaited;
  }

  /**
   * The outdated tablet server to be replaced now, if any may be. One that drains comes first: in
   * its place comes one that takes tablets. The only one that takes tablets waits for another, as
   * {@code stele server restart} does.
   */
  Optional<ServerId> next(ApplicationStatus status, ClusterStatus cluster) throws IOException {
    if (!areRegistered(status, cluster)) {
      waitsFor = Optional.empty();
      return Optional.empty();
    }
    Optional<ServerId> next = nextTabletServer(status, cluster);
    if (next.isPresent() && !cluster.anotherTakesTablets(next.get())) {
      waitFor(
          "no other server takes the tablets of "
              + next.get().hostAndPort()
              + " while it is replaced: "
              + ClusterStatus.START_ANOTHER);
      return Optional.empty();
    }
    waitsFor = Optional.empty();
    return next;
  }

  private void waitFor(String reason) {
    if (!waitsFor.equals(Optional.of(reason))) {
      progress.accept("The upgrade is waiting: " + reason);
      waitsFor = Optional.of(reason);
    }
  }

  /** Whether as many servers are registered as run: a hung one looks healthy to YARN. */
  private static boolean areRegistered(ApplicationStatus status, ClusterStatus cluster) {
    return cluster.servers().size()
        >= status.of(ComponentKind.TABLET_SERVER).stream().filter(ComponentStatus::running).count();
  }

  /**
   * An outdated tablet server that has registered itself; others are starting, or have ended. If
   * any of them drains, one that does.
   */
  private Optional<ServerId> nextTabletServer(ApplicationStatus status, ClusterStatus cluster)
      throws IOException {
    Set<ServerId> draining =
        cluster.servers().stream()
            .filter(ClusterStatus.Server::draining)
            .map(ClusterStatus.Server::id)
            .collect(Collectors.toUnmodifiableSet());
    Optional<ServerId> first = Optional.empty();
    for (ComponentStatus one : status.of(ComponentKind.TABLET_SERVER)) {
      Optional<ServerId> server =
          one.outdated() ? servers.apply(one.container()) : Optional.empty();
      if (server.isPresent() && (draining.isEmpty() || draining.contains(server.get()))) {
        return server;
      }
      first = first.or(() -> server);
    }
    return first;
  }

  private static boolean isTabletServer(ComponentStatus component) {
    return component.isOf(ComponentKind.TABLET_SERVER);
  }

  private void restart(Stele stele, ServerId server, Duration patience) throws IOException {
    try {
      stele.admin().restartServer(server, patience);
      progress.accept(server.hostAndPort() + " has ended, and others serve its tablets");
    } catch (SteleException e) {
      switch (e.code()) {
        case NOT_FOUND -> progress.accept(server.hostAndPort() + " has ended by itself");
        case OUTCOME_UNKNOWN, RETRY_LATER ->
            throw new SteleException(
                SteleException.Code.RETRY_LATER,
                server.hostAndPort()
                    + " was not replaced within "
                    + patience.toSeconds()
                    + " s"
                    + TO_GO_ON,
                e);
        default -> throw e;
      }
    }
  }

  /** Refuses to go on where processes are started with another deployment by now. */
  static void requireLatest(Deployment deployment, ApplicationStatus status) {
    String latest = status.deployment();
    if (!latest.isEmpty() && !latest.equals(deployment.files())) {
      throw SteleException.refused(
          "another upgrade of "
              + status.id()
              + " has begun since, to another version or other settings, and takes the place of"
              + " this one: processes are now started with "
              + latest
              + ", no longer with "
              + deployment.files());
    }
  }

  /** When the time is over, it names all that are old or do not run: these hold the others up. */
  void check(ApplicationStatus status, Deadline deadline, Duration patience) {
    if (!status.alive()) {
      throw SteleException.refused(
          status.id() + " is " + status.state() + ": " + status.diagnostics().strip());
    }
    if (status.stopping()) {
      throw SteleException.refused(status.id() + " is being stopped");
    }
    if (deadline.isOver()) {
      String left =
          status.components().stream()
              .filter(one -> one.outdated() || !one.running())
              .map(RollingUpgrade::describe)
              .collect(Collectors.joining("; "));
      throw SteleException.retryLater(
          "nothing was replaced for "
              + patience.toSeconds()
              + " s; "
              + waitsFor.map(reason -> reason + "; ").orElse("")
              + (left.isEmpty() ? "not every process runs" : left)
              + TO_GO_ON);
    }
  }

  private static String describe(ComponentStatus one) {
    return one.id() + " is " + one.state() + " (" + one.note() + ")";
  }

  private void pause() throws InterruptedIOException {
    try {
      runtime.sleep(POLL);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "the upgrade is not complete; run it again to continue");
    }
  }
}
