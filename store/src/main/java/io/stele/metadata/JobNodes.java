package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs for which tablets may be pinned, or whose files may wait in tablets. Each has a node in
 * the lock service, with its lease and state as {@link JobCodec} writes them.
 *
 * <p>A job is over when it has committed or its node is gone. It stays over, because no name is
 * used twice. The node of a committed job stays as long as any of its files wait.
 *
 * <p>A change of a node that requires features which this version does not know is refused with
 * {@link NewerFormatException}. Four changes of a job that has not committed are exempt: it is
 * renewed, as its program runs; its pinning is interrupted, its commit is put off, and it is ended,
 * as other jobs wait for it.
 *
 * <p>Safe for use by any number of threads.
 */
public final class JobNodes {
  private static final Logger LOG = LoggerFactory.getLogger(JobNodes.class);
  private static final Pattern REQUEST = Pattern.compile("[0-9a-f]{32}");
  static final Pattern NAME = Pattern.compile(REQUEST + "-[0-9a-f]{32}");

  /** The shortest lease of a job: long enough to renew it a few times meanwhile. */
  public static final Duration LEASE_MIN = Duration.ofSeconds(5);

  /** The longest lease of a job. */
  public static final Duration LEASE_MAX = Duration.ofDays(7);

  /** Prefix of the tag of an application that has no name yet. */
  public static final String TAG = "tag_";

  /** Prefix of the name of another job, in the place of an application's. */
  public static final String JOB = "job_";

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final RunningClearings clearings;

  /** The state of a job. */
  public enum State {
    /** It may still commit. */
    BEGUN,
    /** Its files are visible, or will be before anybody can miss them. */
    COMMITTED,
    /** It has no node: it was ended without a commit, or so long ago that no file waits for it. */
    GONE
  }

  /** What became of a request to begin a pinning. */
  public enum Begun {
    /** The mark is there. */
    YES,
    /** The node had another version, so nothing was marked: read it again. */
    CHANGED,
    /** The job is over. */
    OVER
  }

  /** The jobs in {@code locks}. */
  public JobNodes(ProcessRuntime runtime, LockService locks) {
    this.runtime = runtime;
    this.locks = locks;
    this.clearings = new RunningClearings(locks, new TableNames(runtime, locks));
  }

  /**
   * Checks a lease.
   *
   * @param name what sets it, for messages
   * @throws SteleException REFUSED if it is too short or too long
   */
  public static void checkLease(Duration lease, String name) {
    if (lease.compareTo(LEASE_MIN) < 0 || lease.compareTo(LEASE_MAX) > 0) {
      throw SteleException.refused(
          name
              + " is "
              + lease.toMillis()
              + " ms: the lease of a job must be from "
              + LEASE_MIN.toSeconds()
              + " s to "
              + LEASE_MAX.toDays()
              + " days");
    }
  }

  /** A request that begins a new job, different from all others. */
  public static String newRequest(ProcessRuntime runtime) {
    return UniqueName.of(runtime);
  }

  /** Begins a job of which nothing is said, as {@link #begin} with an origin does. */
  public String begin(String request, Duration lease, Optional<String> application)
      throws IOException {
    return begin(request, lease, application, JobOrigin.UNKNOWN, StoredJob.Kind.MAY_WRITE);
  }

  /**
   * Begins a job, or finds the one that {@code request} began.
   *
   * <p>A late repetition of the request, after that job is over, begins another job. It has another
   * name, so that nothing meant for the first job is ever done for it.
   *
   * @return its name
   */
  public String begin(
      String request,
      Duration lease,
      Optional<String> application,
      JobOrigin origin,
      StoredJob.Kind kind)
      throws IOException {
    if (application.isPresent() && !JobCodec.isApplication(application.get())) {
      throw SteleException.refused("\"" + application.get() + "\" cannot run a job");
    }
    if (!REQUEST.matcher(request).matches()) {
      throw SteleException.refused("\"" + request + "\" cannot begin a job");
    }
    for (String job : names()) {
      if (job.startsWith(request + "-") && state(job) == State.BEGUN) {
        return job;
      }
    }
    String job = request + "-" + UniqueName.of(runtime);
    String words = (kind == StoredJob.Kind.READS_ONLY ? StoredJob.READS_ONLY : "") + origin.words();
    StoredJob begun =
        new StoredJob(
            lease, 0, application, Optional.empty(), StoredJob.Commit.NOT_BEGUN, words, 0);
    locks.create(LockPaths.job(job), JobCodec.encode(begun));
    return job;
  }

  /**
   * Changes the job's node, so that its lease starts again, whatever the job requires: otherwise it
   * would end while its program runs. False if the job is over.
   */
  public boolean renew(String job) throws IOException {
    return change(job, now -> now.with(now.pinning()), this::writeAny);
  }

  /** Changes a job's node, if {@code change} returns a different job; false if the job is over. */
  private boolean change(String job, UnaryOperator<StoredJob> change) throws IOException {
    return change(job, change, this::write);
  }

  private boolean change(String job, UnaryOperator<StoredJob> change, NodeWrite write)
      throws IOException {
    while (true) {
      Optional<StoredJob> now = read(job);
      if (now.isEmpty() || now.get().committed()) {
        return false;
      }
      StoredJob next = change.apply(now.get());
      if (next.equals(now.get()) || write.to(job, next).isPresent()) {
        return true;
      }
    }
  }

  /** Writes a job's node, unless it has changed; returns its new version. */
  @FunctionalInterface
  private interface NodeWrite {
    OptionalInt to(String job, StoredJob next) throws IOException;
  }

  private OptionalInt write(String job, StoredJob next) throws IOException {
    requireChangeable(job, next);
    return writeAny(job, next);
  }

  /** The same, whatever the job requires. */
  private OptionalInt writeAny(String job, StoredJob next) throws IOException {
    return locks.write(LockPaths.job(job), JobCodec.encode(next), next.version());
  }

  /**
   * Renews a job as {@link #renew} does, and its pinning {@code id} if tablets are being pinned:
   * only so does its mark stay. False if the job is over.
   */
  public boolean renewPinning(String job, int id) throws IOException {
    return change(
        job,
        now ->
            now.with(
                now.isPinning(id) ? now.pinning().map(StoredJob.Pinning::renewed) : now.pinning()));
  }

  /**
   * Marks that the job's tablets are being pinned: until {@link #endPinning}, or until it is
   * interrupted, no further job commits. Repeating it changes nothing, however late: the first
   * request has changed the node's version.
   *
   * @param id the version of the job's node as it was read before
   * @throws SteleException REFUSED if a pinning of the job was interrupted before
   */
  public Begun beginPinning(String job, int id) throws IOException {
    while (true) {
      Optional<StoredJob> now = read(job);
      if (now.isEmpty() || now.get().committed()) {
        return Begun.OVER;
      }
      StoredJob seen = uninterrupted(job, now.get());
      if (!seen.isPinning(id)) {
        if (seen.version() != id) {
          return Begun.CHANGED;
        }
        if (write(job, seen.with(Optional.of(new StoredJob.Pinning(id, 0, false)))).isEmpty()) {
          continue;
        }
      }
      withdrawCommits(); // Those marked from now on see this mark.
      return Begun.YES;
    }
  }

  /**
   * Holds up commits while a change clears rows of a table tablet by tablet. When this returns, a
   * job either has committed, so that each tablet takes its files before it is cleared, or commits
   * after the change has ended. Repeating it changes nothing.
   *
   * @param table the name under which the change is in progress
   */
  public void beginClearing(String table, SchemaChange change) throws IOException {
    clearings.add(table, change);
    withdrawCommits(); // Those marked from now on find the change.
  }

  /** Forgets a change that cleared rows, once it has ended: commits did not wait for it since. */
  public void endClearing(SchemaChange change) throws IOException {
    clearings.remove(change.id());
  }

  /** Makes all commits that are marked start again. */
  private void withdrawCommits() throws IOException {
    for (String job : names()) {
      withdraw(job);
    }
  }

  private void withdraw(String job) throws IOException {
    Optional<StoredJob> now = readOther(job);
    while (now.isPresent()
        && now.get().commit() == StoredJob.Commit.UNDER_WAY
        && writeAny(job, now.get().with(StoredJob.Commit.NOT_BEGUN)).isEmpty()) {
      now = readOther(job);
    }
  }

  /**
   * A job on which another may depend; empty too if its node is damaged. Such a job never commits
   * and is never pinned, as both begin with a read of the node: so nobody need wait for it.
   */
  private Optional<StoredJob> readOther(String job) throws IOException {
    try {
      return read(job);
    } catch (CorruptionException e) {
      LOG.error("Job {} is damaged; other jobs continue without it", job, e);
      return Optional.empty();
    }
  }

  private static StoredJob uninterrupted(String job, StoredJob now) {
    if (now.isInterrupted()) {
      throw SteleException.refused(
          "job "
              + job
              + " was not renewed while it pinned tablets, and others may have committed meanwhile:"
              + " end it, and begin another");
    }
    return now;
  }

  /**
   * Marks that all tablets of the job are pinned: all pins see jobs committed before {@link
   * #beginPinning}, and none sees jobs that commit from now on. Repeating it changes nothing, and
   * never ends another pinning of the job.
   *
   * @return false if the job is over
   * @throws SteleException REFUSED if it was interrupted
   */
  public boolean endPinning(String job, int id) throws IOException {
    return change(
        job, now -> uninterrupted(job, now).isPinning(id) ? now.with(Optional.empty()) : now);
  }

  /**
   * Lets other jobs commit, unless the job was changed since it was read as {@code seen}; whatever
   * it requires.
   */
  public boolean interruptPinning(String job, StoredJob seen) throws IOException {
    Optional<StoredJob.Pinning> interrupted =
        seen.pinning()
            .map(pinning -> new StoredJob.Pinning(pinning.id(), pinning.renewals(), true));
    return writeAny(job, seen.with(interrupted)).isPresent();
  }

  /**
   * Commits a job: from now on every reader of the node finds it committed. Repeating it changes
   * nothing.
   *
   * @return false if the job has no node: then it never commits
   * @throws SteleException RETRY_LATER if tablets are being pinned for another job, which must see
   *     all of this one or nothing, or rows of a table are being cleared, which must hide all of it
   *     or nothing; REFUSED if it only reads
   */
  public boolean commit(String job) throws IOException {
    while (true) {
      Optional<StoredJob> now = read(job);
      if (now.isEmpty() || now.get().committed()) {
        return now.isPresent();
      }
      requireWriter(job, now.get());
      // First the mark, then the check: what begins after the check finds the mark.
      OptionalInt marked = write(job, now.get().with(StoredJob.Commit.UNDER_WAY));
      if (marked.isEmpty()) {
        continue;
      }
      StoredJob mine = now.get().at(marked.getAsInt());
      Optional<String> awaited = awaited();
      if (awaited.isPresent()) {
        write(job, mine.with(StoredJob.Commit.NOT_BEGUN));
        throw SteleException.retryLater("job " + job + " waits until " + awaited.get());
      }
      if (write(job, mine.with(StoredJob.Commit.DONE)).isPresent()) {
        return true;
      }
    }
  }

  /** Those who use the name of a dropped family again do not wait for jobs that only read. */
  private static void requireWriter(String job, StoredJob now) {
    if (now.kind() == StoredJob.Kind.READS_ONLY) {
      throw SteleException.refused(
          "job " + job + " began as one that only reads: it cannot commit");
    }
  }

  /** What must end before a job commits, as words. */
  private Optional<String> awaited() throws IOException {
    for (String job : names()) {
      Optional<StoredJob> now = readOther(job);
      if (now.isPresent() && now.get().isPinning()) {
        return Optional.of("all tablets are pinned for job " + job);
      }
    }
    return clearings.table().map(table -> "the rows of table " + table + " are deleted");
  }

  /** Ends a job without a commit, whatever it requires; nothing happens if it is over. */
  public void end(String job) throws IOException {
    Optional<StoredJob> now = read(job);
    while (now.isPresent() && !now.get().committed() && !remove(job, now.get())) {
      now = read(job);
    }
  }

  /**
   * Ends a job all of whose output is visible already, and of which no file waits: it counts as
   * committed. Nothing becomes visible by this, so it does not wait for tablets that are being
   * pinned. Nothing happens if the job is over.
   *
   * @throws SteleException REFUSED if it only reads
   */
  public void finish(String job) throws IOException {
    change(
        job,
        now -> {
          requireWriter(job, now);
          return now.with(StoredJob.Commit.DONE);
        });
  }

  /**
   * Removes the node of a job, unless it was changed since it was read as {@code seen}; returns
   * whether it did. Remove the node of a committed job only when no record names files that wait
   * for it: otherwise the job would appear not to have committed.
   *
   * @throws NewerFormatException if it has committed and requires what this version does not know
   */
  public boolean remove(String job, StoredJob seen) throws IOException {
    if (seen.committed()) {
      requireChangeable(job, seen);
    }
    return locks.delete(LockPaths.job(job), seen.version());
  }

  /** What it requires stays as it is as long as it has a node. */
  private static void requireChangeable(String job, StoredJob now) {
    Features.checkChange(now.requires(), "job " + job);
  }

  /** The names of jobs; a job that was begun or ended just now may be missing or still included. */
  public List<String> names() throws IOException {
    return locks.children(LockPaths.JOBS).stream().filter(JobNodes::isName).toList();
  }

  /**
   * As {@link #names}, without jobs that only read. One whose node is damaged may write: its node
   * may be restored.
   */
  public List<String> namesOfWriters() throws IOException {
    List<String> writers = new ArrayList<>();
    for (String job : names()) {
      if (readOther(job).map(StoredJob::kind).orElse(StoredJob.Kind.MAY_WRITE)
          == StoredJob.Kind.MAY_WRITE) {
        writers.add(job);
      }
    }
    return writers;
  }

  /** The state of the job, as of some moment during the call. */
  public State state(String job) throws IOException {
    return read(job)
        .map(found -> found.committed() ? State.COMMITTED : State.BEGUN)
        .orElse(State.GONE);
  }

  /**
   * The state of a job for which no other may wait: BEGUN too if its node is damaged. What it has
   * written then stays, and is not shown.
   */
  public State stateOfOther(String job) throws IOException {
    try {
      return state(job);
    } catch (CorruptionException e) {
      LOG.error("Job {} is damaged; its files stay, and are not shown", job, e);
      return State.BEGUN;
    }
  }

  /** The refusal of a request for a job that is over; it says how the job ended. */
  public SteleException whyOver(String job) throws IOException {
    String how =
        state(job) == State.COMMITTED
            ? " has committed"
            : " is over: it was ended, or not renewed in time, or has committed and was forgotten"
                + " since";
    return SteleException.notFound("job " + job + how);
  }

  /**
   * The committed jobs among {@code names}, in the order of their commits. None of the others
   * committed before the last of these. One whose node is damaged is not among them.
   */
  public List<String> committed(Collection<String> names) throws IOException {
    Map<String, Long> commits = new HashMap<>();
    readCommits(names, commits);
    if (!commits.isEmpty() && commits.size() < names.size()) {
      // A job that was read first may have committed before one that was read last.
      long last = Collections.max(commits.values());
      Map<String, Long> more = new HashMap<>();
      readCommits(names.stream().filter(name -> !commits.containsKey(name)).toList(), more);
      more.values().removeIf(commit -> commit > last);
      commits.putAll(more);
    }
    return commits.keySet().stream().sorted(Comparator.comparing(commits::get)).toList();
  }

  private void readCommits(Collection<String> names, Map<String, Long> commits) throws IOException {
    for (String job : names) {
      if (stateOfOther(job) == State.COMMITTED) {
        // It does not change after that.
        locks.lastChange(LockPaths.job(job)).ifPresent(commit -> commits.put(job, commit));
      }
    }
  }

  /** Whether a job could have that name. */
  public static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }

  /** The job as of some moment during the call; empty if it has no node. */
  public Optional<StoredJob> read(String job) throws IOException {
    if (!isName(job)) {
      throw SteleException.refused("\"" + job + "\" is not the name of a job");
    }
    Optional<VersionedData> node = locks.read(LockPaths.job(job));
    return node.isPresent() ? Optional.of(JobCodec.decode(job, node.get())) : Optional.empty();
  }
}
