package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import java.util.Collection;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What a tablet's record may require of the versions that read or change it, and a node of the lock
 * service of those that change it.
 *
 * <p>A version of Stele skips parts of a record that it does not know. If that would do harm, as
 * the tablet would be served wrongly or the record would lose something at its next change, the
 * version that writes such a part adds the name of the feature to the column {@code
 * assignment:requires}, whose value is names separated by spaces. A version that does not know one
 * of them leaves the record alone and says so. A feature may be required only when every process of
 * the cluster knows it.
 *
 * <p>The nodes of tables, names and jobs have a list of features likewise. Who does not know one of
 * them may read the node, as tablet servers and clients do, and does not change it. What must be
 * known to serve a tablet is required by the tablet's record. This version requires nothing in
 * nodes.
 */
final class Features {
  /** Points that stay readable: see {@link io.stele.record.Pin}. */
  static final String PINS = "pins";

  /**
   * Files of jobs: see {@link io.stele.record.PendingFile}. Who does not know them would answer
   * without asking what became of the job, or read cells without their sequence numbers.
   */
  static final String BULK = "bulk";

  /** Merges: of two tablets whose operations were counted, and clocks ran, apart. */
  static final String MERGES = "merges";

  /** Rows that were cleared and are kept for pins: others must not read them. */
  static final String CLEARED = "cleared";

  /**
   * Families that were erased from files which still have their cells: others must not read them.
   */
  static final String ERASED = "erased";

  /** Rows that a job will replace: who does not know them would keep what was there. */
  static final String REPLACES = "replaces";

  /** The features that this version knows. */
  private static final Set<String> KNOWN = Set.of(PINS, BULK, MERGES, CLEARED, ERASED, REPLACES);

  private Features() {}

  /** What a reader of the record must know. */
  static SortedSet<String> of(TabletRecord record) {
    SortedSet<String> features = new TreeSet<>();
    if (!record.pins().isEmpty()) {
      features.add(PINS); // Otherwise what they keep would be compacted away.
    }
    if (!record.pending().isEmpty() || record.files().stream().anyMatch(PendingFile::isOfJob)) {
      features.add(BULK);
    }
    if (record.isMerging() || record.files().stream().anyMatch(FileRef::merged)) {
      features.add(MERGES);
    }
    if (record.files().stream().anyMatch(FileRef::isCleared)) {
      features.add(CLEARED);
    }
    if (record.files().stream().anyMatch(FileRef::hasErased)) {
      features.add(ERASED);
    }
    if (record.pending().stream().anyMatch(PendingReplacement.class::isInstance)) {
      features.add(REPLACES);
    }
    return features;
  }

  /**
   * Refuses a record that requires what this version does not know.
   *
   * @param required the value of the column
   * @param where the record is
   * @throws SteleException REFUSED
   */
  static void check(Bytes required, String where) {
    Set<String> unknown = unknown(Set.of(required.toUtf8().split(" ")));
    if (!unknown.isEmpty()) {
      throw SteleException.refused(
          where
              + " requires "
              + String.join(", ", unknown)
              + ", which this version of Stele does not know: upgrade this process");
    }
  }

  /**
   * Refuses to change a node that requires what this version does not know.
   *
   * @param required features
   * @param where the node is
   * @throws NewerFormatException if it does
   */
  static void checkChange(Collection<String> required, String where) {
    Set<String> unknown = unknown(required);
    if (!unknown.isEmpty()) {
      throw NewerFormatException.requiring(where, unknown);
    }
  }

  private static Set<String> unknown(Collection<String> required) {
    Set<String> unknown = new TreeSet<>(required);
    unknown.removeAll(KNOWN);
    unknown.remove("");
    return unknown;
  }
}
