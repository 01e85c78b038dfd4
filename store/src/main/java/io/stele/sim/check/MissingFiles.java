package io.stele.sim.check;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Whether, all along a history, the SSTables that METADATA names are there. {@link FileChecker}
 * looks only at the end, when a tablet may have been rewritten without the file it lacked.
 *
 * <p>A file that was not there when one look ended, and that a record still names in a later look,
 * was deleted too early: names are never used again. Between reading a record and looking for its
 * files, a file may be dropped and deleted rightly.
 *
 * <p>Not safe for use by several threads.
 */
public final class MissingFiles {
  private final Set<String> missing = new TreeSet<>();
  private final Set<String> told = new TreeSet<>();

  /**
   * Looks once.
   *
   * @param records of METADATA, read since the last look; not necessarily all
   * @param there the SSTables there are, listed after {@code records} were read
   * @return what was not found before
   */
  public List<Violation> look(Collection<TabletRecordView> records, Set<String> there) {
    List<Violation> violations = new ArrayList<>();
    for (TabletRecordView record : records) {
      for (String file : record.files()) {
        if (missing.contains(file) && told.add(file)) {
          violations.add(
              new Violation(
                  "files",
                  "file " + file + " was deleted while tablet " + record.id() + " had it"));
        }
      }
    }
    for (TabletRecordView record : records) {
      record.files().stream().filter(file -> !there.contains(file)).forEach(missing::add);
    }
    return violations;
  }
}
