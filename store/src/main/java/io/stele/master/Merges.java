package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.MergeRecords;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tablets that will be merged with the tablet before them.
 *
 * <p>As long as neither record is marked, a wish lives in the memory of one master: both tablets
 * are unloaded, and are not assigned until both are free. A wish that ends leaves them as they are,
 * to be assigned again. Once the record is marked, the records contain everything, and any master
 * continues: {@link MergeRecords}.
 *
 * <p>Any thread may request a merge, which never waits; the rest is for the one thread of the
 * master's loop.
 */
final class Merges {
  private static final Logger LOG = LoggerFactory.getLogger(Merges.class);

  /** What is not done by then is given up: a server cannot let go of its tablet. */
  private static final Duration WISH_MAX = Duration.ofSeconds(15);

  private static final int WISHES_MAX = 1000;

  /** For so long a reason waits for whoever asked to ask again, which they do more often. */
  private static final Duration TOLD = Duration.ofSeconds(1);

  private final ProcessRuntime runtime;
  private final MergeRecords records;

  @GuardedBy("this")
  private final Map<TabletId, Wish> wishes = new TreeMap<>(); // By the upper tablet.

  @GuardedBy("this")
  private final Map<TabletId, Refusal> refusals = new TreeMap<>(); // By the upper tablet.

  private volatile Set<TabletId> taken = Set.of(); // The tablets of the wishes.

  /**
   * A wish.
   *
   * @param fresh whether both records were read since it was asked for
   */
  private record Wish(TabletId lower, TabletId upper, long endNanos, boolean fresh) {}

  /** Why a wish was not granted. */
  private record Refusal(String why, long endNanos) {}

  /**
   * What came of one look.
   *
   * @param changed records as they are now
   * @param removed records that are gone
   * @param unload tablets that their servers are to let go of
   * @param complete whether nothing is left to the next step
   */
  record Outcome(
      List<TabletRecord> changed,
      List<TabletRecord> removed,
      List<TabletRecord> unload,
      boolean complete) {
    private Outcome() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), true);
    }
  }

  Merges(ProcessRuntime runtime, TabletRecords records) {
    this.runtime = runtime;
    this.records = new MergeRecords(records);
  }

  /**
   * Asks for two neighbours to be merged; the same again changes nothing.
   *
   * @return whether they are to be; else too many are, or one of them with another
   */
  synchronized boolean ask(TabletRecord lower, TabletRecord upper) {
    Wish known = wishes.get(upper.id());
    if (known != null && known.lower().equals(lower.id())) {
      return true;
    }
    if (taken.contains(lower.id()) || taken.contains(upper.id()) || wishes.size() >= WISHES_MAX) {
      return false;
    }
    long end = runtime.nanoTime() + WISH_MAX.toNanos();
    wishes.put(upper.id(), new Wish(lower.id(), upper.id(), end, false));
    changed();
    return true;
  }

  @GuardedBy("this")
  private void changed() {
    Set<TabletId> now = new HashSet<>(); // Only ever asked what it contains.
    for (Wish wish : wishes.values()) {
      now.add(wish.lower());
      now.add(wish.upper());
    }
    taken = now;
  }

  /** Whether the tablet is to become one with a neighbour. */
  boolean has(TabletId tablet) {
    return taken.contains(tablet);
  }

  /** The tablets that are to. */
  Set<TabletId> tablets() {
    return Collections.unmodifiableSet(taken);
  }

  /** Whether any are to. */
  boolean isUnderWay() {
    return !taken.isEmpty();
  }

  /** Tells which unassigned tablets must not be assigned now, of all that are known. */
  Predicate<TabletRecord> held(KnownRecords known) {
    Set<TabletId> uppers = new HashSet<>();
    for (TabletRecord lower : known.merging()) {
      Optional.ofNullable(known.byId().get(lower.tentative().orElseThrow().parent()))
          .filter(upper -> MergeRecords.canFinish(lower, upper))
          .ifPresent(upper -> uppers.add(upper.id()));
    }
    return record ->
        record.isMerging()
            || uppers.contains(record.id())
            || (MergeRecords.isFree(record) && has(record.id()));
  }

  /** All wishes; when they are taken next, the records of those there are now were read again. */
  private synchronized List<Wish> takeAll() {
    List<Wish> all = List.copyOf(wishes.values());
    wishes.replaceAll((upper, wish) -> new Wish(wish.lower(), wish.upper(), wish.endNanos(), true));
    refusals.values().removeIf(refusal -> runtime.nanoTime() - refusal.endNanos() >= 0);
    return all;
  }

  private synchronized void end(Wish wish) {
    wishes.remove(wish.upper());
    changed();
  }

  private synchronized void refuse(Wish wish, String why) {
    end(wish);
    refusals.put(wish.upper(), new Refusal(why, runtime.nanoTime() + TOLD.toNanos()));
  }

  /**
   * Why the tablet was, just now, not merged with the one before it. Said once: what is asked for
   * after that is a new wish, and what was in its way may be gone.
   */
  synchronized Optional<String> takeRefusal(TabletId upper) {
    return Optional.ofNullable(refusals.remove(upper))
        .filter(refusal -> runtime.nanoTime() - refusal.endNanos() < 0)
        .map(Refusal::why);
  }

  /**
   * Goes on with what can go on.
   *
   * @param records all that count
   * @param dropping tables that are on their way out, of which nothing is merged
   * @param reachable whether a record can be written now
   */
  Outcome goOn(KnownRecords records, Set<TableId> dropping, Predicate<TabletRecord> reachable) {
    Map<TabletId, TabletRecord> known = records.byId();
    Outcome outcome = new Outcome();
    boolean complete = true;
    Set<TabletId> marked = new TreeSet<>();
    for (TabletRecord lower : marked(records.merging(), known, dropping)) {
      marked.add(lower.id());
      if (reachable.test(lower)) {
        complete &= tried(() -> goOn(lower, known, outcome));
      }
    }
    for (Wish wish : takeAll()) {
      TabletRecord lower = known.get(wish.lower());
      TabletRecord upper = known.get(wish.upper());
      if (lower == null || upper == null || dropping.contains(wish.upper().table())) {
        end(wish); // It is done, or one of them was split.
      } else if (!marked.contains(lower.id()) && reachable.test(lower) && reachable.test(upper)) {
        complete &= tried(() -> goOn(wish, lower, upper, outcome));
      }
    }
    return new Outcome(outcome.changed(), outcome.removed(), outcome.unload(), complete);
  }

  private static List<TabletRecord> marked(
      Collection<TabletRecord> merging, Map<TabletId, TabletRecord> known, Set<TableId> dropping) {
    return merging.stream()
        .filter(record -> known.containsKey(record.id()))
        .filter(record -> !dropping.contains(record.id().table()))
        .toList();
  }

  private interface Work {
    /** Returns whether nothing of it is left to the next step. */
    boolean run() throws IOException;
  }

  /** Returns whether nothing is left to be tried again. */
  private static boolean tried(Work work) {
    try {
      return work.run();
    } catch (RecordChangedException e) {
      LOG.debug("A record was changed by somebody else", e);
    } catch (IOException | SteleException e) {
      LOG.warn("A merge cannot go on now; will retry: {}", e.toString());
    }
    return false;
  }

  private boolean goOn(Wish wish, TabletRecord lower, TabletRecord upper, Outcome outcome)
      throws IOException {
    if (!wish.fresh()) {
      return false; // A server may have changed them, without any news, since they were read.
    }
    Optional<String> obstacle = MergeRecords.obstacle(lower, upper);
    if (obstacle.isPresent() || runtime.nanoTime() - wish.endNanos() >= 0) {
      String why = obstacle.orElse("it took too long");
      LOG.info("{} and {} are not merged: {}", lower, upper, why);
      refuse(wish, why);
      return false; // They are to be assigned again.
    }
    if (MergeRecords.isFree(lower) && MergeRecords.isFree(upper) && !upper.isMerging()) {
      TabletId merged = TabletId.random(lower.id().table(), runtime.random());
      return finish(records.begin(lower, upper, merged), upper, outcome);
    }
    for (TabletRecord record : List.of(lower, upper)) {
      if (record.location().isPresent()) {
        outcome.unload().add(record);
      } // Otherwise it is being loaded, or waits to be: what is in logs comes into files so.
    }
    return true;
  }

  /** Goes on with a merge of which the lower record tells. */
  private boolean goOn(TabletRecord lower, Map<TabletId, TabletRecord> known, Outcome outcome)
      throws IOException {
    TabletRecord upper = known.get(lower.tentative().orElseThrow().parent());
    if (upper != null && MergeRecords.canFinish(lower, upper)) {
      return finish(lower, upper, outcome);
    }
    Optional<TabletRecord> now = records.giveUp(lower);
    LOG.info("{} is not merged: the tablet after it was assigned meanwhile", lower);
    now.ifPresentOrElse(outcome.changed()::add, () -> outcome.removed().add(lower));
    return true;
  }

  private boolean finish(TabletRecord lower, TabletRecord upper, Outcome outcome)
      throws IOException {
    outcome.changed().add(lower); // As it is marked, if what follows fails.
    TabletRecord merged = records.finish(lower, upper);
    LOG.info("Merged {} and {} into {}", lower, upper, merged);
    outcome.changed().remove(lower);
    outcome.removed().add(lower);
    outcome.changed().add(merged);
    return true;
  }

  /** The tablet before {@code upper} in its table, as {@code known}. */
  static Optional<TabletRecord> before(
      TabletRecord upper, NavigableMap<TabletId, TabletRecord> known) {
    Bytes start = upper.extent().start();
    return start.isEmpty()
        ? Optional.empty()
        : KnownRecords.of(upper.id().table(), known).stream()
            .filter(record -> record.extent().end().equals(start))
            .findFirst();
  }
}
