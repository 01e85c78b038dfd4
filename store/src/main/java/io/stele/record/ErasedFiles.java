package io.stele.record;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** What becomes of a tablet's files when families that were dropped are erased from them. */
public final class ErasedFiles {
  private ErasedFiles() {}

  /**
   * Erases families of {@code files}, as the operation above {@code before}, if any file has them.
   * Pins from before go on to see what they saw.
   *
   * @param families which the tablet's schema does not have now
   */
  public static FileReplacement of(List<FileRef> files, Collection<String> families, long before) {
    List<FileRef> removed = new ArrayList<>();
    List<FileRef> added = new ArrayList<>();
    for (FileRef file : files) {
      if (!Collections.disjoint(file.families(), families)) {
        removed.add(file);
        added.add(file.erased(families, before + 1));
      }
    }
    return new FileReplacement(removed, added, 0, 0, removed.isEmpty() ? before : before + 1);
  }
}
