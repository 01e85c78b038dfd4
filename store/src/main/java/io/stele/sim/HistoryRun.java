package io.stele.sim;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.runtime.InterruptibleRunnable;
import io.stele.runtime.Task;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.Violation;
import io.stele.sim.workload.RootFiles;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.WorkloadRun;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * One history of a simulated cluster: the cluster starts, clients work while faults happen, the
 * faults end, and the clients' answers are checked against the stored data.
 */
public final class HistoryRun {
  private static final long STEPS_MAX = 3_000_000;
  private static final Duration START_MAX = Duration.ofSeconds(60);
  private static final Duration TASK_MAX = Duration.ofMinutes(2);

  /** A server that died before its first lock is fenced after ten leases, of at most 4.8 s here. */
  private static final Duration REST_MAX = Duration.ofSeconds(100);

  /**
   * What came of a history.
   *
   * @param plan what was to happen
   * @param violations what was wrong
   * @param traceHash equal for equal histories
   * @param steps how often a task or callback was chosen to run
   * @param calls how many calls clients made
   * @param answered how many of them were answered
   * @param trace what happened last
   * @param failure why the simulation itself could not go on
   */
  public record Report(
      HistoryPlan plan,
      List<Violation> violations,
      long traceHash,
      long steps,
      int calls,
      int answered,
      List<String> trace,
      Optional<Throwable> failure) {
    /** Whether nothing was wrong. */
    public boolean isGood() {
      return violations.isEmpty() && failure.isEmpty();
    }

    /** This result without a trace that is not needed. */
    public Report withoutTraceIfGood() {
      return isGood()
          ? new Report(plan, violations, traceHash, steps, calls, answered, List.of(), failure)
          : this;
    }
  }

  private final HistoryPlan plan;
  private final Simulation simulation;
  private final WorkloadRun work;
  private final List<Workload> workloads;
  private final List<Violation> violations = new ArrayList<>();

  private HistoryRun(HistoryPlan plan, List<Workload> known) {
    this.plan = plan;
    this.simulation = new Simulation(plan.seed(), STEPS_MAX);
    this.workloads = known.stream().filter(one -> plan.workloads().contains(one.name())).toList();
    if (workloads.size() != plan.workloads().size()) {
      throw new IllegalArgumentException(
          "an unknown workload among "
              + plan.workloads()
              + ": there are "
              + known.stream().map(Workload::name).toList());
    }
    this.work =
        new WorkloadRun(
            workloads, simulation.outside(), simulation.split(), HistoryPlan.CLIENT_TIMEOUT);
  }

  /**
   * Runs the history of {@code plan}.
   *
   * @param known the workloads that it may name
   */
  public static Report run(HistoryPlan plan, List<Workload> known) {
    return new HistoryRun(plan, known).run();
  }

  private Report run() {
    Optional<Throwable> failure = Optional.empty();
    try {
      simulation.run(this::live);
    } catch (Exception | Error e) {
      failure = Optional.of(e);
    }
    int calls = 0;
    int answered = 0;
    if (failure.isEmpty()) {
      for (WorkloadRun.Result result : work.results()) {
        calls += result.service().calls();
        answered += result.service().answered();
        violations.addAll(result.violations());
        if (!plan.hasFailures()) {
          requireNoneUnknown(work.calls(result.workload()));
        }
      }
    }
    return new Report(
        plan,
        violations,
        simulation.traceHash(),
        simulation.steps(),
        calls,
        answered,
        simulation.trace(),
        failure);
  }

  private void live() throws Exception {
    SimulatedCluster cluster = new SimulatedCluster(simulation, plan.configuration());
    for (int i = 0; i < plan.masters(); i++) {
      cluster.add(SimulatedCluster.Kind.MASTER);
    }
    for (int i = 0; i < plan.servers(); i++) {
      cluster.add(SimulatedCluster.Kind.SERVER);
    }
    Path root = new Path(Keys.ROOT_DIR.in(cluster.conf()));
    work.mountBy(one -> new RootFiles(cluster.files().mount((SimulatedProcess) one), root));
    SimulatedProcess process = cluster.clientProcess();
    Stele client = cluster.connect(process);
    for (Workload workload : workloads) {
      join(process.start("sets up", () -> quietly(() -> setUp(workload, client))), process);
    }

    int endsOfStart = cluster.ends().size(); // A server that starts before any master ends.
    LoadedWatch loaded = new LoadedWatch(cluster);
    loaded.start();
    FaultRunner faults = new FaultRunner(cluster);
    faults.begin(plan.faults());
    startClients(cluster);
    simulation.outside().sleep(plan.length());
    work.stop();
    faults.heal();

    join(process.start("reads back", () -> work.readBack(process, client)), process);
    RestCheck rest = new RestCheck(cluster, root);
    join(
        rest.process()
            .start("checks", () -> quietly(() -> violations.addAll(rest.await(REST_MAX)))),
        rest.process());
    violations.addAll(cluster.network().services().violations());
    violations.addAll(loaded.violations());
    violations.addAll(cluster.violations());
    if (!plan.hasFailures()) {
      cluster.ends().stream().skip(endsOfStart).forEach(this::addWithoutFailure);
      loaded.quarantined().forEach(tablet -> addWithoutFailure("quarantined: " + tablet));
    }
  }

  /** Where nothing fails every caller is told what became of its call. */
  private void requireNoneUnknown(List<Call> calls) {
    calls.stream()
        .filter(call -> call.outcome() instanceof CallOutcome.Unknown)
        .forEach(call -> addWithoutFailure("its outcome is not known: " + call));
  }

  private void addWithoutFailure(String what) {
    violations.add(new Violation("no failure", what));
  }

  private void startClients(SimulatedCluster cluster) {
    for (int number = 0; number < plan.clients().size(); number++) {
      SimulatedProcess process = cluster.clientProcess();
      work.start(process, cluster.connect(process), number, plan.clients().get(number));
    }
  }

  private void setUp(Workload workload, Stele client) throws InterruptedException {
    try {
      work.setUp(workload, client, START_MAX);
    } catch (SteleException | IOException e) {
      violations.add(
          new Violation("start", "table " + workload.table() + " could not be made: " + e));
    }
  }

  private void join(Task task, SimulatedProcess process) throws InterruptedException {
    if (!simulation.outside().await(task.ended(), TASK_MAX)) {
      violations.add(new Violation("end", "a task of " + process.name() + " did not end"));
    }
  }

  private static void quietly(InterruptibleRunnable work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts clients", e);
    }
  }
}
