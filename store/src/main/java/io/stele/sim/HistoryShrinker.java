package io.stele.sim;

import io.stele.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reduces a failing history: fewer faults, workloads and clients, and a shorter time, as long as it
 * still fails.
 */
public final class HistoryShrinker {
  private final List<Workload> known;
  private int runsLeft;
  private HistoryRun.Report smallest;

  private HistoryShrinker(HistoryRun.Report failed, List<Workload> known, int runsMax) {
    this.known = known;
    this.smallest = failed;
    this.runsLeft = runsMax;
  }

  /**
   * The smallest history found that fails as {@code failed} did, or itself.
   *
   * @param runsMax how many histories may be tried
   */
  public static HistoryRun.Report shrink(
      HistoryRun.Report failed, List<Workload> known, int runsMax) {
    HistoryShrinker shrinker = new HistoryShrinker(failed, known, runsMax);
    shrinker.shrink();
    return shrinker.smallest;
  }

  private void shrink() {
    boolean smaller = true;
    while (smaller && runsLeft > 0) {
      smaller = oneStep();
    }
  }

  private boolean oneStep() {
    for (HistoryPlan candidate : candidates(smallest.plan())) {
      if (runsLeft-- <= 0) {
        return false;
      }
      HistoryRun.Report report = HistoryRun.run(candidate, known);
      if (failsAlike(report)) {
        smallest = report;
        return true;
      }
    }
    return false;
  }

  private boolean failsAlike(HistoryRun.Report report) {
    return !report.isGood() && kind(report).equals(kind(smallest));
  }

  private static Optional<String> kind(HistoryRun.Report report) {
    return report.failure().isPresent()
        ? Optional.empty()
        : Optional.of(report.violations().get(0).checker());
  }

  private static List<HistoryPlan> candidates(HistoryPlan plan) {
    List<HistoryPlan> candidates = new ArrayList<>();
    if (plan.workloads().size() > 1) {
      plan.workloads().forEach(one -> candidates.add(plan.withWorkloads(List.of(one))));
    }
    if (plan.faults().size() > 2) {
      int half = plan.faults().size() / 2;
      candidates.add(plan.withFaults(plan.faults().subList(0, half)));
      candidates.add(plan.withFaults(plan.faults().subList(half, plan.faults().size())));
    }
    for (int i = 0; i < plan.faults().size(); i++) {
      List<Fault.Planned> fewer = new ArrayList<>(plan.faults());
      fewer.remove(i);
      candidates.add(plan.withFaults(fewer));
    }
    for (int i = 0; i < plan.clients().size() && plan.clients().size() > 1; i++) {
      List<Duration> fewer = new ArrayList<>(plan.clients());
      fewer.remove(i);
      candidates.add(plan.withClients(fewer));
    }
    if (plan.length().compareTo(Duration.ofSeconds(2)) > 0) {
      candidates.add(plan.withLength(plan.length().dividedBy(2)));
      candidates.add(plan.withLength(plan.length().multipliedBy(3).dividedBy(4)));
    }
    return candidates;
  }
}
