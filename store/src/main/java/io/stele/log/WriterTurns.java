package io.stele.log;

import io.stele.files.DurableFiles.Placement;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The writers of a log, and whose turn it is. At most one is active and takes batches; while it
 * does, another may stand by with a segment that it has created. None stands by while none is
 * active.
 *
 * <p>Two writers work at a time, one that pauses after a failure among them, and the others are
 * parked. One that is stuck does not count: a parked one takes its place. So more than one may
 * stand by when those that were stuck go on.
 *
 * <p>Guarded by the lock of the {@link CommitPipeline}.
 */
final class WriterTurns {
  private static final int AT_WORK = 2;
  private static final int KNOWN_NODES_MAX = 32;

  private final List<WriterState> writers;
  private Optional<WriterState> active = Optional.empty();
  private final SortedMap<Long, WriterState> standby = new TreeMap<>(); // By their segments.
  private final Set<String> knownNodes = new LinkedHashSet<>(); // Of the last segments.
  private boolean trouble; // A writer failed while it was active, and no batch has completed since.

  /** Writers of which none is active; each waits for one of the conditions. */
  WriterTurns(List<Condition> conditions) {
    this.writers = conditions.stream().map(WriterState::new).toList();
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
    return !standby.isEmpty();
  }

  /** Whether so few writers work that a parked one is needed. */
  boolean needsWriter() {
    return writers.stream().filter(WriterState::isWorking).count() < AT_WORK;
  }

  /** Makes {@code writer} the active one. */
  void activate(WriterState writer) {
    active = Optional.of(writer);
    standby.remove(writer.number);
    writer.wake.signal();
  }

  /** {@code writer} has a segment for when the active one is done. */
  void standBy(WriterState writer) {
    standby.put(writer.number, writer);
  }

  /** {@code writer} no longer stands by: its segment is not to be used. */
  void leave(WriterState writer) {
    if (standby.remove(writer.number, writer)) {
      writer.wake.signal();
    }
  }

  /** Ends the turn of the active writer; returns one that stands by, to be activated. */
  Optional<WriterState> endTurn() {
    active = Optional.empty();
    return standby.values().stream().findFirst();
  }

  /** Failures so far no longer count. */
  void succeeded() {
    writers.forEach(WriterState::succeeded);
    trouble = false;
  }

  /**
   * {@code writer} failed while it was active. Failures of the others before that no longer count,
   * as no record waited for them. Later ones do, until a batch has completed.
   */
  void activeFailed(WriterState writer) {
    if (!trouble) {
      others(writer).forEach(WriterState::succeeded);
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

  /** Where the writer's next segment is to be: one of them is near. */
  Placement placementFor(WriterState writer) {
    return others(writer).anyMatch(other -> other.placement.equals(Optional.of(Placement.NEAR)))
        ? Placement.ANYWHERE
        : Placement.NEAR;
  }

  /** The nodes that take first what other writers write, as far as they are known. */
  Set<String> firstNodesOfOthers(WriterState writer) {
    return others(writer)
        .filter(WriterState::isWorking)
        .flatMap(other -> other.nodes.stream().limit(1))
        .collect(Collectors.toSet());
  }

  /** What is known of the nodes of the last segments. None is sure to answer. */
  HangingNodes hangingNodes() {
    for (WriterState writer : writers) {
      knownNodes.removeAll(writer.nodes); // They are the last now.
      knownNodes.addAll(writer.nodes);
    }
    while (knownNodes.size() > KNOWN_NODES_MAX) {
      knownNodes.remove(knownNodes.iterator().next());
    }
    return new HangingNodes(
        knownNodes,
        List.of(),
        writers.stream().filter(WriterState::isStuck).map(writer -> writer.nodes).toList());
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

  void wakeParked() {
    writers.stream().filter(writer -> writer.parked).forEach(writer -> writer.wake.signal());
  }

  private Stream<WriterState> others(WriterState writer) {
    return writers.stream().filter(other -> other != writer);
  }
}
