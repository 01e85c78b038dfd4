package io.stele.log;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records of one tablet in a log, above a sequence number. Segments whose summary has none of
 * them are not read.
 *
 * <p><b>Damage</b> stops only tablets that may lose a record by it. A record of the tablet that
 * follows the damage clears it: a tablet's sequence numbers have no gaps, so {@link
 * DistinctRecords#checkComplete} finds what is missing below. So does the summary of the damaged
 * segment, where that has nothing of the tablet above the number, or once its highest was found.
 * Damage that may concern the tablet is reported at the end, as a {@link CorruptionException} that
 * names file, offset and tablet.
 *
 * <p>Not safe for use by several threads.
 */
final class TabletSegments implements RecordSource {
  private static final Logger LOG = LoggerFactory.getLogger(TabletSegments.class);

  /** What a damaged segment without a summary may have had. */
  private static final long ANY = Long.MAX_VALUE;

  /** Damage that may have taken records of the tablet, the last of them {@code highest}. */
  private record Unclear(CorruptionException damage, long highest) {}

  /** The segment being read. */
  private record Open(Segment segment, LogReader reader, Optional<SegmentSummary> summary) {}

  /** The sorted file that is read in place of a segment. */
  private record Copy(Segment segment, SortedSegment sorted, RecordSource records) {}

  private final FileSystem fs;
  private final Queue<Segment> rest;
  private final SortedSegments sorted;
  private final TabletId tablet;
  private final long above;
  private final SegmentLinks links;
  private final List<Unclear> unclear = new ArrayList<>();
  private Optional<Open> current = Optional.empty();
  private Optional<Copy> copy = Optional.empty(); // In place of the current one.
  private long highest = -1;

  /**
   * Of the records of {@code tablet} in {@code segments}, those above {@code above}.
   *
   * @param sorted read in place of the segments, where there are any; stays open
   */
  TabletSegments(
      FileSystem fs, List<Segment> segments, SortedSegments sorted, TabletId tablet, long above) {
    this.fs = fs;
    this.sorted = sorted;
    this.rest = new ArrayDeque<>(segments);
    this.tablet = tablet;
    this.above = above;
    this.links = new SegmentLinks(segments);
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
        checkClear();
        return Optional.empty();
      } else {
        Segment next = rest.remove();
        Optional<SortedSegment> instead = sorted.of(next);
        if (instead.isPresent()) {
          open(next, instead.get());
        } else {
          open(next);
        }
      }
    }
  }

  private boolean isWanted(LogRecord record) {
    if (!record.tablet().equals(tablet)) {
      return false;
    }
    highest = Math.max(highest, record.sequence());
    unclear.removeIf(one -> one.highest == ANY || one.highest <= highest);
    return record.sequence() > above;
  }

  private void checkClear() throws CorruptionException {
    for (Unclear one : unclear) {
      throw new CorruptionException(
          one.damage.file(),
          one.damage.offset(),
          one.damage.detail()
              + "; tablet "
              + tablet
              + " may have records there above "
              + Math.max(above, highest)
              + ". It is not opened, so that no data is lost");
    }
  }

  private void open(Segment segment, SortedSegment instead) {
    instead.link().ifPresent(link -> checkLink(segment, link));
    copy = Optional.of(new Copy(segment, instead, instead.records(tablet)));
  }

  /** Reads the segment itself where its copy is damaged: what was read of that comes again. */
  private Optional<LogRecord> read(Copy from) throws IOException {
    try {
      Optional<LogRecord> record = from.records.next();
      if (record.isEmpty()) {
        copy = Optional.empty();
        links.ended(from.segment.number(), from.sorted.ended());
      }
      return record;
    } catch (CorruptionException | ChecksumException e) {
      LOG.warn("{} is read itself, as its sorted copy is damaged", from.segment.path(), e);
      copy = Optional.empty();
      open(from.segment);
      return Optional.empty();
    }
  }

  private void open(Segment segment) throws IOException {
    Optional<LogReader> opened;
    try {
      opened = openHeader(segment);
    } catch (CorruptionException e) {
      damaged(segment, e, Optional.empty());
      links.ended(segment.number(), segment.lengthBytes());
      return;
    }
    if (opened.isEmpty()) {
      return; // Not created properly: no other segment names it as previous.
    }
    current = Optional.of(new Open(segment, opened.get(), Optional.empty())); // To be closed.
    Optional<SegmentSummary> summary = SegmentSummary.read(fs, segment);
    Open open = new Open(segment, opened.get(), summary);
    current = Optional.of(open);
    try {
      Optional<SegmentLink> link = open.reader.link();
      if (link.isPresent()) {
        checkLink(segment, link.get());
      } // Otherwise it stood by and was not used: no other segment needs it.
    } catch (CorruptionException e) {
      damaged(segment, e, summary);
      resume(open);
    }
    if (summary.isPresent() && !summary.get().has(tablet, above)) {
      end(open, segment.lengthBytes());
    }
  }

  private Optional<LogReader> openHeader(Segment segment) throws IOException {
    LogReader reader = LogReader.open(fs, segment.path());
    try {
      if (reader.header().isPresent()) {
        SegmentLinks.check(segment, reader.header().get());
        return Optional.of(reader);
      }
    } catch (CorruptionException e) {
      reader.close();
      throw e;
    }
    reader.close();
    return Optional.empty();
  }

  private void checkLink(Segment segment, SegmentLink link) {
    try {
      links.check(segment, link);
    } catch (CorruptionException e) {
      damaged(segment, e, Optional.empty()); // It is another that is damaged or missing.
    }
  }

  private Optional<LogRecord> read(Open open) throws IOException {
    try {
      Optional<LogRecord> record = open.reader.next();
      if (record.isEmpty()) {
        end(open, open.reader.position());
      }
      return record;
    } catch (CorruptionException e) {
      damaged(open.segment, e, open.summary);
      resume(open);
      return Optional.empty();
    } catch (ChecksumException e) { // The file system's own: all replicas are damaged.
      CorruptionException damage =
          new CorruptionException(
              open.segment.path().toString(), open.reader.position(), String.valueOf(e));
      damaged(open.segment, damage, open.summary);
      end(open, open.segment.lengthBytes());
      return Optional.empty();
    }
  }

  private void damaged(
      Segment segment, CorruptionException damage, Optional<SegmentSummary> summary) {
    long last = summary.map(one -> one.highest(tablet)).orElse(ANY);
    if (last > Math.max(above, highest)) {
      unclear.add(new Unclear(damage, last));
    }
    LOG.warn("Segment {} is damaged; reading on for tablet {}", segment.path(), tablet, damage);
  }

  /** Goes on behind the damage at the reader's position. */
  private void resume(Open open) throws IOException {
    current = Optional.empty();
    long damaged = open.reader.position();
    open.reader.close();
    Segment segment = open.segment;
    Optional<LogReader> next;
    try {
      next = LogReader.openBehind(fs, segment, open.reader, damaged);
    } catch (ChecksumException e) {
      LOG.warn("Segment {} cannot be read further", segment.path(), e);
      links.ended(segment.number(), segment.lengthBytes());
      return;
    }
    if (next.isEmpty()) {
      links.ended(segment.number(), segment.lengthBytes());
    } else {
      current = Optional.of(new Open(segment, next.get(), open.summary));
    }
  }

  private void end(Open open, long position) throws IOException {
    current = Optional.empty();
    links.ended(open.segment.number(), position);
    open.reader.close();
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
