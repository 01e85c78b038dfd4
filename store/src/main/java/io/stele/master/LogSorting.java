package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.log.FencedLog;
import io.stele.log.Segment;
import io.stele.log.SegmentSorter;
import io.stele.log.SegmentSummary;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has live servers sort the logs of dead ones, a few segments each, before the tablets are assigned
 * (section 6 of the paper). Otherwise each server that gets some of the tablets would read the
 * whole log.
 *
 * <p>A tablet waits only for segments that may have its records. It never waits forever. A segment
 * that a server cannot sort counts as done, because the segment itself can be read; so does one
 * that makes no progress for some time. If a server dies, the others sort its segments. No state is
 * stored: the next master finds out which segments are not sorted.
 *
 * <p>Safe for use by any number of threads.
 */
final class LogSorting {
  private static final Logger LOG = LoggerFactory.getLogger(LogSorting.class);
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int AT_ONCE_PER_SERVER = 3;
  private static final int READERS = 4; // Of the summaries of one log.

  /** A host that vanishes without a word lets a read wait for a minute. */
  private static final Duration SUMMARIES_WAIT = Duration.ofSeconds(2);

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final TabletServers requests;
  private final LoopSignal signal;
  private final long bytesMin;

  @GuardedBy("this")
  private final Map<ServerId, Sorting> sortings = new TreeMap<>();

  /** A segment that is not sorted. */
  private static final class Unsorted {
    final String name;
    Optional<SegmentSummary> summary; // Empty until it is read.
    Optional<ServerId> sorter = Optional.empty();

    Unsorted(String name, Optional<SegmentSummary> summary) {
      this.name = name;
      this.summary = summary;
    }

    boolean mayHave(TabletRecord record) {
      return summary.isEmpty() || summary.get().has(record.id(), record.redo().sequence());
    }
  }

  /** The segments of one log that are not sorted. */
  private static final class Sorting {
    final List<Unsorted> unsorted = new ArrayList<>();
    final Set<String> known = new HashSet<>(); // The names of all segments, sorted or not.
    long bytes; // Of the known segments.
    boolean complete; // All segments are known.
    long progressNanos;

    Sorting(long nowNanos) {
      this.progressNanos = nowNanos;
    }

    /** Adds a segment that is not sorted; false if it is known. */
    boolean add(Unsorted segment, long segmentBytes, long nowNanos) {
      if (!known.add(segment.name)) {
        return false;
      }
      unsorted.add(segment);
      bytes += segmentBytes;
      progressNanos = nowNanos;
      order();
      return true;
    }

    /** Segments that may have records of any tablet come first. */
    void order() {
      unsorted.sort(
          Comparator.comparing((Unsorted segment) -> segment.summary.isPresent())
              .thenComparing(segment -> segment.name));
    }

    /** Whether a segment that is not yet sorted may have records of the tablet. */
    boolean mayHave(TabletRecord record) {
      return !complete || unsorted.stream().anyMatch(segment -> segment.mayHave(record));
    }

    boolean isDone() {
      return complete && unsorted.isEmpty();
    }
  }

  /**
   * No log is being sorted yet.
   *
   * @param signal called when tablets may have become ready
   * @param bytesMin logs with fewer bytes are not sorted
   */
  LogSorting(
      ProcessRuntime runtime,
      FileSystem fs,
      TabletServers requests,
      LoopSignal signal,
      long bytesMin) {
    this.runtime = runtime;
    this.fs = fs;
    this.requests = requests;
    this.signal = signal;
    this.bytesMin = bytesMin;
  }

  /**
   * Begins to sort the log of a server, of which not all segments may be closed.
   *
   * @param directory of the log
   * @return to be run when segments are being closed, which may take seconds: has those sorted
   *     meanwhile that are closed
   */
  Runnable begin(ServerId server, Path directory) {
    Sorting sorting = sorting(server);
    return () -> runtime.start("ended-segments", () -> addClosed(sorting, directory));
  }

  /**
   * Has the rest of the log sorted: all its segments are closed and listed. If they cannot be found
   * now, the log is not sorted, but read as it is.
   *
   * @param directory of the log
   */
  void complete(ServerId server, Path directory) {
    try {
      addRest(server, directory);
    } catch (IOException e) {
      LOG.warn("The log of {} is not sorted, but read as it is: {}", server, e.toString());
      forget(server);
    }
  }

  private synchronized Sorting sorting(ServerId server) {
    return sortings.computeIfAbsent(server, any -> new Sorting(runtime.nanoTime()));
  }

  private void addClosed(Sorting sorting, Path directory) {
    try {
      readSummaries(
          SegmentSorter.closed(fs, directory),
          (segment, summary) -> addClosed(sorting, directory, segment, summary));
    } catch (IOException e) {
      LOG.warn("Sorting the log in {} must wait: {}", directory, e.toString());
    }
  }

  private synchronized void addClosed(
      Sorting sorting, Path directory, Segment segment, SegmentSummary summary) {
    if (!sorting.complete) { // Otherwise it is known, or not listed.
      String name = FencedLog.name(directory, segment);
      sorting.add(
          new Unsorted(name, Optional.of(summary)), segment.lengthBytes(), runtime.nanoTime());
    }
  }

  /** Adds the listed segments that are not known. */
  private void addRest(ServerId server, Path directory) throws IOException {
    List<Segment> added = complete(server, directory, SegmentSorter.unsorted(fs, directory));
    if (added.isEmpty()) {
      return;
    }
    Task reading =
        runtime.start(
            "segment-summaries",
            () ->
                readSummaries(
                    added,
                    (segment, summary) ->
                        summarize(server, FencedLog.name(directory, segment), summary)));
    try {
      runtime.await(reading.ended(), SUMMARIES_WAIT);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "reading the summaries of the log in " + directory);
    }
  }

  /**
   * All segments of the log that are not sorted are known now.
   *
   * @return those that were not known before, if the log is worth sorting
   */
  private synchronized List<Segment> complete(
      ServerId server, Path directory, List<Segment> segments) {
    Sorting sorting = sorting(server);
    List<Segment> added = new ArrayList<>();
    Set<String> names = new HashSet<>();
    long bytes = 0;
    for (Segment segment : segments) {
      Unsorted found = new Unsorted(FencedLog.name(directory, segment), Optional.empty());
      bytes += segment.lengthBytes();
      names.add(found.name);
      if (sorting.add(found, segment.lengthBytes(), runtime.nanoTime())) {
        added.add(segment);
      }
    }
    sorting.unsorted.removeIf(
        known -> !names.contains(known.name)); // Sorted, or its copy is listed.
    sorting.complete = true;
    if (sorting.bytes < bytesMin || sorting.isDone()) {
      sortings.remove(server);
      return List.of();
    }
    LOG.info("{} bytes of the log of {} are still to be sorted", bytes, server);
    return added;
  }

  private void readSummaries(
      Collection<Segment> segments, BiConsumer<Segment, SegmentSummary> read) {
    try (WorkerPool readers = runtime.pool("segment-summary", READERS)) {
      FanOut.each(
          runtime,
          readers,
          READERS,
          segments,
          segment -> summary(segment).ifPresent(summary -> read.accept(segment, summary)));
    } catch (InterruptedException e) {
      Futures.interruptAgain();
    }
  }

  /** Empty, as if the segment might have records of any tablet, if it cannot be read now. */
  private Optional<SegmentSummary> summary(Segment segment) {
    try {
      return SegmentSummary.read(fs, segment);
    } catch (IOException e) {
      LOG.warn("{} cannot be read now: all tablets wait until it is sorted", segment.path(), e);
      return Optional.empty();
    }
  }

  /** Tablets without records in the segment need not wait for it any more. */
  private void summarize(ServerId server, String segment, SegmentSummary summary) {
    synchronized (this) {
      Sorting sorting = sortings.get(server);
      if (sorting == null) {
        return;
      }
      sorting.unsorted.stream()
          .filter(known -> known.name.equals(segment))
          .forEach(known -> known.summary = Optional.of(summary));
      sorting.order();
    }
    signal.wakeUp();
  }

  private synchronized void forget(ServerId server) {
    sortings.remove(server);
  }

  /** Whether everything that the tablet needs is sorted. */
  synchronized boolean isReady(TabletRecord record) {
    if (record.id().table().isSystem()) {
      return true; // Small logs that everything waits for: not sorted.
    }
    for (ServerId log : record.logs()) {
      Sorting sorting = sortings.get(log);
      if (sorting != null && sorting.mayHave(record)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the log of the server is being sorted. */
  synchronized boolean isInProgress(ServerId server) {
    return sortings.containsKey(server);
  }

  /** Whether anything is being sorted. */
  synchronized boolean isInProgress() {
    return !sortings.isEmpty();
  }

  /** Gives work to live servers, and asks which segments are sorted. */
  void advance(Map<ServerId, ServerInfo> live) {
    Map<ServerId, Map<ServerId, List<String>>> asked = new HashMap<>();
    synchronized (this) {
      long now = runtime.nanoTime();
      sortings
          .entrySet()
          .removeIf(log -> log.getValue().isDone() || isStuck(log.getKey(), log.getValue(), now));
      Map<ServerId, Integer> busy = new HashMap<>();
      for (Sorting sorting : sortings.values()) {
        for (Unsorted segment : sorting.unsorted) {
          segment.sorter = segment.sorter.filter(live::containsKey);
          segment.sorter.ifPresent(server -> busy.merge(server, 1, Integer::sum));
        }
      }
      sortings.forEach(
          (dead, sorting) -> {
            if (sorting.bytes < bytesMin) {
              return;
            }
            for (Unsorted segment : sorting.unsorted) {
              segment.sorter = segment.sorter.or(() -> idlest(live, busy));
              segment.sorter.ifPresent(
                  server ->
                      asked
                          .computeIfAbsent(server, any -> new TreeMap<>())
                          .computeIfAbsent(dead, any -> new ArrayList<>())
                          .add(segment.name));
            }
          });
    }
    live.forEach(
        (server, info) ->
            asked
                .getOrDefault(server, Map.of())
                .forEach(
                    (dead, names) ->
                        requests.sort(info, dead, names, sorted -> sorted(dead, sorted))));
  }

  private static boolean isStuck(ServerId dead, Sorting sorting, long now) {
    boolean stuck = !sorting.unsorted.isEmpty() && now - sorting.progressNanos > PATIENCE.toNanos();
    if (stuck) {
      LOG.warn(
          "{} segments of {} were not sorted in {}: they are read as they are",
          sorting.unsorted.size(),
          dead,
          PATIENCE);
    }
    return stuck;
  }

  private static Optional<ServerId> idlest(
      Map<ServerId, ServerInfo> live, Map<ServerId, Integer> busy) {
    Optional<ServerId> server =
        live.keySet().stream()
            .filter(idle -> busy.getOrDefault(idle, 0) < AT_ONCE_PER_SERVER)
            .min(Comparator.comparing((ServerId idle) -> busy.getOrDefault(idle, 0)));
    server.ifPresent(idlest -> busy.merge(idlest, 1, Integer::sum));
    return server;
  }

  private void sorted(ServerId dead, List<String> names) {
    synchronized (this) {
      Sorting sorting = sortings.get(dead);
      if (sorting == null || !sorting.unsorted.removeIf(known -> names.contains(known.name))) {
        return;
      }
      sorting.progressNanos = runtime.nanoTime();
      if (sorting.isDone()) {
        sortings.remove(dead);
        LOG.info("The log of {} is sorted", dead);
      }
    }
    signal.wakeUp(); // The step in progress may have planned before.
  }
}
