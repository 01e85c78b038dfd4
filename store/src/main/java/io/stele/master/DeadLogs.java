package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.log.FencedLog;
import io.stele.log.LogFence;
import io.stele.log.LogOwner;
import io.stele.log.LogRepair;
import io.stele.log.Segment;
import io.stele.log.SegmentSorter;
import io.stele.log.SegmentSummary;
import io.stele.metadata.Layout;
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
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The logs of dead servers. They are fenced. Then the live servers sort them, a few segments each,
 * before the tablets are assigned (section 6 of the paper). Otherwise each server that gets some of
 * the tablets would read the whole log.
 *
 * <p>A tablet waits only for segments that may have its records. It never waits forever. A segment
 * that a server cannot sort counts as done, because the segment itself can be read; so does one
 * that makes no progress for some time. If a server dies, the others sort its segments. No state is
 * stored: the next master finds out which segments are not sorted. Safe for use by any number of
 * threads.
 */
final class DeadLogs {
  private static final Logger LOG = LoggerFactory.getLogger(DeadLogs.class);
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int AT_ONCE_PER_SERVER = 3;
  private static final int READERS = 4; // Of the summaries of one log.

  /** A host that vanishes without a word lets a read wait for a minute. */
  private static final Duration SUMMARIES_WAIT = Duration.ofSeconds(2);

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final Layout layout;
  private final TabletServers requests;
  private final LoopSignal signal;
  private final long bytesMin;
  private final LogFence fence;

  @GuardedBy("this")
  private final Map<ServerId, Sorting> sortings = new TreeMap<>();

  /** Servers whose fenced logs are listed, which they stay: HDFS need not be asked again. */
  @GuardedBy("this")
  private final Set<ServerId> listed = new TreeSet<>();

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
    boolean add(Unsorted one, long segmentBytes, long nowNanos) {
      if (!known.add(one.name)) {
        return false;
      }
      unsorted.add(one);
      bytes += segmentBytes;
      progressNanos = nowNanos;
      order();
      return true;
    }

    /** Segments that may have records of any tablet come first. */
    void order() {
      unsorted.sort(
          Comparator.comparing((Unsorted one) -> one.summary.isPresent())
              .thenComparing(one -> one.name));
    }

    /** Whether a segment that is not yet sorted may have records of the tablet. */
    boolean mayHave(TabletRecord record) {
      return !complete || unsorted.stream().anyMatch(one -> one.mayHave(record));
    }

    boolean isDone() {
      return complete && unsorted.isEmpty();
    }
  }

  /**
   * What the configuration says of logs.
   *
   * @param bytesMin logs with fewer bytes are not sorted
   * @param replicasMin how many replicas a copy of a segment must have
   */
  record Limits(long bytesMin, int replicasMin) {}

  /**
   * A set of logs of which none is being sorted.
   *
   * @param signal called when tablets may have become ready
   * @param limits what the configuration says
   */
  DeadLogs(
      ProcessRuntime runtime,
      FileSystem fs,
      Layout layout,
      TabletServers requests,
      LoopSignal signal,
      Limits limits) {
    this.runtime = runtime;
    this.fs = fs;
    this.layout = layout;
    this.requests = requests;
    this.signal = signal;
    this.bytesMin = limits.bytesMin();
    this.fence = new LogFence(runtime, fs, limits.replicasMin());
  }

  /** The servers that have, or had until now, their own log directory. */
  Set<ServerId> owners() throws IOException {
    return serversIn(layout.logs());
  }

  /** The servers whose log directory was renamed. */
  Set<ServerId> renamed() throws IOException {
    return serversIn(layout.recovery());
  }

  /**
   * Those of the {@link #renamed} ones whose fence is not complete: not all of their segments may
   * be closed, or they are among the {@code live}, which have their locks.
   */
  Set<ServerId> unfinished(Set<ServerId> renamed, Set<ServerId> live) throws IOException {
    Set<ServerId> known = listedOf(renamed);
    Set<ServerId> unfinished = new TreeSet<>();
    for (ServerId server : renamed) {
      if (live.contains(server) || !(known.contains(server) || isListed(server))) {
        unfinished.add(server);
      }
    }
    return unfinished;
  }

  /** The servers whose logs are known to be listed, of {@code servers}, which have fenced logs. */
  private synchronized Set<ServerId> listedOf(Set<ServerId> servers) {
    listed.retainAll(servers);
    return new TreeSet<>(listed);
  }

  private boolean isListed(ServerId server) throws IOException {
    if (!FencedLog.isListed(fs, layout.recovery(server))) {
      return false;
    }
    synchronized (this) {
      listed.add(server);
    }
    return true;
  }

  private Set<ServerId> serversIn(Path directories) throws IOException {
    Set<ServerId> servers = new TreeSet<>();
    for (FileStatus directory : Sweeper.list(fs, directories)) {
      String name = directory.getPath().getName();
      if (name.startsWith(LogRepair.DRAFT_PREFIX)) {
        continue;
      }
      try {
        servers.add(ServerId.parse(name));
      } catch (IllegalArgumentException e) {
        LOG.warn("{} is not the log directory of a tablet server", directory.getPath(), e);
      }
    }
    return servers;
  }

  /**
   * Takes the log of a server that no longer answers anything, and finds out what must be sorted.
   * None of its tablets may be assigned before this returns.
   *
   * @throws IOException if it failed: call it again
   */
  void take(ServerId server, LogOwner owner) throws IOException {
    Optional<Path> log = fence.rename(layout.logs(server), layout.recovery(server));
    if (log.isEmpty()) {
      return;
    }
    Sorting sorting = begin(server);
    fence.close(
        log.get(),
        owner,
        () -> runtime.start("ended-segments", () -> addEnded(sorting, log.get())));
    try {
      addRest(server, log.get());
    } catch (IOException e) {
      LOG.warn("The log of {} is not sorted, but read as it is: {}", server, e.toString());
      forget(server);
    }
  }

  private synchronized Sorting begin(ServerId server) {
    return sortings.computeIfAbsent(server, any -> new Sorting(runtime.nanoTime()));
  }

  /** Has segments sorted while the last ones are being closed, which may take seconds. */
  private void addEnded(Sorting sorting, Path directory) {
    try {
      readSummaries(
          SegmentSorter.closed(fs, directory),
          (segment, summary) -> addEnded(sorting, directory, segment, summary));
    } catch (IOException e) {
      LOG.warn("Sorting the log in {} must wait: {}", directory, e.toString());
    }
  }

  private synchronized void addEnded(
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
    Sorting sorting = begin(server);
    List<Segment> added = new ArrayList<>();
    Set<String> names = new HashSet<>();
    long bytes = 0;
    for (Segment segment : segments) {
      Unsorted one = new Unsorted(FencedLog.name(directory, segment), Optional.empty());
      bytes += segment.lengthBytes();
      names.add(one.name);
      if (sorting.add(one, segment.lengthBytes(), runtime.nanoTime())) {
        added.add(segment);
      }
    }
    sorting.unsorted.removeIf(one -> !names.contains(one.name)); // Sorted, or its copy is listed.
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
          .filter(one -> one.name.equals(segment))
          .forEach(one -> one.summary = Optional.of(summary));
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
          .removeIf(one -> one.getValue().isDone() || isStuck(one.getKey(), one.getValue(), now));
      Map<ServerId, Integer> busy = new HashMap<>();
      for (Sorting sorting : sortings.values()) {
        for (Unsorted one : sorting.unsorted) {
          one.sorter = one.sorter.filter(live::containsKey);
          one.sorter.ifPresent(server -> busy.merge(server, 1, Integer::sum));
        }
      }
      sortings.forEach(
          (dead, sorting) -> {
            for (Unsorted one : sorting.bytes < bytesMin ? List.<Unsorted>of() : sorting.unsorted) {
              one.sorter = one.sorter.or(() -> idlest(live, busy));
              one.sorter.ifPresent(
                  server ->
                      asked
                          .computeIfAbsent(server, any -> new TreeMap<>())
                          .computeIfAbsent(dead, any -> new ArrayList<>())
                          .add(one.name));
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
            .filter(one -> busy.getOrDefault(one, 0) < AT_ONCE_PER_SERVER)
            .min(Comparator.comparing((ServerId one) -> busy.getOrDefault(one, 0)));
    server.ifPresent(one -> busy.merge(one, 1, Integer::sum));
    return server;
  }

  private void sorted(ServerId dead, List<String> names) {
    synchronized (this) {
      Sorting sorting = sortings.get(dead);
      if (sorting == null || !sorting.unsorted.removeIf(one -> names.contains(one.name))) {
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
