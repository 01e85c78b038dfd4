package io.stele.metadata;

import io.stele.model.TableId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A table's name as stored in the lock service: the table that has it, and the schema changes made
 * under it, of which at most one is in progress.
 *
 * <p>Changes are numbered as they begin or are refused. The last {@value #ENDED_MAX} that ended are
 * remembered by their ids, and {@code forgotten} is the number of the last that is not.
 *
 * @param name the name
 * @param table the table that has it
 * @param running the change in progress
 * @param ended changes that ended, the oldest first
 * @param sequence the number of the last change
 * @param forgotten changes up to this number may be forgotten
 * @param version of the node, on which writes are conditional; {@link #NO_NODE} if there is none
 */
public record TableName(
    String name,
    Optional<TableId> table,
    Optional<SchemaChange> running,
    List<EndedChange> ended,
    long sequence,
    long forgotten,
    int version) {
  static final int ENDED_MAX = 16;
  static final int NO_NODE = -1;

  public TableName {
    ended = List.copyOf(ended);
  }

  /** The result of the change of that id, if it ended and is remembered. */
  public Optional<EndedChange> ended(String id) {
    return ended.stream().filter(change -> change.id().equals(id)).findFirst();
  }

  /** The number for a change whose client had seen {@code seen}: greater than {@code seen}. */
  public long next(long seen) {
    return Math.max(sequence, seen) + 1;
  }

  /** The same name with {@code whose} as its table. */
  public TableName of(Optional<TableId> whose) {
    return new TableName(name, whose, running, ended, sequence, forgotten, version);
  }

  /** The same name with {@code change} in progress, at any step. */
  public TableName with(SchemaChange change) {
    return new TableName(
        name,
        table,
        Optional.of(change),
        ended,
        Math.max(sequence, change.sequence()),
        forgotten,
        version);
  }

  /** The same name after {@code change} ended; no change is in progress. */
  public TableName with(EndedChange change) {
    List<EndedChange> remembered = new ArrayList<>(ended);
    remembered.add(change);
    long lost = forgotten;
    while (remembered.size() > ENDED_MAX) {
      lost = Math.max(lost, remembered.remove(0).sequence());
    }
    return new TableName(
        name,
        table,
        Optional.empty(),
        remembered,
        Math.max(sequence, change.sequence()),
        lost,
        version);
  }
}
