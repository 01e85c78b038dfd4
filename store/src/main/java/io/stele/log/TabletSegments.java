package io.stele.log;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records of one tablet in a fenced log, above a sequence number. Segments whose summary has
 * none of them are not read.
 *
 * <p><b>Damage</b>, such as a segment that is gone, stops only tablets that may lose a record by it
 * ({@link TabletDamage}). It is reported at the end, as a {@link CorruptionException} that names
 * file, offset and tablet. What an operator has accepted is passed over: {@link #losses}.
 *
 * <p>Not safe for use by several threads.
 */
final class TabletSegments implements RecordSource {
  private static final Logger LOG = LoggerFactory.getLogger(TabletSegments.class);

  /** The segment being read. */
  private record Reading(Segment segment, LogReader reader, Optional<SegmentSummary> summary) {}

  /** What is read in place of a segment. */
  private record Copy(Segment segment, SortedSegment sorted, RecordSource records) {}

  private final FileSystem fs;
  private final Queue<Segment> rest;
  private final SortedSegments sorted;
  private final TabletId tablet;
  private final long above;
  private final AcceptedLosses accepted;
  private final SegmentLinks links;
  private final TabletDamage damages;
  private final Set<Long> cut = new HashSet<>(); // Segments that are shorter than they were.
  private Optional<Reading> current = Optional.empty();
  private Optional<Copy> copy = Optional.empty(); // In place of the current one.

  /**
   * The records of {@code tablet} in {@code segments} above {@code above}.
   *
   * @param segments as they were when the log was fenced, whether they exist or not
   * @param sorted read in place of segments, where it has them; stays open
   * @param accepted the damage to pass over
   */
  TabletSegments(
      FileSystem fs,
      List<Segment> segments,
      SortedSegments sorted,
      TabletId tablet,
      long above,
      AcceptedLosses accepted) {
    this.fs = fs;
    this.sorted = sorted;
    this.rest = new ArrayDeque<>(segments);
    this.tablet = tablet;
    this.above = above;
    this.accepted = accepted;
    this.links = new SegmentLinks(segments);
    this.damages = new TabletDamage(tablet, above);
  }

  @Override
  public Optional<LogRecord> next() throws IOException {
    while (true) {
      if (current.isPresent()) {
        Optional<LogRecord> record = read(current.get());
        if (record.isPresent() && isWanted(record.get())) {
          return record;
        }
      } else if (copy.isPresent()) {
        Optional<LogRecord> record = read(copy.get());
        if (record.isPresent() && isWanted(record.get())) {
          return record;
        }
      } else if (rest.isEmpty()) {
        damages.checkClear();
        return Optional.empty();
      } else {
        openNext(rest.remove());
      }
    }
  }

  @Override
  public Losses losses() {
    return damages.losses(accepted.hasLog());
  }

  private boolean isWanted(LogRecord record) {
    if (!record.tablet().equals(tablet)) {
      return false;
    }
    damages.found(record.sequence());
    return record.sequence() > above;
  }

  private void openNext(Segment next) throws IOException {
    if (accepted.hasWhole(next)) {
      lost(next, FencedLog.accepted(next));
      return;
    }
    Optional<SortedSegment> instead = sorted.of(next);
    if (instead.isPresent()) {
      open(next, instead.get());
    } else {
      open(next);
    }
  }

  private void open(Segment segment, SortedSegment instead) {
    if (instead.link().isPresent()) {
      damages.learn(segment.number(), instead.link().get());
      checkLink(segment, instead.link().get());
    }
    copy = Optional.of(new Copy(segment, instead, instead.records(tablet)));
  }

  /**
   * Reads the segment itself if its copy is damaged or cannot be read: a sorted file has one
   * replica only. Records read from the copy are returned again.
   */
  private Optional<LogRecord> read(Copy from) throws IOException {
    try {
      Optional<LogRecord> record = from.records.next();
      if (record.isEmpty()) {
        copy = Optional.empty();
        links.ended(from.segment.number(), from.sorted.ended());
      }
      return record;
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      LOG.warn(
          "{} is read itself, as what was read or sorted for all tablets cannot be used",
          from.segment.path(),
          e);
      sorted.lost(from.segment);
      copy = Optional.empty();
      open(from.segment);
      return Optional.empty();
    }
  }

  private void open(Segment listed) throws IOException {
    Segment segment = listed;
    Optional<CorruptionException> changed = FencedLog.changed(fs, listed);
    if (changed.isPresent()) {
      if (changed.get().offset() == AcceptedLosses.WHOLE) {
        lost(listed, changed.get());
        return;
      }
      segment = listed.withLength(changed.get().offset());
      cut.add(listed.number());
    }
    Optional<LogReader> opened;
    try {
      opened = LogReader.open(fs, segment);
    } catch (CorruptionException e) {
      lost(listed, e);
      return;
    }
    if (opened.isPresent()) {
      open(segment, opened.get());
    } // Otherwise it was not created properly, or has lost its header: then a later one names it.
    changed.ifPresent(damage -> damaged(listed.number(), damage, Optional.empty()));
  }

  private void open(Segment segment, LogReader reader) throws IOException {
    current = Optional.of(new Reading(segment, reader, Optional.empty())); // To be closed.
    Optional<SegmentSummary> summary = SegmentSummary.read(fs, segment);
    Reading reading = new Reading(segment, reader, summary);
    current = Optional.of(reading);
    try {
      Optional<SegmentLink> link = reading.reader.link();
      if (link.isPresent()) {
        damages.learn(segment.number(), link.get());
        checkLink(segment, link.get());
      } // Otherwise it was a standby that was never used: no other segment needs it.
    } catch (CorruptionException e) {
      damaged(segment.number(), e, summary);
      resume(reading);
    }
    if (summary.isPresent() && !summary.get().has(tablet, above)) {
      end(reading, segment.lengthBytes());
    }
  }

  private void checkLink(Segment segment, SegmentLink link) {
    try {
      links.check(segment, link);
    } catch (CorruptionException e) { // It is another that is damaged or missing.
      damaged(link.previous(), e, Optional.of(link.previousTablets()));
    }
  }

  private Optional<LogRecord> read(Reading reading) throws IOException {
    try {
      Optional<LogRecord> record = reading.reader.next();
      if (record.isEmpty()) {
        end(reading, reading.reader.position());
      }
      return record;
    } catch (CorruptionException e) {
      damaged(reading.segment.number(), e, reading.summary);
      resume(reading);
      return Optional.empty();
    } catch (ChecksumException e) { // Of all replicas. One that is missing may come back.
      unreadable(reading, e);
      return Optional.empty();
    }
  }

  /** Nothing more of a segment can be read. */
  private void unreadable(Reading reading, ChecksumException why) throws IOException {
    String file = reading.segment.path().toString();
    damaged(
        reading.segment.number(),
        UnreadableBytes.damage(file, reading.reader.position(), why),
        reading.summary);
    end(reading, reading.segment.lengthBytes());
  }

  /** Nothing of a segment can be read. */
  private void lost(Segment segment, CorruptionException damage) {
    damaged(segment.number(), damage, Optional.empty());
    links.ended(segment.number(), Long.MAX_VALUE);
  }

  private void damaged(long segment, CorruptionException damage, Optional<SegmentSummary> summary) {
    boolean passes = accepted.has(damage);
    damages.add(segment, damage, summary, passes);
    LOG.warn(
        "{} for tablet {}",
        passes ? "Passing over damage that was accepted," : "Continuing after damage",
        tablet,
        damage);
  }

  /** Continues after the damage at the reader's position. */
  private void resume(Reading reading) throws IOException {
    current = Optional.empty();
    long damaged = reading.reader.position();
    reading.reader.close();
    Segment segment = reading.segment;
    Optional<LogReader> next;
    try {
      next = LogReader.openAfter(fs, segment, reading.reader, damaged);
    } catch (ChecksumException e) {
      LOG.warn("Segment {} cannot be read further", segment.path(), e);
      ended(segment, segment.lengthBytes());
      return;
    }
    if (next.isEmpty()) {
      ended(segment, segment.lengthBytes());
    } else {
      current = Optional.of(new Reading(segment, next.get(), reading.summary));
    }
  }

  private void end(Reading reading, long position) throws IOException {
    current = Optional.empty();
    ended(reading.segment, position);
    reading.reader.close();
  }

  private void ended(Segment segment, long position) {
    // That the segment lost its end was reported before.
    links.ended(segment.number(), cut.contains(segment.number()) ? Long.MAX_VALUE : position);
  }

  @Override
  public void close() throws IOException {
    if (current.isPresent()) {
      LogReader reader = current.get().reader;
      current = Optional.empty();
      reader.close();
    }
  }
}
