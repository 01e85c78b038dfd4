package io.stele.metadata;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the node of a job says, as it was read. Immutable.
 *
 * @param lease how long it stays without being renewed
 * @param renewals how often it was renewed
 * @param application what runs it: the name of a YARN application, or {@link JobNodes#TAG} and a
 *     tag of it, or {@link JobNodes#JOB} and the name of the job that it is part of
 * @param pinning empty if no tablets are being pinned, or all are
 * @param others the words that stay as they are in the node, each after a blank: of its kind, of
 *     its origin, and of later versions
 * @param version of the node
 */
public record StoredJob(
    Duration lease,
    long renewals,
    Optional<String> application,
    Optional<Pinning> pinning,
    Commit commit,
    String others,
    int version) {
  /** Begins the word with the features that whoever changes the node must know. */
  private static final String REQUIRES = "requires=";

  /** The word of a job that only reads, after a blank. */
  static final String READS_ONLY = " writes=nothing";

  /** What a job may ever do; it never changes. */
  public enum Kind {
    /** It may have files, and commit. */
    MAY_WRITE,
    /** It pins, and can never commit: nobody need wait for files of it. */
    READS_ONLY
  }

  /**
   * A mark that tablets are being pinned for a job: then no job commits.
   *
   * @param id tells it from other pinnings of the job: the version of the job's node before it
   * @param renewals how often whoever pins has renewed it; a renewal of the job alone does not
   *     count
   * @param interrupted whether others stopped waiting: some of the job's pins may be from before a
   *     commit and some from after it
   */
  public record Pinning(int id, long renewals, boolean interrupted) {
    Pinning renewed() {
      return new Pinning(id, renewals + 1, interrupted);
    }
  }

  /** How far a job's commit has come. */
  public enum Commit {
    NOT_BEGUN,
    /** The master checks whether tablets are being pinned for a job. */
    UNDER_WAY,
    DONE
  }

  /** Whether it has committed. */
  public boolean committed() {
    return commit == Commit.DONE;
  }

  /** Where it comes from. */
  public JobOrigin origin() {
    return JobOrigin.in(others);
  }

  /** Whether it can never commit. */
  public Kind kind() {
    return (others + " ").contains(READS_ONLY + " ") ? Kind.READS_ONLY : Kind.MAY_WRITE;
  }

  /** The features that whoever changes the node must know. */
  Set<String> requires() {
    Set<String> features = new TreeSet<>();
    for (String word : others.split(" ")) {
      if (word.startsWith(REQUIRES)) {
        features.addAll(List.of(word.substring(REQUIRES.length()).split(",")));
      }
    }
    return features;
  }

  /** Whether its tablets are being pinned. */
  public boolean isPinning() {
    return pinning.isPresent() && !isInterrupted() && !committed();
  }

  boolean isInterrupted() {
    return pinning.isPresent() && pinning.get().interrupted();
  }

  boolean isPinning(int id) {
    return isPinning() && pinning.get().id() == id;
  }

  StoredJob with(Optional<Pinning> next) {
    return new StoredJob(lease, renewals + 1, application, next, commit, others, version);
  }

  StoredJob with(Commit next) {
    return new StoredJob(lease, renewals, application, pinning, next, others, version);
  }

  StoredJob at(int nextVersion) {
    return new StoredJob(lease, renewals, application, pinning, commit, others, nextVersion);
  }
}
