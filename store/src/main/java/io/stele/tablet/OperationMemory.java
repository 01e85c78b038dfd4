package io.stele.tablet;

/**
 * The memory of one tablet's {@link OperationWindow}, counted in a budget: what tasks of jobs take,
 * which stays until the job ends, and what other clients take, which can be forgotten.
 *
 * <p>Jobs may use three quarters of what there is. So other clients always have a quarter, and a
 * job that has more tasks than there is room for hinders no other client.
 *
 * <p>Not safe for use by several threads: it belongs to an {@link OperationWindow}.
 */
final class OperationMemory {
  /** If less than this part of the share is freed, the next compaction would follow at once. */
  private static final int COMPACTED_PART = 64;

  private final OperationBudget budget;
  private long bytes;
  private long jobBytes;
  private boolean closed;

  /** No memory yet, of a tablet that takes part in {@code budget} from now on. */
  OperationMemory(OperationBudget budget) {
    this.budget = budget;
    budget.join();
  }

  /** What all clients take, in bytes. */
  long bytes() {
    return bytes;
  }

  /** Adds a client, or what it takes more; negative: less. */
  void add(long change, long jobChange) {
    bytes += change;
    jobBytes += jobChange;
    if (!closed) {
      budget.add(change);
    }
  }

  /** By how many bytes an operation of a job would exceed what jobs may use; 0: there is room. */
  long excessOfJobs() {
    return Math.max(budget.excess(bytes), budget.excessOfJobs(jobBytes));
  }

  /** By how many bytes an operation of another client would exceed the budget; 0: it fits. */
  long excessOfOthers() {
    return mayTakeFromOthers() ? budget.excess(bytes) : 0;
  }

  /** Whether jobs use nearly what they may use. */
  boolean isShortForJobs() {
    return jobBytes > enough() - budget.shareOfOthers();
  }

  /** Whether other clients use more than what is theirs in any case. */
  boolean mayTakeFromOthers() {
    return bytes - jobBytes > budget.shareOfOthers();
  }

  /** Slightly less than the tablet's share: what is left when some was forgotten. */
  long enough() {
    return budget.share() - budget.share() / 8;
  }

  /** Whether a minor compaction will make room, as operations take less once they are in a file. */
  boolean isCompacted() {
    return budget.isCompacted();
  }

  /** What a minor compaction must free to be worth making: a small part of the share. */
  long worthCompacting() {
    return budget.share() / COMPACTED_PART;
  }

  /** Counts no more in the budget. */
  void close() {
    if (!closed) {
      closed = true;
      budget.leave(bytes);
    }
  }
}
