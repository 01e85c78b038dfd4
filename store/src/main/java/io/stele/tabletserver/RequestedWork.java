package io.stele.tabletserver;

import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletKind;
import io.stele.record.Pending;
import io.stele.runtime.IoRunnable;
import io.stele.tablet.RecordFullException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The work on tablets that others ask for. Jobs pin tablets and register files; the master has rows
 * cleared and families erased; users have tables compacted. When a job is over, its pins go and its
 * files are resolved.
 *
 * <p>A request only starts work, unless it is done, and says whether it is: whoever asks repeats
 * the request until it is. All of this work but the compactions excludes minor compactions and
 * splits of its tablet, and so itself. Whatever depends on the rows that a tablet has resolves the
 * files of committed jobs first.
 *
 * <p>Safe for use by any number of threads; no method waits.
 */
final class RequestedWork implements JobOutcomes {
  private static final Work UNPIN = Work.of(WorkKind.UNPIN);
  private static final Work RESOLVE = Work.of(WorkKind.RESOLVE_FILES);
  private static final Work MAKE_ROOM = Work.of(WorkKind.MAKE_ROOM);
  private static final Work COMPACT = Work.of(WorkKind.COMPACT_TABLE);

  /** The work that is tried again only when it is asked for again. */
  private static final Set<WorkKind> ASKED_FOR =
      Set.of(WorkKind.PIN, WorkKind.REGISTER_FILES, WorkKind.CLEAR_ROWS, WorkKind.ERASE_FAMILIES);

  /** How soon after a failure those who need such work ask for it again. */
  private static final Duration ASKED_AGAIN_WITHIN = Duration.ofMinutes(10);

  private final TabletWork work;
  private final JobStates states;
  private final JobPins pins;
  private final JobFiles files;
  private final JobTasks tasks;
  private final RowClearing clearing;

  // Maintenance needs the other threads for tablets that cannot wait. Tables take turns.
  private final OneAtATime<TableId> compactions;

  RequestedWork(
      TabletWork work, JobStates states, JobPins pins, JobFiles files, RowClearing clearing) {
    this.work = work;
    this.states = states;
    this.pins = pins;
    this.files = files;
    this.tasks = new JobTasks(states);
    this.clearing = clearing;
    this.compactions = new OneAtATime<>(work.rewriteThreads(TabletKind.USER));
  }

  /**
   * Starts to pin a tablet for a job, unless it is pinned, or busy: then the next request will.
   *
   * @return whether it is pinned
   */
  boolean pin(HostedTablet hosted, String job) {
    if (!JobPins.isPinned(hosted, job)) {
      work.startExclusive(
          hosted,
          pinning(job),
          () -> {
            resolve(hosted); // What has committed before is seen at the pin.
            pins.pin(hosted, job);
          });
    }
    return JobPins.isPinned(hosted, job);
  }

  /**
   * Why a tablet could not be pinned for a job when that was last tried; empty if it did not fail.
   */
  static Optional<String> whyNotPinned(HostedTablet hosted, String job) {
    return hosted.work().failureOf(pinning(job));
  }

  private static Work pinning(String job) {
    return Work.of(WorkKind.PIN, job);
  }

  /**
   * Starts to register a job's changes in a tablet, unless they are registered, or the tablet is
   * busy: then the next request will.
   *
   * @param waiting of one job, with rows of the tablet only
   * @return whether all of it is registered
   * @throws SteleException CORRUPTION if a file is damaged, REFUSED or RETRY_LATER if the tablet
   *     would have too many
   */
  boolean register(HostedTablet hosted, List<Pending> waiting) {
    if (!JobFiles.isRegistered(hosted, waiting)) {
      JobFiles.requireRoom(hosted, waiting);
      Work registering = registering(waiting.get(0).job());
      for (Trouble trouble : hosted.work().troubles()) {
        if (trouble.work().equals(registering) && trouble.damage()) {
          throw new SteleException(SteleException.Code.CORRUPTION, trouble.reason());
        }
      }
      // On other threads than minor compactions: it needs no memory for them.
      work.startExclusive(
          hosted, work.threads(hosted).jobs(), registering, () -> files.register(hosted, waiting));
    }
    return JobFiles.isRegistered(hosted, waiting);
  }

  /** Why a tablet could not register files of a job when that was last tried, likewise. */
  static Optional<String> whyNotRegistered(HostedTablet hosted, String job) {
    return hosted.work().failureOf(registering(job));
  }

  private static Work registering(String job) {
    return Work.of(WorkKind.REGISTER_FILES, job);
  }

  /** Starts to resolve the files of a job that is over; returns whether none waits any more. */
  boolean resolve(HostedTablet hosted, String job) {
    if (JobFiles.jobsOf(hosted).contains(job)) {
      startResolving(hosted);
    }
    return !JobFiles.jobsOf(hosted).contains(job);
  }

  private void startResolving(HostedTablet hosted) {
    work.startExclusive(hosted, RESOLVE, () -> resolve(hosted));
  }

  private void resolve(HostedTablet hosted) throws IOException {
    makingRoom(hosted, () -> files.resolve(hosted));
  }

  /**
   * Makes a change of the tablet's files. If its record has no room for it, a major compaction is
   * started: files that came after the change was registered must not keep it from being made.
   */
  private void makingRoom(HostedTablet hosted, IoRunnable change) throws IOException {
    try {
      change.run();
    } catch (RecordFullException e) {
      if (hosted.mayUniteFiles()) {
        work.start(
            hosted,
            hosted.rewrites(),
            1,
            work.threads(hosted).rewrites(),
            MAKE_ROOM,
            hosted::uniteFiles);
      }
      throw e;
    }
  }

  /**
   * Starts to clear rows of a tablet for a change of its table, unless that is done, or the tablet
   * is busy: then the next request will.
   */
  void clear(HostedTablet hosted, long change, RowRange rows) {
    if (!RowClearing.left(hosted, change, rows).isEmpty()) {
      work.startExclusive(
          hosted,
          Work.of(WorkKind.CLEAR_ROWS, Long.toString(change)),
          () -> {
            resolve(hosted); // What has committed before is cleared, too.
            makingRoom(hosted, () -> clearing.clear(hosted, change, rows));
          });
    }
  }

  /**
   * Starts to erase dropped families from a tablet for a change of its table, unless that is done,
   * or the tablet is busy: then the next request will.
   */
  void erase(HostedTablet hosted, long change, Set<String> families) {
    if (!RowClearing.left(hosted, change, RowRange.ALL).isEmpty()) {
      work.startExclusive(
          hosted,
          Work.of(WorkKind.ERASE_FAMILIES, Long.toString(change)),
          () -> {
            resolve(hosted); // What has committed before is erased, too.
            makingRoom(hosted, () -> clearing.erase(hosted, change, families));
          });
    }
  }

  /**
   * Starts a major compaction of a tablet that rewrites all that is in it now. Once requested it is
   * made, whether or not anybody asks again, unless the tablet leaves this server or is split.
   *
   * @return its number, for {@link #isCompacted}
   */
  long compact(HostedTablet hosted) {
    long number = hosted.compactions().request();
    startCompaction(hosted);
    return number;
  }

  /** Whether the requested compaction of that number was made; if not, it is started if need be. */
  boolean isCompacted(HostedTablet hosted, long number) {
    startCompaction(hosted);
    return hosted.compactions().isDone(number);
  }

  /** Why the requested compaction of a tablet failed when it was last tried, if it is not done. */
  static Optional<String> whyNotCompacted(HostedTablet hosted) {
    return hosted.work().failureOf(COMPACT);
  }

  /** Whether the requested compaction of a tablet rests, because it has just failed. */
  static boolean restsFromCompaction(HostedTablet hosted) {
    return hosted.work().isResting(COMPACT);
  }

  /** Starts the requested compaction of a tablet, unless it is running, or none is wanted. */
  void startCompaction(HostedTablet hosted) {
    if (hosted.compactions().needsStart()) {
      work.start(
          hosted,
          hosted.rewrites(),
          1,
          task -> compactions.execute(hosted.id().table(), task),
          COMPACT,
          () -> compactNow(hosted));
    }
  }

  private static void compactNow(HostedTablet hosted) throws IOException {
    OptionalLong number = hosted.compactions().begin();
    if (number.isEmpty()) {
      return; // It was made since this was queued.
    }
    boolean made = false;
    try {
      hosted.tablet().minorCompact();
      hosted.tablet().majorCompact();
      made = true;
    } finally {
      hosted.compactions().ended(number.getAsLong(), made);
    }
  }

  /** Forgets that work failed for which whoever asked no longer asks. */
  static void forgetUntried(HostedTablet hosted) {
    hosted.work().forgetUntried(failed -> ASKED_FOR.contains(failed.kind()), ASKED_AGAIN_WITHIN);
  }

  /** Finds out every few seconds, on other threads, which jobs are over. */
  void lookForEndedJobs() {
    states.pollIfDue();
  }

  /**
   * Forgets the tasks of jobs that were found to be over, and starts to remove their pins and to
   * resolve their files.
   */
  void endJobs(HostedTablet hosted) {
    tasks.forgetEnded(hosted);
    if (pins.hasEnded(hosted)) {
      work.startExclusive(hosted, UNPIN, () -> pins.unpin(hosted));
    }
    if (files.hasEnded(hosted)) {
      startResolving(hosted);
    }
  }

  /**
   * Completes when a tablet with waiting files may answer a request that has arrived by now. Fails
   * with RETRY_LATER if it may not, and then starts to resolve the files, if that is due.
   */
  @Override
  public CompletableFuture<Void> mayAnswer(HostedTablet hosted) {
    return files
        .mayAnswer(hosted)
        .thenAccept(
            may -> {
              if (!may) {
                startResolving(hosted);
                throw SteleException.retryLater(
                    "tablet "
                        + hosted.id()
                        + " is taking over the files of a job: try again"
                        + hosted
                            .work()
                            .failureOf(RESOLVE)
                            .map(why -> " (when it last tried, it failed: " + why + ")")
                            .orElse(""));
              }
            });
  }

  @Override
  public CompletableFuture<Void> admit(HostedTablet hosted, String job) {
    return tasks.admit(hosted, job);
  }
}
