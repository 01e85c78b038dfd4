package io.stele.sim;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Task;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.History;
import io.stele.sim.check.Violation;
import io.stele.sim.workload.ClientContext;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.WorkloadContext;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.Path;

/**
 * One history of a simulated cluster: it starts, clients work while faults happen, the faults end,
 * and what the clients were told is checked against what is there.
 */
public final class HistoryRun {
  private static final long STEPS_MAX = 3_000_000;
  private static final Duration START_MAX = Duration.ofSeconds(60);
  private static final Duration CLIENTS_END_MAX = Duration.ofSeconds(60);
  private static final Duration REST_MAX = Duration.ofSeconds(60);

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

    /** This, without the trace where nobody will look at it. */
    public Report withoutTraceIfGood() {
      return isGood()
          ? new Report(plan, violations, traceHash, steps, calls, answered, List.of(), failure)
          : this;
    }
  }

  private final HistoryPlan plan;
  private final Simulation simulation;
  private final Map<Workload, History> histories = new LinkedHashMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private boolean workIsOver;

  private HistoryRun(HistoryPlan plan, List<Workload> known) {
    this.plan = plan;
    this.simulation = new Simulation(plan.seed(), STEPS_MAX);
    for (Workload workload : known) {
      if (plan.workloads().contains(workload.name())) {
        histories.put(workload, new History());
      }
    }
  }

  /**
   * Runs the history that {@code plan} stands for.
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
    for (Map.Entry<Workload, History> one : histories.entrySet()) {
      List<Call> made = one.getValue().calls();
      calls += made.size();
      answered += (int) made.stream().filter(Call::isAnswered).count();
      if (failure.isEmpty()) {
        violations.addAll(one.getKey().check(made));
        violations.addAll(
            CallChecker.checkDeadlines(
                made,
                HistoryPlan.CLIENT_TIMEOUT,
                CallChecker.DEADLINE_GRACE,
                simulation.nowNanos()));
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
    SimulatedProcess process = cluster.clientProcess();
    Stele client = cluster.connect(process);
    for (Workload workload : histories.keySet()) {
      join(process.start("sets up", () -> setUp(workload, client)), process, START_MAX);
    }

    FaultRunner faults = new FaultRunner(cluster);
    faults.begin(plan.faults());
    List<Task> workers = startClients(cluster);
    simulation.outside().sleep(plan.length());
    workIsOver = true;
    for (Task worker : workers) {
      join(worker, process, CLIENTS_END_MAX);
    }
    faults.heal();

    for (Map.Entry<Workload, History> one : histories.entrySet()) {
      WorkloadContext context = context(client, process, one.getValue());
      Task reader =
          process.start("reads back", () -> quietly(() -> one.getKey().readBack(context)));
      join(reader, process, CLIENTS_END_MAX);
    }
    RestCheck rest = new RestCheck(cluster, new Path(Keys.ROOT_DIR.in(cluster.conf())));
    join(
        rest.process()
            .start("checks", () -> quietly(() -> violations.addAll(rest.await(REST_MAX)))),
        rest.process(),
        REST_MAX.multipliedBy(2));
    violations.addAll(cluster.network().services().violations());
  }

  private List<Task> startClients(SimulatedCluster cluster) {
    List<Task> workers = new ArrayList<>();
    for (int number = 0; number < plan.clients().size(); number++) {
      SimulatedProcess process = cluster.clientProcess();
      Stele client = cluster.connect(process);
      Duration begin = plan.clients().get(number);
      for (Map.Entry<Workload, History> one : histories.entrySet()) {
        int own = number;
        WorkloadContext context = context(client, process, one.getValue());
        workers.add(
            process.start(
                one.getKey().name(),
                () ->
                    quietly(
                        () -> {
                          process.sleep(begin);
                          one.getKey().run(context, own);
                        })));
      }
    }
    return workers;
  }

  private void setUp(Workload workload, Stele client) {
    SimulatedProcess runtime = simulation.outside();
    Deadline deadline = Deadline.after(runtime, START_MAX);
    while (true) {
      try {
        workload.setUp(client);
        return;
      } catch (SteleException | IOException e) {
        if (deadline.isOver()) {
          violations.add(
              new Violation("start", "table " + workload.name() + " could not be made: " + e));
          return;
        }
        simulation.note(runtime, "cannot make table " + workload.name() + " yet: " + e);
      }
    }
  }

  private void join(Task task, SimulatedProcess process, Duration most)
      throws InterruptedException, ExecutionException {
    if (!simulation.outside().await(task.ended(), most)) {
      violations.add(new Violation("end", "a client of " + process.name() + " did not end"));
    }
  }

  private interface Waiting {
    void run() throws InterruptedException;
  }

  private static void quietly(Waiting work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts clients", e);
    }
  }

  private WorkloadContext context(Stele client, SimulatedProcess process, History history) {
    return new ClientContext(
        client, process, simulation.outside(), history, simulation.split(), () -> workIsOver);
  }
}
