package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.files.DurableFiles;
import io.stele.files.DurableFiles.Placement;
import io.stele.format.ByteWriter;
import io.stele.format.Crc32c;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Durability;
import io.stele.model.NewerFormatException;
import io.stele.model.OperationId;
import io.stele.model.Settled;
import io.stele.model.TabletKind;
import io.stele.model.TaskProgress;
import io.stele.sim.CrashableFileSystem;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(120)
class LogReaderTest {
  private static final SegmentHeader HEADER = new SegmentHeader(TabletKind.SYSTEM, SERVER, 3);
  private static final SegmentLink LINK =
      new SegmentLink(
          2, 4711, new SegmentSummary(new TreeMap<>(Map.of(tablet(7), new SequenceRange(8, 9)))));
  private static final Path FILE = new Path("crash:/system-3.log");
  private static final List<LogRecord> RECORDS =
      List.of(
          record(tablet(1), 1, 10),
          record(tablet(0xabcdef), Long.MAX_VALUE, 0),
          new LogRecord(tablet(1), 2, -1, Optional.empty(), Bytes.EMPTY),
          new LogRecord(
              tablet(1),
              3,
              Long.MAX_VALUE - 1,
              Optional.of(
                  new LoggedOperation(
                      new OperationId(-1, Long.MIN_VALUE, 1L << 40),
                      1L << 39,
                      Bytes.of("digest"),
                      Bytes.of("result"))),
              Bytes.EMPTY),
          new LogRecord(
              tablet(1),
              4,
              5,
              Optional.of(
                  new LoggedOperation(
                      new OperationId(1, 2, 9),
                      1,
                      Bytes.of("digest"),
                      Bytes.EMPTY,
                      Optional.of(
                          new TaskProgress(Optional.of("job"), new Settled(1L << 41, -3))))),
              Bytes.EMPTY),
          record(tablet(2), 300, 300));

  private final CrashableFileSystem fs = CrashableFileSystem.create();
  private final List<Integer> ends = new ArrayList<>(); // Where the link and each record end.
  private int headerEnd;
  private int summaryStart;
  private final byte[] segment = write();

  private byte[] write() {
    try {
      SegmentWriter writer =
          SegmentWriter.create(new DurableFiles(fs), FILE, HEADER, Placement.NEAR, 1);
      headerEnd = (int) writer.position();
      writer.append(LINK);
      ends.add((int) writer.position());
      for (LogRecord record : RECORDS) {
        writer.append(new WaitingRecord(record, Durability.HSYNC, false));
        ends.add((int) writer.position());
      }
      writer.flush(Durability.HSYNC);
      summaryStart = (int) writer.position();
      writer.close(); // With a summary.
      try (InputStream in = fs.open(FILE)) {
        return in.readAllBytes();
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static LogReader open(byte[] bytes) throws IOException {
    return LogReader.open(new ByteArrayInputStream(bytes), "file");
  }

  /** What can be read before the end or the damage. */
  private static List<LogRecord> readable(byte[] bytes) throws IOException {
    List<LogRecord> records = new ArrayList<>();
    try (LogReader reader = open(bytes)) {
      for (Optional<LogRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
        records.add(next.get());
      }
    } catch (CorruptionException e) {
      assertThat(e.offset()).isBetween(0L, (long) bytes.length);
      throw new DamagedException(records, e);
    }
    return records;
  }

  /** Damage, and what was read before it. */
  private static final class DamagedException extends IOException {
    private static final long serialVersionUID = 1L;
    final transient List<LogRecord> before;

    DamagedException(List<LogRecord> before, IOException cause) {
      super(cause);
      this.before = before;
    }
  }

  @Test
  void aSegmentIsReadAsItWasWritten() throws Exception {
    assertThat(readable(segment)).isEqualTo(RECORDS);
    try (LogReader reader = open(segment)) {
      assertThat(reader.header()).contains(HEADER);
      assertThat(reader.link()).contains(LINK);
      while (reader.next().isPresent()) {
        assertThat(reader.summary()).isEmpty();
      }
      assertThat(reader.summary().orElseThrow().tablets())
          .containsEntry(tablet(1), new SequenceRange(1, 4))
          .hasSize(3);
    }
  }

  @Test
  void theFormatIsTheOneInTheGoldenFile() throws Exception {
    java.nio.file.Path golden =
        java.nio.file.Path.of("src/test/resources/io/stele/log/segment-version-1.log");
    if (Boolean.getBoolean("stele.golden.write")) {
      Files.createDirectories(golden.getParent());
      Files.write(golden, segment);
    }
    assertThat(Files.readAllBytes(golden))
        .as("the format has changed: give it another version, or see LogReaderTest")
        .isEqualTo(segment);
    assertThat(readable(Files.readAllBytes(golden))).isEqualTo(RECORDS);
  }

  /** Other records have none of these bytes, as the golden file shows. */
  @Test
  void aRecordSaysTheLastAlterationThatCameBefore() throws Exception {
    Optional<LoggedOperation> operation =
        Optional.of(new LoggedOperation(new OperationId(1, 2, 9), 1, Bytes.EMPTY, Bytes.EMPTY));
    for (int alteration : List.of(1, 300, Integer.MAX_VALUE)) {
      for (Optional<LoggedOperation> of : List.of(operation, Optional.<LoggedOperation>empty())) {
        LogRecord record = new LogRecord(tablet(1), 5, 6, alteration, of, Bytes.of("cells"));
        byte[] body = LogFormat.encodeBody(record).toByteArray();
        assertThat(LogFormat.decodeBody(body, new LogFormat.KnownTablets())).isEqualTo(record);
      }
    }
    LogRecord record = new LogRecord(tablet(1), 5, 6, 300, Optional.empty(), Bytes.of("cells"));
    assertThat(HexFormat.of().formatHex(LogFormat.encodeBody(record).toByteArray()))
        .isEqualTo(
            "01" + "027431" + "0100000000000000" + "05" + "0c" + "04" + "ac02" + "63656c6c73");
  }

  @Test
  void whatIsSyncedEndsAChunkAndReadersPassOverWhatFillsIt() throws Exception {
    Path file = new Path(FILE.getParent(), "user-2.log");
    SegmentWriter writer =
        SegmentWriter.create(new DurableFiles(fs), file, HEADER, Placement.NEAR, 1);
    writer.append(LINK);
    for (LogRecord record : RECORDS) {
      writer.append(new WaitingRecord(record, Durability.HSYNC, false));
      writer.flush(Durability.HSYNC);
      assertThat(writer.position() % 512).isZero(); // HDFS's default.
    }
    LogRecord last = record(tablet(2), 301, 30);
    writer.append(new WaitingRecord(last, Durability.HFLUSH, false));
    writer.flush(Durability.HFLUSH);
    assertThat(writer.position() % 512).isNotZero();
    writer.close();
    List<LogRecord> all = new ArrayList<>(RECORDS);
    all.add(last);
    try (InputStream in = fs.open(file)) {
      assertThat(readable(in.readAllBytes())).isEqualTo(all);
    }
  }

  @Test
  void versionsThatDoNotKnowFillersTakeThemForRecordsOfAnotherTablet() throws Exception {
    for (int bytes = LogFormat.FILLER_BYTES_MIN; bytes < 600; bytes++) {
      byte[] body = LogFormat.encodeFiller(bytes).toByteArray();
      assertThat(body).hasSize(bytes - LogFormat.FRAME_BYTES);
      assertThat(LogFormat.isFiller(body, body.length)).isTrue();
      LogRecord record = LogFormat.decodeBody(body, new LogFormat.KnownTablets());
      assertThat(record.tablet()).hasToString("filler/0000000000000000");
      assertThat(record.operation()).isEmpty();
    }
    for (LogRecord record : RECORDS) {
      byte[] body = LogFormat.encodeBody(record).toByteArray();
      assertThat(LogFormat.isFiller(body, body.length)).isFalse();
    }
  }

  @Test
  void aTornTailIsCutAtTheLastWholeRecordWhereverTheFileEnds() throws Exception {
    for (int length = 0; length < segment.length; length++) {
      byte[] torn = Arrays.copyOf(segment, length);
      int whole = wholeRecords(length);
      assertThat(readable(torn)).as("cut at %d", length).isEqualTo(RECORDS.subList(0, whole));
      try (LogReader reader = open(torn)) {
        while (reader.next().isPresent()) {
          assertThat(reader.torn()).isFalse();
        }
        assertThat(reader.torn())
            .as("cut at %d", length)
            .isEqualTo(
                length > 0
                    && length != headerEnd
                    && length != summaryStart
                    && !ends.contains(length));
      }
    }
  }

  @Test
  void anyFlippedBitIsNoticed() throws Exception {
    for (int at = 0; at < segment.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = segment.clone();
        damaged[at] ^= (byte) (1 << bit);
        assertDamageNoticed(damaged, at);
      }
    }
  }

  static LongStream seeds() {
    return Seeds.of(300);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void randomDamageIsNoticed(long seed) throws Exception {
    Random random = new Random(seed);
    byte[] damaged = segment.clone();
    int at = random.nextInt(damaged.length);
    int length = 1 + random.nextInt(Math.min(100, damaged.length - at));
    byte[] garbage = new byte[length];
    random.nextBytes(garbage);
    if (random.nextInt(3) == 0) {
      System.arraycopy(segment, random.nextInt(segment.length - length + 1), garbage, 0, length);
    }
    System.arraycopy(garbage, 0, damaged, at, length);
    int first = Arrays.mismatch(damaged, segment);
    if (first >= 0) {
      assertDamageNoticed(damaged, first);
    }
  }

  private void assertDamageNoticed(byte[] damaged, int at) {
    assertThatThrownBy(() -> readable(damaged))
        .as("damage at %d", at)
        .isInstanceOfSatisfying(
            DamagedException.class,
            e -> assertThat(e.before).isEqualTo(RECORDS.subList(0, wholeRecords(at))));
  }

  @Test
  void aRecordOfAnotherPlaceOrSegmentDoesNotPass() throws Exception {
    ByteWriter repeated = new ByteWriter(1000);
    repeated.write(segment, 0, segment.length);
    int from = ends.get(0);
    repeated.write(segment, from, ends.get(1) - from); // The first record again, at the end.
    assertThatThrownBy(() -> readable(repeated.toByteArray()))
        .isInstanceOf(DamagedException.class)
        .hasMessageContaining("offset " + segment.length);

    SegmentHeader other = new SegmentHeader(TabletKind.SYSTEM, SERVER, 4);
    byte[] stale = segment.clone();
    byte[] header = LogFormat.encodeHeader(other);
    System.arraycopy(header, 0, stale, 0, header.length);
    assertThatThrownBy(() -> readable(stale))
        .isInstanceOf(DamagedException.class)
        .hasMessageContaining("offset " + header.length);
  }

  @Test
  void aTailOfZerosIsTornAndZerosElsewhereAreDamage() throws Exception {
    assertThat(readable(Arrays.copyOf(segment, segment.length + 5000))).isEqualTo(RECORDS);
    assertThat(readable(new byte[100])).isEmpty();
    byte[] hole = segment.clone();
    Arrays.fill(hole, ends.get(1), ends.get(3), (byte) 0);
    assertThatThrownBy(() -> readable(hole)).isInstanceOf(DamagedException.class);
  }

  @Test
  void aSegmentThatStoodByHasNoLinkAndNoRecordsAndOneWithoutALinkFirstIsDamaged() throws Exception {
    byte[] unused = Arrays.copyOf(segment, headerEnd);
    try (LogReader reader = open(unused)) {
      assertThat(reader.header()).contains(HEADER);
      assertThat(reader.link()).isEmpty();
      assertThat(reader.next()).isEmpty();
      assertThat(reader.torn()).isFalse();
    }
    Path file = new Path("crash:/unlinked");
    SegmentWriter writer =
        SegmentWriter.create(new DurableFiles(fs), file, HEADER, Placement.NEAR, 1);
    ByteWriter body = LogFormat.encodeBody(RECORDS.get(0));
    writer.append(body);
    writer.close();
    try (LogReader reader = LogReader.open(fs, file)) {
      assertThatThrownBy(reader::next)
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining("must be a link to the one before it");
    }
  }

  /** So nobody is asked to go on without it. */
  @Test
  void aRecordOfALaterVersionIsNotDamaged() throws IOException {
    byte[] unknownFlags =
        LogFormat.encodeBody(new LogRecord(tablet(1), 1, 1, Optional.empty(), Bytes.EMPTY))
            .toByteArray();
    unknownFlags[unknownFlags.length - 1] = 64; // The flags are last where all else is empty.
    byte[] unknownType = LogFormat.encodeBody(RECORDS.get(0)).toByteArray();
    unknownType[0] = 77;
    for (byte[] body : List.of(unknownFlags, unknownType)) {
      Path file = new Path("crash:/later-" + body.length);
      SegmentWriter writer =
          SegmentWriter.create(new DurableFiles(fs), file, HEADER, Placement.NEAR, 1);
      writer.append(LINK);
      writer.append(new ByteWriter(body.length).write(Bytes.of(body)));
      writer.close();
      try (LogReader reader = LogReader.open(fs, file)) {
        assertThatThrownBy(reader::next)
            .isInstanceOf(NewerFormatException.class)
            .hasMessageContaining("later-")
            .hasMessageContaining("unknown");
      }
    }
  }

  @Test
  void aNewerVersionIsSaidToBeNewer() {
    byte[] newer = segment.clone();
    newer[LogFormat.MAGIC.length] = 2;
    ByteWriter crc = new ByteWriter(4);
    int start = LogFormat.HEADER_START_BYTES - Integer.BYTES;
    crc.writeInt(Crc32c.of(newer, 0, start));
    System.arraycopy(crc.array(), 0, newer, start, Integer.BYTES);
    crc.clear();
    crc.writeInt(Crc32c.of(newer, 0, headerEnd - Integer.BYTES));
    System.arraycopy(crc.array(), 0, newer, headerEnd - Integer.BYTES, Integer.BYTES);
    assertThatThrownBy(() -> open(newer))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(CorruptionException.class)
        .hasMessageContaining("version 2");
  }

  @Test
  void otherFilesAreNotTakenForSegments() {
    for (String content : List.of("S3", "hello", "a longer text that is no segment at all")) {
      assertThatThrownBy(() -> open(content.getBytes(java.nio.charset.StandardCharsets.UTF_8)))
          .isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void theInspectorReadsOnAfterDamage() throws Exception {
    assertThat(LogInspector.verify(fs, FILE).sound()).isTrue();
    fs.disk().flipBits(FILE, ends.get(1) + 2, 0x40); // The frame of the second record.
    fs.disk().flipBits(FILE, ends.get(4) - 1, 0x01); // The body of the fourth.
    List<String> lines = new ArrayList<>();
    LogInspector.Report report = LogInspector.dump(fs, FILE, lines::add);
    assertThat(report.sound()).isFalse();
    assertThat(report.records()).isEqualTo(4);
    assertThat(report.damage())
        .extracting(CorruptionException::offset)
        .containsExactly((long) ends.get(1), (long) ends.get(3));
    assertThat(lines)
        .anyMatch(line -> line.contains("segment 3 (system) of " + SERVER))
        .anyMatch(line -> line.contains("after segment 2 acknowledged up to 4711"))
        .anyMatch(line -> line.contains("sequence 300") && line.contains("cells 1"))
        .anyMatch(line -> line.startsWith("damaged: "))
        .anyMatch(line -> line.startsWith("summary: ") && line.contains(tablet(2) + " 300-300"));
    assertThat(report.summary().orElseThrow().tablets()).containsKey(tablet(2));
    fs.disk().truncate(FILE, ends.get(4) + 5);
    assertThat(LogInspector.verify(fs, FILE).tornBytes()).isEqualTo(5);
    try (FSDataOutputStream other = fs.create(new Path("crash:/other"))) {
      other.writeUTF("no segment");
    }
    assertThat(LogInspector.verify(fs, new Path("crash:/other")).sound()).isFalse();
  }

  private int wholeRecords(int length) {
    return (int) ends.stream().skip(1).filter(end -> end <= length).count();
  }
}
