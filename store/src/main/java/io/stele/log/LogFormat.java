package io.stele.log;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.Crc32c;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.ServerId;
import io.stele.model.Settled;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.model.TaskProgress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The bytes of a commit log segment. Fixed-size integers are little-endian; a {@code varlong} has
 * seven bits a byte, low bits first; {@code prefixed} is a varlong length and as many bytes.
 *
 * <pre>
 * segment       := header (link record* summary?)?
 *
 * header        := magic:"STELELOG" version:u32 length:u32 start-crc:u32 header-body[length] header-crc:u32
 * start-crc     := CRC32C of everything before it
 * header-body   := kind:u8 server:prefixed number:varlong
 * header-crc    := CRC32C of everything before it
 *
 * link, record, summary
 *               := length:u32 body-crc:u32 frame-crc:u32 body[length]                 length &gt;= 1
 * body-crc      := CRC32C of body
 * frame-crc     := CRC32C of header-crc:u32 position:u64 length:u32 body-crc:u32      position of the record in the file
 *
 * body          := link-body | record-body | summary-body
 * link-body     := type:u8 (2) previous:varlong previous-acknowledged:varlong tablets
 * record-body   := type:u8 (1) table:prefixed tablet:u64 sequence:varlong timestamp-max:zigzag flags:u8 alteration:varint? operation? task? cells
 * flags         := 1 if there is an operation, 2 if it is one of a task, and 4 if there is an alteration
 * operation     := client-high:u64 client-low:u64 number:varlong first-incomplete:varlong digest:prefixed result:prefixed
 * task          := settled-below:varlong settled-digest:u64 job:prefixed
 * tablets       := count:varlong (table:prefixed tablet:u64 lowest:varlong highest:varlong)*
 * cells         := a sequential cell block up to the end of the body
 * summary-body  := type:u8 (3) tablets length:u32
 * length        := of the whole summary-body: so that the summary is found from the end of the file
 * </pre>
 *
 * <p>A record of tablet 0 of the table "filler", which does not exist, only fills space: a batch
 * that is synced ends with one, so that the next begins a chunk of HDFS. See {@link
 * io.stele.files.DurableFile#chunkBytes}.
 *
 * <p>The frame's checksum covers where the record stands and, through the header's, in which
 * segment of which server: a block of another file or place, or of an earlier use of the disk, does
 * not pass for a record.
 *
 * <p><b>Torn or damaged.</b> What a crash leaves of a file is a prefix of what was written. So a
 * file that ends within a record's frame, or within the body that a whole frame announces, has a
 * <em>torn tail</em>: normal, and cut at the last whole record. A whole frame or body that does not
 * match its checksum cannot be the prefix of anything that was written: that is <em>damage</em>,
 * wherever in the file it is, and an error. One exception: a rest of the file that is nothing but
 * zeros is a torn tail, as local file systems may leave that after a loss of power.
 *
 * <p>A file that was shortened at its end looks torn. So every segment says in its link, which is
 * written with its first records, which segment was written before it and how far that one was
 * acknowledged. Reading a directory in order finds that too, for all but the last segment with a
 * link. A segment without a link was a standby that was never used.
 */
final class LogFormat {
  static final byte[] MAGIC = "STELELOG".getBytes(StandardCharsets.US_ASCII);
  static final int VERSION = 1;

  /** Up to and with the checksum of the length: the part of the header whose size is known. */
  static final int HEADER_START_BYTES = MAGIC.length + 3 * Integer.BYTES;

  static final int HEADER_BODY_BYTES_MAX = 4096;
  static final int HEADER_BYTES_MAX = HEADER_START_BYTES + HEADER_BODY_BYTES_MAX + Integer.BYTES;
  static final int FRAME_BYTES = 3 * Integer.BYTES;
  static final int BODY_BYTES_MAX = 1 << 30;

  /** The most bytes of a record's body besides its cells, digest and result. */
  static final int BODY_BYTES_BESIDE = 160;

  /** What a record has at most of a task, beside the name of its job. */
  static final int TASK_BYTES = 24;

  /** The fewest bytes that a filler takes. */
  static final int FILLER_BYTES_MIN = FRAME_BYTES + 32;

  private static final int TYPE_RECORD = 1;
  private static final int TYPE_LINK = 2;
  private static final int TYPE_SUMMARY = 3;
  private static final int FLAG_OPERATION = 1;
  private static final int FLAG_TASK = 2;
  private static final int FLAG_ALTERATION = 4;

  /** The beginning of a filler: a record of a tablet that does not exist. */
  private static final byte[] FILLER =
      writeTablet(
              new ByteWriter(16).writeByte(TYPE_RECORD),
              new TabletId(new TableId("filler"), "0000000000000000"))
          .toByteArray();

  private LogFormat() {}

  /** The whole header; its last four bytes are the salt of the records' checksums. */
  static byte[] encodeHeader(SegmentHeader header) {
    ByteWriter body = new ByteWriter(64);
    body.writeByte(header.kind().ordinal())
        .writePrefixed(Bytes.of(header.server().toString()))
        .writeVarlong(header.number());
    ByteWriter out = new ByteWriter(HEADER_START_BYTES + body.size() + Integer.BYTES);
    out.write(MAGIC, 0, MAGIC.length)
        .writeInt(VERSION)
        .writeInt(body.size())
        .writeInt(Crc32c.of(out.array(), 0, out.size()))
        .write(body.array(), 0, body.size());
    return out.writeInt(Crc32c.of(out.array(), 0, out.size())).toByteArray();
  }

  /**
   * How long the rest of the header is whose start these {@link #HEADER_START_BYTES} are.
   *
   * @throws MalformedException if they are not the start of a header
   */
  static int headerRestBytes(byte[] start) throws MalformedException {
    int length = ByteReader.intAt(start, MAGIC.length + Integer.BYTES);
    if (Crc32c.of(start, 0, start.length - Integer.BYTES) != salt(start)
        || length < 0
        || length > HEADER_BODY_BYTES_MAX) {
      throw new MalformedException(0, "not a commit log segment, or its header is damaged");
    }
    return length + Integer.BYTES;
  }

  /**
   * The header with which {@code bytes} begin.
   *
   * @throws MalformedException if they do not begin with a whole one
   */
  static byte[] wholeHeader(byte[] bytes) throws MalformedException {
    int length = HEADER_START_BYTES;
    if (length <= bytes.length) {
      length += headerRestBytes(Arrays.copyOf(bytes, HEADER_START_BYTES));
    }
    if (length > bytes.length) {
      throw new MalformedException(bytes.length, "it ends within its header");
    }
    return Arrays.copyOf(bytes, length);
  }

  /**
   * The header in {@code bytes}, which begin with one and are as many as it has.
   *
   * @throws MalformedException if they are not a header
   * @throws IOException if they are a header of a newer version
   */
  static SegmentHeader decodeHeader(byte[] bytes) throws IOException {
    ByteReader in = new ByteReader(bytes);
    if (!in.readBytes(MAGIC.length).equals(Bytes.of(MAGIC))) {
      throw new MalformedException(0, "not a commit log segment: it does not begin with STELELOG");
    }
    int version = in.readInt();
    if (Crc32c.of(bytes, 0, bytes.length - Integer.BYTES) != salt(bytes)) {
      throw in.malformed("the header does not match its checksum");
    }
    if (version != VERSION) {
      throw new IOException(
          "the segment has format version "
              + Integer.toUnsignedString(version)
              + " and this Stele reads version "
              + VERSION
              + ": use the version of Stele that wrote it");
    }
    in.skip(2 * Integer.BYTES);
    int kind = in.readByte();
    if (kind >= TabletKind.values().length) {
      throw in.malformed("unknown kind of log " + kind);
    }
    String server = in.readPrefixed().toUtf8();
    long number = in.readVarlong();
    try {
      return new SegmentHeader(TabletKind.values()[kind], ServerId.parse(server), number);
    } catch (IllegalArgumentException e) {
      throw in.malformed(String.valueOf(e.getMessage()));
    }
  }

  /** What the checksums of a segment's records begin with: the checksum of its header. */
  static int salt(byte[] header) {
    return ByteReader.intAt(header, header.length - Integer.BYTES);
  }

  /** Whether {@code bytes}, fewer than a header has, may be the beginning of one. */
  static boolean mayBeginHeader(byte[] bytes) {
    int known = Math.min(bytes.length, MAGIC.length);
    return Arrays.equals(bytes, 0, known, MAGIC, 0, known) || isZero(bytes);
  }

  static boolean isZero(byte[] bytes) {
    for (byte b : bytes) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }

  static int frameCrc(int salt, long position, int length, int bodyCrc) {
    ByteWriter covered = new ByteWriter(2 * Integer.BYTES + Long.BYTES + Integer.BYTES);
    covered.writeInt(salt).writeLong(position).writeInt(length).writeInt(bodyCrc);
    return Crc32c.of(covered.array(), 0, covered.size());
  }

  static void encodeFrame(ByteWriter out, int salt, long position, int length, int bodyCrc) {
    out.writeInt(length).writeInt(bodyCrc).writeInt(frameCrc(salt, position, length, bodyCrc));
  }

  static ByteWriter encodeBody(SegmentLink link) {
    ByteWriter out =
        new ByteWriter(24)
            .writeByte(TYPE_LINK)
            .writeVarlong(link.previous())
            .writeVarlong(link.previousAcknowledgedBytes());
    writeTablets(out, link.previousTablets());
    return out;
  }

  static SegmentLink decodeLink(byte[] body) throws MalformedException {
    ByteReader in = new ByteReader(body);
    int type = in.readByte();
    if (type != TYPE_LINK) {
      throw in.malformed(
          "the first record of a segment must be a link to the one before it, not of type " + type);
    }
    SegmentLink link = new SegmentLink(in.readVarlong(), in.readVarlong(), readTablets(in));
    if (in.remaining() > 0) {
      throw in.malformed("a link is followed by " + in.remaining() + " bytes");
    }
    return link;
  }

  static ByteWriter encodeBody(LogRecord record) {
    return encodeHead(record).write(record.cells());
  }

  /** A record's body but for its cells, which come last. */
  static ByteWriter encodeHead(LogRecord record) {
    ByteWriter out = new ByteWriter(160);
    out.writeByte(TYPE_RECORD);
    writeTablet(out, record.tablet())
        .writeVarlong(record.sequence())
        .writeZigzag(record.timestampMax());
    out.writeByte(flags(record));
    if (record.alteration() > 0) {
      out.writeVarint(record.alteration());
    }
    if (record.operation().isPresent()) {
      LoggedOperation operation = record.operation().get();
      out.writeLong(operation.id().clientHigh())
          .writeLong(operation.id().clientLow())
          .writeVarlong(operation.id().number())
          .writeVarlong(operation.firstIncomplete())
          .writePrefixed(operation.digest())
          .writePrefixed(operation.result());
      operation
          .task()
          .ifPresent(
              task ->
                  out.writeVarlong(task.settled().below())
                      .writeLong(task.settled().digest())
                      .writePrefixed(Bytes.of(task.job().orElse(""))));
    }
    return out;
  }

  /** A record that is nobody's, so that it and its frame take {@code bytes}. */
  static ByteWriter encodeFiller(int bytes) {
    ByteWriter out = new ByteWriter(bytes).write(FILLER, 0, FILLER.length);
    out.writeVarlong(0).writeZigzag(0).writeByte(0);
    byte[] zeros = new byte[bytes - FRAME_BYTES - out.size()];
    return out.write(zeros, 0, zeros.length);
  }

  static boolean isFiller(byte[] body, int length) {
    return length >= FILLER.length
        && Arrays.equals(body, 0, FILLER.length, FILLER, 0, FILLER.length);
  }

  private static int flags(LogRecord record) {
    boolean ofTask = record.operation().flatMap(LoggedOperation::task).isPresent();
    return (record.operation().isPresent() ? FLAG_OPERATION : 0)
        | (ofTask ? FLAG_TASK : 0)
        | (record.alteration() > 0 ? FLAG_ALTERATION : 0);
  }

  static ByteWriter encodeBody(SegmentSummary summary) {
    ByteWriter out = new ByteWriter(64 + 40 * summary.tablets().size());
    out.writeByte(TYPE_SUMMARY);
    writeTablets(out, summary);
    return out.writeInt(out.size() + Integer.BYTES);
  }

  private static void writeTablets(ByteWriter out, SegmentSummary summary) {
    out.writeVarlong(summary.tablets().size());
    summary
        .tablets()
        .forEach(
            (tablet, range) ->
                writeTablet(out, tablet)
                    .writeVarlong(range.lowest())
                    .writeVarlong(range.highest()));
  }

  static boolean isSummary(byte[] body) {
    return body[0] == TYPE_SUMMARY;
  }

  static SegmentSummary decodeSummary(byte[] body) throws MalformedException {
    ByteReader in = new ByteReader(body);
    in.skip(1);
    SegmentSummary summary = readTablets(in);
    if (in.readInt() != body.length || in.remaining() > 0) {
      throw in.malformed("a summary does not end with its length");
    }
    return summary;
  }

  private static SegmentSummary readTablets(ByteReader in) throws MalformedException {
    SortedMap<TabletId, SequenceRange> tablets = new TreeMap<>();
    try {
      for (long left = in.readVarlong(); left > 0; left--) {
        TabletId tablet = readTablet(in);
        tablets.put(tablet, new SequenceRange(in.readVarlong(), in.readVarlong()));
      }
    } catch (IllegalArgumentException e) {
      throw in.malformed(String.valueOf(e.getMessage()));
    }
    return new SegmentSummary(tablets);
  }

  static ByteWriter writeTablet(ByteWriter out, TabletId tablet) {
    String table = tablet.table().value(); // Letters and digits: a byte each.
    out.writeVarint(table.length());
    for (int i = 0; i < table.length(); i++) {
      out.writeByte(table.charAt(i));
    }
    return out.writeLong(HexFormat.fromHexDigitsToLong(tablet.name()));
  }

  /**
   * Reads what {@link #writeTablet} wrote.
   *
   * @throws IllegalArgumentException if it cannot name a tablet
   */
  static TabletId readTablet(ByteReader in) throws MalformedException {
    return tablet(in.readPrefixed(), in.readLong());
  }

  private static TabletId tablet(Bytes table, long number) {
    return new TabletId(new TableId(table.toUtf8()), HexFormat.of().toHexDigits(number));
  }

  /**
   * The tablets that were read, so that each is made from its bytes once: records of few tablets
   * are many. Not safe for use by several threads.
   */
  static final class KnownTablets {
    private static final int MAX = 10_000;

    private record Encoded(Bytes table, long number) {}

    private final Map<Encoded, TabletId> known = new HashMap<>();

    TabletId read(ByteReader in) throws MalformedException {
      Encoded encoded = new Encoded(in.readPrefixed(), in.readLong());
      TabletId tablet = known.get(encoded);
      if (tablet == null) {
        tablet = tablet(encoded.table, encoded.number);
        if (known.size() < MAX) {
          known.put(new Encoded(Bytes.of(encoded.table.toByteArray()), encoded.number), tablet);
        }
      }
      return tablet;
    }
  }

  /** Whether there is a sound frame at {@code at} of {@code bytes}, which is {@code position}. */
  static boolean isFrame(byte[] bytes, int at, int salt, long position) {
    if (bytes.length - at < FRAME_BYTES) {
      return false;
    }
    int length = ByteReader.intAt(bytes, at);
    int bodyCrc = ByteReader.intAt(bytes, at + Integer.BYTES);
    return length >= 1
        && length <= BODY_BYTES_MAX
        && ByteReader.intAt(bytes, at + 2 * Integer.BYTES)
            == frameCrc(salt, position, length, bodyCrc);
  }

  /** The tablet of the record whose body is the first {@code length} bytes of an array. */
  static TabletId tabletOf(byte[] body, int length, KnownTablets tablets)
      throws MalformedException {
    return readTablet(new ByteReader(body, 0, length), tablets);
  }

  private static TabletId readTablet(ByteReader body, KnownTablets tablets)
      throws MalformedException {
    int type = body.readByte();
    if (type != TYPE_RECORD) {
      throw body.newer("a record of unknown type " + type);
    }
    try {
      return tablets.read(body);
    } catch (IllegalArgumentException e) {
      throw body.malformed(String.valueOf(e.getMessage()));
    }
  }

  static LogRecord decodeBody(byte[] body, KnownTablets tablets) throws MalformedException {
    ByteReader in = new ByteReader(body);
    TabletId tablet = readTablet(in, tablets);
    try {
      long sequence = in.readVarlong();
      long timestampMax = in.readZigzag();
      int flags = in.readByte();
      if ((flags & ~(FLAG_OPERATION | FLAG_TASK | FLAG_ALTERATION)) != 0) {
        throw in.newer("a record with unknown flags " + flags);
      }
      if ((flags & (FLAG_OPERATION | FLAG_TASK)) == FLAG_TASK) {
        throw in.malformed("unknown flags " + flags);
      }
      int alteration = (flags & FLAG_ALTERATION) != 0 ? in.readVarint() : 0;
      Optional<LoggedOperation> operation =
          (flags & FLAG_OPERATION) != 0
              ? Optional.of(decodeOperation(in, (flags & FLAG_TASK) != 0))
              : Optional.empty();
      Bytes cells = Bytes.wrap(body, in.position(), in.remaining());
      return new LogRecord(tablet, sequence, timestampMax, alteration, operation, cells);
    } catch (IllegalArgumentException e) {
      throw in.malformed(String.valueOf(e.getMessage()));
    }
  }

  private static LoggedOperation decodeOperation(ByteReader in, boolean ofTask)
      throws MalformedException {
    OperationId id = new OperationId(in.readLong(), in.readLong(), in.readVarlong());
    long firstIncomplete = in.readVarlong();
    Bytes digest = in.readPrefixed();
    Bytes result = in.readPrefixed();
    return new LoggedOperation(
        id,
        firstIncomplete,
        digest,
        result,
        ofTask ? Optional.of(decodeTask(in)) : Optional.empty());
  }

  private static TaskProgress decodeTask(ByteReader in) throws MalformedException {
    Settled settled = new Settled(in.readVarlong(), in.readLong());
    String job = in.readPrefixed().toUtf8();
    return new TaskProgress(job.isEmpty() ? Optional.empty() : Optional.of(job), settled);
  }
}
