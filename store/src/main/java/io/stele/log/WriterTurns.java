package io.stele.log;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;

/**
 * The two writers of a log, and whose turn it is. At most one is active and takes batches; while it
 * does, the other may stand by with a segment that it has created. None stands by while none is
 * active.
 *
 * <p>Guarded by the lock of the {@link CommitPipeline}.
 */
final class WriterTurns {
  private final List<WriterState> writers;
  private Optional<WriterState> active = Optional.empty();
  private Optional<WriterState> standby = Optional.empty();
  private boolean trouble; // A writer failed while it was active, and no batch has completed since.

  /** Two writers, neither active; each waits for one of the conditions. */
  WriterTurns(Condition one, Condition other) {
    this.writers = List.of(new WriterState(one), new WriterState(other));
  }

  List<WriterState> writers() {
    return writers;
  }

  boolean isActive(WriterState writer) {
    return active.isPresent() && active.get() == writer;
  }

  boolean hasActive() {
    return active.isPresent();
  }

  boolean hasStandby() {
    return standby.isPresent();
  }

  /** Makes {@code writer} the active one. */
  void activate(WriterState writer) {
    active = Optional.of(writer);
    standby = Optional.empty();
    writer.wake.signal();
  }

  /** {@code writer} has a segment for when the active one is done. */
  void standBy(WriterState writer) {
    standby = Optional.of(writer);
  }

  /** Ends the turn of the active writer; returns the one that stands by, to be activated. */
  Optional<WriterState> endTurn() {
    active = Optional.empty();
    return standby;
  }

  /** Failures so far no longer count. */
  void succeeded() {
    writers.forEach(WriterState::succeeded);
    trouble = false;
  }

  /**
   * {@code writer} failed while it was active. Failures of the other one before that no longer
   * count, as no record waited for it. Later ones do, until a batch has completed.
   */
  void activeFailed(WriterState writer) {
    if (!trouble) {
      other(writer).succeeded();
      trouble = true;
    }
  }

  /**
   * What keeps records from being written, if one writer has failed at least this many times in a
   * row.
   *
   * @param recordsWait whether any are not written. An active writer may fail to write them as
   *     those before it did; where none wait, it can write the next
   */
  Optional<String> troubleAfter(int times, boolean recordsWait) {
    return active.isPresent() && !(trouble && recordsWait)
        ? Optional.empty()
        : writers.stream().flatMap(writer -> writer.troubleAfter(times).stream()).findFirst();
  }

  /** The node that takes what the other writer writes first, as far as that is known. */
  Optional<String> firstNodeOfOther(WriterState writer) {
    return other(writer).firstNode;
  }

  /** Whether some writer waits for the file system and is not considered hung. */
  boolean isAnyBusy() {
    return writers.stream().anyMatch(WriterState::isBusy);
  }

  /**
   * Whether nothing waits for a writer any more.
   *
   * @param over whether the log is over, so that nothing waits for one that hangs
   */
  boolean haveEnded(boolean over) {
    return writers.stream().allMatch(writer -> writer.ended || (writer.hung && over));
  }

  void wakeActive() {
    active.ifPresent(writer -> writer.wake.signal());
  }

  void wakeAll() {
    writers.forEach(writer -> writer.wake.signal());
  }

  private WriterState other(WriterState writer) {
    return writers.get(0) == writer ? writers.get(1) : writers.get(0);
  }
}
