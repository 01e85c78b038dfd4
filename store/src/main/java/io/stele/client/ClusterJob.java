package io.stele.client;

import io.stele.model.TableUse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A job for which the cluster keeps something: what the job reads at a pin, files that it has
 * written, or what its tasks have applied. A job of MapReduce or Spark has one of these for what it
 * reads and one for what it writes.
 *
 * @param name which no other job ever has
 * @param lease how long it stays if nobody renews it and nothing is known of {@code runner}; empty
 *     if it is {@link State#UNREADABLE}
 * @param renewals how often it was renewed. Whoever keeps it renews it at least every 20 s: so a
 *     number that stays the same shows that no task of it runs; empty if it is {@link
 *     State#UNREADABLE}
 * @param runner what runs it, if it was begun with that
 * @param origin where it comes from
 */
public record ClusterJob(
    String name,
    State state,
    Optional<Duration> lease,
    OptionalLong renewals,
    Optional<Runner> runner,
    Origin origin) {

  /**
   * Where a job comes from.
   *
   * @param begun when it began, by the master's clock; empty if it was begun by an earlier version
   * @param owner the user who submitted it; empty if that is not known
   * @param uses the tables that it reads or writes; those of a job that was begun by an earlier
   *     version are not known
   */
  public record Origin(Optional<Instant> begun, Optional<String> owner, List<TableUse> uses) {
    /** Of a job of which nothing is known. */
    public static final Origin UNKNOWN = new Origin(Optional.empty(), Optional.empty(), List.of());

    public Origin {
      uses = List.copyOf(uses);
    }
  }

  /** How far a job is. */
  public enum State {
    /** It reads or writes, and may still commit. */
    BEGUN,
    /** Tablets are being pinned for it: other jobs wait with their commits. */
    PINNING,
    /** It was not renewed while tablets were pinned for it: it reads nothing at a pin. */
    INTERRUPTED,
    /** The master checks whether it can commit. */
    COMMITTING,
    /**
     * Its output is visible, for good. It is listed until no file waits for it and its application
     * has ended, or its lease after the commit is over.
     */
    COMMITTED,
    /** Its node in ZooKeeper is damaged, or of a later version. */
    UNREADABLE
  }

  /** What runs a job. While it waits or runs, the job stays; when it has ended, so has the job. */
  public record Runner(Kind kind, String name) {
    /** The kinds of runner. */
    public enum Kind {
      /** An application of YARN. */
      APPLICATION,
      /** The application of YARN with a tag. */
      TAG,
      /** Another job of the cluster, of which this one is a part. */
      JOB
    }
  }
}
