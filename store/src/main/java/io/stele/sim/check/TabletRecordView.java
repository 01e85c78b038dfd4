package io.stele.sim.check;

import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import io.stele.model.TabletId;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A tablet's record in METADATA as the checkers see it.
 *
 * @param id the tablet
 * @param rows its rows
 * @param isTentative whether it is a tentative record of a split: it is valid only where the next
 *     valid record begins at its end
 * @param files paths of the SSTables it needs, relative to the root directory
 * @param dropped paths of the SSTables it once needed, which may or may not be deleted by now
 */
public record TabletRecordView(
    TabletId id, RowRange rows, boolean isTentative, Set<String> files, Set<String> dropped) {
  public TabletRecordView {
    files = Collections.unmodifiableSet(new TreeSet<>(files));
    dropped = Collections.unmodifiableSet(new TreeSet<>(dropped));
  }

  /** What {@code record} says. */
  public static TabletRecordView of(TabletRecord record) {
    return new TabletRecordView(
        record.id(),
        record.extent(),
        record.tentative().isPresent(),
        record.files().stream().map(file -> file.path()).collect(Collectors.toSet()),
        record.dropped().keySet());
  }
}
