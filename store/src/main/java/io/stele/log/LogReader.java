package io.stele.log;

import io.stele.format.ByteReader;
import io.stele.format.Crc32c;
import io.stele.format.MalformedException;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.TabletId;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Reads one segment from its start; {@link LogFormat} defines torn tails and damage.
 *
 * <p>Of a segment still open for writing it reads what had been flushed when it was opened. Not
 * safe for use by several threads.
 */
public final class LogReader implements RecordSource {
  private static final int BUFFER_BYTES = 256 << 10;
  private static final int LENT_BYTES = 64 << 10;

  private final InputStream in;
  private final String file;
  private final LogFormat.KnownTablets tablets = new LogFormat.KnownTablets();
  private final byte[] frame = new byte[LogFormat.FRAME_BYTES];
  private byte[] lent = new byte[0]; // The body of the record that nextEncoded gave last.
  private Optional<SegmentHeader> header = Optional.empty();
  private Optional<SegmentLink> link = Optional.empty();
  private Optional<SegmentSummary> summary = Optional.empty();
  private int salt;
  private int lastBodyCrc;
  private int lastBodyLength;
  private boolean atLink;
  private long position;
  private long lastRecordStart;
  private boolean torn;
  private boolean ended;

  /** Reads records from {@code position} on, of a segment whose header was read elsewhere. */
  LogReader(InputStream in, String file, SegmentHeader header, int salt, long position) {
    this.in = in;
    this.file = file;
    this.header = Optional.of(header);
    this.salt = salt;
    this.position = position;
  }

  /** Reads records from {@code position} on, of a file without its own header there. */
  LogReader(InputStream in, String file, int salt, long position) {
    this.in = in;
    this.file = file;
    this.salt = salt;
    this.position = position;
  }

  private LogReader(InputStream in, String file) {
    this.in = in;
    this.file = file;
  }

  /**
   * Opens a segment and reads its header.
   *
   * @throws CorruptionException if it is not a segment or its header is damaged
   * @throws IOException if it cannot be read or has a newer format version
   */
  public static LogReader open(FileSystem fs, Path segment) throws IOException {
    InputStream in = new BufferedInputStream(fs.open(segment), BUFFER_BYTES);
    return open(in, segment.toString());
  }

  /**
   * Opens a segment of a log, and checks that its file is of that segment; empty if the file ends
   * within its header, so that there are no records.
   *
   * @throws CorruptionException if it is not that segment, or its header is damaged
   * @throws IOException if it cannot be read or has a newer format version
   */
  static Optional<LogReader> open(FileSystem fs, Segment segment) throws IOException {
    LogReader reader = open(fs, segment.path());
    if (reader.header.isEmpty()) {
      reader.close();
      return Optional.empty();
    }
    try {
      SegmentLinks.check(segment, reader.header.get());
      return Optional.of(reader);
    } catch (CorruptionException e) {
      reader.close();
      throw e;
    }
  }

  /**
   * A reader after the damage at {@code damaged} of a segment whose header {@code before} has read;
   * empty if no intact record follows it.
   */
  static Optional<LogReader> openAfter(
      FileSystem fs, Segment segment, LogReader before, long damaged) throws IOException {
    FSDataInputStream in = fs.open(segment.path());
    try {
      long next = nextFrame(in, segment.lengthBytes(), damaged, before.salt);
      if (next >= segment.lengthBytes()) {
        in.close();
        return Optional.empty();
      }
      in.seek(next);
      return Optional.of(
          new LogReader(
              new BufferedInputStream(in, BUFFER_BYTES),
              before.file,
              before.header.orElseThrow(),
              before.salt,
              next));
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /**
   * The position after the body that an intact frame at {@code damaged} announces, or of the next
   * intact frame.
   */
  private static long nextFrame(FSDataInputStream in, long end, long damaged, int salt)
      throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    for (long base = damaged;
        end - base >= LogFormat.FRAME_BYTES;
        base += buffer.length - LogFormat.FRAME_BYTES + 1) {
      int length = (int) Math.min(buffer.length, end - base);
      in.readFully(base, buffer, 0, length);
      for (int i = 0; i + LogFormat.FRAME_BYTES <= length; i++) {
        if (LogFormat.isFrame(buffer, i, salt, base + i)) {
          return base + i > damaged
              ? base + i
              : damaged + LogFormat.FRAME_BYTES + ByteReader.intAt(buffer, i);
        }
      }
    }
    return end;
  }

  static LogReader open(InputStream in, String file) throws IOException {
    LogReader reader = new LogReader(in, file);
    try {
      reader.readHeader();
      return reader;
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** The segment's header; empty if the file ends within it, so that there are no records. */
  Optional<SegmentHeader> header() {
    return header;
  }

  int salt() {
    return salt;
  }

  /**
   * What the segment says about the previous one; empty if the file ends before that, so that there
   * are no records.
   *
   * @throws CorruptionException if it is damaged
   */
  Optional<SegmentLink> link() throws IOException {
    if (atLink) {
      atLink = false;
      Optional<byte[]> body = nextBody(false);
      if (body.isPresent()) {
        try {
          link = Optional.of(LogFormat.decodeLink(body.get()));
          position += LogFormat.FRAME_BYTES + body.get().length;
        } catch (MalformedException e) {
          throw damaged("the first record cannot be decoded: " + e.getMessage());
        }
      }
    }
    return link;
  }

  /** The segment's summary; empty if it has none, or was not read to its end. */
  Optional<SegmentSummary> summary() {
    return summary;
  }

  /** The end of the last whole record read: at the end of a segment, the start of its torn tail. */
  public long position() {
    return position;
  }

  /** Where the last record read begins. */
  long recordStart() {
    return lastRecordStart;
  }

  /** Whether the end was reached and has bytes of an unfinished record. */
  public boolean torn() {
    return torn;
  }

  @Override
  public Optional<LogRecord> next() throws IOException {
    Optional<byte[]> body = nextRecord(false);
    if (body.isEmpty()) {
      return Optional.empty();
    }
    try {
      LogRecord record = LogFormat.decodeBody(body.get(), tablets);
      position += LogFormat.FRAME_BYTES + body.get().length;
      return Optional.of(record);
    } catch (MalformedException e) {
      throw undecoded(e);
    }
  }

  /**
   * The next record in encoded form, for callers that only copy it: it is valid until the next
   * call, so that a segment is read through one array.
   *
   * @throws CorruptionException if it is damaged, or does not say to which tablet it belongs
   */
  Optional<EncodedRecord> nextEncoded() throws IOException {
    Optional<byte[]> body = nextRecord(true);
    if (body.isEmpty()) {
      return Optional.empty();
    }
    try {
      TabletId tablet = LogFormat.tabletOf(body.get(), lastBodyLength, tablets);
      position += LogFormat.FRAME_BYTES + lastBodyLength;
      return Optional.of(new EncodedRecord(tablet, body.get(), 0, lastBodyLength, lastBodyCrc));
    } catch (MalformedException e) {
      throw undecoded(e);
    }
  }

  /**
   * Skips fillers, and returns the body of the next record, at which the position then stands;
   * empty at the segment's end, where this takes in the summary.
   *
   * @param lends see {@link #nextBody}
   */
  private Optional<byte[]> nextRecord(boolean lends) throws IOException {
    if (atLink) {
      link();
    }
    Optional<byte[]> body = nextBody(lends);
    while (body.isPresent() && LogFormat.isFiller(body.get(), lastBodyLength)) {
      position += LogFormat.FRAME_BYTES + lastBodyLength;
      body = nextBody(lends);
    }
    lastRecordStart = position;
    if (body.isPresent() && LogFormat.isSummary(body.get())) {
      endWithSummary(Arrays.copyOf(body.get(), lastBodyLength));
      return Optional.empty();
    }
    return body;
  }

  private void endWithSummary(byte[] body) throws IOException {
    SegmentSummary last;
    try {
      last = LogFormat.decodeSummary(body);
    } catch (MalformedException e) {
      throw undecoded(e);
    }
    position += LogFormat.FRAME_BYTES + body.length;
    byte[] more = read(1);
    if (!LogFormat.isZero(more) || !restIsZero()) {
      throw damaged("the segment has bytes after its summary");
    }
    summary = Optional.of(last);
    end(more.length > 0);
  }

  private CorruptionException undecoded(MalformedException e) {
    if (e.isNewer()) { // The record's checksum is right.
      throw new NewerFormatException(file + " at offset " + position, e.getMessage());
    }
    return damaged("a record of " + lastBodyLength + " bytes cannot be decoded: " + e.getMessage());
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  /**
   * Returns the body of whatever stands at the position: a record, or a link, a filler or the
   * summary. It has {@link #lastBodyLength} bytes. The position does not move. Empty at the end of
   * the file.
   *
   * @param lends whether the body is in an array that the next call uses again, and that may be
   *     longer; otherwise it has an array of its own and of its length
   */
  private Optional<byte[]> nextBody(boolean lends) throws IOException {
    if (ended) {
      return Optional.empty();
    }
    int read = readInto(frame, frame.length);
    if (read < LogFormat.FRAME_BYTES) {
      return end(read > 0);
    }
    int length = ByteReader.intAt(frame, 0);
    lastBodyCrc = ByteReader.intAt(frame, Integer.BYTES);
    int frameCrc = ByteReader.intAt(frame, 2 * Integer.BYTES);
    if (length < 1
        || length > LogFormat.BODY_BYTES_MAX
        || frameCrc != LogFormat.frameCrc(salt, position, length, lastBodyCrc)) {
      if (LogFormat.isZero(frame) && restIsZero()) {
        return end(true);
      }
      throw damaged("the frame of a record does not match its checksum");
    }
    byte[] body = array(length, lends); // The frame is sound, so that it was once so long.
    lastBodyLength = length;
    if (readInto(body, length) < length) {
      return end(true);
    }
    if (Crc32c.of(body, 0, length) != lastBodyCrc) {
      throw damaged("a record of " + length + " bytes does not match its checksum");
    }
    return Optional.of(body);
  }

  private void readHeader() throws IOException {
    byte[] start = read(LogFormat.HEADER_START_BYTES);
    if (start.length < LogFormat.HEADER_START_BYTES) {
      if (!LogFormat.mayBeginHeader(start)) {
        throw damaged("not a commit log segment: it does not begin with STELELOG");
      }
      end(start.length > 0);
      return;
    }
    if (LogFormat.isZero(start) && restIsZero()) {
      end(true);
      return;
    }
    int length;
    try {
      length = LogFormat.headerRestBytes(start);
    } catch (MalformedException e) {
      throw damaged(e.getMessage());
    }
    byte[] rest = read(length);
    if (rest.length < length) {
      end(true);
      return;
    }
    byte[] whole = new byte[start.length + rest.length];
    System.arraycopy(start, 0, whole, 0, start.length);
    System.arraycopy(rest, 0, whole, start.length, rest.length);
    try {
      header = Optional.of(LogFormat.decodeHeader(whole));
    } catch (MalformedException e) {
      throw damaged("the header, " + e.getMessage());
    } catch (IOException e) {
      throw new IOException(file + ": " + e.getMessage(), e);
    }
    salt = LogFormat.salt(whole);
    position = whole.length;
    atLink = true;
  }

  private Optional<byte[]> end(boolean withTornTail) {
    ended = true;
    torn = withTornTail;
    return Optional.empty();
  }

  private boolean restIsZero() throws IOException {
    byte[] part = read(BUFFER_BYTES);
    while (part.length > 0) {
      if (!LogFormat.isZero(part)) {
        return false;
      }
      part = read(BUFFER_BYTES);
    }
    return true;
  }

  /** Up to {@code length} bytes, fewer only at the end of the file. */
  private byte[] read(int length) throws IOException {
    try {
      return in.readNBytes(length);
    } catch (ChecksumException e) {
      throw damaged(e);
    }
  }

  private byte[] array(int length, boolean lends) {
    if (!lends) {
      return new byte[length];
    }
    boolean isTooLarge = lent.length > LENT_BYTES && length <= LENT_BYTES;
    if (lent.length < length || isTooLarge) {
      lent = new byte[Math.max(length, Math.min(2 * lent.length, LENT_BYTES))];
    }
    return lent;
  }

  private int readInto(byte[] bytes, int length) throws IOException {
    try {
      return in.readNBytes(bytes, 0, length);
    } catch (ChecksumException e) {
      throw damaged(e);
    }
  }

  private CorruptionException damaged(ChecksumException e) {
    CorruptionException damage =
        damaged("the file system's own checksum does not match: " + e.getMessage());
    damage.initCause(e);
    return damage;
  }

  private CorruptionException damaged(String detail) {
    ended = true;
    return new CorruptionException(file, position, detail);
  }
}
