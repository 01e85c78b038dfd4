package io.stele.inputformat;

import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.wire.QueryCodec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * What a job reads of one table; in its configuration as {@code table:base64(query)}, or by plain
 * keys, which name one scan.
 *
 * @param table the table's name
 * @param query which rows, and what of them
 */
record TableScan(String table, RowQuery query) {
  /** Where the scans of a job are, separated by commas. */
  static final String KEY = "mapreduce.stele.input.scans";

  // A scan by plain keys; keys of rows are as Bytes.parse reads them.
  static final String TABLE_KEY = "mapreduce.stele.input.table";
  static final String FAMILIES_KEY = TABLE_KEY + ".families";
  static final String COLUMNS_KEY = TABLE_KEY + ".columns";
  static final String PREFIX_KEY = TABLE_KEY + ".rows.prefix";
  static final String START_KEY = TABLE_KEY + ".rows.start";
  static final String END_KEY = TABLE_KEY + ".rows.end";
  static final String VERSIONS_KEY = TABLE_KEY + ".versions";
  static final String FROM_KEY = TABLE_KEY + ".times.from";
  static final String TO_KEY = TABLE_KEY + ".times.to";

  /** Adds a scan to a job's. */
  static void add(Configuration conf, TableScan scan) {
    String before = conf.get(KEY, "");
    conf.set(KEY, before.isEmpty() ? scan.encode() : before + "," + scan.encode());
  }

  /**
   * The scans of a job.
   *
   * @throws SteleException REFUSED if it has none
   */
  static List<TableScan> all(Configuration conf) throws IOException {
    List<TableScan> scans = new ArrayList<>();
    for (String text : conf.getTrimmedStrings(KEY)) {
      scans.add(decode(text));
    }
    plain(conf).ifPresent(scans::add);
    if (scans.isEmpty()) {
      throw SteleException.refused(
          "the job has TableInputFormat but no table to read: call TableInputFormat.addTable or set"
              + " "
              + TABLE_KEY);
    }
    return scans;
  }

  /** The scan that is set by plain keys, if there is one. */
  private static Optional<TableScan> plain(Configuration conf) {
    String table = conf.getTrimmed(TABLE_KEY, "");
    if (table.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new TableScan(table, query(conf)));
    } catch (IllegalArgumentException e) { // NumberFormatException, and of rows and columns.
      throw SteleException.refused(
          "the scan of table " + table + " in the job's configuration: " + e.getMessage());
    }
  }

  private static RowQuery query(Configuration conf) {
    RowQuery query = RowQuery.ALL;
    for (String family : conf.getTrimmedStrings(FAMILIES_KEY)) {
      query = query.family(family);
    }
    for (String column : conf.getTrimmedStrings(COLUMNS_KEY)) {
      int colon = column.indexOf(':');
      if (colon < 0) {
        throw SteleException.refused(
            COLUMNS_KEY + " has \"" + column + "\": write columns as family:qualifier");
      }
      query = query.column(column.substring(0, colon), column.substring(colon + 1));
    }
    String prefix = conf.get(PREFIX_KEY, "");
    if (!prefix.isEmpty()) {
      query = query.range(RowRange.prefix(Bytes.parse(prefix)));
    }
    String start = conf.get(START_KEY, "");
    String end = conf.get(END_KEY, "");
    if (!start.isEmpty() || !end.isEmpty()) {
      query = query.range(new RowRange(Bytes.parse(start), Bytes.parse(end)));
    }
    return query
        .versions(conf.getInt(VERSIONS_KEY, query.versions()))
        .times(
            new TimeRange(
                conf.getLong(FROM_KEY, TimeRange.ALL.fromMicros()),
                conf.getLong(TO_KEY, TimeRange.ALL.toMicros())));
  }

  private String encode() {
    return table + ":" + QueryCodec.toText(query);
  }

  private static TableScan decode(String text) throws IOException {
    int colon = text.indexOf(':');
    return new TableScan(text.substring(0, colon), QueryCodec.ofText(text.substring(colon + 1)));
  }
}
