package io.stele.check;

import java.util.Comparator;
import java.util.Optional;

/**
 * An inconsistency of the cluster.
 *
 * @param subject what it concerns, such as {@code tablet t1/0123456789abcdef}
 * @param wrong what is wrong with it, in the same words each time
 * @param detail more about it, which may differ each time; may be empty
 * @param remedy what an operator can do
 * @param repair what `stele repair` can do; empty if only an operator can repair it
 */
public record Problem(
    String subject, String wrong, String detail, String remedy, Optional<Repair> repair)
    implements Comparable<Problem> {
  private static final Comparator<Problem> ORDER =
      Comparator.comparing(Problem::subject).thenComparing(Problem::wrong);

  /** A problem that people must look at. */
  Problem(String subject, String wrong, String detail, String remedy) {
    this(subject, wrong, detail, remedy, Optional.empty());
  }

  /** Whether the same is wrong with the same. */
  boolean isStill(Problem before) {
    return ORDER.compare(this, before) == 0;
  }

  @Override
  public int compareTo(Problem other) {
    return ORDER.thenComparing(Problem::detail).compare(this, other);
  }
}
