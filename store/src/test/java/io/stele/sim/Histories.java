package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.Workloads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Histories of half a minute each, two at a time. */
final class Histories {
  /** How many histories a campaign has: {@code -Dstele.histories}. */
  static final int COUNT = Integer.getInteger("stele.histories", 200);

  static final List<Workload> WORKLOADS = Workloads.all(new Pace(Duration.ofMillis(200)));
  static final List<String> NAMES = WORKLOADS.stream().map(Workload::name).toList();

  private static final Duration LENGTH = Duration.ofSeconds(30);
  private static final int AT_ONCE = 2;
  private static final int LOSSES = 4;
  private static final int SHRINK_RUNS_MAX = 60;

  private Histories() {}

  /**
   * All workloads, those too that have tests of their own. No constant: those tests use this class
   * when they are loaded.
   */
  static List<Workload> withOthers() {
    return Stream.concat(
            WORKLOADS.stream(),
            Stream.of(
                JobWritesTest.WORKLOAD,
                RowsAreClearedTest.WORKLOAD,
                FamiliesComeAndGoTest.WORKLOAD,
                PinnedCommitsTest.WORKLOAD,
                PinnedScansTest.WORKLOAD,
                RewritingJobsTest.WORKLOAD,
                TablesComeAndGoTest.WORKLOAD,
                TaskWritesTest.WORKLOAD))
        .toList();
  }

  /** The histories of {@code count} seeds from {@code first} on, in order. */
  static List<HistoryRun.Report> run(long first, int count)
      throws InterruptedException, ExecutionException {
    return run(first, count, NAMES, WORKLOADS);
  }

  /** Those with workloads out of {@code names}. */
  static List<HistoryRun.Report> run(
      long first, int count, List<String> names, List<Workload> workloads)
      throws InterruptedException, ExecutionException {
    return run(first, count, seed -> HistoryPlan.of(seed, LENGTH, names), workloads);
  }

  /** Those in which {@code fault} may show. */
  static List<HistoryRun.Report> run(long first, int count, PlantedFault fault)
      throws InterruptedException, ExecutionException {
    return run(first, count, seed -> fault.plan(seed, LENGTH), withOthers());
  }

  /** Those in which nothing fails, with workloads of all kinds. */
  static List<HistoryRun.Report> runWithoutFailures(long first, int count)
      throws InterruptedException, ExecutionException {
    List<String> names = withOthers().stream().map(Workload::name).toList();
    return run(
        first, count, seed -> HistoryPlan.of(seed, LENGTH, names).withoutFailures(), withOthers());
  }

  /** Those in which the lock service also loses its nodes, several times. */
  static List<HistoryRun.Report> runLosingNodes(long first, int count)
      throws InterruptedException, ExecutionException {
    return run(first, count, Histories::losingNodes, WORKLOADS);
  }

  private static HistoryPlan losingNodes(long seed) {
    HistoryPlan plan = HistoryPlan.of(seed, LENGTH, NAMES);
    RandomGenerator random = new SplittableRandom(seed);
    List<Fault.Planned> faults = new ArrayList<>(plan.faults());
    for (int i = 0; i < LOSSES; i++) {
      Duration at = Duration.ofMillis(random.nextLong(LENGTH.toMillis()));
      faults.add(new Fault.Planned(at, new Fault.LoseNodes()));
    }
    faults.sort(Comparator.comparing(Fault.Planned::at));
    return new HistoryPlan(
        seed,
        plan.length(),
        plan.masters(),
        plan.servers(),
        plan.clients(),
        plan.workloads(),
        plan.settings(),
        faults);
  }

  private static List<HistoryRun.Report> run(
      long first, int count, LongFunction<HistoryPlan> plans, List<Workload> workloads)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE, new Cores());
    try {
      List<Future<HistoryRun.Report>> running = new ArrayList<>();
      for (long seed = first; seed < first + count; seed++) {
        long one = seed;
        running.add(
            threads.submit(() -> HistoryRun.run(plans.apply(one), workloads).withoutTraceIfGood()));
      }
      List<HistoryRun.Report> reports = new ArrayList<>();
      for (Future<HistoryRun.Report> one : running) {
        reports.add(one.get());
      }
      return reports;
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * Runs histories with one workload; fails if one is not good, or if most calls were not answered,
   * as the checkers had little to look at then.
   */
  static void requireGood(long first, int count, Workload workload)
      throws InterruptedException, ExecutionException {
    List<String> names = List.of(workload.name());
    requireGood(first, count, workload, seed -> HistoryPlan.of(seed, LENGTH, names));
  }

  /** The same; every other history has that focus. */
  static void requireGood(long first, int count, Workload workload, Focus focus)
      throws InterruptedException, ExecutionException {
    List<String> names = List.of(workload.name());
    requireGood(
        first,
        count,
        workload,
        seed ->
            seed % 2 == 0
                ? HistoryPlan.of(seed, LENGTH, names)
                : HistoryPlan.of(seed, LENGTH, names, focus));
  }

  private static void requireGood(
      long first, int count, Workload workload, LongFunction<HistoryPlan> plans)
      throws InterruptedException, ExecutionException {
    List<Workload> workloads = List.of(workload);
    List<HistoryRun.Report> reports = run(first, count, plans, workloads);
    Optional<HistoryRun.Report> failed =
        reports.stream().filter(report -> !report.isGood()).findFirst();
    assertThat(failed.map(one -> describe(one, workloads))).isEmpty();
    long calls = reports.stream().mapToLong(HistoryRun.Report::calls).sum();
    long answered = reports.stream().mapToLong(HistoryRun.Report::answered).sum();
    assertThat(answered).isGreaterThan(calls / 2);
  }

  /** What to print of a history that failed: as small as it could be made, with its trace. */
  static String describe(HistoryRun.Report failed) {
    return describe(failed, WORKLOADS);
  }

  static String describe(HistoryRun.Report failed, List<Workload> workloads) {
    HistoryRun.Report small = HistoryShrinker.shrink(failed, workloads, SHRINK_RUNS_MAX);
    return "seed "
        + failed.plan().seed()
        + " fails; made small:\n"
        + small.plan()
        + "\n"
        + String.join("\n", small.trace())
        + "\n"
        + small.violations().stream().map(Object::toString).collect(Collectors.joining("\n"))
        + small.failure().map(why -> "\n" + why).orElse("");
  }
}
