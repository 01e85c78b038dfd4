package io.stele.inputformat;

import io.stele.bulk.InputPins;
import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.client.Table;
import io.stele.config.JobKeys;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableUse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Rows of tables as the input of a job: the key is the row key, the value the row.
 *
 * <pre>{@code
 * Job job = SteleJob.create(conf, "count anchors", AnchorCount.class); // ships Stele's jars
 * TableInputFormat.addTable(job, "webtable", RowQuery.ALL.family("anchor"));
 * job.setMapperClass(AnchorMapper.class); // extends Mapper<Bytes, Row, Text, LongWritable>
 * }</pre>
 *
 * <p><b>Splits</b> are near {@code mapreduce.stele.input.split.bytes} (128 MB): a large tablet is
 * cut by its bytes, small tablets of one host are read by one mapper. A split has the host of its
 * tablets' server, or with {@code direct} the hosts of its files' blocks; its length is what its
 * rows take on disk and in memory. Progress is measured in bytes.
 *
 * <p>All attempts read the rows as they were when the job was submitted, as a whole for each
 * tablet. A mapper gets every row whole, and no row is missing or comes twice, whatever happens to
 * tablets and tablet servers meanwhile. With {@code mapreduce.stele.input.read} set to {@code
 * latest}, rows are read as they are when a mapper reads them: changes made while the job runs may
 * be seen or not, and another attempt of a task may see other rows. A mapper may take any time
 * between two rows.
 *
 * <p>A split covers the rows that its tablets had when the job was submitted. If a tablet has been
 * split since, the split continues into the new tablets by itself. If the table has been dropped
 * and created again, the task fails.
 *
 * <p>A scan can also be set without code, in the job's configuration: {@code
 * mapreduce.stele.input.table}, and, each optional, {@code .families}, {@code .columns}, {@code
 * .rows.start}, {@code .rows.end}, {@code .rows.prefix}, {@code .rows.ranges}, {@code .versions},
 * {@code .times.from}, {@code .times.to}, {@code .filter}; docs/mapreduce.md describes them.
 *
 * <p>{@link Counter} counts what was read. Keys and values can go through the shuffle: this
 * registers {@link ModelSerialization}.
 */
public final class TableInputFormat extends InputFormat<Bytes, Row> {
  /** The size of splits, in bytes; with a suffix such as {@code 256m}. */
  public static final String SPLIT_BYTES_KEY = JobKeys.INPUT_SPLIT_BYTES;

  /**
   * What mappers read: {@code pinned}, unless set, the rows as they were when the job was
   * submitted, the same in every attempt of every task, or {@code latest}, the rows as they are
   * when a mapper reads them.
   */
  public static final String READ_KEY = JobKeys.INPUT_READ;

  /**
   * Who reads the rows for mappers: {@code served}, their tablet servers, or {@code direct}, the
   * mappers themselves, from the tables' files, always as they were when the job was submitted.
   */
  public static final String MODE_KEY = JobKeys.INPUT_MODE;

  /**
   * How long what is pinned is kept while no map task of the job runs, unless YARN or the job's
   * output tell that the job lives; such as {@code 2h}.
   */
  public static final String LEASE_KEY = JobKeys.INPUT_PINNED_LEASE;

  private static final long SPLIT_BYTES = 128L << 20;
  private static final Duration LEASE = Duration.ofHours(1);

  /** Nothing waits for containers there. */
  private static final Duration LOCAL_LEASE = Duration.ofMinutes(10);

  /** What the job's mappers have read. */
  public enum Counter {
    /** Rows that had at least one cell asked for. */
    ROWS,
    /** Cells in them. */
    CELLS,
    /** Bytes of row keys, qualifiers and values in them. */
    BYTES,
    /** How often the record of a tablet was read again because its files could not be read. */
    RETRIES,
    /** Bytes of files read directly from DataNodes of the same host, as HDFS counts them. */
    LOCAL_FILE_BYTES,
    /** Bytes of files read directly from DataNodes of other hosts. */
    REMOTE_FILE_BYTES,
    /** Splits of which nothing was read, because the job's output had been committed before. */
    SPLITS_NOT_READ
  }

  /**
   * Adds rows of a table to the job's input, and makes this the job's input format, unless {@code
   * MultipleInputs} names it for one of its paths: then the job reads these paths too. May be
   * called several times, also for the same table. A job that reads a table twice with the same
   * query is refused when it is submitted, as one made of another job's configuration does: that
   * has the other's tables.
   *
   * @param query which rows, and what of them; it cannot have a row limit, as no mapper knows of
   *     the others
   * @throws SteleException REFUSED if the query has a row limit, or {@code MultipleInputs} has
   *     paths but none for tables
   */
  public static void addTable(Job job, String table, RowQuery query) {
    if (query.rowLimit() != Long.MAX_VALUE) {
      throw SteleException.refused(
          "a job reads all rows of its ranges: remove the row limit of "
              + query.rowLimit()
              + " from the query of table "
              + table
              + ", and stop reading in the mapper");
    }
    SeveralInputs.setFormat(job);
    ModelSerialization.register(job.getConfiguration());
    TableScan.addTo(job, new TableScan(table, query));
  }

  /**
   * Has rows of another table pinned at the same time as the job's input. They are no input: a
   * mapper reads them with {@code table.atPin(split.pin())}. If the job reads at no pin, this
   * changes nothing.
   *
   * @param query which rows
   */
  public static void pinBeside(Job job, String table, RowQuery query) {
    TableScan.addBesideTo(job, new TableScan(table, query));
  }

  /**
   * Fetches what the job's tasks need to prove who they are into the job's credentials. Submitting
   * does it too; use this to submit in another way.
   */
  public static void initCredentials(Job job) throws IOException {
    Stele.addCredentials(job.getConfiguration(), job.getCredentials());
  }

  @Override
  public List<InputSplit> getSplits(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    JobKeys.check(conf);
    SeveralInputs.check(conf);
    Stele.addCredentials(conf, context.getCredentials());
    ModelSerialization.register(conf);
    if (context instanceof Job) { // Others send nothing through a shuffle of MapReduce.
      ModelSerialization.checkMapOutput(conf);
    }
    List<TableScan> scans = TableScan.all(conf);
    TableScan.noteSubmission(context);
    boolean pinned = isPinned(conf);
    try (Stele stele = Stele.connect(conf)) {
      Optional<JobRenewal> output = keepOutput(stele.jobs(), context);
      try {
        return pinned
            ? pinnedSplits(stele, context, scans)
            : new ArrayList<>(splits(stele, conf, scans));
      } finally {
        output.ifPresent(JobRenewal::close);
      }
    }
  }

  /** Keeps the job of the output, which was begun before, while input is pinned and divided. */
  private static Optional<JobRenewal> keepOutput(Jobs jobs, JobContext context) throws IOException {
    return context instanceof Job // As in keeper().
        ? SubmittedOutput.keep(jobs, context.getConfiguration())
        : Optional.empty();
  }

  @SuppressWarnings("try") // Renewed while the block runs.
  static List<InputSplit> pinnedSplits(Stele stele, JobContext context, List<TableScan> scans)
      throws IOException {
    Configuration conf = context.getConfiguration();
    if (isDirect(conf)) {
      stele.jobs().environment().requireFiles();
      for (TableScan scan : scans) {
        ReadRights.check(stele, scan.table()); // Before tablets are pinned.
      }
    }
    Duration lease = Jobs.lease(conf, LEASE_KEY, leaseUnset(context));
    String job = stele.jobs().begin(lease, keeper(stele.jobs(), context), uses(conf, scans));
    try {
      Map<String, List<RowRange>> rows = new TreeMap<>();
      addRows(scans, rows);
      addRows(TableScan.beside(conf), rows);
      stele.jobs().pin(job, rows);
      List<TableSplit> splits;
      try (JobRenewal renewal = stele.jobs().keep(job)) { // However long it takes to plan.
        splits = splitsAtPin(stele, conf, job, scans);
        if (context instanceof Job) { // The same that checked its output, which came first.
          InputPins.note(stele, conf, job, rows.keySet());
        }
      }
      stele.jobs().renew(job);
      return new ArrayList<>(splits);
    } catch (IOException | RuntimeException | Error e) {
      stele.jobs().endAfter(e, job);
      throw e;
    }
  }

  private static List<TableUse> uses(Configuration conf, List<TableScan> scans) throws IOException {
    TableUse.How how = isDirect(conf) ? TableUse.How.DIRECT : TableUse.How.SERVED;
    return Stream.concat(scans.stream(), TableScan.beside(conf).stream())
        .map(TableScan::table)
        .distinct()
        .map(table -> new TableUse(table, how))
        .toList();
  }

  /** The splits at the pin of {@code job}. */
  private static List<TableSplit> splitsAtPin(
      Stele stele, Configuration conf, String job, List<TableScan> scans) throws IOException {
    List<TableSplit> splits = splits(stele, conf, scans);
    splits.forEach(split -> split.atPin(job));
    if (isDirect(conf)) {
      locate(stele, job, scans, splits);
    }
    return splits;
  }

  private static void addRows(List<TableScan> scans, Map<String, List<RowRange>> rows) {
    for (TableScan scan : scans) {
      List<RowRange> ranges = scan.query().ranges();
      rows.computeIfAbsent(scan.table(), table -> new ArrayList<>())
          .addAll(ranges.isEmpty() ? List.of(RowRange.ALL) : ranges);
    }
  }

  private static Duration leaseUnset(JobContext context) {
    return Optional.ofNullable(context.getJobID())
        .filter(job -> job.toString().startsWith("job_local"))
        .map(job -> LOCAL_LEASE)
        .orElse(LEASE);
  }

  /**
   * What keeps the pin: the job of the output, which lives through a long reduce phase wherever the
   * job runs, and of which also MultipleInputs knows; otherwise the application.
   */
  private static Optional<String> keeper(Jobs jobs, JobContext context) throws IOException {
    Optional<String> output =
        context instanceof Job // Others read the same input for several outputs.
            ? SubmittedOutput.keeper(jobs, context.getConfiguration())
            : Optional.empty();
    return output.isPresent() ? output : application(context);
  }

  /** The application of YARN that will run the job: MapReduce names both alike. */
  static Optional<String> application(JobContext context) {
    boolean yarn = context.getConfiguration().get(MRConfig.FRAMEWORK_NAME, "").equals("yarn");
    return Optional.ofNullable(context.getJobID())
        .map(JobID::toString)
        .filter(job -> yarn && job.matches("job_\\d+_\\d+"))
        .map(job -> "application" + job.substring("job".length()));
  }

  /** Has the splits read from files, on the hosts where these are. */
  private static void locate(
      Stele stele, String job, List<TableScan> scans, List<TableSplit> splits) throws IOException {
    for (int i = 0; i < scans.size(); i++) {
      int scan = i;
      List<TableSplit> some = splits.stream().filter(split -> split.scan() == scan).toList();
      Table table = stele.table(scans.get(i).table()).atPin(job);
      some.forEach(split -> split.readFrom(List.of()));
      new BlockHosts(table.pinnedTablets()).locate(some);
    }
  }

  private static boolean isDirect(Configuration conf) {
    String how = conf.getTrimmed(MODE_KEY, "served");
    return switch (how) {
      case "served" -> false;
      case "direct" -> true;
      default ->
          throw SteleException.refused(MODE_KEY + " is " + how + ": it may be served or direct");
    };
  }

  private static boolean isPinned(Configuration conf) {
    boolean direct = isDirect(conf);
    String how = conf.getTrimmed(READ_KEY, "pinned");
    return switch (how) {
      case "latest" -> {
        if (direct) {
          throw SteleException.refused(
              READ_KEY + " is latest, but " + MODE_KEY + " is direct: files are read at pins only");
        }
        yield false;
      }
      case "pinned" -> true;
      default ->
          throw SteleException.refused(READ_KEY + " is " + how + ": it may be latest or pinned");
    };
  }

  private static List<TableSplit> splits(Stele stele, Configuration conf, List<TableScan> scans)
      throws IOException {
    long targetBytes = targetBytes(conf);
    List<TableSplit> splits = new ArrayList<>();
    for (int i = 0; i < scans.size(); i++) {
      Table table = stele.table(scans.get(i).table());
      table.checkFamilies(scans.get(i).query());
      SplitPlanner planner =
          new SplitPlanner(
              scans.get(i),
              i,
              targetBytes,
              tablet ->
                  table.sampleRowKeysAsync(
                      tablet.rows(), Math.max(1, targetBytes / SplitPlanner.SAMPLES_A_PIECE)));
      splits.addAll(planner.plan(table.tablets()));
    }
    return splits;
  }

  private static long targetBytes(Configuration conf) {
    return JobKeys.bytes(conf, SPLIT_BYTES_KEY, "1", "1e", SPLIT_BYTES);
  }

  @Override
  public RecordReader<Bytes, Row> createRecordReader(InputSplit split, TaskAttemptContext context) {
    return new TableRecordReader();
  }
}
