package io.stele.log;

import io.stele.format.ByteWriter;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * Picks the records of one tablet to replay from the logs that its record names: those above what
 * its files have, each once, in any order. After a failed flush the same record is in two segments.
 *
 * <p>A tablet's sequence numbers have no gaps, and a log holds a prefix of the tablet's records
 * that were appended to it. So a number missing below another means a lost record, unless an
 * operator has accepted the loss ({@link Losses}).
 *
 * <p>Not safe for use by several threads.
 */
public final class DistinctRecords {
  private final TabletId tablet;
  private final long above;
  private final RecordChecksums seen = new RecordChecksums();
  private final Set<Long> passedOver = new HashSet<>();
  private final List<SequenceRange> inDoubt = new ArrayList<>();
  private long knownUpTo = Long.MAX_VALUE;
  private long last;

  /** Picks the records of {@code tablet} whose sequence number is above {@code above}. */
  public DistinctRecords(TabletId tablet, long above) {
    this.tablet = tablet;
    this.above = above;
    this.last = above;
  }

  /**
   * Checks a record.
   *
   * @return whether it must be replayed: it is above what the files hold and was not seen before
   * @throws SteleException CORRUPTION if another record with its number was seen before
   */
  public boolean add(LogRecord record) {
    if (!record.tablet().equals(tablet)) {
      throw new IllegalArgumentException(
          "a record of tablet " + record.tablet() + " was found among those of " + tablet);
    }
    if (record.sequence() <= above) {
      return false;
    }
    int checksum = checksum(record);
    OptionalInt before = seen.putIfAbsent(record.sequence(), checksum);
    if (before.isPresent() && before.getAsInt() != checksum) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the logs of tablet "
              + tablet
              + " have two different records "
              + record.sequence()
              + ": it is not opened, as one of them is wrong");
    }
    last = Math.max(last, record.sequence());
    return before.isEmpty();
  }

  /** A checksum of the whole record: records may be many and large, so none is kept. */
  private static int checksum(LogRecord record) {
    CRC32C crc = new CRC32C();
    ByteWriter head = LogFormat.encodeHead(record);
    crc.update(head.array(), 0, head.size());
    record.cells().addTo(crc);
    return (int) crc.getValue();
  }

  /** Records may be missing that are known to be lost, or were in a log that was given up. */
  public void passOver(Losses losses) {
    knownUpTo = Math.min(knownUpTo, losses.knownUpTo());
    inDoubt.addAll(losses.inDoubt());
    for (SequenceRange range : losses.accepted()) {
      for (long one = Math.max(range.lowest(), above + 1); one <= range.highest(); one++) {
        passedOver.add(one);
        last = Math.max(last, one); // So that the number gets no other meaning.
      }
    }
    passedOver.removeIf(seen::has);
  }

  /**
   * Checks that no record is missing between those seen.
   *
   * @throws SteleException CORRUPTION if one is
   */
  public void checkComplete() {
    long missing = last - above - seen.count() - passedOver.size();
    if (missing == 0) {
      return;
    }
    if (firstMissing() > knownUpTo) {
      // Any may have been there, but for those that are lost elsewhere if they are lost.
      inDoubt.forEach(this::checkFound);
      return;
    }
    throw new SteleException(
        SteleException.Code.CORRUPTION,
        "the logs of tablet "
            + tablet
            + " lack "
            + missing
            + " of the records "
            + (above + 1)
            + " to "
            + last
            + ", the first of them "
            + firstMissing()
            + ": a log is missing or was cut. The tablet is not opened, so that no data is lost");
  }

  private void checkFound(SequenceRange range) {
    for (long one = Math.max(range.lowest(), above + 1); one <= range.highest(); one++) {
      if (!seen.has(one) && !passedOver.contains(one)) {
        throw new SteleException(
            SteleException.Code.CORRUPTION,
            "the logs of tablet "
                + tablet
                + " lack record "
                + one
                + ", which may have been in a damaged segment: `stele log check` shows it, and how"
                + " to continue without it. The tablet is not opened, so that no data is lost");
      }
    }
  }

  /** The files hold everything up to this sequence number. */
  public long above() {
    return above;
  }

  /** The highest sequence number seen; if none is above what the files hold, {@link #above}. */
  public long last() {
    return last;
  }

  /** The number of records to replay. */
  public long count() {
    return seen.count();
  }

  private long firstMissing() {
    long missing = above + 1;
    while (seen.has(missing) || passedOver.contains(missing)) {
      missing++;
    }
    return missing;
  }
}
