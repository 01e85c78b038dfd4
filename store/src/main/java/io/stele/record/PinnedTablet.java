package io.stele.record;

import io.stele.model.RowRange;
import io.stele.model.TabletId;
import java.util.List;

/**
 * A tablet at one of its pins: everything needed to read it without asking its server.
 *
 * @param id which tablet
 * @param rows its rows
 * @param pin the point to read at
 * @param files the files to read: those below the pin, because no file and no memtable has
 *     operations from both sides of it
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
