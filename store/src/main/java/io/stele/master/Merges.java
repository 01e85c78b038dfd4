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
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tablets that will be merged with the tablet before them.
 *
 * <p>As long as neither record is marked, the wish for a merge exists only in the memory of one
 * master: the tablets are unloaded one after the other, and not assigned until both are free. If
 * the wish ends, they stay unmerged and are assigned again. Once the record is marked, the records
 * contain everything, and any master continues: {@link MergeRecords}.
 *
 * <p>Any thread may request a merge; a request never waits. The other methods are for the single
 * thread of the master's loop.
 */
final class Merges {
  private static final Logger LOG = LoggerFactory.getLogger(Merges.class);

  /** A wish that is not granted by then is given up: a server cannot unload its tablet. */
  private static final Duration WISH_MAX = Duration.ofSeconds(15);

  private static final int WISHES_MAX = 1000;

  /** How long a refusal is kept for the client that asked; one that asks later begins anew. */
  private static final Duration TOLD = Duration.ofMinutes(10);

  private static final int REFUSALS_MAX = 1000;

  /** The request of the master itself, which asks for no answer. */
  static final String NOBODY = "";

  private final ProcessRuntime runtime;
  private final MergeRecords records;

  @GuardedBy("this")
  private final Map<TabletId, Wish> wishes = new TreeMap<>(); // By the upper tablet.

  @GuardedBy("this")
  private final Map<String, Refusal> refusals = new LinkedHashMap<>(); // By request, oldest first.

  private volatile Set<TabletId> taken = Set.of(); // The tablets of the wishes.

  /** The upper tablets of marked merges that METADATA refuses: assigned, they end the merge. */
  private final Set<TabletId> refused = new HashSet<>();

  /**
   * A wish.
   *
   * @param request whose wish it is
   * @param fresh whether both records were read since the request
   */
  private record Wish(
      TabletId lower, TabletId upper, String request, long endNanos, boolean fresh) {
    Wish afterReading() {
      return new Wish(lower, upper, request, endNanos, true);
    }
  }

  /** Why a wish was not granted. */
  private record Refusal(String why, long endNanos) {}

  /**
   * The result of one look.
   *
   * @param changed records as they are now
   * @param removed records that are gone
   * @param unload tablets that their servers must unload
   * @param complete whether nothing is left for the next step
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
   * Requests the merge of two neighbours; repeating a request changes nothing.
   *
   * @param request to which {@link #refusal} tells why they are not merged
   * @return whether they will be merged; false if too many merges wait, or one of the tablets is in
   *     another
   */
  synchronized boolean ask(TabletRecord lower, TabletRecord upper, String request) {
    Wish known = wishes.get(upper.id());
    if (known != null && known.lower().equals(lower.id())) {
      return true;
    }
    if (taken.contains(lower.id()) || taken.contains(upper.id()) || wishes.size() >= WISHES_MAX) {
      return false;
    }
    long end = runtime.nanoTime() + WISH_MAX.toNanos();
    wishes.put(upper.id(), new Wish(lower.id(), upper.id(), request, end, false));
    changed();
    return true;
  }

  @GuardedBy("this")
  private void changed() {
    Set<TabletId> now = new HashSet<>(); // Only used for membership tests.
    for (Wish wish : wishes.values()) {
      now.add(wish.lower());
      now.add(wish.upper());
    }
    taken = now;
  }

  /** Whether the tablet will be merged with a neighbour. */
  boolean has(TabletId tablet) {
    return taken.contains(tablet);
  }

  /** The tablets that will be merged. */
  Set<TabletId> tablets() {
    return Collections.unmodifiableSet(taken);
  }

  /** Whether any tablets will be merged. */
  boolean isInProgress() {
    return !taken.isEmpty();
  }

  /** Holds for the known unassigned tablets that must not be assigned now. */
  Predicate<TabletRecord> held(KnownRecords known) {
    Set<TabletId> uppers = new HashSet<>();
    for (TabletRecord lower : known.merging()) {
      Optional.ofNullable(known.byId().get(lower.tentative().orElseThrow().parent()))
          .filter(upper -> MergeRecords.canFinish(lower, upper) && !refused.contains(upper.id()))
          .ifPresent(upper -> uppers.add(upper.id()));
    }
    return record ->
        record.isMerging()
            || uppers.contains(record.id())
            || (MergeRecords.isFree(record) && has(record.id()));
  }

  /** All wishes; at the next call the records of the present wishes count as reread. */
  private synchronized List<Wish> takeAll() {
    List<Wish> all = List.copyOf(wishes.values());
    wishes.replaceAll((upper, wish) -> wish.afterReading());
    refusals.values().removeIf(refusal -> runtime.nanoTime() - refusal.endNanos() >= 0);
    return all;
  }

  private synchronized void end(Wish wish) {
    wishes.remove(wish.upper());
    changed();
  }

  /** Ends a wish; what was unloaded for it will be assigned again. */
  private synchronized void refuse(Wish wish, TabletRecord lower, TabletRecord upper, String why) {
    LOG.info("{} and {} are not merged: {}", lower, upper, why);
    end(wish);
    if (wish.request().equals(NOBODY)) {
      return;
    }
    if (refusals.size() >= REFUSALS_MAX) {
      refusals.remove(refusals.keySet().iterator().next());
    }
    refusals.put(wish.request(), new Refusal(why, runtime.nanoTime() + TOLD.toNanos()));
  }

  /**
   * Why tablets were not merged as {@code request} asked. Another request is a new wish, as the
   * obstacle may be gone.
   */
  synchronized Optional<String> refusal(String request) {
    return Optional.ofNullable(refusals.get(request))
        .filter(refusal -> runtime.nanoTime() - refusal.endNanos() < 0)
        .map(Refusal::why);
  }

  /**
   * Continues the merges that can continue.
   *
   * @param records all valid ones
   * @param dropping tables being dropped, whose tablets are not merged
   * @param reachable whether a record can be written now
   */
  Outcome advance(KnownRecords records, Set<TableId> dropping, Predicate<TabletRecord> reachable) {
    Map<TabletId, TabletRecord> known = records.byId();
    Outcome outcome = new Outcome();
    boolean complete = true;
    Set<TabletId> marked = new TreeSet<>();
    for (TabletRecord lower : marked(records.merging(), known, dropping)) {
      marked.add(lower.id());
      if (reachable.test(lower)) {
        complete &= tried(() -> advance(lower, known, outcome));
      }
    }
    for (Wish wish : takeAll()) {
      TabletRecord lower = known.get(wish.lower());
      TabletRecord upper = known.get(wish.upper());
      if (lower == null || upper == null || dropping.contains(wish.upper().table())) {
        end(wish); // It is done, or one of the tablets was split.
      } else if (!marked.contains(lower.id())) {
        if (runtime.nanoTime() - wish.endNanos() >= 0) { // Whatever it waits for.
          refuse(wish, lower, upper, "it took too long");
          complete = false;
        } else if (reachable.test(lower) && reachable.test(upper)) {
          complete &= tried(() -> advance(wish, lower, upper, outcome));
        }
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

  /**
   * Returns whether nothing must be retried.
   *
   * @param work returns whether nothing of it is left for the next step
   */
  private static boolean tried(IoCallable<Boolean> work) {
    try {
      return work.call();
    } catch (RecordChangedException e) {
      LOG.debug("A record was changed by somebody else", e);
    } catch (IOException | SteleException e) {
      LOG.warn("A merge cannot go on now; will retry: {}", e.toString());
    }
    return false;
  }

  private boolean advance(Wish wish, TabletRecord lower, TabletRecord upper, Outcome outcome)
      throws IOException {
    if (!wish.fresh()) {
      return false; // A server may have changed them since they were read.
    }
    Optional<String> obstacle = MergeRecords.obstacle(lower, upper);
    if (obstacle.isPresent()) {
      refuse(wish, lower, upper, obstacle.get());
      return false;
    }
    if (MergeRecords.isFree(lower) && MergeRecords.isFree(upper) && !upper.isMerging()) {
      TabletId merged = TabletId.random(lower.id().table(), runtime.random());
      return finish(records.begin(lower, upper, merged), upper, outcome);
    }
    nextToUnload(lower, upper).ifPresent(outcome.unload()::add);
    return false;
  }

  /**
   * The tablet to unload now. One after the other, the larger first: its server may be busy with it
   * for a while, in which the other is served; that one is then unloaded quickly. None while one of
   * them is being loaded, or waits to be: what is in logs comes into files so.
   */
  private static Optional<TabletRecord> nextToUnload(TabletRecord lower, TabletRecord upper) {
    List<TabletRecord> left =
        Stream.of(lower, upper).filter(record -> !MergeRecords.isFree(record)).toList();
    return left.stream().allMatch(record -> record.location().isPresent())
        ? left.stream().max(Comparator.comparingLong(TabletRecord::fileBytes))
        : Optional.empty();
  }

  /** Continues a merge that is marked in the lower record. */
  private boolean advance(TabletRecord lower, Map<TabletId, TabletRecord> known, Outcome outcome)
      throws IOException {
    TabletRecord upper = known.get(lower.tentative().orElseThrow().parent());
    if (upper != null && MergeRecords.canFinish(lower, upper)) {
      return finish(lower, upper, outcome);
    }
    Optional<TabletRecord> now = records.giveUp(lower);
    refused.remove(lower.tentative().orElseThrow().parent());
    LOG.info("{} is not merged: the tablet after it was assigned meanwhile", lower);
    now.ifPresentOrElse(outcome.changed()::add, () -> outcome.removed().add(lower));
    return true;
  }

  private TabletRecord merge(TabletRecord lower, TabletRecord upper) throws IOException {
    try {
      return records.finish(lower, upper);
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.REFUSED) { // And so it would be again.
        LOG.error("{} and {} cannot be merged and are assigned again", lower, upper, e);
        refused.add(upper.id());
        refuse(lower, upper, "METADATA refuses it: " + e.getMessage());
      }
      throw e;
    }
  }

  /** Ends the wish if there is one: another master may have marked the record. */
  private synchronized void refuse(TabletRecord lower, TabletRecord upper, String why) {
    Wish wish = wishes.get(upper.id());
    if (wish != null) {
      refuse(wish, lower, upper, why);
    }
  }

  private boolean finish(TabletRecord lower, TabletRecord upper, Outcome outcome)
      throws IOException {
    outcome.changed().add(lower); // Marked, even if what follows fails.
    TabletRecord merged = merge(lower, upper);
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
