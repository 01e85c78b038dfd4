package io.stele.record;

import io.stele.model.RowRange;
import io.stele.model.TabletId;
import java.util.List;

/**
 * A tablet as one of its pins has it: what there is to read of it without asking its server.
 *
 * @param id which tablet
 * @param rows its rows
 * @param pin the point to read at
 * @param files those with what is to be read: the ones below the pin, as no file, and no memtable,
 *     has operations of both sides of it
 */
public record PinnedTablet(TabletId id, RowRange rows, Pin pin, List<FileRef> files) {
  public PinnedTablet {
    files = List.copyOf(files);
  }

  /** The tablet as {@code pin} has it; {@code files} are all those of the tablet. */
  public static PinnedTablet of(TabletId id, RowRange rows, Pin pin, List<FileRef> files) {
    return new PinnedTablet(
        id,
        rows,
        pin,
        files.stream()
            .filter(file -> file.maxSequence() <= pin.readPoint())
            .filter(file -> file.isSeenAt(pin.readPoint()))
            .toList());
  }
}
