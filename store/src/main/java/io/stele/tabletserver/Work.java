package io.stele.tabletserver;

import java.util.Comparator;
import java.util.Optional;

/**
 * One piece of background work on a tablet: of each, at most one is queued at a time.
 *
 * @param job for which the work is done, where jobs have work of their own
 */
record Work(WorkKind kind, Optional<String> job) implements Comparable<Work> {
  private static final Comparator<Work> ORDER =
      Comparator.comparing(Work::kind).thenComparing(work -> work.job().orElse(""));

  /** Work that is the same for all jobs, or for none. */
  static Work of(WorkKind kind) {
    return new Work(kind, Optional.empty());
  }

  /** Work for one job. */
  static Work of(WorkKind kind, String job) {
    return new Work(kind, Optional.of(job));
  }

  /** What the tablet does or cannot do, as a verb, for logs and pages: "split". */
  String text() {
    return job.map(name -> kind.text() + " " + name).orElse(kind.text());
  }

  @Override
  public int compareTo(Work other) {
    return ORDER.compare(this, other);
  }
}
