package io.stele.sim.check;

import java.util.ArrayList;
import java.util.List;

/** The violations one checker finds: the first few, and how many more. Not thread-safe. */
final class Findings {
  private static final int KEPT_MAX = 20;

  private final String checker;
  private final List<Violation> kept = new ArrayList<>();
  private int more;

  Findings(String checker) {
    this.checker = checker;
  }

  void add(String text) {
    if (kept.size() < KEPT_MAX) {
      kept.add(new Violation(checker, text));
    } else {
      more++;
    }
  }

  List<Violation> violations() {
    List<Violation> all = new ArrayList<>(kept);
    if (more > 0) {
      all.add(new Violation(checker, "and " + more + " more"));
    }
    return List.copyOf(all);
  }
}
