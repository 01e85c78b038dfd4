package io.stele.record;

import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What becomes of a tablet's files when a range of its rows is cleared.
 *
 * @param removed the references that go
 * @param added those that come instead: parts of the same files
 */
public record ClearedFiles(List<FileRef> removed, List<FileRef> added) {
  public ClearedFiles {
    removed = List.copyOf(removed);
    added = List.copyOf(added);
  }

  /**
   * Clears {@code rows} of {@code files}.
   *
   * @param sequence the number of the operation that clears them, above those of all files
   * @param pins the tablet's: they still see what they saw
   */
  public static ClearedFiles of(List<FileRef> files, RowRange rows, long sequence, List<Pin> pins) {
    List<FileRef> removed = new ArrayList<>();
    List<FileRef> added = new ArrayList<>();
    for (FileRef file : files) {
      Optional<RowRange> inside = file.bounds().intersection(rows);
      if (file.isCleared() || inside.isEmpty()) {
        continue;
      }
      removed.add(file);
      ClearedRows.without(file.bounds(), rows).forEach(side -> added.add(file.clipped(side)));
      if (pins.stream().anyMatch(pin -> sees(pin, file))) {
        added.add(file.clipped(inside.get()).cleared(sequence));
      }
    }
    return new ClearedFiles(removed, added);
  }

  /** Those of {@code files} that are only kept for pins, and that none of {@code pins} sees. */
  public static List<FileRef> unseen(List<FileRef> files, List<Pin> pins) {
    return files.stream()
        .filter(FileRef::isCleared)
        .filter(file -> pins.stream().noneMatch(pin -> sees(pin, file)))
        .toList();
  }

  private static boolean sees(Pin pin, FileRef file) {
    return file.maxSequence() <= pin.readPoint() && file.isSeenAt(pin.readPoint());
  }
}
