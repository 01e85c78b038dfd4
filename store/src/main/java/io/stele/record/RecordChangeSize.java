package io.stele.record;

import io.stele.model.Bytes;
import io.stele.model.OperationSize;
import io.stele.model.RowRange;
import java.util.Collection;

/**
 * How large a change of a tablet's record is, as one write of METADATA. Rows are in it several
 * times, as bounds of files: so references to files are not all of the same size.
 *
 * <p>There are two limits: on the request, and on the cells that it becomes in a memtable, each
 * with the record's key, which has the tablet's last row. Both are below what every tablet server
 * takes, however little memory it has (see {@code MemoryPlan}), as any of them may have METADATA. A
 * change that fits is not refused by it. What is counted is never less than the write takes, and
 * not much more.
 *
 * <p>Not safe for use by several threads.
 */
public final class RecordChangeSize {
  /** The longest request, without what goes with every change. */
  public static final long REQUEST_BYTES_MAX = 5L << 19;

  /** The most bytes of cells, as {@link OperationSize} counts them. */
  public static final long CELL_BYTES_MAX = 15L << 19;

  /** What every change has: a condition, an event, the redo point, the assignment. */
  private static final long FIXED_BYTES = 16 << 10;

  /** The longest row in the name of a column: in place of a longer one is a digest. */
  public static final int NAME_START_BYTES_MAX = 1024;

  private static final long DIGEST_BYTES = 64;

  private static final long KEY_BYTES = 64; // The table's id, and ends of parts.
  private static final long NAME_BYTES = 16; // The family, and a separator.
  private static final long VALUE_BYTES = 96; // Numbers, lengths, checksum.
  private static final long ITEM_BYTES = 16; // A family or another item of a list, beside its name.
  private static final long EDIT_BYTES = 32; // Of an edit as a message.

  private final long keyBytes;
  private long request;
  private long cells;

  /** A change of the record of a tablet with the rows {@code extent}, with nothing yet. */
  public RecordChangeSize(RowRange extent) {
    keyBytes = OperationSize.keyBytes(extent.end()) + KEY_BYTES;
    long bounds = extent.start().length() + 2L * extent.end().length();
    request = FIXED_BYTES + bounds + keyBytes; // The key is the same in all cells.
    cells = request + ITEM_BYTES * keyBytes;
  }

  /** Adds a file. */
  public void put(FileRef file) {
    put(file, file.bounds());
  }

  /**
   * Adds what comes with it if {@code rows} are cut out of a file: new bounds, and another part.
   *
   * @param kept whether the part inside is kept, for pins
   */
  public void cut(FileRef file, RowRange rows, boolean kept) {
    put(file, new RowRange(rows.end(), Bytes.EMPTY));
    request += rows.start().length();
    cells += rows.start().length();
    if (kept) {
      put(file, rows);
    }
  }

  private void put(FileRef file, RowRange bounds) {
    long erased = file.erased().keySet().stream().mapToLong(RecordChangeSize::item).sum();
    add(
        name(file.path(), bounds.start()),
        VALUE_BYTES + file.path().length() + families(file.families()) + erased + both(bounds));
  }

  /** Adds what waits for a job. */
  public void put(Pending pending) {
    long more =
        pending instanceof PendingFile file
            ? file.file().path().length() + families(file.file().families())
            : 0;
    add(name(pending), VALUE_BYTES + pending.job().length() + more + both(pending.rows()));
  }

  /** Removes a file. */
  public void remove(FileRef file) {
    add(name(file.path(), file.bounds().start()), 0);
  }

  /** Removes what waits for a job. */
  public void remove(Pending pending) {
    add(name(pending), 0);
  }

  /** Adds a dropped file, by its path. */
  public void putDropped(String path) {
    add(path.length(), VALUE_BYTES);
  }

  /** Adds another value. */
  public void put(Bytes value) {
    add(NAME_BYTES, value.length());
  }

  private void add(long nameBytes, long valueBytes) {
    request += EDIT_BYTES + NAME_BYTES + nameBytes + valueBytes;
    cells += OperationSize.cell(keyBytes, "", Bytes.EMPTY, NAME_BYTES + nameBytes + valueBytes);
  }

  private static long name(Pending pending) {
    return pending instanceof PendingFile file
        ? file.file().path().length()
        : name(pending.job(), pending.rows().start());
  }

  private static long name(String of, Bytes start) {
    boolean whole = start.length() <= NAME_START_BYTES_MAX;
    return of.length() + (whole ? OperationSize.keyBytes(start) : DIGEST_BYTES);
  }

  private static long both(RowRange bounds) {
    return bounds.start().length() + (long) bounds.end().length();
  }

  private static long families(Collection<String> names) {
    return names.stream().mapToLong(RecordChangeSize::item).sum();
  }

  private static long item(String name) {
    return ITEM_BYTES + name.length();
  }

  /** Whether every METADATA server takes the change. */
  public boolean fits() {
    return request <= REQUEST_BYTES_MAX && cells <= CELL_BYTES_MAX;
  }

  /** The length of the request, at most. */
  public long request() {
    return request;
  }

  /** The cells, at most, as {@link OperationSize} counts them. */
  public long cells() {
    return cells;
  }

  @Override
  public String toString() {
    return request <= REQUEST_BYTES_MAX
        ? cells + " bytes of cells, of at most " + CELL_BYTES_MAX
        : request + " bytes, of at most " + REQUEST_BYTES_MAX;
  }
}
