package io.stele.sim;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.Workloads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** Histories of half a minute each, two at a time. */
final class Histories {
  static final List<Workload> WORKLOADS = Workloads.all(new Pace(Duration.ofMillis(100)));
  static final List<String> NAMES = WORKLOADS.stream().map(Workload::name).toList();

  private static final Duration LENGTH = Duration.ofSeconds(30);
  private static final int AT_ONCE = 2;
  private static final int SHRINK_RUNS_MAX = 60;

  private Histories() {}

  /** The history of a seed, with workloads out of {@code names}. */
  static HistoryRun.Report run(long seed, List<String> names) {
    return HistoryRun.run(HistoryPlan.of(seed, LENGTH, names), WORKLOADS);
  }

  /** The histories of {@code count} seeds from {@code first} on, in order. */
  static List<HistoryRun.Report> run(long first, int count, List<String> names)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Future<HistoryRun.Report>> running = new ArrayList<>();
      for (long seed = first; seed < first + count; seed++) {
        long one = seed;
        running.add(threads.submit(() -> run(one, names).withoutTraceIfGood()));
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

  /** What to print of a history that failed: as small as it could be made, with its trace. */
  static String describe(HistoryRun.Report failed) {
    HistoryRun.Report small = HistoryShrinker.shrink(failed, WORKLOADS, SHRINK_RUNS_MAX);
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
