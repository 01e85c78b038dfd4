package io.stele.model;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which versions of a column are garbage.
 *
 * <p>The policy works as if it were applied after every single operation: a read never sees a
 * version that it forbids, a version once collected never comes back, and no answer depends on when
 * compactions ran. In particular a version pushed out by newer ones stays gone when those are
 * deleted.
 */
public sealed interface GcPolicy {
  /** The kinds of policy. */
  enum Kind {
    KEEP_ALL,
    MAX_VERSIONS,
    MAX_AGE,
    UNION,
    INTERSECTION
  }

  /** Which kind of policy this is: a switch over it names them all. */
  Kind kind();

  /** The number of versions that it counts; 0 if it counts none. */
  default int countedVersions() {
    return versionCounts(this).max().orElse(0);
  }

  /** Everything is kept. */
  record KeepAll() implements GcPolicy {
    @Override
    public Kind kind() {
      return Kind.KEEP_ALL;
    }
  }

  /** All but the {@code count} versions with the greatest timestamps are garbage. */
  record MaxVersions(int count) implements GcPolicy {
    public MaxVersions {
      if (count < 1) {
        throw SteleException.refused("a policy must keep at least 1 version, not " + count);
      }
    }

    @Override
    public Kind kind() {
      return Kind.MAX_VERSIONS;
    }
  }

  /** Versions whose timestamp lies more than {@code age} behind the clock are garbage. */
  record MaxAge(Duration age) implements GcPolicy {
    public MaxAge {
      if (age.isNegative() || age.isZero()) {
        throw SteleException.refused("a policy's maximum age must be above zero, not " + age);
      }
    }

    @Override
    public Kind kind() {
      return Kind.MAX_AGE;
    }
  }

  /** What is garbage to any of the policies. */
  record Union(List<GcPolicy> policies) implements GcPolicy {
    public Union {
      policies = List.copyOf(policies);
      checkParts(policies);
    }

    @Override
    public Kind kind() {
      return Kind.UNION;
    }
  }

  /** What is garbage to every one of the policies. */
  record Intersection(List<GcPolicy> policies) implements GcPolicy {
    public Intersection {
      policies = List.copyOf(policies);
      if (policies.isEmpty()) {
        throw SteleException.refused("an intersection needs at least one policy");
      }
      checkParts(policies);
    }

    @Override
    public Kind kind() {
      return Kind.INTERSECTION;
    }
  }

  /** The {@code count} newest versions. */
  static GcPolicy maxVersions(int count) {
    return new MaxVersions(count);
  }

  /** Versions not older than {@code age}. */
  static GcPolicy maxAge(Duration age) {
    return new MaxAge(age);
  }

  /** Everything. */
  static GcPolicy keepAll() {
    return new KeepAll();
  }

  /** What every one of the policies keeps: what is garbage to any of them is garbage. */
  static GcPolicy union(GcPolicy... policies) {
    return new Union(List.of(policies));
  }

  /** What any of the policies keeps: only what is garbage to all of them is garbage. */
  static GcPolicy intersection(GcPolicy... policies) {
    return new Intersection(List.of(policies));
  }

  private static IntStream versionCounts(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL, MAX_AGE -> IntStream.empty();
      case MAX_VERSIONS -> IntStream.of(((MaxVersions) policy).count());
      case UNION -> ((Union) policy).policies().stream().flatMapToInt(GcPolicy::versionCounts);
      case INTERSECTION ->
          ((Intersection) policy).policies().stream().flatMapToInt(GcPolicy::versionCounts);
    };
  }

  /** The number of policies in {@code policy}, itself among them. */
  private static int parts(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL, MAX_VERSIONS, MAX_AGE -> 1;
      case UNION -> 1 + parts(((Union) policy).policies());
      case INTERSECTION -> 1 + parts(((Intersection) policy).policies());
    };
  }

  private static int parts(List<GcPolicy> policies) {
    return policies.stream().mapToInt(GcPolicy::parts).sum();
  }

  private static void checkParts(List<GcPolicy> policies) {
    if (1 + parts(policies) > Limits.POLICY_PARTS_MAX) {
      throw SteleException.refused(
          "a policy has "
              + (1 + parts(policies))
              + " parts: the limit is "
              + Limits.POLICY_PARTS_MAX);
    }
    // Two counts would need two histories of which versions pushed out which, kept through every
    // compaction.
    if (policies.stream().flatMapToInt(GcPolicy::versionCounts).distinct().count() > 1) {
      throw SteleException.refused(
          "a policy may set the number of versions only once: " + policies);
    }
  }
}
