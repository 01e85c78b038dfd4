package io.stele.config;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/** What the keys {@code mapreduce.stele.*} mean, for people; docs/mapreduce.md has the details. */
public final class JobKeyDocs {
  private static final String ONE_HOUR = "1h";
  private static final String MB_128 = "128m";
  private static final SortedMap<String, Doc> ALL = all();

  private JobKeyDocs() {}

  /**
   * What a key means.
   *
   * @param unset the value that counts if the key is not set; empty if there is none
   * @param text one or two sentences
   */
  public record Doc(String unset, String text) {}

  /** All of {@link JobKeys#names}, in order. */
  public static SortedMap<String, Doc> byName() {
    return ALL;
  }

  private static SortedMap<String, Doc> all() {
    SortedMap<String, Doc> docs = new TreeMap<>();
    addScan(docs);
    addInput(docs);
    addOutput(docs);
    return Collections.unmodifiableSortedMap(docs);
  }

  private static void addScan(SortedMap<String, Doc> docs) {
    docs.put(JobKeys.INPUT_TABLE, new Doc("", "The table that a job reads, if it has one scan."));
    docs.put(
        JobKeys.INPUT_FAMILIES,
        new Doc(
            "", "The families to read, separated by commas; all, if no columns are set either."));
    docs.put(
        JobKeys.INPUT_COLUMNS,
        new Doc("", "The columns to read, as family:qualifier, separated by commas."));
    docs.put(
        JobKeys.INPUT_ROWS_PREFIX,
        new Doc("", "Read the rows with this prefix; in place of a start and an end."));
    docs.put(JobKeys.INPUT_ROWS_START, new Doc("", "The first row to read, inclusive."));
    docs.put(JobKeys.INPUT_ROWS_END, new Doc("", "The end of the rows to read, exclusive."));
    docs.put(
        JobKeys.INPUT_ROWS_RANGES,
        new Doc("", "Further ranges of rows, as start:end, separated by commas."));
    docs.put(
        JobKeys.INPUT_VERSIONS,
        new Doc("", "The maximum number of versions of a column; all that are kept, if unset."));
    docs.put(
        JobKeys.INPUT_TIMES_FROM,
        new Doc(
            "",
            "The lowest timestamp to read, inclusive: in microseconds, or as 2026-01-31T12:00:00Z."));
    docs.put(
        JobKeys.INPUT_TIMES_TO,
        new Doc(
            "",
            "The end of the timestamps to read, exclusive: in microseconds, or as 2026-01-31T12:00:00Z."));
    docs.put(
        JobKeys.INPUT_FILTER, new Doc("", "A filter as text, such as cells_per_column_limit(1)."));
  }

  private static void addInput(SortedMap<String, Doc> docs) {
    docs.put(
        JobKeys.INPUT_SPLIT_BYTES,
        new Doc(MB_128, "The size of a split, such as 128m. Larger tablets are cut."));
    docs.put(
        JobKeys.INPUT_READ,
        new Doc(
            "pinned",
            "What mappers read: the rows as they were when the job was submitted, or as they are"
                + " when a mapper reads them. Allowed: pinned, latest."));
    docs.put(
        JobKeys.INPUT_MODE,
        new Doc(
            "served",
            "Who reads for mappers: tablet servers, or the mappers themselves from files. Allowed:"
                + " served, direct."));
    docs.put(
        JobKeys.INPUT_PINNED_LEASE,
        new Doc(
            ONE_HOUR,
            "How long pinned files are kept while no map task runs, where neither YARN nor the"
                + " job's output keeps them; 10m with the local runner."));
  }

  private static void addOutput(SortedMap<String, Doc> docs) {
    docs.put(
        JobKeys.OUTPUT_LEASE,
        new Doc(
            ONE_HOUR,
            "How long tablets remember what tasks wrote while neither a task nor the"
                + " ApplicationMaster runs; 10m with the local runner."));
    docs.put(
        JobKeys.OUTPUT_SUBMISSION,
        new Doc("", "The name of the submission. Set it only if nothing calls checkOutputSpecs."));
    docs.put(
        JobKeys.OUTPUT_LATEST_ALLOWED,
        new Doc(
            "false",
            "Whether a job may read the latest rows of tables and write with TableOutputFormat,"
                + " though its output may then be applied twice or in part."));
    docs.put(
        JobKeys.OUTPUT_TASK_TABLETS,
        new Doc(
            "",
            "To how many tablets a task writes with TableOutputFormat at most. A job for which tablet"
                + " servers have no room then is refused; if unset, it is only warned of."));
    docs.put(
        JobKeys.BULK_LEASE,
        new Doc(
            ONE_HOUR,
            "How long a job's files are kept before the commit while neither a task nor the"
                + " ApplicationMaster runs; 10m with the local runner."));
    docs.put(
        JobKeys.BULK_REPLACE,
        new Doc("", "What the commit replaces: table, or table:start:end; several, with commas."));
    docs.put(
        JobKeys.BULK_REDUCER_BYTES,
        new Doc(
            MB_128, "The minimum output of a reducer, such as 128m, if its size is estimated."));
    docs.put(JobKeys.BULK_SORT, new Doc("shuffle", "Who sorts the rows. Allowed: shuffle, task."));
    docs.put(
        JobKeys.BULK_SORT_BYTES,
        new Doc(
            "",
            "The memory in which a task sorts, such as 128m; if unset, a quarter of the heap, at"
                + " most 256m."));
    docs.put(
        JobKeys.BULK_TABLET_BYTES,
        new Doc(
            MB_128,
            "The minimum size of a tablet's files, such as 128m, if a job divides a table."));
  }
}
