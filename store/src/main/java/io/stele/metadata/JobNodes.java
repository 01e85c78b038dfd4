package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The jobs for which tablets may be pinned, or whose files may wait in tablets: a node of the lock
 * service each, whose data is the lease, how often it was renewed, what application runs the job,
 * if that is known, and whether it has committed.
 *
 * <p>A job is over when it has committed, or its node is gone, and then for ever: no name is used
 * twice. The node of one that has committed stays as long as files of it wait somewhere. Safe for
 * use by any number of threads.
 */
public final class JobNodes {
  private static final Pattern REQUEST = Pattern.compile("[0-9a-f]{32}");
  private static final Pattern NAME = Pattern.compile(REQUEST + "-[0-9a-f]{32}");

  /** Before the tag of an application that has no name yet. */
  public static final String TAG = "tag_";

  private static final Pattern APPLICATION =
      Pattern.compile("application_[0-9A-Za-z_]{1,100}|" + TAG + "[0-9a-z-]{1,100}");
  private static final Pattern DATA =
      Pattern.compile("(\\d{1,18}) (\\d{1,18})(?: (" + APPLICATION + "))?( committed)?");

  private final ProcessRuntime runtime;
  private final LockService locks;

  /** What can be said of a job. */
  public enum State {
    /** It may still commit, or not. */
    BEGUN,
    /** Its files are visible, or will be before anybody can miss them. */
    COMMITTED,
    /** It has no node: it was ended without a commit, or so long ago that no file waits for it. */
    GONE
  }

  /**
   * A job as it was read.
   *
   * @param lease how long it stays without being renewed
   * @param renewals how often it was
   * @param application what runs it, an application of YARN: its name, or {@link #TAG} and a tag
   *     that it has
   * @param committed whether it has committed
   * @param version of the node
   */
  public record Job(
      Duration lease,
      long renewals,
      Optional<String> application,
      boolean committed,
      int version) {}

  /** The jobs in {@code locks}. */
  public JobNodes(ProcessRuntime runtime, LockService locks) {
    this.runtime = runtime;
    this.locks = locks;
  }

  /** What begins a job that nobody else begins. */
  public static String newRequest(ProcessRuntime runtime) {
    return UniqueName.of(runtime);
  }

  /**
   * Begins a job, or finds the one that {@code request} began.
   *
   * <p>What asks late, when that one is over, begins another: it has another name, so that nothing
   * is ever done for it that was meant for the first.
   *
   * @return its name
   */
  public String begin(String request, Duration lease, Optional<String> application)
      throws IOException {
    if (application.isPresent() && !APPLICATION.matcher(application.get()).matches()) {
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
    locks.create(LockPaths.job(job), encode(lease, 0, application, false));
    return job;
  }

  /** Changes the job's node, so that its lease begins anew; false if the job is over. */
  public boolean renew(String job) throws IOException {
    while (true) {
      Optional<Job> now = read(job);
      if (now.isEmpty() || now.get().committed()) {
        return false;
      }
      Bytes renewed =
          encode(now.get().lease(), now.get().renewals() + 1, now.get().application(), false);
      OptionalInt written = locks.write(LockPaths.job(job), renewed, now.get().version());
      if (written.isPresent()) {
        return true;
      }
    }
  }

  /**
   * Commits a job: from now on it has committed, whoever asks. Done again, it changes nothing.
   *
   * @return false if the job has no node: then it commits never
   */
  public boolean commit(String job) throws IOException {
    while (true) {
      Optional<Job> now = read(job);
      if (now.isEmpty() || now.get().committed()) {
        return now.isPresent();
      }
      Bytes committed =
          encode(now.get().lease(), now.get().renewals(), now.get().application(), true);
      if (locks.write(LockPaths.job(job), committed, now.get().version()).isPresent()) {
        return true;
      }
    }
  }

  /** Ends a job without a commit; nothing happens if it is over. */
  public void end(String job) throws IOException {
    Optional<Job> now = read(job);
    while (now.isPresent() && !now.get().committed() && !remove(job, now.get())) {
      now = read(job);
    }
  }

  /**
   * Removes the node of a job, unless it was changed since it was read as {@code seen}; whether it
   * did. Of one that has committed only when no record names files that wait for it: others would
   * take it for one that did not commit.
   */
  public boolean remove(String job, Job seen) throws IOException {
    return locks.delete(LockPaths.job(job), seen.version());
  }

  /** The names of jobs; one that was begun or ended just now may be missing, or still there. */
  public List<String> names() throws IOException {
    return locks.children(LockPaths.JOBS);
  }

  /** What can be said of the job, as of some moment during the call. */
  public State state(String job) throws IOException {
    return read(job)
        .map(found -> found.committed() ? State.COMMITTED : State.BEGUN)
        .orElse(State.GONE);
  }

  /** The job as of some moment during the call; empty if it has no node. */
  public Optional<Job> read(String job) throws IOException {
    if (!NAME.matcher(job).matches()) {
      throw SteleException.refused("\"" + job + "\" is not the name of a job");
    }
    Optional<VersionedData> node = locks.read(LockPaths.job(job));
    return node.isPresent() ? Optional.of(decode(job, node.get())) : Optional.empty();
  }

  private static Bytes encode(
      Duration lease, long renewals, Optional<String> application, boolean committed) {
    return Bytes.of(
        lease.toMillis()
            + " "
            + renewals
            + application.map(name -> " " + name).orElse("")
            + (committed ? " committed" : ""));
  }

  private static Job decode(String job, VersionedData node) throws CorruptionException {
    Matcher data = DATA.matcher(node.data().toUtf8());
    if (!data.matches()) {
      throw new CorruptionException(
          "lock service node " + LockPaths.job(job), 0, "\"" + node.data() + "\" is not a lease");
    }
    return new Job(
        Duration.ofMillis(Long.parseLong(data.group(1))),
        Long.parseLong(data.group(2)),
        Optional.ofNullable(data.group(3)),
        data.group(4) != null,
        node.version());
  }
}
