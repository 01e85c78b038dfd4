package io.stele.cli;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.check.Call;
import io.stele.sim.check.Violation;
import io.stele.sim.workload.Service;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.WorkloadRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * Workloads at work on a running cluster, all at once, in tables that are theirs alone.
 *
 * <p>For one thread, except for {@link #dropTables}.
 */
final class Torture {
  private static final Duration SET_UP_MAX = Duration.ofMinutes(1);
  private static final Duration DROP_MAX = Duration.ofMinutes(1);
  private static final Duration TRY_AGAIN = Duration.ofSeconds(1);
  private static final Duration FAULTS_END_MAX = Duration.ofMinutes(3);
  private static final Duration SERVED_MAX = Duration.ofSeconds(30);
  private static final Duration AFTERMATH = Duration.ofSeconds(15);

  private final Configuration conf;
  private final IoFunction<Configuration, Stele> connector;
  private final Plan plan;
  private final List<Workload> workloads;
  private final PrintWriter out;
  private final Optional<TortureFaults> faults;
  private final ProcessRuntime runtime = SystemRuntime.INSTANCE;

  /**
   * What to do.
   *
   * @param seed of what clients choose to do
   * @param clients how many each workload has
   * @param length how long they work
   * @param byJob whether a MapReduce job verifies the linked lists too
   */
  record Plan(long seed, int clients, Duration length, boolean byJob) {
    /** What the names of all tables begin with. */
    String prefix() {
      return "torture-" + seed + "-";
    }
  }

  /**
   * Workloads on the cluster of {@code conf}.
   *
   * @param connector connects a client
   * @param workloads with tables whose names begin with {@link Plan#prefix}
   * @param faults what fails meanwhile; empty: nothing that this causes
   */
  Torture(
      Configuration conf,
      IoFunction<Configuration, Stele> connector,
      Plan plan,
      List<Workload> workloads,
      Optional<TortureFaults> faults,
      PrintWriter out) {
    for (Workload workload : workloads) {
      if (!workload.table().startsWith(plan.prefix())) {
        throw new IllegalArgumentException(workload.table() + " is not a table of this run");
      }
    }
    this.conf = conf;
    this.connector = connector;
    this.plan = plan;
    this.workloads = workloads;
    this.faults = faults;
    this.out = out;
  }

  /** The workload whose lists a job verifies. */
  private Optional<Workload> lists() {
    return workloads.stream()
        .filter(workload -> plan.byJob() && workload.name().equals(TortureLists.WORKLOAD))
        .findFirst();
  }

  /**
   * Refuses to work on tables that another run has made, or drop them.
   *
   * @throws SteleException REFUSED if there are some
   */
  void refuseWhatIsThere() throws IOException {
    try (Stele stele = connector.apply(conf)) {
      List<String> there =
          stele.admin().listTables().stream()
              .map(TableSchema::name)
              .filter(name -> name.startsWith(plan.prefix()))
              .toList();
      if (!there.isEmpty()) {
        throw SteleException.refused(
            "there are tables of an earlier run with seed "
                + plan.seed()
                + ": "
                + String.join(", ", there)
                + ". Use another --seed, or drop each table: stele table drop TABLE --yes");
      }
    }
  }

  /**
   * Does it, and tells what came of it.
   *
   * @return whether nothing was wrong
   */
  boolean run() throws IOException, InterruptedException {
    List<Stele> clients = new ArrayList<>();
    try {
      // The last one sets up and reads back: each client has a connection of its own.
      for (int i = 0; i <= plan.clients(); i++) {
        clients.add(connector.apply(conf));
      }
      return work(clients.subList(0, plan.clients()), clients.get(plan.clients()));
    } finally {
      clients.forEach(Stele::close);
    }
  }

  private boolean work(List<Stele> clients, Stele last) throws IOException, InterruptedException {
    Duration timeout = Keys.CLIENT_TIMEOUT.in(conf);
    WorkloadRun run =
        new WorkloadRun(workloads, runtime, new SplittableRandom(plan.seed()), timeout);
    for (Workload workload : workloads) {
      run.setUp(workload, last, SET_UP_MAX);
    }
    out.println(
        "seed "
            + plan.seed()
            + ": "
            + plan.clients()
            + " clients for each of "
            + workloads.stream().map(Workload::name).collect(Collectors.joining(", "))
            + " for "
            + plan.length().toSeconds()
            + " s, on tables "
            + plan.prefix()
            + "*");
    for (int number = 0; number < clients.size(); number++) {
      run.start(runtime, clients.get(number), number, Duration.ZERO);
    }
    if (faults.isPresent()) {
      workUnderFaults(faults.get(), last);
    } else {
      runtime.sleep(plan.length());
    }
    run.stop();
    boolean served = faults.isEmpty() || isServedAgain(faults.get(), last);
    run.readBack(runtime, last);
    boolean good = tell(run.results(), timeout);
    if (faults.isPresent()) {
      good &= tell(run, faults.get());
    }
    good &= verifiedByJob(run, last);
    return good && served;
  }

  private boolean verifiedByJob(WorkloadRun run, Stele stele) throws IOException {
    Optional<Workload> lists = lists();
    if (lists.isEmpty()) {
      return true;
    }
    TortureLists job = new TortureLists(conf, lists.get().table(), out);
    boolean whole = job.areWhole(run.calls(lists.get()), stele);
    out.println(whole ? "The job found nothing wrong." : "WRONG: the job found what is said above");
    return whole;
  }

  private void workUnderFaults(TortureFaults all, Stele stele)
      throws IOException, InterruptedException {
    CompletableFuture<Void> failing = new CompletableFuture<>();
    runtime.start("faults", () -> failing.completeAsync(() -> inject(all, stele), Runnable::run));
    runtime.sleep(plan.length());
    all.stop();
    if (!runtime.await(failing, FAULTS_END_MAX)) {
      throw new IOException(
          "the last fault still goes on "
              + FAULTS_END_MAX.toSeconds()
              + " s after the clients ended");
    }
    Futures.await(runtime, failing, "making things fail");
  }

  private static @Nullable Void inject(TortureFaults all, Stele stele) {
    try {
      all.run(stele);
      return null;
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the faults", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean isServedAgain(TortureFaults all, Stele stele) throws InterruptedException {
    TortureScene.Waited waited = all.awaitServed(stele, SERVED_MAX);
    out.println(
        waited
            .missing()
            .map(why -> "WRONG: after the last fault " + why)
            .orElse("all tablets were served " + seconds(waited.took()) + " after the last call"));
    return waited.missing().isEmpty();
  }

  /**
   * Tells of each fault how clients were served from then on until a while after it, or until the
   * next.
   */
  private boolean tell(WorkloadRun run, TortureFaults all) {
    boolean good = all.good();
    TextTable text = new TextTable("FAULT", "TOOK", "LONGEST GAP", "P99");
    for (TortureFaults.Injected fault : all.injected()) {
      Duration took = Duration.ofNanos(fault.endNanos() - fault.startNanos());
      long next = all.nextStartNanos(fault).orElse(Long.MAX_VALUE);
      WorkloadRun.Served served =
          run.served(
              fault.startNanos(), Math.min(fault.endNanos() + AFTERMATH.toNanos(), next), next);
      text.line(fault.what(), seconds(took), seconds(served.gap()), seconds(served.p99()));
    }
    text.lines("").forEach(out::println);
    for (TortureFaults.Injected fault : all.injected()) {
      if (fault.fault().harmless()) {
        List<Call> failed = run.failed(fault.startNanos(), fault.endNanos());
        failed.forEach(call -> out.println("WRONG: " + fault.what() + ": failed: " + call));
        good &= failed.isEmpty();
      }
    }
    return good;
  }

  private boolean tell(List<WorkloadRun.Result> results, Duration timeout) {
    TextTable served =
        new TextTable(
            "WORKLOAD", "CALLS", "ANSWERED", "REJECTED", "UNKNOWN", "LONGEST GAP", "P99", "WRONG");
    for (WorkloadRun.Result result : results) {
      Service service = result.service();
      served.line(
          result.workload().name(),
          service.calls(),
          service.answered(),
          service.rejected(),
          service.unknown(),
          seconds(service.longestGap()),
          seconds(service.p99()),
          result.violations().size());
    }
    served.lines("").forEach(out::println);
    out.println("checked:");
    results.forEach(
        result -> out.println("  " + result.workload().name() + ": " + result.workload().claim()));
    out.println(
        "  all: a call ends by its timeout of "
            + timeout.toMillis() / 1000.0
            + " s plus 1 s, fails only with 'retry later', and at the end everything can be read");
    List<Violation> violations =
        results.stream().flatMap(result -> result.violations().stream()).toList();
    if (violations.isEmpty()) {
      out.println("Nothing wrong was found.");
    } else {
      out.println("WRONG:");
      results.forEach(
          result ->
              result
                  .violations()
                  .forEach(one -> out.println("  " + result.workload().name() + ", " + one)));
    }
    return violations.isEmpty();
  }

  private static String seconds(Service.Gap gap) {
    return (gap.open() ? ">" : "") + seconds(gap.length());
  }

  private static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.3f s", duration.toNanos() / 1e9);
  }

  /**
   * Drops the tables, whether or not they were made. Safe for use by any thread at any time.
   *
   * @throws IOException if one could not be dropped
   */
  void dropTables() throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(runtime, DROP_MAX);
    try (Stele stele = connector.apply(conf)) {
      for (Workload workload : workloads) {
        drop(stele, workload.table(), deadline);
        if (workload.name().equals(TortureLists.WORKLOAD)) {
          drop(stele, TortureLists.acknowledgedOf(workload.table()), deadline);
        }
      }
    }
  }

  private void drop(Stele stele, String table, Deadline deadline)
      throws IOException, InterruptedException {
    while (true) {
      try {
        stele.admin().dropTable(table);
        return;
      } catch (SteleException e) {
        if (e.code() == SteleException.Code.NOT_FOUND) {
          return;
        }
        if (deadline.isOver()) {
          throw new IOException(
              "table " + table + " could not be dropped: run stele table drop " + table + " --yes",
              e);
        }
      }
      runtime.sleep(TRY_AGAIN);
    }
  }
}
