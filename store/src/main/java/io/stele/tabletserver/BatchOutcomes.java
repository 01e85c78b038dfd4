package io.stele.tabletserver;

import io.stele.model.Settled;
import io.stele.tablet.OperationResult;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of the mutations of one batch, which come in any order. Cheaper than a future for
 * each of them.
 *
 * <p>Safe for use by any number of threads.
 */
final class BatchOutcomes {
  private final RequestCounts counts;
  private final AtomicReferenceArray<Throwable> failures; // Null: applied, or not known yet.
  private final Queue<Settled> settled = new ConcurrentLinkedQueue<>();
  private final AtomicInteger missing;
  private final CompletableFuture<Void> all = new CompletableFuture<>();

  /** None of {@code count} outcomes yet; they are counted in {@code counts}. */
  BatchOutcomes(int count, RequestCounts counts) {
    this.counts = counts;
    this.failures = new AtomicReferenceArray<>(count);
    this.missing = new AtomicInteger(count);
    if (count == 0) {
      all.complete(null);
    }
  }

  /** The outcome of one mutation: its result, or why it was not applied. Once for each. */
  void add(int place, @Nullable OperationResult result, @Nullable Throwable failure) {
    if (failure != null) {
      Throwable why = LeasedAnswers.meaning(failure);
      counts.notServed(why);
      failures.set(place, why);
    } else {
      counts.applied();
      if (result != null && result.settled().isPresent()) {
        settled.add(result.settled().get());
      }
    }
    if (missing.decrementAndGet() == 0) {
      all.complete(null);
    }
  }

  /** Completes when all outcomes are here. */
  CompletableFuture<Void> all() {
    return all;
  }

  /** Why mutations were not applied, in their order; empty: applied. Call it after {@link #all}. */
  List<Optional<Throwable>> failures() {
    return IntStream.range(0, failures.length())
        .mapToObj(place -> Optional.ofNullable(failures.get(place)))
        .toList();
  }

  /** The values that the task must compare, perhaps several times. Call it after {@link #all}. */
  Collection<Settled> settled() {
    return settled;
  }
}
