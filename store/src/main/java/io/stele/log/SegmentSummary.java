package io.stele.log;

import io.stele.format.ByteReader;
import io.stele.format.Crc32c;
import io.stele.format.MalformedException;
import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.BlockMissingException;

/**
 * The tablets with records in a segment, and the range of each. It is the last record of a segment
 * that was ended in order. So a replay skips segments without records of its tablet, and damage
 * affects only the tablets named.
 *
 * @param tablets all tablets with records in the segment; between a tablet's lowest and highest
 *     sequence number it may lack some
 */
public record SegmentSummary(SortedMap<TabletId, SequenceRange> tablets) {
  /** The summary of a segment without records. */
  static final SegmentSummary EMPTY = new SegmentSummary(new TreeMap<>());

  private static final int BYTES_MAX = 64 << 20;

  public SegmentSummary {
    tablets = Collections.unmodifiableSortedMap(new TreeMap<>(tablets));
  }

  /** Whether the segment may have a record of {@code tablet} above {@code sequence}. */
  public boolean has(TabletId tablet, long sequence) {
    return highest(tablet) > sequence;
  }

  /** The highest sequence number of the tablet's records in the segment; -1 where it has none. */
  private long highest(TabletId tablet) {
    return range(tablet).map(SequenceRange::highest).orElse(-1L);
  }

  /** The sequence numbers of the tablet's records in the segment; empty where it has none. */
  Optional<SequenceRange> range(TabletId tablet) {
    return Optional.ofNullable(tablets.get(tablet));
  }

  /**
   * The summary at the end of a segment; empty if it has none: the last segment of a server that
   * died lacks it.
   *
   * @throws IOException if the segment cannot be read; that it is damaged, or another segment than
   *     the file is named for, is reported by a full read
   */
  public static Optional<SegmentSummary> read(FileSystem fs, Segment segment) throws IOException {
    try (FSDataInputStream in = fs.open(segment.path())) {
      LogReader reader = LogReader.open(in, segment.path().toString());
      if (reader.header().isEmpty()) {
        return Optional.empty();
      }
      SegmentLinks.check(segment, reader.header().get());
      return read(in, segment.lengthBytes(), reader.salt());
    } catch (CorruptionException | ChecksumException | BlockMissingException e) {
      return Optional.empty();
    }
  }

  // Its last four bytes are its length: so its frame is found, whose checksum vouches for it.
  private static Optional<SegmentSummary> read(FSDataInputStream in, long end, int salt)
      throws IOException {
    byte[] last = new byte[Integer.BYTES];
    if (end < LogFormat.FRAME_BYTES + last.length) {
      return Optional.empty();
    }
    in.readFully(end - last.length, last);
    int length = ByteReader.intAt(last, 0);
    long position = end - length - LogFormat.FRAME_BYTES;
    if (length < 1 || length > BYTES_MAX || position < 0) {
      return Optional.empty();
    }
    byte[] frame = new byte[LogFormat.FRAME_BYTES];
    in.readFully(position, frame);
    if (!LogFormat.isFrame(frame, 0, salt, position) || ByteReader.intAt(frame, 0) != length) {
      return Optional.empty();
    }
    byte[] body = new byte[length];
    in.readFully(position + frame.length, body);
    if (Crc32c.of(body, 0, length) != ByteReader.intAt(frame, Integer.BYTES)
        || !LogFormat.isSummary(body)) {
      return Optional.empty();
    }
    try {
      return Optional.of(LogFormat.decodeSummary(body));
    } catch (MalformedException e) {
      return Optional.empty();
    }
  }
}
