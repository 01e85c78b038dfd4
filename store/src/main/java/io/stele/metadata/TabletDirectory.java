package io.stele.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The known locations of one table's tablets, and the callers that wait for unknown ones.
 *
 * <p>One read of METADATA at a time serves all callers that wait for a tablet, and those that wait
 * for neighbouring tablets whose records it has. The longer a tablet is away, the less often its
 * record is read: a caller waits at most a quarter longer than the tablet is away, and after two
 * seconds there are at most two to four reads per second. For rows of unknown tablets a few reads
 * may run at a time.
 *
 * <p>A caller waits until the tablet is served or its own deadline is over.
 *
 * <p>Safe for use by any number of threads; nothing here blocks. The monitor is held only while
 * fields change: reads, timers and futures run afterwards.
 */
final class TabletDirectory {
  /** How many reads may run at a time for rows of unknown tablets. */
  private static final int UNKNOWN_READS_MAX = 8;

  /** If a tablet was served for at least this long, pauses start short again. */
  private static final Duration GOOD_FOR = Duration.ofSeconds(5);

  /** The record of a tablet that does not answer is read at most so often. */
  private static final Duration CHECK_EVERY = Duration.ofSeconds(1);

  private final ProcessRuntime runtime;
  private final TableId table;
  private final Source source;

  // By key of the METADATA row: a row's tablet is the first at or above the row's lookup key.
  // Changed under the monitor, read without it.
  private final ConcurrentSkipListMap<Bytes, Place> places = new ConcurrentSkipListMap<>();

  @GuardedBy("this")
  private final Set<Waiter> unknown = new LinkedHashSet<>();

  @GuardedBy("this")
  private int unknownReads;

  @GuardedBy("this")
  private boolean closed;

  /** Reads METADATA; never blocks. */
  @FunctionalInterface
  interface Source {
    /**
     * Records of neighbouring tablets, the first of them at or after {@code row}; fails with
     * NOT_FOUND if the table has none.
     */
    CompletableFuture<List<TabletRecord>> read(Bytes row);
  }

  /** A tablet as its record was last read. */
  private static final class Place {
    final RowRange extent;
    final Optional<TabletLocation> location;
    final Set<Waiter> waiters = new LinkedHashSet<>(); // Guarded by the directory.
    volatile boolean usable; // Written under the directory's monitor.

    // Guarded by the directory.
    boolean read; // Since the tablet was last found to be away.
    long readNanos;
    long awaySinceNanos;
    long doubtedNanos; // When it was last found not to be usable.
    long dueNanos; // When it is read next.
    boolean reading; // Or about to.
    long checkedNanos; // When the last check began.
    CompletableFuture<Void> check = CompletableFuture.completedFuture(null); // The last one.

    Place(TabletRecord record, long readNanos) {
      this.extent = record.extent();
      this.location = record.location();
      this.usable = location.isPresent();
      this.read = !usable;
      this.readNanos = readNanos;
      this.awaySinceNanos = readNanos;
      this.doubtedNanos = readNanos;
      this.checkedNanos = readNanos;
    }

    boolean isAt(ServerId server) {
      return location.filter(known -> known.server().equals(server)).isPresent();
    }

    boolean says(TabletRecord record) {
      return extent.equals(record.extent()) && location.equals(record.location());
    }
  }

  /** A caller that waits for the location of a row. */
  private static final class Waiter {
    final Bytes row;
    final long sinceNanos;
    final CompletableFuture<TabletLocation> result = new CompletableFuture<>();

    // Guarded by the directory.
    Optional<Place> place = Optional.empty();
    boolean ended;
    String why = "METADATA was not read in time";
    Optional<String> reason = Optional.empty(); // Why METADATA was not read.

    Waiter(Bytes row, long nowNanos) {
      this.row = row;
      this.sinceNanos = nowNanos;
    }
  }

  /** A directory in which nothing is known. */
  TabletDirectory(ProcessRuntime runtime, TableId table, Source source) {
    this.runtime = runtime;
    this.table = table;
    this.source = source;
  }

  /** The known location of the row, without asking. */
  Optional<TabletLocation> cached(Bytes row) {
    return placeOf(row).filter(place -> place.usable).flatMap(place -> place.location);
  }

  /**
   * The tablet that contains {@code row}, once it is served.
   *
   * <p>The future fails with RETRY_LATER when {@code deadline} is over, with NOT_FOUND if the table
   * has no tablets, and otherwise with the failure of the read of METADATA, if a retry would not
   * help.
   */
  CompletableFuture<TabletLocation> locate(Bytes row, Deadline deadline) {
    Optional<TabletLocation> found = cached(row);
    if (found.isPresent()) {
      return CompletableFuture.completedFuture(found.get());
    }
    Waiter waiter = new Waiter(row, runtime.nanoTime());
    Timer timer = runtime.after(deadline.remaining(), () -> expire(waiter));
    waiter.result.whenComplete(
        (location, failure) -> {
          timer.cancel();
          end(waiter);
        });
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      admit(waiter, after);
    }
    after.forEach(Runnable::run);
    return waiter.result;
  }

  /** The tablet was not at this location: the next lookup reads METADATA again. */
  synchronized void forget(TabletLocation location) {
    Optional<Place> known = placeOf(location.extent().start()).filter(place -> place.usable);
    if (known.isPresent() && known.get().location.equals(Optional.of(location))) {
      Place place = known.get();
      place.usable = false;
      place.doubtedNanos = runtime.nanoTime();
      if (place.doubtedNanos - place.readNanos > GOOD_FOR.toNanos()) {
        place.read = false;
        place.awaySinceNanos = place.doubtedNanos;
      }
    }
  }

  /**
   * Reads the record of a tablet whose server does not answer: the tablet may be elsewhere by now.
   * The location stays in use meanwhile. All callers share one read a second.
   *
   * @return completes when the record was read, or could not be; if it says that the tablet is not
   *     served, when that has changed, or a second later
   */
  CompletableFuture<Void> check(TabletLocation location) {
    Bytes row = location.extent().start();
    Optional<Place> known = placeOf(row).filter(place -> place.usable);
    if (known.isEmpty()) {
      return locate(row, Deadline.after(runtime, CHECK_EVERY)).handle((found, failure) -> null);
    }
    if (!known.get().isAt(location.server())) {
      return CompletableFuture.completedFuture(null);
    }
    Place place = known.get();
    CompletableFuture<Void> done = new CompletableFuture<>();
    long now = runtime.nanoTime();
    synchronized (this) {
      if (!place.check.isDone() || now - place.checkedNanos < CHECK_EVERY.toNanos()) {
        return place.check;
      }
      place.check = done;
      place.checkedNanos = now;
    }
    ask(place.extent.start())
        .whenComplete(
            (found, failure) -> {
              if (failure == null) {
                take(place, found, now);
              }
              done.complete(null);
            });
    return done;
  }

  /** Takes over records, unless others of that place were read meanwhile. */
  private void take(Place place, List<TabletRecord> found, long askedNanos) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      if (placeOf(place.extent.start()).equals(Optional.of(place))) {
        take(found, askedNanos, after);
      }
    }
    after.forEach(Runnable::run);
  }

  /** Forgets all locations; waiting callers keep waiting. */
  synchronized void forget() {
    for (Iterator<Place> all = places.values().iterator(); all.hasNext(); ) {
      if (all.next().usable) {
        all.remove();
      }
    }
  }

  /** Whether nobody waits for anything here. */
  synchronized boolean isIdle() {
    return unknown.isEmpty()
        && unknownReads == 0
        && places.values().stream()
            .allMatch(place -> place.waiters.isEmpty() && place.check.isDone());
  }

  /** Fails all present and future callers. */
  void close() {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      closed = true;
      failAll(closed(), after);
    }
    after.forEach(Runnable::run);
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("this connection to the cluster is closed");
  }

  private Optional<Place> placeOf(Bytes row) {
    return Optional.ofNullable(places.ceilingEntry(MetadataKeys.lookup(table, row)))
        .map(Map.Entry::getValue)
        .filter(place -> place.extent.contains(row));
  }

  // The methods below are called under the monitor; work that must run without it goes to `after`.

  @GuardedBy("this")
  private void admit(Waiter waiter, List<Runnable> after) {
    Optional<Place> known = placeOf(waiter.row);
    if (waiter.ended) {
      return;
    }
    if (closed) {
      after.add(() -> waiter.result.completeExceptionally(closed()));
    } else if (known.isEmpty()) {
      unknown.add(waiter);
      readUnknown(after);
    } else if (known.get().usable) {
      after.add(() -> waiter.result.complete(known.get().location.orElseThrow()));
    } else {
      waiter.place = known;
      known.get().waiters.add(waiter);
      readLater(known.get(), after);
    }
  }

  private void readLater(Place place, List<Runnable> after) {
    if (place.reading || place.waiters.isEmpty()) {
      return;
    }
    place.reading = true;
    place.dueNanos = place.readNanos + pauseNanos(place);
    after.add(() -> readWhenDue(place));
  }

  private long pauseNanos(Place place) {
    return place.read ? Attempts.pause(runtime, place.awaySinceNanos).toNanos() : 0;
  }

  @GuardedBy("this")
  private void readUnknown(List<Runnable> after) {
    for (Iterator<Waiter> all = unknown.iterator();
        all.hasNext() && unknownReads < UNKNOWN_READS_MAX; ) {
      Waiter waiter = all.next();
      all.remove();
      if (placeOf(waiter.row).isPresent()) {
        admit(waiter, after);
      } else {
        unknownReads++;
        after.add(() -> readUnknown(waiter));
      }
    }
  }

  /**
   * Takes over records from METADATA. One read serves all places whose records it has.
   *
   * @param askedNanos when the request was sent
   */
  @GuardedBy("this")
  private void take(List<TabletRecord> records, long askedNanos, List<Runnable> after) {
    long now = runtime.nanoTime();
    List<Waiter> displaced = new ArrayList<>();
    for (TabletRecord record : records) {
      Bytes key = MetadataKeys.row(table, record.extent().end());
      Place known = places.get(key);
      if (known == null || !known.says(record)) {
        Iterator<Place> above =
            places
                .tailMap(MetadataKeys.lookup(table, record.extent().start()), true)
                .values()
                .iterator();
        while (above.hasNext()) {
          Place old = above.next();
          if (old.extent.intersection(record.extent()).isEmpty()) {
            break;
          }
          above.remove();
          displaced.addAll(old.waiters);
          old.waiters.clear();
        }
        places.put(key, new Place(record, now));
      } else if (!known.usable && askedNanos - known.doubtedNanos >= 0) {
        known.read = true;
        known.readNanos = now;
        known.dueNanos = now + pauseNanos(known);
        known.usable = known.location.isPresent();
        if (known.usable) {
          displaced.addAll(known.waiters);
          known.waiters.clear();
        }
      }
    }
    displaced.forEach(waiter -> admit(waiter, after));
  }

  @GuardedBy("this")
  private void failAll(Throwable why, List<Runnable> after) {
    List<Waiter> all = new ArrayList<>(unknown);
    places.values().forEach(place -> all.addAll(place.waiters));
    places.values().forEach(place -> place.waiters.clear());
    unknown.clear();
    places.clear();
    all.forEach(waiter -> after.add(() -> waiter.result.completeExceptionally(why)));
  }

  private static boolean mayPass(Throwable failure) {
    return failure instanceof SteleException known
        ? known.code() == Code.RETRY_LATER || known.code() == Code.OUTCOME_UNKNOWN
        : failure instanceof IOException;
  }

  private static boolean isGone(Throwable failure) {
    return failure instanceof SteleException known && known.code() == Code.NOT_FOUND;
  }

  // The methods below are called without the monitor.

  private synchronized void end(Waiter waiter) {
    waiter.ended = true;
    unknown.remove(waiter);
    waiter.place.ifPresent(place -> place.waiters.remove(waiter));
  }

  private void expire(Waiter waiter) {
    String tablet = "the tablet of table " + table + " with row \"" + waiter.row + "\"";
    String reason;
    synchronized (this) {
      reason =
          waiter
              .place
              .map(place -> place.location)
              .map(
                  known ->
                      known
                          .map(
                              at ->
                                  tablet
                                      + " is not at "
                                      + at.server()
                                      + ", where it was last known to be")
                          .orElse("no server serves " + tablet + " now"))
              .or(() -> waiter.reason)
              .orElse(tablet + ": " + waiter.why);
    }
    waiter.result.completeExceptionally(new TimedOutException(reason));
  }

  /** Reads a place when its time has come; meanwhile another's read may have put that off. */
  private void readWhenDue(Place place) {
    long now = runtime.nanoTime();
    long left;
    synchronized (this) {
      if (place.waiters.isEmpty() || closed) {
        place.reading = false;
        return;
      }
      left = place.dueNanos - now;
    }
    if (left > 0) {
      runtime.after(Duration.ofNanos(left), () -> readWhenDue(place));
    } else {
      CompletableFuture<List<TabletRecord>> records = ask(place.extent.start());
      records.whenComplete((found, failure) -> tell(place, now, found, failure));
    }
  }

  private void tell(Place place, long askedNanos, List<TabletRecord> found, Throwable failure) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      place.reading = false;
      if (failure == null) {
        take(found, askedNanos, after);
        if (found.stream().noneMatch(place::says)) { // It is about to be in another tablet.
          place.read = true;
          place.readNanos = runtime.nanoTime();
        }
      } else {
        Throwable cause = Futures.cause(failure);
        place.read = true;
        place.readNanos = runtime.nanoTime();
        if (isGone(cause)) {
          failAll(cause, after);
        } else if (!mayPass(cause)) {
          List<Waiter> waiters = List.copyOf(place.waiters);
          place.waiters.clear();
          waiters.forEach(waiter -> after.add(() -> waiter.result.completeExceptionally(cause)));
        }
      }
      readLater(place, after);
    }
    after.forEach(Runnable::run);
  }

  private void readUnknown(Waiter waiter) {
    long askedNanos = runtime.nanoTime();
    CompletableFuture<List<TabletRecord>> records = ask(waiter.row);
    records.whenComplete((found, failure) -> tell(waiter, askedNanos, found, failure));
  }

  private void tell(Waiter waiter, long askedNanos, List<TabletRecord> found, Throwable failure) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      unknownReads--;
      Throwable cause = failure == null ? null : Futures.cause(failure);
      if (cause == null) {
        take(found, askedNanos, after);
      }
      if (cause != null && isGone(cause)) {
        unknown.add(waiter);
        failAll(cause, after);
      } else if (cause != null && !mayPass(cause)) {
        after.add(() -> waiter.result.completeExceptionally(cause));
      } else if (cause == null && placeOf(waiter.row).isPresent()) {
        admit(waiter, after);
      } else {
        waiter.why = cause == null ? "METADATA has no record of it now" : text(cause);
        waiter.reason =
            cause instanceof TimedOutException late
                ? Optional.of((table.isSystem() ? "" : "METADATA cannot be read: ") + late.reason())
                : Optional.empty();
        Duration pause = Attempts.pause(runtime, waiter.sinceNanos);
        after.add(() -> runtime.after(pause, () -> admitAgain(waiter)));
      }
      readUnknown(after);
    }
    after.forEach(Runnable::run);
  }

  private void admitAgain(Waiter waiter) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      admit(waiter, after);
    }
    after.forEach(Runnable::run);
  }

  private CompletableFuture<List<TabletRecord>> ask(Bytes row) {
    try {
      return source.read(row);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static String text(Throwable cause) {
    return "METADATA cannot be read: "
        + (cause.getMessage() == null ? cause.toString() : cause.getMessage());
  }
}
