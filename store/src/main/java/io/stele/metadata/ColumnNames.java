package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.RecordChangeSize;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The columns of a tablet's files, and of what waits for jobs.
 *
 * <p>A record may have several parts of one file, and several replacements of one job, with
 * different first rows. So the name contains the first row. A row may be as long as a whole
 * qualifier, and each removal repeats the name. So in place of a long row the name has its SHA-256.
 * The value has the row itself.
 */
final class ColumnNames {
  private static final String START = ";";
  private static final String DIGEST = "#"; // No path and no job has one: names stay unique.

  private ColumnNames() {}

  /** The column of a file. */
  static Column of(FileRef file) {
    Bytes start = file.bounds().start();
    return new Column(
        RecordCodec.FILES, start.isEmpty() ? Bytes.of(file.path()) : qualifier(file.path(), start));
  }

  /** The column of what waits for a job. */
  static Column of(Pending pending) {
    return new Column(
        RecordCodec.PENDING,
        pending instanceof PendingFile file
            ? Bytes.of(file.file().path())
            : qualifier(pending.job(), pending.rows().start()));
  }

  /** The column that a file had before there were digests: {@link TabletRecord#formerNames}. */
  static Column former(FileRef file) {
    return new Column(RecordCodec.FILES, whole(file.path(), file.bounds().start()));
  }

  /** The same of what waits for a job. */
  static Column former(Pending pending) {
    return pending instanceof PendingFile
        ? of(pending)
        : new Column(RecordCodec.PENDING, whole(pending.job(), pending.rows().start()));
  }

  private static Bytes qualifier(String of, Bytes start) {
    return start.length() <= RecordChangeSize.NAME_START_BYTES_MAX
        ? whole(of, start)
        : Bytes.of(of + DIGEST + HexFormat.of().formatHex(sha256().digest(start.toByteArray())));
  }

  private static Bytes whole(String of, Bytes start) {
    return Bytes.of(of + START).concat(start);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
