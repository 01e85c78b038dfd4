package io.stele.sim;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.Path;

/** Decides before every operation of a {@link CrashableDisk} whether it goes wrong, and how. */
public interface FaultInjector {
  /** How an operation goes wrong. */
  sealed interface Effect {
    /** Nothing is done and an IOException is thrown. */
    record Fail() implements Effect {}

    /** It is done and an IOException is thrown: the answer was lost. */
    record FailAfter() implements Effect {}

    /**
     * A write takes only this many bytes and then fails; a read returns at most as many, and does
     * not fail.
     */
    record Short(int bytes) implements Effect {}

    /** It is done after {@code meanwhile} has run, outside of all locks: a delay. */
    record Delay(Runnable meanwhile) implements Effect {}
  }

  /** What happens to this operation; empty for nothing unusual. */
  Optional<Effect> before(Operation operation, Path path);

  /**
   * {@code effect} at the {@code nth} operation of that kind (from 1 on) on a path that matches.
   */
  static FaultInjector at(Operation operation, Predicate<Path> paths, long nth, Effect effect) {
    AtomicLong seen = new AtomicLong();
    return (asked, path) ->
        asked == operation && paths.test(path) && seen.incrementAndGet() == nth
            ? Optional.of(effect)
            : Optional.empty();
  }

  /** {@code effect} at every operation of that kind on a path that matches. */
  static FaultInjector always(Operation operation, Predicate<Path> paths, Effect effect) {
    return (asked, path) ->
        asked == operation && paths.test(path) ? Optional.of(effect) : Optional.empty();
  }

  /**
   * Fails writes, flushes, closes and creations now and then, before or after they took effect or
   * with part of a write done.
   *
   * @param probability of each of these operations to fail, 0 to 1
   */
  static FaultInjector random(RandomGenerator random, double probability, Predicate<Path> paths) {
    return (asked, path) -> {
      switch (asked) {
        case WRITE, FLUSH, CLOSE, CREATE -> {
          // One generator for all threads: guarded, so that it stays a generator.
          synchronized (random) {
            if (!paths.test(path) || random.nextDouble() >= probability) {
              return Optional.empty();
            }
            return Optional.of(
                switch (random.nextInt(3)) {
                  case 0 -> new Effect.Fail();
                  case 1 -> new Effect.FailAfter();
                  default -> new Effect.Short(random.nextInt(64));
                });
          }
        }
        case OPEN, READ, RENAME, DELETE, LIST, STATUS, MKDIRS -> {
          return Optional.empty();
        }
      }
      return Optional.empty();
    };
  }
}
