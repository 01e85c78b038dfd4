package io.stele.tabletserver;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

import io.stele.files.NameSpace;
import io.stele.metadata.JobNodes;
import io.stele.metadata.TabletRecord;
import io.stele.model.ColumnFamily;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.FileReplacement;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.RecordChangeSize;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of jobs that wait in this server's tablets until it is known whether their jobs have
 * committed. Then the tablets take them, or their records drop them.
 *
 * <p>While files wait in a tablet, a request may be answered only if the nodes of their jobs were
 * read after the request came, and said that no job has ended ({@link #mayAnswer}). So a reader
 * that has seen one file of a job, in any tablet, sees all its other files from then on. A request
 * asks once for a tablet: it does not ask about files that are registered after that. It need not.
 * It began before the commit of their job, so it may be answered without them; and whoever asks
 * after that commit finds the files taken first. {@link #register} and {@link #resolve} are called
 * with the tablet's permit of minor compactions, so that they exclude each other, pins and splits.
 * The rest is safe for use by any number of threads.
 */
final class JobFiles {
  private static final Logger LOG = LoggerFactory.getLogger(JobFiles.class);

  /**
   * Files and entries of jobs that a tablet may have, in one change of its record. That must also
   * not be too large ({@link RecordChangeSize}): if METADATA refused to take it, the tablet could
   * not have the files of a job that has committed.
   */
  private static final int ENTRIES_MAX = 4_000;

  /** How many minor compactions are made between the commit of a job and the take. */
  private static final int FLUSHES = 2;

  /** No path of an SSTable, relative to the root directory, is longer. */
  private static final int PATH_LENGTH_MAX = 100;

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final Path root;
  private final JobNodes jobs;
  private final JobStates states;

  /**
   * Refuses more changes of a job than the tablet's record has room for, now or once they are
   * taken: each range that is replaced then divides the files that it meets, also those that are
   * written between the commit and the take. More may come before the commit; then a compaction
   * makes room.
   *
   * @throws SteleException REFUSED if the job's own are too many, RETRY_LATER if those of others
   *     leave no room now
   */
  static void requireRoom(HostedTablet hosted, List<Pending> more) {
    TabletRecord record = hosted.record();
    Set<Pending> pending = new HashSet<>(record.pending());
    pending.addAll(more);
    boolean pinned = !record.pins().isEmpty();
    List<FileRef> coming = ofMinorCompactions(hosted, FLUSHES);
    Room all = Room.of(record, record.files(), coming, pending, pinned);
    if (!all.suffices()) {
      String job = more.get(0).job();
      List<Pending> own = pending.stream().filter(one -> one.job().equals(job)).toList();
      String why =
          "tablet "
              + hosted.id()
              + " would have "
              + all
              + ", with those that wait for their jobs: write the output with fewer tasks, or sorted"
              + " by a shuffle, so that each tablet gets fewer files, and replace fewer ranges of"
              + " rows, which divide files; `stele table compact` unites those that it has";
      // With as many files as a major compaction leaves, once nothing is pinned.
      List<FileRef> least = ofMinorCompactions(hosted, FLUSHES + 1);
      throw Room.of(record, List.of(), least, own, false).suffices()
          ? SteleException.retryLater(why)
          : SteleException.refused(why);
    }
  }

  /** The files of {@code times} minor compactions, each of which writes one for each group. */
  private static List<FileRef> ofMinorCompactions(HostedTablet hosted, int times) {
    Map<String, List<String>> byGroup =
        hosted.tablet().schema().families().stream()
            .collect(groupingBy(ColumnFamily::group, mapping(ColumnFamily::name, toList())));
    List<FileRef> files = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      for (List<String> families : byGroup.values()) {
        files.add(
            FileRef.builder("x".repeat(PATH_LENGTH_MAX), 1, hosted.record().extent())
                .sequences(1, 1)
                .families(families)
                .build());
      }
    }
    return files;
  }

  /** What files and {@code waiting} changes take of a tablet's record, at most. */
  private record Room(long entries, RecordChangeSize size) {
    /** With {@code files}, and those that come in between, which are few: only bytes are short. */
    static Room of(
        TabletRecord record,
        List<FileRef> files,
        List<FileRef> coming,
        Collection<Pending> waiting,
        boolean pinned) {
      List<FileRef> all = new ArrayList<>(files);
      all.addAll(coming);
      return new Room(
          FileReplacement.entriesMax(files, waiting, pinned),
          FileReplacement.sizeMax(record.extent(), all, waiting, pinned));
    }

    boolean suffices() {
      return entries <= ENTRIES_MAX && size.fits();
    }

    @Override
    public String toString() {
      return entries > ENTRIES_MAX
          ? entries + " files, and a tablet has at most " + ENTRIES_MAX
          : entries + " files, which take " + size + " in its record";
    }
  }

  /**
   * The job files of a server's tablets.
   *
   * @param root the cluster's root directory, which the files are in
   */
  JobFiles(ProcessRuntime runtime, FileSystem fs, Path root, JobNodes jobs, JobStates states) {
    this.runtime = runtime;
    this.fs = fs;
    this.root = root;
    this.jobs = jobs;
    this.states = states;
  }

  /** The jobs whose files wait in a tablet. */
  static Set<String> jobsOf(HostedTablet hosted) {
    Set<String> names = new TreeSet<>();
    hosted.tablet().pending().forEach(file -> names.add(file.job()));
    return names;
  }

  /** Whether all of {@code changes} wait in a tablet. */
  static boolean isRegistered(HostedTablet hosted, List<Pending> changes) {
    return hosted.tablet().pending().containsAll(changes);
  }

  /**
   * Registers a job's changes in a tablet, unless the job is over.
   *
   * @param changes of one job, with rows of the tablet only
   */
  void register(HostedTablet hosted, List<Pending> changes) throws IOException {
    String job = changes.get(0).job();
    if (jobs.state(job) != JobNodes.State.BEGUN) {
      LOG.info("No files of job {} are registered in {}: it is over", job, hosted.id());
      return;
    }
    if (!changes.stream().allMatch(one -> hasFamilies(hosted, one))) {
      LOG.info("No files of job {} are registered in {}: a family is gone", job, hosted.id());
      return; // Asked again, the client is told so.
    }
    NameSpace.catchUp(fs, root); // A task has written them.
    hosted.tablet().register(changes);
  }

  private static boolean hasFamilies(HostedTablet hosted, Pending change) {
    return !(change instanceof PendingFile file)
        || file.file().families().stream()
            .allMatch(name -> hosted.tablet().schema().family(name).isPresent());
  }

  /**
   * Takes the files of committed jobs, in the order of their commits, and drops those of jobs that
   * ended without a commit.
   */
  void resolve(HostedTablet hosted) throws IOException {
    Set<String> names = jobsOf(hosted);
    for (String job : jobs.committed(names)) {
      take(hosted.tablet(), job);
      LOG.info("Tablet {} has the files of job {}", hosted.id(), job);
    }
    for (String job : names) {
      if (jobs.stateOfOther(job) == JobNodes.State.GONE && hosted.tablet().discard(job)) {
        LOG.info("Tablet {} does not get the files of job {}", hosted.id(), job);
      }
    }
  }

  private void take(Tablet tablet, String job) throws IOException {
    NameSpace.catchUp(fs, root);
    PausedWrites.during(runtime, tablet, paused -> paused.take(job));
  }

  /**
   * Finds out whether a tablet may answer a request in its present state. The result is true if, at
   * some moment after this call, no job whose files wait in the tablet had ended. It is false if
   * one had, so that the tablet must be resolved first. It fails with RETRY_LATER if that cannot be
   * known now. It completes on a thread of the job states, which callbacks must not block.
   */
  CompletableFuture<Boolean> mayAnswer(HostedTablet hosted) {
    List<CompletableFuture<JobNodes.State>> asked = new ArrayList<>();
    jobsOf(hosted).forEach(job -> asked.add(states.ask(job)));
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenApply(
            done ->
                asked.stream()
                    .allMatch(one -> one.getNow(JobNodes.State.GONE) == JobNodes.State.BEGUN));
  }

  /** Whether the last look found that a job whose files wait in the tablet is over. */
  boolean hasEnded(HostedTablet hosted) {
    return states.anyOver()
        && hosted.tablet().pending().stream().anyMatch(file -> states.isOver(file.job()));
  }
}
