package io.stele.outputformat;

import io.stele.client.Stele;
import io.stele.config.JobKeys;
import io.stele.config.SubmittedKey;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * Rows that a job replaces. In the job's configuration they are {@code table} for all rows, or
 * {@code table:start:end}, with the rows encoded as in a URL.
 *
 * @param table the table's name; or its id, once that is known
 */
record ReplacedRows(String table, RowRange rows) {
  /** What a job replaces, separated by commas. */
  static final String KEY = JobKeys.BULK_REPLACE;

  /** How many ranges a job may replace: each divides every file of a tablet that it meets. */
  static final int RANGES_MAX = 200;

  /** The same with the ids of tables, set when the job is submitted. */
  private static final String IDS_KEY = JobKeys.Internal.BULK_REPLACE_IDS;

  private static final SubmittedKey SUBMITTED = new SubmittedKey(KEY);

  /**
   * Rows of a table.
   *
   * @throws SteleException REFUSED if a bound is longer than a row
   */
  ReplacedRows {
    Limits.checkRange(rows);
  }

  /** Adds rows to those that a job replaces. Those of a job that was submitted are not of it. */
  static void add(Configuration conf, ReplacedRows rows) {
    SUBMITTED.beginAnew(conf);
    SUBMITTED.add(conf, rows.encode());
  }

  private static void add(Configuration conf, String key, ReplacedRows rows) {
    String before = conf.get(key, "");
    conf.set(key, before.isEmpty() ? rows.encode() : before + "," + rows.encode());
  }

  /** Notes that the job is submitted: whoever copies the configuration copies what it replaces. */
  static void setSubmitted(Configuration conf) {
    SUBMITTED.setSubmitted(conf);
  }

  /**
   * Refuses rows to replace that came with the configuration of another job, as nobody may have
   * meant to replace them again.
   *
   * @throws SteleException REFUSED if a job that was submitted replaced the same
   */
  static void checkNotOfAnotherJob(Configuration conf) {
    if (SUBMITTED.isSubmitted(conf)) {
      throw SteleException.refused(
          KEY
              + " is \""
              + conf.get(KEY, "")
              + "\" in the configuration of a job that was submitted, of which this job has a copy:"
              + " if this job is to replace these rows too, call BulkOutputFormat.replaceTable or"
              + " replaceRows for it, or else remove the key");
    }
  }

  private String encode() {
    return rows.equals(RowRange.ALL)
        ? table
        : table + ":" + encode(rows.start()) + ":" + encode(rows.end());
  }

  private static String encode(Bytes row) {
    return URLEncoder.encode(row.toString(), StandardCharsets.UTF_8);
  }

  /**
   * What a job replaces; empty if nothing.
   *
   * @throws SteleException REFUSED if the configuration cannot be understood, or the ranges are too
   *     many
   */
  static List<ReplacedRows> all(Configuration conf) {
    List<ReplacedRows> all = all(conf, KEY);
    if (all.size() > RANGES_MAX) {
      throw SteleException.refused(
          "the job replaces "
              + all.size()
              + " ranges of rows, and may replace at most "
              + RANGES_MAX
              + ": replace fewer and larger ranges, or delete single rows by mutations");
    }
    return all;
  }

  /**
   * Refuses rows to replace in a job whose output is applied at once: nothing would be replaced.
   *
   * @throws SteleException REFUSED if there are any
   */
  static void checkNone(Configuration conf) {
    String replaced = conf.getTrimmed(KEY, "");
    if (!replaced.isEmpty()) {
      throw SteleException.refused(
          KEY
              + " is \""
              + replaced
              + "\", but the job writes with TableOutputFormat, which replaces nothing: write with"
              + " BulkOutputFormat, or remove the key");
    }
  }

  private static List<ReplacedRows> all(Configuration conf, String key) {
    List<ReplacedRows> all = new ArrayList<>();
    for (String text : conf.getTrimmedStrings(key)) {
      String[] parts = text.split(":", -1);
      if (parts.length != 1 && parts.length != 3) {
        throw SteleException.refused(
            key + " has \"" + text + "\", which is neither TABLE nor TABLE:START:END");
      }
      try {
        RowRange rows =
            parts.length == 1 ? RowRange.ALL : new RowRange(decode(parts[1]), decode(parts[2]));
        all.add(new ReplacedRows(parts[0], rows));
      } catch (IllegalArgumentException | SteleException e) {
        throw SteleException.refused(
            key + " has \"" + text + "\", which names no rows: " + e.getMessage());
      }
    }
    return all;
  }

  private static Bytes decode(String row) {
    return Bytes.parse(URLDecoder.decode(row, StandardCharsets.UTF_8));
  }

  /** The rows of one table that a job replaces. */
  static List<RowRange> of(Configuration conf, String table) {
    return all(conf).stream()
        .filter(one -> one.table().equals(table))
        .map(ReplacedRows::rows)
        .toList();
  }

  /**
   * Looks up the ids of the tables, and refuses rows that cannot be replaced.
   *
   * @throws SteleException NOT_FOUND if there is no such table, REFUSED if rows are replaced twice,
   *     or the job does not write to the table
   */
  static void identify(Stele stele, Configuration conf) throws IOException {
    conf.unset(IDS_KEY); // Of a submission before.
    List<String> written = OutputTable.all(conf).stream().map(OutputTable::name).toList();
    List<ReplacedRows> all = all(conf);
    for (int i = 0; i < all.size(); i++) {
      ReplacedRows one = all.get(i);
      if (!written.contains(one.table())) {
        throw SteleException.refused(
            "the job replaces rows of table "
                + one.table()
                + ", but writes only to "
                + String.join(", ", written)
                + ": add the table to those it writes to, or correct "
                + KEY);
      }
      for (ReplacedRows other : all.subList(0, i)) {
        if (other.table().equals(one.table())
            && other.rows().intersection(one.rows()).isPresent()) {
          throw SteleException.refused(
              "the job replaces rows of table "
                  + one.table()
                  + " twice: "
                  + other.rows()
                  + " and "
                  + one.rows()
                  + " meet");
        }
      }
      add(conf, IDS_KEY, new ReplacedRows(stele.table(one.table()).id().value(), one.rows()));
    }
  }

  /** What is replaced when the job commits. */
  static Map<TableId, List<RowRange>> byTable(Configuration conf) {
    Map<TableId, List<RowRange>> tables = new TreeMap<>();
    for (ReplacedRows one : all(conf, IDS_KEY)) {
      tables.computeIfAbsent(new TableId(one.table()), id -> new ArrayList<>()).add(one.rows());
    }
    return tables;
  }
}
