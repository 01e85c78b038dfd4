package io.stele.inputformat;

import io.stele.config.JobKeys;
import io.stele.config.SubmittedKey;
import io.stele.model.Limits;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.wire.QueryCodec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;

/**
 * What a job reads of one table; in its configuration as {@code table:base64(query)}, or by plain
 * keys ({@link PlainScan}), which name one scan.
 *
 * @param table the table's name
 * @param query which rows, and what of them
 */
record TableScan(String table, RowQuery query) {
  TableScan {
    Limits.checkTableName(table);
  }

  /** Where the scans of a job are, separated by commas. */
  static final String KEY = JobKeys.Internal.INPUT_SCANS;

  /** Where rows are that are pinned with those of the scans, but are no input. */
  private static final String BESIDE_KEY = JobKeys.Internal.INPUT_PINNED_BESIDE;

  private static final SubmittedKey SCANS = new SubmittedKey(KEY);

  private static final SubmittedKey BESIDE = new SubmittedKey(BESIDE_KEY);

  /** Adds a scan to a job's. */
  static void add(Configuration conf, TableScan scan) {
    SCANS.add(conf, scan.encode());
  }

  /**
   * Like {@link #add}, but forgets the scans of another job, if this job has a copy of its
   * configuration from after it was submitted.
   */
  static void addTo(Job job, TableScan scan) {
    addTo(job, SCANS, scan);
  }

  /** Adds rows that are pinned with those of the job's scans. */
  static void addBesideTo(Job job, TableScan scan) {
    addTo(job, BESIDE, scan);
  }

  private static void addTo(Job job, SubmittedKey key, TableScan scan) {
    if (job.getJobID() == null) { // Otherwise it is the same job, whose submission has failed.
      key.beginAnew(job.getConfiguration());
    }
    key.add(job.getConfiguration(), scan.encode());
  }

  /** Notes that the job is submitted, if it is: others ask for splits as well. */
  static void noteSubmission(JobContext context) {
    if (context instanceof Job && context.getJobID() != null) {
      SCANS.setSubmitted(context.getConfiguration());
      BESIDE.setSubmitted(context.getConfiguration());
    }
  }

  /** The rows that are pinned with those of the job's scans. */
  static List<TableScan> beside(Configuration conf) throws IOException {
    return all(conf, BESIDE_KEY);
  }

  private static List<TableScan> all(Configuration conf, String key) throws IOException {
    List<TableScan> scans = new ArrayList<>();
    for (String text : conf.getTrimmedStrings(key)) {
      scans.add(decode(text));
    }
    return scans;
  }

  /**
   * The scans of a job.
   *
   * @throws SteleException REFUSED if it has none, or two are the same
   */
  static List<TableScan> all(Configuration conf) throws IOException {
    List<TableScan> scans = all(conf, KEY);
    PlainScan.of(conf).ifPresent(scans::add);
    checkDiffer(scans);
    if (scans.isEmpty()) {
      throw SteleException.refused(
          "the job has TableInputFormat but no table to read: call TableInputFormat.addTable or set"
              + " "
              + JobKeys.INPUT_TABLE);
    }
    return scans;
  }

  /** Scans may overlap, if somebody wants that; but nobody asks twice for the very same. */
  private static void checkDiffer(List<TableScan> scans) {
    Set<TableScan> different = new HashSet<>();
    for (TableScan scan : scans) {
      if (!different.add(scan)) {
        throw SteleException.refused(
            "the job reads table "
                + scan.table()
                + " twice with the same query, so each row would come twice. Probably its"
                + " configuration is a copy of that of another job, whose tables are in "
                + KEY
                + ", or in "
                + JobKeys.INPUT_TABLE
                + ": make the job of a configuration without them, or unset the key before the"
                + " first addTable. If it is not a copy, add the table once");
      }
    }
  }

  private String encode() {
    return table + ":" + QueryCodec.toText(query);
  }

  private static TableScan decode(String text) throws IOException {
    int colon = text.indexOf(':');
    return new TableScan(text.substring(0, colon), QueryCodec.ofText(text.substring(colon + 1)));
  }
}
