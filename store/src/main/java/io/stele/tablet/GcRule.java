package io.stele.tablet;

import io.stele.model.GcPolicy;
import io.stele.record.FormerCount;
import java.time.Duration;
import java.util.List;

/**
 * A garbage collection policy, prepared for deciding about versions.
 *
 * <p>Two facts make a version garbage: newer versions have pushed it out of the policy's count, or
 * it is too old. What was pushed out stays so; what is too old may be young again, when the clock
 * goes back or the policy is altered.
 */
final class GcRule {
  /** The rule for a family that the schema does not have: whatever is found of it is garbage. */
  static final GcRule NOTHING = new GcRule(new GcPolicy.Union(List.of()), true, 0, List.of());

  private static final long MICROS = 1_000_000;

  private final GcPolicy policy;
  private final boolean all;
  private final int versions;
  private final List<FormerCount> former;
  private final int mostVersions;
  private final boolean pushedOutIsGarbage;
  private final boolean aged;

  private GcRule(GcPolicy policy, boolean all, int versions, List<FormerCount> former) {
    this.policy = policy;
    this.all = all;
    this.versions = versions;
    this.former = former;
    this.mostVersions = former.stream().mapToInt(FormerCount::versions).reduce(versions, Math::max);
    this.pushedOutIsGarbage = policy.countedVersions() > 0 && isGarbage(policy, true, 0, 0);
    this.aged = aged(policy);
  }

  /**
   * The rule of a family.
   *
   * @param former how many versions it counted before, in the order of the alterations
   */
  static GcRule of(GcPolicy policy, List<FormerCount> former) {
    int versions = policy.countedVersions();
    return new GcRule(policy, false, versions, FormerCounts.steps(former, versions));
  }

  /**
   * The rule as of operation {@code sequence}, for a compaction of files that end there. It counts
   * as many versions as counted then: one that is still there may have been deleted before an
   * alteration lowered the number, and then pushes no other out.
   */
  GcRule at(long sequence) {
    for (int i = 0; i < former.size(); i++) {
      if (former.get(i).through() > sequence) {
        return new GcRule(policy, all, former.get(i).versions(), former.subList(0, i));
      }
    }
    return this;
  }

  /** The number of versions that count; 0 if none do. */
  int versions() {
    return versions;
  }

  /** Whether more versions count than {@code number}. */
  boolean countsMoreThan(int number) {
    return versions > 0 ? versions > number : policy.countedVersions() > 0; // Or all are kept.
  }

  /** Whether it decides the same about every version. */
  boolean isAs(GcRule other) {
    return policy.equals(other.policy)
        && all == other.all
        && versions == other.versions
        && former.equals(other.former);
  }

  /** The greatest number of versions that it counts now or counted before; 0: it counts none. */
  int mostVersions() {
    return mostVersions;
  }

  /** How many versions it counted before: ascending moments, descending numbers above this one. */
  List<FormerCount> former() {
    return former;
  }

  /** Whether a version that was pushed out is garbage whatever its age. */
  boolean pushedOutIsGarbage() {
    return pushedOutIsGarbage;
  }

  /** Whether a version is garbage at {@code now}, in microseconds. */
  boolean isGarbage(boolean pushedOut, long timestamp, long now) {
    if (all || (pushedOut && pushedOutIsGarbage)) {
      return true;
    }
    return aged && isGarbage(policy, pushedOut, timestamp, now);
  }

  /** Whether the age of a version counts. */
  boolean isAged() {
    return aged;
  }

  /** Whether some version of this timestamp is garbage at {@code now} for its age. */
  boolean isExpired(long timestamp, long now) {
    return aged && isGarbage(policy, !pushedOutIsGarbage, timestamp, now);
  }

  private static boolean isGarbage(GcPolicy policy, boolean pushedOut, long timestamp, long now) {
    return switch (policy.kind()) {
      case KEEP_ALL -> false;
      case MAX_VERSIONS -> pushedOut;
      case MAX_AGE -> now - timestamp > micros(((GcPolicy.MaxAge) policy).age());
      case UNION ->
          ((GcPolicy.Union) policy)
              .policies().stream().anyMatch(one -> isGarbage(one, pushedOut, timestamp, now));
      case INTERSECTION ->
          ((GcPolicy.Intersection) policy)
              .policies().stream().allMatch(one -> isGarbage(one, pushedOut, timestamp, now));
    };
  }

  private static boolean aged(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL, MAX_VERSIONS -> false;
      case MAX_AGE -> true;
      case UNION -> ((GcPolicy.Union) policy).policies().stream().anyMatch(GcRule::aged);
      case INTERSECTION ->
          ((GcPolicy.Intersection) policy).policies().stream().anyMatch(GcRule::aged);
    };
  }

  private static long micros(Duration age) {
    return age.getSeconds() >= Long.MAX_VALUE / MICROS
        ? Long.MAX_VALUE
        : age.getSeconds() * MICROS + age.getNano() / 1000;
  }
}
