package io.stele.model;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which versions of a column are garbage.
 *
 * <p>The policy holds as if it were applied after every single operation: a read never sees what it
 * forbids, a version it has once collected never comes back, and no answer depends on when
 * compactions ran. In particular a version pushed out by newer ones stays gone when those are
 * deleted.
 */
public sealed interface GcPolicy {
  /** Everything is kept. */
  record KeepAll() implements GcPolicy {}

  /** All but the {@code count} versions with the greatest timestamps are garbage. */
  record MaxVersions(int count) implements GcPolicy {
    public MaxVersions {
      if (count < 1) {
        throw SteleException.refused("a policy keeps at least 1 version, not " + count);
      }
    }
  }

  /** Versions whose timestamp lies more than {@code age} behind the clock are garbage. */
  record MaxAge(Duration age) implements GcPolicy {
    public MaxAge {
      if (age.isNegative() || age.isZero()) {
        throw SteleException.refused("a policy's greatest age is above zero, not " + age);
      }
    }
  }

  /** What is garbage to any of the policies. */
  record Union(List<GcPolicy> policies) implements GcPolicy {
    public Union {
      policies = List.copyOf(policies);
      checkOneVersionCount(policies);
    }
  }

  /** What is garbage to every one of the policies. */
  record Intersection(List<GcPolicy> policies) implements GcPolicy {
    public Intersection {
      policies = List.copyOf(policies);
      if (policies.isEmpty()) {
        throw SteleException.refused("an intersection of policies has at least one policy");
      }
      checkOneVersionCount(policies);
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

  private static IntStream versionCounts(GcPolicy policy) {
    if (policy instanceof MaxVersions versions) {
      return IntStream.of(versions.count());
    } else if (policy instanceof Union union) {
      return union.policies().stream().flatMapToInt(GcPolicy::versionCounts);
    } else if (policy instanceof Intersection intersection) {
      return intersection.policies().stream().flatMapToInt(GcPolicy::versionCounts);
    }
    return IntStream.empty();
  }

  // Two counts would need two histories of which versions pushed out which, kept through every
  // compaction.
  private static void checkOneVersionCount(List<GcPolicy> policies) {
    if (policies.stream().flatMapToInt(GcPolicy::versionCounts).distinct().count() > 1) {
      throw SteleException.refused(
          "a policy names one number of versions, not several: " + policies);
    }
  }
}
