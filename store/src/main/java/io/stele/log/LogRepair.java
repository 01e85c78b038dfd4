package io.stele.log;

import io.stele.files.DurableFiles;
import io.stele.files.NameSpace;
import io.stele.files.WriteLeases;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator's actions on a damaged fenced log: show what was lost ({@link #check}), and let
 * tablets continue without it ({@link #accept}). Needs no server. Stateless.
 */
public final class LogRepair {
  private static final Logger LOG = LoggerFactory.getLogger(LogRepair.class);

  private LogRepair() {}

  /**
   * A damaged or missing segment.
   *
   * @param segment as it was when its server was fenced
   * @param damage of the segment, in order
   * @param tablets with records in it, which wait unless their files or later segments have those
   *     records; empty if that is not known, so that every tablet of the log may wait
   * @param written when the lost records were
   * @param open whether it may only be damaged because HDFS has not closed it: its server's tablets
   *     wait for that
   * @param accepted whether tablets continue without the lost records
   */
  public record Damaged(
      Segment segment,
      List<CorruptionException> damage,
      Optional<SegmentSummary> tablets,
      Written written,
      boolean open,
      boolean accepted) {
    public Damaged {
      damage = List.copyOf(damage);
    }
  }

  /**
   * When lost records were written.
   *
   * @param after when the previous segment was ended, at the earliest
   * @param before when their segment was ended, or the next one
   */
  public record Written(Optional<Instant> after, Optional<Instant> before) {
    private static final Written UNKNOWN = new Written(Optional.empty(), Optional.empty());
  }

  /**
   * The findings about one segment.
   *
   * @param endBytes where its records end; the largest number if it is known to have lost its end
   */
  private record Found(
      Segment segment, List<CorruptionException> damage, long endBytes, Optional<Instant> ended) {
    boolean sound() {
      return damage.isEmpty();
    }

    Found damaged(CorruptionException why) {
      List<CorruptionException> all = new ArrayList<>(damage);
      all.add(why);
      return new Found(segment, List.copyOf(all), endBytes, ended);
    }
  }

  /** What a segment says about the one that acknowledged records before it. */
  private record Linked(Segment segment, SegmentLink link) {
    /** What it says about the records of a segment; empty: nothing. */
    Optional<SegmentSummary> tabletsOf(long number) {
      if (link.previous() == number) {
        return Optional.of(link.previousTablets());
      }
      // One that it leaves out has acknowledged nothing.
      return link.previous() < number && number < segment.number()
          ? Optional.of(SegmentSummary.EMPTY)
          : Optional.empty();
    }
  }

  /**
   * Reads every segment of the fenced log in {@code directory}. While its fence is not complete,
   * reads none, and reports those that are not closed.
   *
   * @throws CorruptionException if the list of its segments is damaged
   */
  public static List<Damaged> check(FileSystem fs, Path directory) throws IOException {
    if (!FencedLog.isListed(fs, directory)) {
      return open(fs, directory);
    }
    List<Damaged> damaged = new ArrayList<>();
    for (TabletKind kind : TabletKind.values()) {
      damaged.addAll(check(fs, directory, kind));
    }
    return List.copyOf(damaged);
  }

  /** The segments of a log, of which there is no list yet, that HDFS has not closed. */
  private static List<Damaged> open(FileSystem fs, Path directory) throws IOException {
    WriteLeases leases = WriteLeases.in(fs, directory);
    AcceptedLosses accepted = AcceptedLosses.read(fs, directory);
    List<Damaged> open = new ArrayList<>();
    for (Segment segment : LogDirectory.segments(fs, directory)) {
      if (!leases.isClosed(segment.path().getName())) {
        CorruptionException why =
            new CorruptionException(
                segment.path().toString(),
                AcceptedLosses.WHOLE,
                "HDFS has not closed the file since its server was fenced. That takes seconds, and"
                    + " minutes if DataNodes are down. It cannot be done while no DataNode that"
                    + " has its last block is up");
        open.add(
            new Damaged(
                segment,
                List.of(why),
                Optional.empty(),
                Written.UNKNOWN,
                true,
                accepted.hasWhole(segment) || accepted.hasIfOpen(segment)));
      }
    }
    return open;
  }

  /**
   * The listed segments of the fenced log in {@code directory} that are missing, or not as long as
   * they were, without those whose loss is accepted. Reads no segment. Empty if the list is not
   * written yet.
   *
   * @throws CorruptionException if the list is damaged
   * @throws FileNotFoundException if there is no such log
   */
  public static List<CorruptionException> changedFiles(FileSystem fs, Path directory)
      throws IOException {
    AcceptedLosses accepted = AcceptedLosses.read(fs, directory);
    if (!FencedLog.isListed(fs, directory)) {
      return List.of();
    }
    List<CorruptionException> changed = new ArrayList<>();
    for (TabletKind kind : TabletKind.values()) {
      for (Segment segment : FencedLog.segments(fs, directory, kind)) {
        if (!accepted.hasWhole(segment)) {
          FencedLog.changed(fs, segment)
              .filter(damage -> !accepted.has(damage))
              .ifPresent(changed::add);
        }
      }
    }
    return List.copyOf(changed);
  }

  private static List<Damaged> check(FileSystem fs, Path directory, TabletKind kind)
      throws IOException {
    AcceptedLosses accepted = AcceptedLosses.read(fs, directory);
    List<Found> all = new ArrayList<>();
    List<Linked> links = new ArrayList<>();
    List<Optional<SegmentSummary>> summaries = new ArrayList<>();
    for (Segment segment : FencedLog.segments(fs, directory, kind)) {
      Found found = inspect(fs, segment, links, summaries);
      boolean givenUp = found.sound() && accepted.hasWhole(segment); // And is not read any more.
      all.add(givenUp ? found.damaged(FencedLog.accepted(segment)) : found);
    }
    findCut(all, links);
    List<Damaged> damaged = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      Found one = all.get(i);
      if (!one.sound()) {
        long number = one.segment.number();
        Optional<SegmentSummary> tablets =
            summaries
                .get(i)
                .or(
                    () ->
                        links.stream()
                            .flatMap(linked -> linked.tabletsOf(number).stream())
                            .findFirst());
        damaged.add(
            new Damaged(
                one.segment,
                one.damage,
                tablets,
                new Written(
                    i == 0 ? Optional.empty() : all.get(i - 1).ended,
                    one.ended.or(nextEnd(all, i))),
                false,
                accepted.hasWhole(one.segment) || one.damage.stream().allMatch(accepted::has)));
      }
    }
    return damaged;
  }

  /**
   * Finds segments that end before what was acknowledged of them, as only a later one tells. They
   * may be damaged before their end, too.
   */
  private static void findCut(List<Found> all, List<Linked> links) {
    SegmentLinks order = new SegmentLinks(all.stream().map(Found::segment).toList());
    all.forEach(one -> order.ended(one.segment.number(), one.endBytes));
    for (Linked later : links) {
      try {
        order.check(later.segment, later.link);
      } catch (CorruptionException e) {
        all.replaceAll(one -> one.segment.number() == later.link.previous() ? one.damaged(e) : one);
      }
    }
  }

  private static Supplier<Optional<Instant>> nextEnd(List<Found> all, int of) {
    return () -> of + 1 < all.size() ? all.get(of + 1).ended : Optional.empty();
  }

  private static Found inspect(
      FileSystem fs, Segment segment, List<Linked> links, List<Optional<SegmentSummary>> summaries)
      throws IOException {
    List<CorruptionException> damage = new ArrayList<>();
    Optional<CorruptionException> changed = FencedLog.changed(fs, segment);
    if (changed.isPresent() && changed.get().offset() == AcceptedLosses.WHOLE) {
      summaries.add(Optional.empty());
      return new Found(segment, List.of(changed.get()), Long.MAX_VALUE, Optional.empty());
    }
    LogInspector.Report report = LogInspector.verify(fs, segment.path());
    Optional<CorruptionException> misplaced = misplaced(fs, segment);
    if (misplaced.isPresent()) { // What else it says is of another log.
      summaries.add(Optional.empty());
      return new Found(segment, List.of(misplaced.get()), Long.MAX_VALUE, Optional.empty());
    }
    report.link().ifPresent(link -> links.add(new Linked(segment, link)));
    summaries.add(
        report.sound() ? report.summary() : report.summary().or(() -> atEnd(fs, segment)));
    damage.addAll(report.damage());
    changed.ifPresent(damage::add);
    FileStatus status = fs.getFileStatus(segment.path());
    return new Found(
        segment,
        damage,
        changed.isPresent() ? Long.MAX_VALUE : report.bytes() - report.tornBytes(),
        Optional.of(Instant.ofEpochMilli(status.getModificationTime())));
  }

  /** Empty too if the header cannot be read: that is damage of another kind. */
  private static Optional<CorruptionException> misplaced(FileSystem fs, Segment segment)
      throws IOException {
    Optional<SegmentHeader> header = Optional.empty();
    try (LogReader reader = LogReader.open(fs, segment.path())) {
      header = reader.header();
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      LOG.debug("The header of {} cannot be read", segment.path(), e);
    }
    try {
      if (header.isPresent()) {
        SegmentLinks.check(segment, header.get());
      }
      return Optional.empty();
    } catch (CorruptionException e) {
      return Optional.of(e);
    }
  }

  /** The summary of a segment that cannot be read up to there. */
  private static Optional<SegmentSummary> atEnd(FileSystem fs, Segment segment) {
    try {
      return SegmentSummary.read(fs, segment);
    } catch (IOException e) {
      LOG.debug("The end of {} cannot be read either", segment.path(), e);
      return Optional.empty();
    }
  }

  /**
   * What {@link #check} finds about one damaged segment.
   *
   * @param segment the name of its file
   * @throws SteleException REFUSED if it is not damaged
   */
  public static Damaged damaged(FileSystem fs, Path directory, String segment) throws IOException {
    return check(fs, directory).stream()
        .filter(one -> one.segment.path().getName().equals(segment))
        .findFirst()
        .orElseThrow(
            () ->
                SteleException.refused(
                    "segment " + segment + " of " + directory + " is not damaged"));
  }

  /**
   * Permanently lets tablets continue without the lost records of a segment: replays pass over its
   * present damage, and over nothing else. A segment that is missing or completely unreadable is no
   * longer read, even if it reappears. One that HDFS has not closed is not waited for any longer,
   * and is read if HDFS closes it before its server's fence learns of this.
   *
   * @param segment the name of its file
   * @return the lost records
   * @throws SteleException REFUSED if it is not damaged
   */
  public static Damaged accept(FileSystem fs, Path directory, String segment) throws IOException {
    Damaged damaged = damaged(fs, directory, segment);
    if (damaged.accepted) {
      return damaged;
    }
    Set<AcceptedLosses.Loss> losses = new TreeSet<>();
    for (CorruptionException one : damaged.damage) {
      if (damaged.open) {
        losses.add(AcceptedLosses.ifOpen(damaged.segment));
        break;
      }
      // At 0 is the header: without it no record can be told from other bytes.
      losses.add(
          one.offset() == 0
              ? new AcceptedLosses.Loss(segment, AcceptedLosses.WHOLE)
              : AcceptedLosses.Loss.of(one));
    }
    NameSpace.catchUp(fs, directory);
    int number = 1;
    while (fs.exists(AcceptedLosses.file(directory, segment + "." + number))) {
      number++;
    }
    AcceptedLosses.write(fs, directory, segment + "." + number, losses);
    return damaged;
  }

  /**
   * Permanently lets tablets continue without the whole log of a dead server, if the log is gone:
   * puts an empty one in its place. Records that only that log had are given up: a replay passes
   * over gaps below the records of other logs, unless damage there may be why a record is missing.
   *
   * @param logs where the log would be while its server lived
   * @param recovery where it would be now
   * @throws SteleException REFUSED if either exists: such a log is repaired by segment
   */
  public static void giveUp(ProcessRuntime runtime, FileSystem fs, Path logs, Path recovery)
      throws IOException {
    NameSpace.catchUp(fs, logs);
    for (Path directory : List.of(logs, recovery)) {
      if (fs.exists(directory)) {
        throw SteleException.refused(
            directory + " is there: `stele log check` shows what is damaged in it");
      }
    }
    // The directory appears whole. Without the decision it would be that of an empty log, and
    // tablets that lack records would not be opened; without the list none would be.
    DurableFiles files = new DurableFiles(fs);
    Path draft = LogDirectories.draft(recovery.getParent(), runtime.random().nextLong());
    files.mkdirs(draft);
    try {
      AcceptedLosses.write(fs, draft, "log", Set.of(AcceptedLosses.LOG));
      FencedLog.list(runtime, fs, draft);
      if (!fs.rename(draft, recovery)) {
        throw new IOException("cannot rename " + draft + " to " + recovery);
      }
    } catch (IOException e) {
      deleteDraft(fs, draft, e);
      throw e;
    }
    files.syncNamesIn(recovery.getParent());
  }

  private static void deleteDraft(FileSystem fs, Path draft, IOException why) {
    try {
      fs.delete(draft, true);
    } catch (IOException e) {
      why.addSuppressed(e); // Nobody takes it for a log.
    }
  }

  /**
   * The logs of fenced servers below {@code recovery} that tablets may still need, with those whose
   * fence is not complete.
   */
  public static List<Path> logs(FileSystem fs, Path recovery) throws IOException {
    NameSpace.catchUp(fs, recovery);
    return List.copyOf(LogDirectories.in(fs, recovery).values());
  }
}
