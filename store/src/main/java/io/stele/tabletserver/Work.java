package io.stele.tabletserver;

import java.util.Comparator;
import java.util.Optional;

/**
 * One piece of background work on a tablet: of each, at most one is queued at a time.
 *
 * @param cause the job or the change of the table for which the work is done, if it is done for
 *     one: what fails and rests for one does not rest for the next
 */
record Work(WorkKind kind, Optional<String> cause) implements Comparable<Work> {
  private static final Comparator<Work> ORDER =
      Comparator.comparing(Work::kind).thenComparing(work -> work.cause().orElse(""));

  /** Work that is the same whatever it is done for. */
  static Work of(WorkKind kind) {
    return new Work(kind, Optional.empty());
  }

  /** Work for one job or change. */
  static Work of(WorkKind kind, String cause) {
    return new Work(kind, Optional.of(cause));
  }

  /** What the tablet does or cannot do, as a verb, for logs and pages: "split". */
  String text() {
    return cause.map(name -> kind.text() + " " + name).orElse(kind.text());
  }

  @Override
  public int compareTo(Work other) {
    return ORDER.compare(this, other);
  }
}
