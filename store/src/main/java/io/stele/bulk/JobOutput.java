package io.stele.bulk;

import io.stele.client.JobEnvironment;
import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.files.HdfsClientDefaults;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.JobChange;
import io.stele.record.PutTimestamps;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.tablet.FileDivision;
import io.stele.tablet.JobFileWriter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that a job writes for tables, in {@code bulk/<job>/}:
 *
 * <pre>
 * setup                  the job of MapReduce whose output this is: renamed, the first one wins
 * &lt;attempt&gt;_&lt;i&gt;-&lt;n&gt;.sst    what an attempt of a task has written
 * &lt;attempt&gt;.attempt      lists it, as {@link FileList} has it
 * &lt;task&gt;.task            the list of the attempt that counts: renamed, the first one wins
 * closing                a directory, made right before the lists of tasks are read for the next
 * job                    the lists of all tasks, when the job commits: written once
 * pins-&lt;i&gt;               when the tables of an input were pinned, as {@link InputPins} has it
 * </pre>
 *
 * <p>The directory is the store's ({@link Jobs#makeDirectory}), and nobody else writes there once
 * the job has committed.
 *
 * <p>Nothing of it is visible before {@link #commit}, and then all of it. Repeating a step changes
 * nothing, even in another attempt or ApplicationMaster. The store deletes unneeded files when the
 * job is over.
 *
 * <p>Safe for use by any number of threads and processes.
 */
public final class JobOutput {
  private static final Logger LOG = LoggerFactory.getLogger(JobOutput.class);
  private static final String SETUP = "setup";
  private static final String PINS = "pins-";

  /** What the HDFS client may hold of a file being written: as much as by default. */
  private static final long HELD_OF_FILE_BYTES = 5L << 20;

  private final Jobs jobs;
  private final JobEnvironment environment;
  private final String job;
  private final OutputDirectory directory;
  private final PublishedFiles published;

  /**
   * The output of a job.
   *
   * @param job its name, from {@link Jobs#begin}
   */
  public JobOutput(Jobs jobs, String job) throws IOException {
    this(jobs, job, jobs.environment().files());
  }

  JobOutput(Jobs jobs, String job, FileSystem fs) throws IOException {
    this.jobs = jobs;
    this.environment = jobs.environment();
    this.job = job;
    this.directory = new OutputDirectory(environment, job, fs);
    this.published = new PublishedFiles(jobs, job, directory);
  }

  /** Sets, when a job is submitted, how its tasks write to HDFS, unless somebody has set it. */
  public static void writeInLargeSteps(Configuration conf) {
    HdfsClientDefaults.writeInLargeSteps(conf, HELD_OF_FILE_BYTES);
  }

  /**
   * Makes this the output of one job of MapReduce, or of another framework, unless it is that of
   * one already: the first wins. May be repeated, also by another ApplicationMaster of that job.
   *
   * @param id the framework's name of the job, which its tasks have too
   * @throws SteleException REFUSED if it is the output of another; NOT_FOUND if the job is over
   */
  public void setUp(String id) throws IOException {
    if (setUpBy().isEmpty()) {
      if (jobs.state(job) == JobNodes.State.GONE) {
        throw over(); // Its directory, which the store has deleted, must not come back.
      }
      directory.writeOnce(SETUP, id.getBytes(StandardCharsets.UTF_8));
    }
    requireSetUp(id);
  }

  /**
   * Checks that this is the output of a job of MapReduce. The tasks of another, which were given a
   * copy of its configuration, would write into this output and be missing in their own.
   *
   * @throws SteleException REFUSED if it is that of another, or of none yet; NOT_FOUND if it is
   *     that of none and the job is over
   */
  public void requireSetUp(String id) throws IOException {
    Optional<String> found = setUpBy();
    if (found.isEmpty() && jobs.state(job) == JobNodes.State.GONE) {
      throw over();
    }
    if (found.isEmpty()) {
      throw SteleException.refused(
          "output "
              + job
              + " was not set up for job "
              + id
              + ": whoever runs the job calls setupJob of its OutputCommitter before any task");
    }
    if (!found.get().equals(id)) {
      throw SteleException.refused(
          "output "
              + job
              + " is that of job "
              + found.get()
              + ", but job "
              + id
              + " writes: its tasks have a copy of the other's configuration, made when that had"
              + " been submitted. Make a new Job for each action that writes, and pass its"
              + " configuration itself, not a copy");
    }
  }

  /** Whether this is the output of a job of MapReduce, and that is not the one named. */
  public boolean isSetUpByAnother(String id) throws IOException {
    return setUpBy().filter(found -> !found.equals(id)).isPresent();
  }

  private Optional<String> setUpBy() throws IOException {
    directory.catchUp(); // Another process has done it.
    try {
      return Optional.of(new String(directory.read(SETUP), StandardCharsets.UTF_8));
    } catch (FileNotFoundException e) {
      LOG.debug("Job {} is not set up", job, e);
      return Optional.empty();
    }
  }

  /**
   * The output of one attempt of a task.
   *
   * @param attempt its name, which no other attempt of the job has. What is written under a later
   *     name, which is a longer one or one that sorts after another as long, is the later change
   * @param terms the same for all attempts
   */
  public AttemptOutput attempt(String attempt, Terms terms) {
    return new AttemptOutput(this, attempt, terms, Optional.empty());
  }

  /** Like {@link #attempt(String, Terms)}, for rows that come in any order. */
  public AttemptOutput attempt(String attempt, Terms terms, AttemptOutput.Sorting sorting) {
    return new AttemptOutput(this, attempt, terms, Optional.of(sorting));
  }

  /**
   * What holds for all that a job writes.
   *
   * @param timestampMicros the timestamp of puts that have none
   * @param valueBytesMax the largest value of a cell, in bytes
   * @param pinned the timestamps in tables of which the job reads rows at pins
   */
  public record Terms(
      long timestampMicros, long valueBytesMax, Map<TableId, PutTimestamps> pinned) {
    /** Of a job that reads none of the tables that it writes to. */
    public Terms(long timestampMicros, long valueBytesMax) {
      this(timestampMicros, valueBytesMax, Map.of());
    }

    PutTimestamps timestamps(TableId table) {
      return pinned.getOrDefault(table, PutTimestamps.always(timestampMicros));
    }
  }

  /**
   * What holds for all that the job writes, by the pins of its inputs that were noted.
   *
   * @param timestampMicros the timestamp of puts that have none, in rows that are not pinned
   * @param valueBytesMax the largest value of a cell, in bytes
   */
  public Terms terms(long timestampMicros, long valueBytesMax) throws IOException {
    Map<TableId, PutTimestamps> pinned = new TreeMap<>();
    for (Map<TableId, List<PutTimestamps.Pinned>> input : inputPins()) {
      input.forEach(
          (table, rows) ->
              pinned.merge(
                  table,
                  PutTimestamps.always(timestampMicros).with(rows),
                  (known, one) -> known.with(rows)));
    }
    return new Terms(timestampMicros, valueBytesMax, pinned);
  }

  /**
   * Notes when tables were pinned that the job reads and writes to; before any task runs. Called by
   * one at a time: the process that submits the job.
   */
  public void notePins(Map<TableId, List<PutTimestamps.Pinned>> input) throws IOException {
    directory.write(PINS + inputPins().size(), InputPins.encode(input));
  }

  /** The pins of each input, in the order in which they were noted. */
  private List<Map<TableId, List<PutTimestamps.Pinned>>> inputPins() throws IOException {
    directory.catchUp(); // Another process has noted them.
    List<Map<TableId, List<PutTimestamps.Pinned>>> all = new ArrayList<>();
    while (true) {
      String next = PINS + all.size();
      try {
        all.add(InputPins.decode(directory.read(next), directory.path(next).toString()));
      } catch (FileNotFoundException e) {
        LOG.debug("Job {} has {} inputs whose pins were noted", job, all.size(), e);
        return all;
      }
    }
  }

  JobFileWriter writer(TableId table, TableSchema schema, String name, Terms terms) {
    JobFileWriter.Target target =
        new JobFileWriter.Target(
            directory.fs(), directory.root(), job, name, schema, terms.timestamps(table));
    return new JobFileWriter(
        target, environment.random(), terms.valueBytesMax(), directory.replicasMin());
  }

  void list(String attempt, Map<TableId, List<FileRef>> files) throws IOException {
    published.list(attempt, files);
  }

  /**
   * Whether an attempt has finished files that are not published. Whoever is told 'no' leaves them
   * out of the job.
   */
  public boolean isFinished(String attempt) throws IOException {
    return published.isFinished(attempt);
  }

  /**
   * Makes the files of an attempt those of its task, unless another attempt's are already.
   *
   * @throws SteleException REFUSED if the job commits without them: an ApplicationMaster had begun
   *     to commit it when the task had failed, and that was tolerated. Another one runs such a task
   *     again, which must not seem to succeed
   */
  public void publish(String attempt, String task) throws IOException {
    published.publish(attempt, task);
  }

  /** Deletes what an attempt has finished, if it is not published. */
  public void discard(String attempt) throws IOException {
    published.discard(attempt);
  }

  /**
   * Commits the job: what its tasks have published becomes visible, all at once, and what was
   * written before to rows that it replaces goes. May be done again, and by several at once, with
   * the same rows.
   *
   * @param cuts made before that
   * @param replaced by table
   * @throws SteleException as {@link Jobs#commit}
   */
  public void commit(List<Cut> cuts, Map<TableId, List<RowRange>> replaced) throws IOException {
    commit(() -> cuts, replaced);
  }

  /**
   * Like {@link #commit(List, Map)}, where a table is cut by what the job has written: at rows from
   * the block indexes of its files. They are the same for every repetition, as the files are.
   */
  public void commit(Division division, Map<TableId, List<RowRange>> replaced) throws IOException {
    commit(() -> cuts(division), replaced);
  }

  private void commit(IoCallable<List<Cut>> cuts, Map<TableId, List<RowRange>> replaced)
      throws IOException {
    JobNodes.State state = jobs.state(job);
    if (state == JobNodes.State.GONE) {
      throw over();
    }
    Map<TableId, JobChange> changes = changes(replaced);
    if (state == JobNodes.State.BEGUN) {
      jobs.checkTables(changes); // A job that cannot commit leaves no tablets behind.
      cut(cuts);
    }
    jobs.commit(job, changes);
  }

  /**
   * What a commit would change in each table. The first call fixes the answer: after it, no task
   * can publish anything.
   *
   * @param replaced by table
   */
  public Map<TableId, JobChange> changes(Map<TableId, List<RowRange>> replaced) throws IOException {
    Map<TableId, List<FileRef>> files = published.freeze();
    Set<TableId> tables = new TreeSet<>(files.keySet());
    tables.addAll(replaced.keySet());
    Map<TableId, JobChange> changes = new TreeMap<>();
    for (TableId table : tables) {
      changes.put(
          table,
          new JobChange(
              files.getOrDefault(table, List.of()), replaced.getOrDefault(table, List.of())));
    }
    return changes;
  }

  private SteleException over() {
    return SteleException.notFound(
        "job "
            + job
            + " is over: it was ended, or not renewed in time, and then nothing of it is visible;"
            + " or it has committed and was forgotten since");
  }

  /** Says that the job is over if that is why its directory is closed to its user. */
  void explain(AccessControlException closed) throws IOException {
    if (jobs.state(job) == JobNodes.State.GONE) {
      SteleException over = over();
      over.addSuppressed(closed);
      throw over;
    }
  }

  /**
   * Where a table is to have a tablet of its own.
   *
   * @param table its name
   * @param id the table
   * @param row the tablet's first row
   */
  public record Cut(String table, TableId id, Bytes row) {}

  /**
   * Into how many tablets a table is divided, whatever rows are written.
   *
   * @param table its name
   * @param id the table
   * @param tabletsMax the most tablets
   * @param bytesMin the least bytes of files of each tablet
   */
  public record Division(String table, TableId id, int tabletsMax, long bytesMin) {}

  private List<Cut> cuts(Division division) throws IOException {
    List<FileRef> files = published.freeze().getOrDefault(division.id(), List.of());
    return new FileDivision(directory.fs(), directory.root(), files)
        .starts(division.tabletsMax(), division.bytesMin()).stream()
            .map(row -> new Cut(division.table(), division.id(), row))
            .toList();
  }

  /**
   * Makes the tablets, and has them spread over the servers: before any file is in them, so that
   * all servers take part in registering files, and a move writes nothing. Nothing depends on it
   * but how the work of servers is divided.
   */
  @SuppressWarnings("try") // Renewed while the block runs.
  private void cut(IoCallable<List<Cut>> cuts) throws IOException {
    try (JobRenewal renewal = jobs.keep(job)) {
      Set<TableId> tables = new TreeSet<>();
      for (Cut cut : cuts.call()) {
        environment.split(cut.table(), cut.id(), cut.row());
        tables.add(cut.id());
      }
      for (TableId table : tables) {
        environment.spread(table);
      }
    } catch (IOException | SteleException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      LOG.warn(
          "Job {} commits without all the tablets that it was to make, or with most of them on one"
              + " server: {}",
          job,
          e.toString());
    }
  }

  /** Ends the job: nothing of it becomes visible, unless it has committed. */
  public void abort() throws IOException {
    if (jobs.state(job) == JobNodes.State.COMMITTED) {
      LOG.warn("Job {} has committed before it was aborted: what it has written stays", job);
    }
    jobs.end(job);
  }
}
