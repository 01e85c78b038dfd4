package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Reads tablet records wherever they are stored: the root tablet's in the lock service, METADATA's
 * in the root tablet, all others in METADATA. It returns only valid records: not those of splits
 * that were not made, nor those of tablets that were merged away.
 *
 * <p>Unless a method says that it skips damaged records, it throws a {@link
 * io.stele.model.CorruptionException} at the first of them.
 *
 * <p>Safe for use by any number of threads. All calls block.
 */
public final class TabletRecordReader {
  private static final int PAGE_RECORDS = 256;

  private final RootRecordRows root;
  private final RecordRows ofMetadata;
  private final RecordRows ofTables;

  TabletRecordReader(RootRecordRows root, RecordRows ofMetadata, RecordRows ofTables) {
    this.root = root;
    this.ofMetadata = ofMetadata;
    this.ofTables = ofTables;
  }

  /**
   * The record in one row.
   *
   * @param table the tablet's table
   * @param row the key of its row in METADATA; any for the root tablet
   * @return the record; empty if the row has none, or one that is not valid (the lower child of a
   *     split that is not done)
   */
  public Optional<TabletRecord> read(TableId table, Bytes row) throws IOException {
    Bytes from = table.equals(TableId.ROOT) ? RootRecordRows.ROW : row;
    return readValid(table, from, MetadataKeys.table(table).end(), 1).stream()
        .filter(record -> record.row().equals(row) || table.equals(TableId.ROOT))
        .findFirst();
  }

  /** The record of the tablet of {@code table} that contains {@code row}. */
  public Optional<TabletRecord> find(TableId table, Bytes row) throws IOException {
    Bytes from = table.equals(TableId.ROOT) ? RootRecordRows.ROW : MetadataKeys.lookup(table, row);
    return readValid(table, from, MetadataKeys.table(table).end(), 1).stream()
        .filter(record -> record.extent().contains(row))
        .findFirst();
  }

  /**
   * Like {@link #find}, but also empty if the record is damaged, or of a version that this one does
   * not understand; that is logged.
   */
  public Optional<TabletRecord> findUndamaged(TableId table, Bytes row) throws IOException {
    RowRange from = new RowRange(MetadataKeys.lookup(table, row), MetadataKeys.table(table).end());
    return readUndamaged(rowsOf(table), from, 1, damage -> {}).stream()
        .filter(record -> record.extent().contains(row))
        .findFirst();
  }

  /** The root tablet's record; empty before the cluster's first start. */
  public Optional<TabletRecord> readRoot() throws IOException {
    return read(TableId.ROOT, RootRecordRows.ROW);
  }

  /**
   * The valid records of all tablets of {@code table}, in order of their rows. They are read in
   * pages, so not all at the same moment: see {@link #tile}.
   */
  public List<TabletRecord> readAll(TableId table) throws IOException {
    RowRange rows = MetadataKeys.table(table);
    return readValid(table, rows.start(), rows.end(), Integer.MAX_VALUE);
  }

  /**
   * The records of tablets of {@code table} in order, starting with the tablet that contains {@code
   * row}: at least {@code enough} of them, or all if there are fewer.
   */
  public List<TabletRecord> readFrom(TableId table, Bytes row, int enough) throws IOException {
    Bytes end = MetadataKeys.table(table).end();
    return readValid(table, MetadataKeys.lookup(table, row), end, enough);
  }

  /**
   * The records of the tablets of {@code table} that have any of {@code rows}, in order. They are
   * read in pages, so not all at the same moment.
   */
  public List<TabletRecord> readOver(TableId table, RowRange rows) throws IOException {
    List<TabletRecord> over = new ArrayList<>();
    Bytes next = rows.start();
    while (true) {
      List<TabletRecord> page = readFrom(table, next, PAGE_RECORDS);
      for (TabletRecord record : page) {
        if (!rows.isBeforeEnd(record.extent().start())) {
          return over;
        }
        over.add(record);
      }
      if (page.size() < PAGE_RECORDS || page.get(page.size() - 1).extent().end().isEmpty()) {
        return over;
      }
      next = page.get(page.size() - 1).extent().end();
    }
  }

  /**
   * Like {@link #readAll}, but skips damaged records and logs them.
   *
   * @param damaged told what is wrong with each skipped record
   */
  public List<TabletRecord> readUndamaged(TableId table, Consumer<String> damaged)
      throws IOException {
    return readUndamaged(rowsOf(table), MetadataKeys.table(table), Integer.MAX_VALUE, damaged);
  }

  /** Whether METADATA has records of the table, including damaged ones. */
  public boolean hasAny(TableId table) throws IOException {
    List<String> damaged = new ArrayList<>();
    return !readUndamaged(table, damaged::add).isEmpty() || !damaged.isEmpty();
  }

  /**
   * The first valid records in {@code rows} of METADATA, of all tables: at least {@code enough} of
   * them, or all if there are fewer. Damaged ones are skipped and logged.
   *
   * @param damaged told what is wrong with each skipped record
   */
  public List<TabletRecord> readUndamaged(RowRange rows, int enough, Consumer<String> damaged)
      throws IOException {
    return readUndamaged(ofTables, rows, enough, damaged);
  }

  private static List<TabletRecord> readUndamaged(
      RecordRows from, RowRange rows, int enough, Consumer<String> damaged) throws IOException {
    return ValidRecords.read(from, rows, enough, row -> ValidRecords.decodeUndamaged(row, damaged));
  }

  /**
   * Whether {@code records} of one table, in order, cover all its rows exactly once. It can also be
   * false because they were read during a split.
   */
  public static boolean tile(List<TabletRecord> records) {
    return ValidRecords.tile(records);
  }

  private List<TabletRecord> readValid(TableId table, Bytes from, Bytes end, int enough)
      throws IOException {
    return ValidRecords.read(rowsOf(table), new RowRange(from, end), enough, ValidRecords::decode);
  }

  /** The first {@code limit} records in {@code range}, tentative ones too, valid or not. */
  List<TabletRecord> page(TableId table, RowRange range, int limit) throws IOException {
    List<TabletRecord> records = new ArrayList<>();
    for (Row row : rowsOf(table).scan(range, limit)) {
      ValidRecords.decode(row).ifPresent(records::add);
    }
    return records;
  }

  /** Where the records of the tablets of {@code table} are stored. */
  RecordRows rowsOf(TableId table) {
    if (table.equals(TableId.ROOT)) {
      return root;
    }
    return table.equals(TableId.METADATA) ? ofMetadata : ofTables;
  }
}
