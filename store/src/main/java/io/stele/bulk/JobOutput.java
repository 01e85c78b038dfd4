package io.stele.bulk;

import io.stele.client.JobEnvironment;
import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.files.HdfsClientDefaults;
import io.stele.files.NameSpace;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.JobChange;
import io.stele.record.PendingFile;
import io.stele.record.PutTimestamps;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.tablet.FileDivision;
import io.stele.tablet.JobFileWriter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
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
  private static final String ATTEMPT = ".attempt";
  private static final String TASK = ".task";
  private static final String CLOSING = "closing";
  private static final String ALL = "job";
  private static final String PINS = "pins-";

  /** What the HDFS client may hold of a file being written: as much as by default. */
  private static final long HELD_OF_FILE_BYTES = 5L << 20;

  private final Jobs jobs;
  private final JobEnvironment environment;
  private final String job;
  private final FileSystem fs;
  private final Path root;
  private final Path directory;

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
    this.fs = fs;
    this.root = environment.root();
    this.directory = new Path(root, PendingFile.directory(job));
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
      Path aside = new Path(directory, SETUP + "-" + environment.unique());
      write(aside, id.getBytes(StandardCharsets.UTF_8));
      renameOrFail(aside, new Path(directory, SETUP));
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
    NameSpace.catchUp(fs, directory); // Another process has done it.
    try (var in = fs.open(new Path(directory, SETUP))) {
      return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
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
    write(new Path(directory, PINS + inputPins().size()), InputPins.encode(input));
  }

  /** The pins of each input, in the order in which they were noted. */
  private List<Map<TableId, List<PutTimestamps.Pinned>>> inputPins() throws IOException {
    NameSpace.catchUp(fs, directory); // Another process has noted them.
    List<Map<TableId, List<PutTimestamps.Pinned>>> all = new ArrayList<>();
    while (true) {
      Path next = new Path(directory, PINS + all.size());
      try (var in = fs.open(next)) {
        all.add(InputPins.decode(in.readAllBytes(), next.toString()));
      } catch (FileNotFoundException e) {
        LOG.debug("Job {} has {} inputs whose pins were noted", job, all.size(), e);
        return all;
      }
    }
  }

  JobFileWriter writer(TableId table, TableSchema schema, String name, Terms terms) {
    JobFileWriter.Target target =
        new JobFileWriter.Target(fs, root, job, name, schema, terms.timestamps(table));
    return new JobFileWriter(target, environment.random(), terms.valueBytesMax(), replicasMin());
  }

  void list(String attempt, Map<TableId, List<FileRef>> files) throws IOException {
    write(new Path(directory, attempt + ATTEMPT), FileList.encode(files));
  }

  private void write(Path path, byte[] bytes) throws IOException {
    try (DurableFile out = new DurableFiles(fs).createBelow(path)) {
      out.write(bytes);
      out.hsync();
      out.checkReplicas(replicasMin());
    }
  }

  /** The replicas that a write needs too: what a job commits is as durable as what is written. */
  private int replicasMin() {
    return environment.replicasMin();
  }

  /**
   * Whether an attempt has finished files that are not published. Whoever is told 'no' leaves them
   * out of the job.
   */
  public boolean isFinished(String attempt) throws IOException {
    NameSpace.catchUp(fs, directory); // They may have been written over another connection.
    return fs.exists(new Path(directory, attempt + ATTEMPT));
  }

  /**
   * Makes the files of an attempt those of its task, unless another attempt's are already.
   *
   * @throws SteleException REFUSED if the job commits without them: an ApplicationMaster had begun
   *     to commit it when the task had failed, and that was tolerated. Another one runs such a task
   *     again, which must not seem to succeed
   */
  public void publish(String attempt, String task) throws IOException {
    Path from = new Path(directory, attempt + ATTEMPT);
    Path to = new Path(directory, task + TASK);
    renameOrFail(from, to);
    NameSpace.catchUp(fs, directory);
    if (fs.exists(new Path(directory, CLOSING)) && !isListed(to)) {
      throw SteleException.refused(
          "job "
              + job
              + " commits without what "
              + task
              + " has written: the task had failed when an ApplicationMaster began to commit the"
              + " job, as mapreduce.map.failures.maxpercent or mapreduce.reduce.failures.maxpercent"
              + " allows, and another one has run the task again. It stays failed. Set both to 0"
              + " if the job needs all of its tasks");
    }
  }

  /** Whether the job commits all that a task has published. */
  private boolean isListed(Path task) throws IOException {
    Map<TableId, List<FileRef>> all = freezeFiles();
    for (Map.Entry<TableId, List<FileRef>> table : read(task).entrySet()) {
      List<FileRef> listed = all.getOrDefault(table.getKey(), List.of());
      if (!new HashSet<>(listed).containsAll(table.getValue())) {
        return false;
      }
    }
    return true;
  }

  private void renameOrFail(Path from, Path to) throws IOException {
    if (!rename(from, to)) {
      throw new IOException("cannot rename " + from + " to " + to);
    }
  }

  /** Renames a file; true also if there is one of that name already. */
  private boolean rename(Path from, Path to) throws IOException {
    try {
      return new DurableFiles(fs).renameToNew(from, to) || fs.exists(to);
    } catch (FileAlreadyExistsException | FileNotFoundException e) {
      if (fs.exists(to)) { // Done before, and its answer was lost; or by another.
        return true;
      }
      throw e;
    }
  }

  /**
   * Deletes what an attempt has finished, if it is not published: first the list, as whoever
   * publishes renames it. So files are deleted only if nobody can publish them any more. If this
   * ends in between, they go with the job's directory.
   */
  public void discard(String attempt) throws IOException {
    Path list = new Path(directory, attempt + ATTEMPT);
    if (fs.exists(list)) {
      try {
        Map<TableId, List<FileRef>> files = read(list);
        if (new DurableFiles(fs).deleteUnlessRenamed(list)) {
          for (FileRef file : files.values().stream().flatMap(List::stream).toList()) {
            fs.delete(new Path(root, file.path()), false);
          }
        }
      } catch (FileNotFoundException e) {
        LOG.debug("What attempt {} has finished is published, or discarded before", attempt, e);
      } catch (AccessControlException e) {
        if (jobs.state(job) == JobNodes.State.BEGUN) {
          throw e;
        } // The directory is the store's alone now, which deletes what it does not need.
      }
    }
  }

  private Map<TableId, List<FileRef>> read(Path list) throws IOException {
    byte[] bytes;
    try (var in = fs.open(list)) {
      bytes = in.readAllBytes();
    }
    return FileList.decode(job, bytes, list.toString());
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
    Map<TableId, List<FileRef>> files = freezeFiles();
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
    List<FileRef> files = freezeFiles().getOrDefault(division.id(), List.of());
    return new FileDivision(fs, root, files)
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

  /**
   * Fixes which files the job commits, if nobody has yet, and returns them: no task can publish
   * more.
   */
  private Map<TableId, List<FileRef>> freezeFiles() throws IOException {
    NameSpace.catchUp(fs, directory); // Other processes have published the tasks.
    Path all = new Path(directory, ALL);
    if (!fs.exists(all)) {
      try {
        markClosing();
        Map<TableId, List<FileRef>> files = new TreeMap<>();
        for (FileStatus file : tasks()) {
          read(file.getPath())
              .forEach(
                  (id, more) -> files.computeIfAbsent(id, t -> new ArrayList<>()).addAll(more));
        }
        listAll(files, all);
      } catch (AccessControlException e) {
        if (!fs.exists(all)) {
          throw e;
        } // Somebody else has just committed the job: nobody writes here any more.
      }
    }
    return read(all);
  }

  /** From here on a task that publishes looks whether it is listed: the lists are read after. */
  private void markClosing() throws IOException {
    Path closing = new Path(directory, CLOSING);
    if (!fs.mkdirs(closing)) { // By several at once, without harm: a file would have one writer.
      throw new IOException("cannot create the directory " + closing);
    }
  }

  private void listAll(Map<TableId, List<FileRef>> files, Path all) throws IOException {
    Path aside = new Path(directory, ALL + "-" + environment.unique());
    write(aside, FileList.encode(files));
    renameOrFail(aside, all);
  }

  private FileStatus[] tasks() throws IOException {
    try {
      return fs.listStatus(directory, path -> path.getName().endsWith(TASK));
    } catch (FileNotFoundException e) {
      return new FileStatus[0]; // No task has written anything.
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
