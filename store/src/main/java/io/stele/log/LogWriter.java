package io.stele.log;

import io.stele.format.ByteWriter;
import io.stele.model.Durability;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;

/**
 * Writes one segment. After an exception it is of no use but to be closed: what was written since
 * the last flush may be there, in part or not at all.
 *
 * <p>Not safe for use by several threads.
 */
final class LogWriter {
  private static final int BUFFER_BYTES = 64 << 10;

  private final FSDataOutputStream out;
  private final SegmentHeader header;
  private final int salt;
  private final int headerBytes;
  private final ByteWriter buffer = new ByteWriter(BUFFER_BYTES);
  private long position;
  private long flushedBytes;

  private LogWriter(FSDataOutputStream out, SegmentHeader header, byte[] bytes) {
    this.out = out;
    this.header = header;
    this.salt = LogFormat.salt(bytes);
    this.headerBytes = bytes.length;
  }

  /**
   * Creates {@code file} with its header, on disk: the segments after it name it, so that it must
   * not be gone, or without a header, when they are there.
   */
  static LogWriter create(SegmentFiles files, Path file, SegmentHeader header) throws IOException {
    FSDataOutputStream out = files.create(file);
    byte[] bytes = LogFormat.encodeHeader(header);
    LogWriter writer = new LogWriter(out, header, bytes);
    try {
      writer.append(bytes);
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

  /** Whether there is more than the header. */
  boolean hasRecords() {
    return position > headerBytes;
  }

  /** How far the file was flushed. */
  long flushedBytes() {
    return flushedBytes;
  }

  /** Appends a record's body; it counts after the next flush. */
  void append(byte[] body, int bodyCrc) throws IOException {
    LogFormat.encodeFrame(buffer, salt, position, body.length, bodyCrc);
    position += LogFormat.FRAME_BYTES;
    append(body);
  }

  private void append(byte[] bytes) throws IOException {
    if (buffer.size() + bytes.length > BUFFER_BYTES) {
      writeBuffer();
    }
    if (bytes.length > BUFFER_BYTES) {
      out.write(bytes, 0, bytes.length);
    } else {
      buffer.write(bytes, 0, bytes.length);
    }
    position += bytes.length;
  }

  /** Returns when everything appended is as durable as asked. */
  void flush(Durability durability) throws IOException {
    writeBuffer();
    switch (durability) {
      case HFLUSH -> out.hflush();
      case HSYNC -> out.hsync();
    }
    flushedBytes = position;
  }

  private void writeBuffer() throws IOException {
    out.write(buffer.array(), 0, buffer.size());
    buffer.clear();
  }

  /**
   * Puts the file on disk, so that a loss of power cannot leave the next one without it; ends it.
   */
  void close() throws IOException {
    flush(Durability.HSYNC);
    out.close();
  }

  /** Ends the stream after {@code failure}, to which a failure to do so is added. */
  void abandon(Throwable failure) {
    buffer.clear();
    try {
      out.close();
    } catch (IOException | RuntimeException e) {
      if (e != failure) {
        failure.addSuppressed(e);
      }
    }
  }
}
