package io.stele.metadata;

import io.stele.tablet.FileRef;
import java.util.List;
import java.util.Optional;

/**
 * What a compaction changes in its tablet's record.
 *
 * @param what the event, in a word or two: "minor compaction"
 * @param added SSTables the tablet has from now on; already synced
 * @param removed paths of SSTables it does not need any more: they go to the dropped ones
 * @param redo the new redo point, if it moves
 * @param dropOtherLogs whether the logs of earlier servers are not needed any more: all that they
 *     hold of the tablet is in its SSTables
 */
public record TabletEdit(
    String what,
    List<FileRef> added,
    List<String> removed,
    Optional<Redo> redo,
    boolean dropOtherLogs) {
  public TabletEdit {
    added = List.copyOf(added);
    removed = List.copyOf(removed);
  }

  /** A minor compaction: all mutations up to {@code redo} are in SSTables now. */
  public static TabletEdit minor(List<FileRef> added, Redo redo, boolean dropOtherLogs) {
    return new TabletEdit("minor compaction", added, List.of(), Optional.of(redo), dropOtherLogs);
  }

  /** A merging or major compaction: {@code added} say the same as {@code removed} did. */
  public static TabletEdit replace(String what, List<FileRef> added, List<String> removed) {
    return new TabletEdit(what, added, removed, Optional.empty(), false);
  }
}
