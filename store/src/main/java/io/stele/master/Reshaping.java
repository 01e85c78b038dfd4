package io.stele.master;

import io.stele.metadata.StoredTable;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Durations;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Decides when the master splits tablets that are hot, and merges tablets that are small: rarely,
 * few at a time, and only while balancing is on.
 *
 * <p>For the master's loop alone.
 */
final class Reshaping {
  private static final Duration CHECK_HOT_EVERY = Duration.ofSeconds(5);
  private static final Duration CHECK_SMALL_EVERY = Duration.ofMinutes(1);
  private static final int LOOKS = 4; // At small ones, in the time after which they are merged.

  private final ProcessRuntime runtime;
  private final BalanceSchedule balance;
  private final IoFunction<TableId, Optional<StoredTable>> tables;
  private final HotTablets hot;
  private final Optional<SmallTablets> small;
  private final Duration checkSmallEvery;
  private long nextHotNanos;
  private long nextSmallNanos;

  /**
   * How it is done.
   *
   * @param hotBytesMin a tablet with less is not split for being hot
   * @param mergeAfter how long tablets must be small before they are merged; zero: never
   */
  record Settings(long hotBytesMin, Duration mergeAfter) {}

  /** What to do now. */
  record Wishes(List<TabletId> split, List<SmallTablets.Pair> merge) {
    static final Wishes NONE = new Wishes(List.of(), List.of());
  }

  Reshaping(
      ProcessRuntime runtime,
      BalanceSchedule balance,
      IoFunction<TableId, Optional<StoredTable>> tables,
      Settings settings) {
    this.runtime = runtime;
    this.balance = balance;
    this.tables = tables;
    this.hot = new HotTablets(settings.hotBytesMin());
    this.small =
        settings.mergeAfter().isZero()
            ? Optional.empty()
            : Optional.of(new SmallTablets(settings.mergeAfter()));
    Duration part = settings.mergeAfter().dividedBy(LOOKS);
    this.checkSmallEvery = Durations.min(part, CHECK_SMALL_EVERY);
    this.nextHotNanos = runtime.nanoTime();
    this.nextSmallNanos = runtime.nanoTime();
  }

  /**
   * What to do now; usually nothing.
   *
   * @param merging whether tablets are being merged: then no others are
   */
  Wishes decide(KnownRecords known, boolean merging, Supplier<Balancer.Cluster> about)
      throws IOException {
    long now = runtime.nanoTime();
    boolean hotDue = now - nextHotNanos >= 0;
    boolean smallDue = small.isPresent() && !merging && now - nextSmallNanos >= 0;
    if ((!hotDue && !smallDue) || !balance.isOn()) {
      return Wishes.NONE;
    }
    Balancer.Cluster cluster = about.get();
    List<TabletId> split = List.of();
    if (hotDue) {
      nextHotNanos = now + CHECK_HOT_EVERY.toNanos();
      split = hot.toSplit(known.loads(), cluster, now);
    }
    List<SmallTablets.Pair> merge = List.of();
    if (smallDue) {
      nextSmallNanos = now + checkSmallEvery.toNanos();
      merge = small.orElseThrow().toMerge(known.all(), known.loads(), cluster, tables, now);
    }
    return new Wishes(split, merge);
  }
}
