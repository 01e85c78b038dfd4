package io.stele.cli;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.JarOf;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.outputformat.BulkOutputFormat;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEventType;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;

/**
 * Jobs whose attempts end hard in the middle of their work: of each ApplicationMaster the first of
 * every task. The second one is at once given a speculative one beside it.
 */
final class KilledJobs {
  /** An ApplicationMaster's first attempt of a task is numbered by a multiple of that. */
  private static final int ATTEMPTS = 1000;

  private static final int RECORDS_BEFORE_THE_END = 100;
  private static final String GATES_KEY = "test.gates";

  private KilledJobs() {}

  /**
   * Has attempts of a job be killed and doubled.
   *
   * @param gates a directory for what attempts tell each other and the test
   */
  static void prepare(Job job, Path gates) throws IOException {
    Configuration conf = job.getConfiguration();
    conf.set(GATES_KEY, gates.toString());
    conf.setBoolean(MRJobConfig.MAP_SPECULATIVE, true);
    conf.setBoolean(MRJobConfig.REDUCE_SPECULATIVE, true);
    conf.setClass(MRJobConfig.MR_AM_JOB_SPECULATOR, Doubler.class, Speculator.class);
    job.setJar(
        JarOf.classes(
                KilledJobs.class,
                Attempt.class,
                Doubler.class,
                Increments.class,
                Copies.class,
                Puts.class,
                CommitsTwice.class,
                EndsAfterCommit.class)
            .toString());
  }

  /** Whether somebody has passed that place. */
  static boolean isPassed(FileSystem fs, Path gates, String place) throws IOException {
    return fs.exists(new Path(gates, place));
  }

  /** Tells whoever waits for it that the place is passed. */
  static void pass(FileSystem fs, Path gates, String place) throws IOException {
    fs.create(new Path(gates, place), true).close();
  }

  /** The ApplicationMasters of a job that run. */
  static List<TaggedProcess> masters(EmbeddedHadoop hadoop, Job job) {
    String application = "_" + job.getJobID().toString().substring("job_".length()) + "_";
    return hadoop.processes().stream()
        .filter(process -> process.isJava() && process.command().contains("MRAppMaster"))
        .filter(
            process -> process.environment().getOrDefault("CONTAINER_ID", "").contains(application))
        .toList();
  }

  private static void endHard() {
    Runtime.getRuntime().halt(1);
  }

  /** An attempt, by its number and that of its task. */
  private static final class Attempt {
    private final TaskAttemptID id;
    private final Path gates;
    private final FileSystem fs;
    private int records;

    Attempt(TaskAttemptContext context) throws IOException {
      id = context.getTaskAttemptID();
      gates = new Path(context.getConfiguration().get(GATES_KEY));
      fs = FileSystem.get(context.getConfiguration());
      pass(fs, gates, place(id.getId()));
    }

    private String place(int attempt) {
      return id.getTaskID().getTaskType() + "-" + id.getTaskID().getId() + "-" + attempt;
    }

    /** Whether this is to end now. */
    boolean isToEnd() {
      return ++records == RECORDS_BEFORE_THE_END && id.getId() % ATTEMPTS == 0;
    }

    /** Waits in the middle of the first task until another attempt of it runs, too. */
    void meetAnother(TaskInputOutputContext<?, ?, ?, ?> context)
        throws IOException, InterruptedException {
      boolean first = records == RECORDS_BEFORE_THE_END && id.getTaskID().getId() == 0;
      if (first && id.getId() % ATTEMPTS == 1) {
        await(context, place(id.getId() + 1));
      }
    }

    /** Under the job's first ApplicationMaster, waits in the first task. */
    void waitForAnotherMaster(TaskInputOutputContext<?, ?, ?, ?> context)
        throws IOException, InterruptedException {
      boolean first = records == RECORDS_BEFORE_THE_END && id.getTaskID().getId() == 0;
      if (first && id.getId() < ATTEMPTS) {
        await(context, "another master");
      }
    }

    private void await(TaskInputOutputContext<?, ?, ?, ?> context, String place)
        throws IOException, InterruptedException {
      while (!isPassed(fs, gates, place)) {
        context.progress();
        Thread.sleep(100);
      }
    }
  }

  /** Adds an attempt to every second attempt of a task as soon as that runs. */
  public static final class Doubler implements Speculator {
    private final AppContext context;

    /** Made by the ApplicationMaster. */
    public Doubler(Configuration conf, AppContext context) {
      this.context = context;
    }

    @Override
    @SuppressWarnings("unchecked") // The ApplicationMaster's handler takes events of all kinds.
    public void handle(SpeculatorEvent event) {
      if (event.getType() == Speculator.EventType.ATTEMPT_START) {
        TaskAttemptID id = TypeConverter.fromYarn(event.getReportedStatus().id);
        if (id.getId() % ATTEMPTS == 1) {
          context
              .getEventHandler()
              .handle(
                  new TaskEvent(
                      TypeConverter.toYarn(id.getTaskID()), TaskEventType.T_ADD_SPEC_ATTEMPT));
        }
      }
    }

    @Override
    public void handleAttempt(TaskAttemptStatus status) {}
  }

  /** Increments, for each row, the counters of its group: one for each task. */
  public static final class Increments extends Mapper<Bytes, Row, NullWritable, RowOperation> {
    private Attempt attempt;

    @Override
    protected void setup(Context context) throws IOException {
      attempt = new Attempt(context);
    }

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      Bytes group = key.slice(0, "row0".length());
      String task = context.getTaskAttemptID().getTaskID().toString();
      context.write(NullWritable.get(), ReadModifyWrite.increment(group, "f", Bytes.of(task), 1));
      if (attempt.isToEnd()) {
        try (Stele stele = Stele.connect(context.getConfiguration())) {
          while (stele
              .table("increments")
              .readRow(group)
              .flatMap(written -> written.value("f", task))
              .isEmpty()) {
            Thread.sleep(50); // Until something of this attempt is applied, which it leaves behind.
          }
        }
        endHard();
      }
      attempt.meetAnother(context);
      attempt.waitForAnotherMaster(context);
    }

    @Override
    protected void cleanup(Context context) throws IOException {
      pass(attempt.fs, attempt.gates, "done-" + context.getTaskAttemptID().getTaskID().getId());
    }
  }

  /** Copies rows. */
  public static final class Copies extends Mapper<Bytes, Row, Bytes, Mutation> {
    private Attempt attempt;

    @Override
    protected void setup(Context context) throws IOException {
      if (context.getConfiguration().get(GATES_KEY) != null) {
        attempt = new Attempt(context);
      }
    }

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      Mutation copy = Mutation.of(key);
      for (Cell cell : row.cells()) {
        copy = copy.put(cell.family(), cell.qualifier(), cell.timestampMicros(), cell.value());
      }
      context.write(key, copy);
      if (attempt == null) {
        return; // While the input is sampled.
      }
      if (attempt.isToEnd()) {
        endHard();
      }
      attempt.meetAnother(context);
    }
  }

  /** Writes what comes, and waits for nobody unless it is told to. */
  public static final class Puts extends Reducer<Bytes, Mutation, NullWritable, Mutation> {
    /** Where the job waits for its end. */
    static final String WAITS_KEY = "test.waits";

    private Attempt attempt;

    @Override
    protected void setup(Context context) throws IOException {
      attempt = new Attempt(context);
    }

    @Override
    protected void reduce(Bytes row, Iterable<Mutation> mutations, Context context)
        throws IOException, InterruptedException {
      for (Mutation mutation : mutations) {
        context.write(NullWritable.get(), mutation);
      }
      if (attempt.isToEnd()) {
        endHard();
      }
      attempt.meetAnother(context);
      if (context.getConfiguration().getBoolean(WAITS_KEY, false)) {
        attempt.await(context, "never");
      }
    }
  }

  /**
   * {@link BulkOutputFormat}, whose first ApplicationMaster ends before it can tell of a commit.
   */
  public static final class CommitsTwice extends OutputFormat<NullWritable, Mutation> {
    private final BulkOutputFormat<NullWritable> real = new BulkOutputFormat<>();

    @Override
    public RecordWriter<NullWritable, Mutation> getRecordWriter(TaskAttemptContext context)
        throws IOException {
      return real.getRecordWriter(context);
    }

    @Override
    public void checkOutputSpecs(JobContext context) throws IOException {
      real.checkOutputSpecs(context);
    }

    @Override
    public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
      return new EndsAfterCommit(real.getOutputCommitter(context));
    }
  }

  /** Ends the first process that has committed the job. */
  private static final class EndsAfterCommit extends OutputCommitter {
    private final OutputCommitter real;

    EndsAfterCommit(OutputCommitter real) {
      this.real = real;
    }

    @Override
    public void setupJob(JobContext context) throws IOException {
      real.setupJob(context);
    }

    @Override
    public void setupTask(TaskAttemptContext context) throws IOException {
      real.setupTask(context);
    }

    @Override
    public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
      return real.needsTaskCommit(context);
    }

    @Override
    public void commitTask(TaskAttemptContext context) throws IOException {
      real.commitTask(context);
    }

    @Override
    public void abortTask(TaskAttemptContext context) throws IOException {
      real.abortTask(context);
    }

    @Override
    public void commitJob(JobContext context) throws IOException {
      real.commitJob(context);
      Path gates = new Path(context.getConfiguration().get(GATES_KEY));
      FileSystem fs = FileSystem.get(context.getConfiguration());
      if (!isPassed(fs, gates, "committed")) {
        pass(fs, gates, "committed");
        endHard();
      }
      pass(fs, gates, "committed again");
    }

    @Override
    public void abortJob(JobContext context, JobStatus.State state) throws IOException {
      real.abortJob(context, state);
    }

    @Override
    public boolean isCommitJobRepeatable(JobContext context) throws IOException {
      return real.isCommitJobRepeatable(context);
    }

    @Override
    public boolean isRecoverySupported(JobContext context) throws IOException {
      return real.isRecoverySupported(context);
    }

    @Override
    public void recoverTask(TaskAttemptContext context) throws IOException {
      real.recoverTask(context);
    }
  }
}
