package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.format.MutationBlock;
import io.stele.model.TimeRange;
import java.io.IOException;
import java.util.Arrays;

/**
 * Decides which cells reads see and compactions keep; no other class decides this. It takes cells
 * one by one, in order, and applies the tombstones before them and the garbage collection policies.
 *
 * <p>Tombstones work by sequence number: a delete hides what came before it, and nothing after,
 * whatever the timestamps. Not safe for use by several threads.
 */
final class VersionFilter {
  /** Whether all cells with lower sequence numbers are read as well. */
  enum Past {
    /**
     * They are: in reads, and in compactions of the oldest file and everything above it up to some
     * point.
     */
    WHOLE,
    /** Some of these cells are not read: in all other compactions. */
    UNSEEN
  }

  /** What a read or a compaction does with a cell. */
  enum Verdict {
    /** A read shows it; a compaction keeps it, tombstone or not. */
    KEEP,
    /** As KEEP; a compaction makes it {@link io.stele.format.CellType#SURPLUS}. */
    KEEP_AS_SURPLUS,
    /** No longer needed by any reader. */
    DROP,
    /** No longer needed by any reader, and neither is the rest of its column. */
    DROP_COLUMN
  }

  private final SchemaRules rules;
  private long now;
  private final boolean unseenPast;
  private final boolean tombstonesPossible;
  private final ColumnHistory history;

  private byte[] key = new byte[64];
  private int keyLength;
  private int rowEnd;
  private int familyEnd;
  private boolean beganColumn;
  private String family = "";
  private GcRule rule = GcRule.NOTHING;

  // The newest tombstone of all the row, family and column; sequence -1: there is none.
  private long rowDeleted = -1;
  private int rowDeletedOrdinal;
  private long familyDeleted = -1;
  private int familyDeletedOrdinal;
  private long columnDeleted = -1;
  private int columnDeletedOrdinal;

  /**
   * A filter for one read or compaction.
   *
   * @param now the time from which ages are computed, in microseconds; an {@link Past#UNSEEN unseen
   *     past} makes nothing old
   * @param tombstonesPossible false if there can be no tombstones
   */
  VersionFilter(SchemaRules rules, long now, Past past, boolean tombstonesPossible) {
    this.rules = rules;
    this.unseenPast = past == Past.UNSEEN;
    // Nothing is too old for good: the clock may go back, and an alter may raise the age. Without
    // this version, an unseen one that it superseded would be visible then.
    this.now = unseenPast ? TabletClock.NEVER : now;
    this.tombstonesPossible = tombstonesPossible;
    this.history = new ColumnHistory(unseenPast);
  }

  /** Computes ages from another time, in microseconds; to be called between two rows. */
  void agesFrom(long newNow) {
    now = unseenPast ? TabletClock.NEVER : newNow;
  }

  /** Forgets all cells judged so far: the next one is of another row, or of this one anew. */
  void beginRow() {
    keyLength = 0;
    rowEnd = 0;
    familyEnd = 0;
  }

  /** Whether {@code cell} belongs to the same column as the last judged cell. */
  boolean isOfLastColumn(CellCursor cell) {
    return cell.keyLength() == keyLength
        && Arrays.equals(key, 0, keyLength, cell.key(), 0, keyLength);
  }

  /** Whether the last judged cell was the first one of its column. */
  boolean beganColumn() {
    return beganColumn;
  }

  /** Judges the current cell of {@code cell}. */
  Verdict judge(CellCursor cell) throws IOException {
    int common = Arrays.mismatch(key, 0, keyLength, cell.key(), 0, cell.keyLength());
    beganColumn = common >= 0;
    if (beganColumn) {
      beginColumn(cell, common);
    }
    long sequence = cell.sequence();
    int ordinal = cell.ordinal();
    switch (cell.type()) {
      case DELETE_ROW -> {
        if (rowDeleted >= 0) {
          return Verdict.DROP; // There is a newer one.
        }
        rowDeleted = sequence;
        rowDeletedOrdinal = ordinal;
        return tombstone();
      }
      case DELETE_FAMILY -> {
        if (familyDeleted >= 0 || isBefore(sequence, ordinal, rowDeleted, rowDeletedOrdinal)) {
          return Verdict.DROP;
        }
        familyDeleted = sequence;
        familyDeletedOrdinal = ordinal;
        return tombstone();
      }
      case DELETE_COLUMN -> {
        if (isBefore(sequence, ordinal, columnDeleted, columnDeletedOrdinal)) {
          return Verdict.DROP;
        }
        TimeRange range = MutationBlock.timeRange(cell);
        if (range.equals(TimeRange.ALL)) {
          columnDeleted = sequence;
          columnDeletedOrdinal = ordinal;
        } else if (!history.deleteRange(range.fromMicros(), range.toMicros(), sequence, ordinal)) {
          return Verdict.DROP; // A newer one does the same, and more.
        }
        return tombstone();
      }
      case DELETE_CELL -> {
        if (isBefore(sequence, ordinal, columnDeleted, columnDeletedOrdinal)) {
          return Verdict.DROP;
        }
        history.deleteVersion(cell.timestamp(), sequence);
        return tombstone();
      }
      case PUT -> {
        return version(cell.timestamp(), sequence, ordinal, false);
      }
      case SURPLUS -> {
        return version(cell.timestamp(), sequence, ordinal, true);
      }
      case LABEL -> throw new MalformedException(0, "a stored cell is a label");
    }
    throw new AssertionError(cell.type());
  }

  /** The column key of the last judged cell; it begins with the row part. */
  byte[] key() {
    return key;
  }

  /** The end of the row part in {@link #key()}. */
  int rowEnd() {
    return rowEnd;
  }

  /** The end of the family part in {@link #key()}. */
  int familyEnd() {
    return familyEnd;
  }

  /** The family of the last judged cell. */
  String family() {
    return family;
  }

  // If the whole past is read, a tombstone has no further effect.
  private Verdict tombstone() {
    return unseenPast ? Verdict.KEEP : Verdict.DROP;
  }

  private Verdict version(long timestamp, long sequence, int ordinal, boolean surplus) {
    if (isBefore(sequence, ordinal, columnDeleted, columnDeletedOrdinal)) {
      return Verdict.DROP; // What it may have pushed out was deleted with it.
    }
    if (!unseenPast && history.isFull() && rule.pushedOutIsGarbage()) {
      return Verdict.DROP_COLUMN;
    }
    ColumnHistory.Fate fate = history.version(timestamp, sequence, ordinal, surplus);
    return switch (fate) {
      case LIVE -> {
        if (!rule.isGarbage(false, timestamp, now)) {
          yield Verdict.KEEP;
        }
        // Too old or of no family, and so is all that is to come.
        yield unseenPast ? Verdict.DROP : Verdict.DROP_COLUMN;
      }
      case PUSHED_OUT ->
          rule.isGarbage(true, timestamp, now) ? Verdict.DROP : Verdict.KEEP_AS_SURPLUS;
      case PUSHED_OUT_AND_GONE -> Verdict.DROP;
      // A version that is gone may have pushed out an unseen one while it lived. An overwritten
      // version need not be kept for this: its successor pushes out the same, unless something was
      // deleted in between.
      case OVERWRITTEN ->
          unseenPast
                  && rule.mostVersions() > 1
                  && tombstonesPossible
                  && !rule.isGarbage(false, timestamp, now)
              ? Verdict.KEEP
              : Verdict.DROP;
      case DELETED ->
          unseenPast && rule.versions() > 0 && !rule.isGarbage(false, timestamp, now)
              ? Verdict.KEEP
              : Verdict.DROP;
    };
  }

  /** Begins the column of {@code cell}, whose key has so many bytes in common with the last. */
  private void beginColumn(CellCursor cell, int common) throws MalformedException {
    byte[] newKey = cell.key();
    int newLength = cell.keyLength();
    boolean sameRow = rowEnd > 0 && common >= rowEnd;
    boolean sameFamily = sameRow && familyEnd > rowEnd && common >= familyEnd;
    if (!sameRow) {
      rowEnd = ColumnKey.rowPartLength(newKey, newLength);
      rowDeleted = -1;
    }
    if (!sameFamily) {
      familyEnd = ColumnKey.familyPartEnd(newKey, newLength, rowEnd);
      familyDeleted = -1;
      beginFamily(newKey);
    }
    if (key.length < newLength) {
      key = new byte[Math.max(newLength, key.length * 2)];
    }
    System.arraycopy(newKey, 0, key, 0, newLength);
    keyLength = newLength;
    if (isBefore(rowDeleted, rowDeletedOrdinal, familyDeleted, familyDeletedOrdinal)) {
      columnDeleted = familyDeleted;
      columnDeletedOrdinal = familyDeletedOrdinal;
    } else {
      columnDeleted = rowDeleted;
      columnDeletedOrdinal = rowDeletedOrdinal;
    }
    history.begin(rule.versions(), rule.former());
  }

  private void beginFamily(byte[] newKey) {
    if (familyEnd == rowEnd) {
      return; // A cell of the row as such.
    }
    int length = familyEnd - 1 - rowEnd;
    boolean known = family.length() == length;
    for (int i = 0; known && i < length; i++) {
      known = family.charAt(i) == (newKey[rowEnd + i] & 0xff);
    }
    if (!known) {
      family = ColumnKey.family(newKey, rowEnd, familyEnd);
      rule = rules.gc(family);
    }
  }

  private static boolean isBefore(long sequence, int ordinal, long than, int thanOrdinal) {
    return sequence < than || (sequence == than && ordinal < thanOrdinal);
  }
}
