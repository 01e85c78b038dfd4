package io.stele.log;

import io.stele.format.CellBlockWriter;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Records for tests. */
final class LogRecords {
  static final ServerId SERVER = new ServerId("host", 7, 1_700_000_000_000L);
  static final TabletId TABLET = tablet(1);

  private LogRecords() {}

  static TabletId tablet(int number) {
    return new TabletId(new TableId("t1"), String.format("%016x", number));
  }

  /** A record whose one cell has a value of {@code valueBytes} bytes. */
  static LogRecord record(TabletId tablet, long sequence, int valueBytes) {
    CellBlockWriter cells = CellBlockWriter.sequential(valueBytes + 64);
    byte[] key = ColumnKey.of(Bytes.of("row" + sequence), "f", Bytes.of("q"));
    byte[] value = new byte[valueBytes];
    for (int i = 0; i < valueBytes; i++) {
      value[i] = (byte) (sequence + i);
    }
    cells.add(key, 1000 + sequence, sequence, 0, CellType.PUT, Bytes.wrap(value));
    return new LogRecord(
        tablet,
        sequence,
        1000 + sequence,
        Optional.of(
            new LoggedOperation(
                new OperationId(3, 4, Math.max(1, sequence)),
                1,
                Bytes.ofLong(sequence),
                Bytes.EMPTY)),
        Bytes.wrap(cells.finish().toByteArray()));
  }

  static LogRecord random(TabletId tablet, long sequence, RandomGenerator random) {
    int size = random.nextInt(20) == 0 ? random.nextInt(100_000) : random.nextInt(200);
    return record(tablet, sequence, size);
  }

  /** Records 1 to {@code count} of the tablet, each appended and acknowledged. */
  static List<LogRecord> appended(CommitLog log, int count, int valueBytes) throws Exception {
    List<LogRecord> records = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      LogRecord record = record(TABLET, i, valueBytes);
      log.append(record).get();
      records.add(record);
    }
    return records;
  }

  /**
   * The same, each in a segment that ends where it is full, since another always stands by; so what
   * is in which segment is the same in every run.
   */
  static List<LogRecord> appendedInEvenSegments(CommitLog log, int count, int valueBytes)
      throws Exception {
    List<LogRecord> records = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      LogRecord record = record(TABLET, i, valueBytes);
      log.awaitStandby();
      log.append(record).get();
      records.add(record);
    }
    return records;
  }

  static List<LogRecord> all(RecordSource source) throws IOException {
    List<LogRecord> records = new ArrayList<>();
    try (source) {
      for (Optional<LogRecord> next = source.next(); next.isPresent(); next = source.next()) {
        records.add(next.get());
      }
    }
    return records;
  }

  /** What a tablet whose files hold everything up to {@code above} replays from a log. */
  static List<LogRecord> replayed(FileSystem fs, Path directory, TabletId tablet, long above)
      throws IOException {
    return replayed(
        WholeLog.only(tablet, WholeLog.read(fs, directory, TabletKind.USER)), tablet, above);
  }

  /** The same of what {@code source} has of the tablet. */
  static List<LogRecord> replayed(RecordSource source, TabletId tablet, long above)
      throws IOException {
    DistinctRecords distinct = new DistinctRecords(tablet, above);
    List<LogRecord> replayed = all(source).stream().filter(distinct::add).toList();
    distinct.checkComplete();
    return replayed;
  }

  /** What a tablet without files replays from a log. */
  static List<LogRecord> replayed(FileSystem fs, Path directory) throws IOException {
    return replayed(fs, directory, TABLET, 0);
  }

  /** What is in a file. */
  static byte[] bytes(FileSystem fs, Path file) throws IOException {
    try (InputStream in = fs.open(file)) {
      return in.readAllBytes();
    }
  }

  /** Puts {@code bytes} in the place of what is in a file. */
  static void rewrite(FileSystem fs, Path file, byte[] bytes) throws IOException {
    try (OutputStream out = fs.create(file, true)) {
      out.write(bytes);
    }
  }
}
