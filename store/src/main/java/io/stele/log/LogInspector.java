package io.stele.log;

import io.stele.format.ByteReader;
import io.stele.format.CellBlockCursor;
import io.stele.model.CorruptionException;
import io.stele.runtime.Futures;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Shows a segment's contents to people: reads past damage, as far as records can be found. Reads
 * the whole file into memory. Stateless.
 */
public final class LogInspector {
  /**
   * The contents of a segment.
   *
   * @param records whole records
   * @param bytes the file's length
   * @param tornBytes bytes of an unfinished record at its end, which is normal after a crash
   * @param link what it says about the previous segment; empty if the segment was not used, or is
   *     damaged there
   * @param summary which tablets have records in it, and so may have lost some if it is damaged;
   *     empty if it has none: any tablet may then have lost records
   * @param damage the damage, in order; empty for an intact file
   */
  public record Report(
      long records,
      long bytes,
      long tornBytes,
      Optional<SegmentLink> link,
      Optional<SegmentSummary> summary,
      List<CorruptionException> damage) {
    public Report {
      damage = List.copyOf(damage);
    }

    /** Whether nothing is damaged; a torn tail is no damage. */
    public boolean sound() {
      return damage.isEmpty();
    }
  }

  private LogInspector() {}

  /** Checks every record of a segment. */
  public static Report verify(FileSystem fs, Path segment) throws IOException {
    return inspect(fs, segment, line -> {});
  }

  /** Checks a segment and describes its header, every record, and what is wrong, line by line. */
  public static Report dump(FileSystem fs, Path segment, Consumer<String> lines)
      throws IOException {
    return inspect(fs, segment, lines);
  }

  private static Report inspect(FileSystem fs, Path segment, Consumer<String> lines)
      throws IOException {
    byte[] bytes;
    try (InputStream in = fs.open(segment)) {
      bytes = in.readAllBytes();
    } catch (IOException e) {
      return unreadable(fs, segment, e, lines);
    }
    String file = segment.toString();
    List<CorruptionException> damage = new ArrayList<>();
    LogReader reader;
    try {
      reader = LogReader.open(new ByteArrayInputStream(bytes), file);
    } catch (CorruptionException e) {
      // Without the header's checksum no record can be told from other bytes.
      lines.accept("damaged: " + e.getMessage());
      return new Report(0, bytes.length, 0, Optional.empty(), Optional.empty(), List.of(e));
    }
    if (reader.header().isEmpty()) {
      lines.accept("the file ends within its header: no records");
      return new Report(
          0, bytes.length, bytes.length, Optional.empty(), Optional.empty(), List.of());
    }
    SegmentHeader header = reader.header().get();
    int salt = reader.salt();
    lines.accept(
        "commit log segment " + header.number() + " (" + header.kind() + ") of " + header.server());
    long records = 0;
    Optional<SegmentLink> linked = Optional.empty();
    while (true) {
      long at = reader.position();
      try {
        Optional<SegmentLink> link = reader.link();
        if (link.isPresent() && linked.isEmpty()) {
          linked = link;
          lines.accept(describe(at, link.get()));
        }
        Optional<LogRecord> record = reader.next();
        if (record.isEmpty()) {
          break;
        }
        records++;
        lines.accept(describe(reader.recordStart(), record.get()));
      } catch (CorruptionException e) {
        damage.add(e);
        lines.accept("damaged: " + e.getMessage());
        long damaged = reader.position(); // Not before what it has passed over.
        int next = nextFrame(bytes, (int) damaged, salt);
        lines.accept("skipped " + (next - damaged) + " bytes up to offset " + next);
        reader =
            new LogReader(
                new ByteArrayInputStream(bytes, next, bytes.length - next),
                file,
                header,
                salt,
                next);
      }
    }
    reader.summary().ifPresent(summary -> lines.accept("summary:" + describe(summary)));
    if (linked.isEmpty() && damage.isEmpty()) {
      lines.accept("a standby segment that was not used");
    }
    long tornBytes = reader.torn() ? bytes.length - reader.position() : 0;
    if (tornBytes > 0) {
      lines.accept("torn tail of " + tornBytes + " bytes at offset " + reader.position() + ": cut");
    }
    lines.accept(records + " records, " + bytes.length + " bytes");
    return new Report(records, bytes.length, tornBytes, linked, reader.summary(), damage);
  }

  /** What can be said of a file that cannot be read; fails if that concerns more than this file. */
  private static Report unreadable(
      FileSystem fs, Path segment, IOException why, Consumer<String> lines) throws IOException {
    if (Futures.isInterruption(why)) {
      throw why;
    }
    long bytes = fs.getFileStatus(segment).getLen(); // Fails if no NameNode answers.
    if (fs.getStatus(segment).getCapacity() == 0) {
      throw new IOException("no DataNode is alive: nothing can be read", why);
    }
    CorruptionException damage =
        UnreadableBytes.damage(segment.toString(), AcceptedLosses.WHOLE, why);
    lines.accept("damaged: " + damage.getMessage());
    return new Report(0, bytes, 0, Optional.empty(), Optional.empty(), List.of(damage));
  }

  /**
   * Where to continue after the damage at {@code damaged}: after the body that an intact frame
   * there announces, or at the next intact frame, or at the file's end.
   */
  private static int nextFrame(byte[] bytes, int damaged, int salt) {
    if (LogFormat.isFrame(bytes, damaged, salt, damaged)) {
      return damaged + LogFormat.FRAME_BYTES + ByteReader.intAt(bytes, damaged);
    }
    int at = damaged + 1;
    while (at < bytes.length && !LogFormat.isFrame(bytes, at, salt, at)) {
      at++;
    }
    return at;
  }

  private static String describe(long at, SegmentLink link) {
    return "offset "
        + at
        + " after segment "
        + link.previous()
        + " acknowledged up to "
        + link.previousAcknowledgedBytes()
        + ", which has"
        + describe(link.previousTablets());
  }

  private static String describe(SegmentSummary summary) {
    StringBuilder line = new StringBuilder();
    summary
        .tablets()
        .forEach((tablet, range) -> line.append(' ').append(tablet).append(' ').append(range));
    return line.toString();
  }

  private static String describe(long at, LogRecord record) {
    StringBuilder line = new StringBuilder(120);
    line.append("offset ").append(at);
    line.append(" tablet ").append(record.tablet());
    line.append(" sequence ").append(record.sequence());
    line.append(" timestamp-max ").append(record.timestampMax());
    if (record.alteration() > 0) {
      line.append(" alteration ").append(record.alteration());
    }
    record
        .operation()
        .ifPresent(
            operation ->
                line.append(" operation ")
                    .append(operation.id())
                    .append(" result ")
                    .append(operation.result().length())
                    .append(" bytes"));
    byte[] cells = record.cells().toByteArray();
    CellBlockCursor cursor = CellBlockCursor.sequential(cells, 0, cells.length);
    int count = 0;
    try {
      while (cursor.next()) {
        count++;
      }
      line.append(" cells ").append(count);
    } catch (IOException e) {
      line.append(" cells ").append(count).append(" and then ").append(e.getMessage());
    }
    return line.append(" bytes ").append(cells.length).toString();
  }
}
