package io.stele.log;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.files.DurableFiles.Placement;
import io.stele.format.ByteWriter;
import io.stele.format.Crc32c;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * Writes one segment. After an exception it can only be closed: data written since the last flush
 * may be there completely, partly or not at all.
 *
 * <p>Not safe for use by several threads.
 */
final class SegmentWriter {
  private static final int BUFFER_BYTES = 64 << 10;

  private final DurableFile out;
  private final SegmentHeader header;
  private final int salt;
  private final int replicasMin;
  private final ByteWriter buffer = new ByteWriter(BUFFER_BYTES);
  private long position;
  private long syncedPosition;
  private final SortedMap<TabletId, SequenceRange> tablets = new TreeMap<>();
  private boolean summarised;

  private SegmentWriter(DurableFile out, SegmentHeader header, byte[] bytes, int replicasMin) {
    this.out = out;
    this.header = header;
    this.replicasMin = replicasMin;
    this.salt = LogFormat.salt(bytes);
  }

  /**
   * Creates {@code file} with its header, on disk: once it has acknowledged records, the segment
   * after it names it, so that it must not be gone then, or without a header.
   *
   * @param replicasMin how many replicas everything flushed must have; or as many as the file is to
   *     have, if that is less
   */
  static SegmentWriter create(
      DurableFiles files, Path file, SegmentHeader header, Placement placement, int replicasMin)
      throws IOException {
    DurableFile out = files.create(file, placement);
    byte[] bytes = LogFormat.encodeHeader(header);
    SegmentWriter writer = new SegmentWriter(out, header, bytes, replicasMin);
    try {
      writer.buffer.write(bytes, 0, bytes.length);
      writer.position = bytes.length;
      writer.flush(Durability.HSYNC);
      return writer;
    } catch (IOException | RuntimeException e) {
      writer.abandon(e);
      throw e;
    }
  }

  SegmentHeader header() {
    return header;
  }

  /** Where the next record begins. */
  long position() {
    return position;
  }

  /** Appends a body of two parts; it counts after the next flush. */
  private void append(ByteWriter head, Bytes rest, int bodyCrc) throws IOException {
    int bodyBytes = head.size() + rest.length();
    if (buffer.size() + LogFormat.FRAME_BYTES + bodyBytes > BUFFER_BYTES) {
      writeBuffer();
    }
    LogFormat.encodeFrame(buffer, salt, position, bodyBytes, bodyCrc);
    if (bodyBytes > BUFFER_BYTES - LogFormat.FRAME_BYTES) {
      writeBuffer();
      out.write(head.array(), 0, head.size());
      rest.writeTo(out);
    } else {
      buffer.write(head.array(), 0, head.size()).write(rest);
    }
    position += LogFormat.FRAME_BYTES + bodyBytes;
  }

  void append(ByteWriter body) throws IOException {
    append(body, Bytes.EMPTY, Crc32c.of(body.array(), 0, body.size()));
  }

  /** Appends a record; it counts after the next flush. */
  void append(WaitingRecord record) throws IOException {
    append(record.head, record.cells, record.bodyCrc);
    tablets.merge(
        record.tablet,
        new SequenceRange(record.sequence, record.sequence),
        (before, one) -> before.with(one.lowest()));
  }

  /**
   * Appends which tablets have records here: once, after all records, which are on disk by then, on
   * enough nodes. So a segment that has a summary has nothing that a loss of power can take.
   *
   * @throws io.stele.files.TooFewReplicasException if they are on too few
   */
  void appendSummary() throws IOException {
    flush(Durability.HSYNC);
    writeSummary();
  }

  private void writeSummary() throws IOException {
    ByteWriter body = LogFormat.encodeBody(new SegmentSummary(tablets));
    append(body);
    summarised = true;
  }

  /** Appends what was written before this segment: once, before all records. */
  void append(SegmentLink link) throws IOException {
    ByteWriter body = LogFormat.encodeBody(link);
    append(body);
  }

  /**
   * Returns when everything appended is as durable as asked, on enough nodes.
   *
   * @throws io.stele.files.TooFewReplicasException if it is on too few
   */
  void flush(Durability durability) throws IOException {
    push(durability);
    out.checkReplicas(replicasMin);
  }

  private void push(Durability durability) throws IOException {
    switch (durability) {
      case HFLUSH -> {
        writeBuffer();
        out.hflush();
      }
      case HSYNC -> {
        // A filler goes between records only: not before the first, where the link must be, nor
        // after the summary.
        if (!tablets.isEmpty() && !summarised) {
          fillChunk();
        }
        writeBuffer();
        out.hsync();
        syncedPosition = position;
      }
    }
  }

  /** What follows begins a chunk of the file, so that it cannot take with it what is synced. */
  private void fillChunk() throws IOException {
    int chunk = out.chunkBytes();
    int inChunk = (int) (position % chunk);
    if (inChunk > 0) {
      int rest = chunk - inChunk;
      while (rest < LogFormat.FILLER_BYTES_MIN) {
        rest += chunk;
      }
      append(LogFormat.encodeFiller(rest));
    }
  }

  /** The nodes that take what is written, one after the other, if the file system says. */
  List<String> nodes() {
    return out.nodes();
  }

  /** Whether the file is to have several replicas. */
  boolean isReplicated() {
    return out.replication() > 1;
  }

  private void writeBuffer() throws IOException {
    out.write(buffer.array(), 0, buffer.size());
    buffer.clear();
  }

  /**
   * Puts the file on disk, with a summary where it has records and enough nodes have them, and ends
   * it.
   */
  void close() throws IOException {
    sync(); // However few nodes are left: it has acknowledged what it will.
    if (!tablets.isEmpty() && !summarised && out.hasReplicas(replicasMin)) {
      writeSummary();
      sync();
    }
    out.close();
  }

  private void sync() throws IOException {
    if (syncedPosition < position) {
      push(Durability.HSYNC);
    }
  }

  /** Ends the stream after {@code failure}, to which a failure to do so is added. */
  void abandon(Throwable failure) {
    boolean isWritten = buffer.size() == 0;
    buffer.clear();
    try {
      if (!summarised || syncedPosition == position) {
        out.close();
      } else if (isWritten) {
        closeWithTornTail();
      } // Else it may be written in part. The file stays open; a fence closes and copies it.
    } catch (IOException | RuntimeException e) {
      if (e != failure) {
        failure.addSuppressed(e);
      }
    }
  }

  /** A summary that may not be on disk must not end a closed file. */
  private void closeWithTornTail() throws IOException {
    out.write(0); // If this fails, the file stays open.
    out.close();
  }
}
