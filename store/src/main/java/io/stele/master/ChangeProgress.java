package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;

/**
 * How far a change of a table is.
 *
 * @param done how many tablets have been changed
 * @param all how many tablets must be changed; 0 if the current step concerns no tablets
 */
record ChangeProgress(int done, int all) {
  /**
   * Counts tablets.
   *
   * @param isCleared whether rows were found cleared, for a change that clears or erases
   */
  static ChangeProgress of(
      SchemaChange change, MasterLoop.View view, Predicate<RowRange> isCleared) {
    Collection<TabletRecord> tablets = KnownRecords.of(change.table(), view.tablets());
    return switch (change.step()) {
      case CLEAR_TABLETS, ERASE_FAMILIES -> {
        List<RowRange> wanted =
            tablets.stream()
                .flatMap(record -> record.extent().intersection(change.rows()).stream())
                .toList();
        yield counted(wanted, isCleared);
      }
      case REMOVE_RECORDS ->
          counted(tablets, record -> record.assignment().state() == Assignment.State.NONE);
      case WRITE_NODE,
          MAKE_DIRECTORY,
          WRITE_RECORDS,
          MAKE_READY,
          WRITE_SCHEMA,
          GRANT_READING,
          TELL_SERVERS,
          MARK_DROPPED,
          REMOVE_NODE ->
          new ChangeProgress(0, 0);
    };
  }

  /** How many of {@code all} are done. */
  static <T> ChangeProgress counted(Collection<T> all, Predicate<T> isDone) {
    return new ChangeProgress((int) all.stream().filter(isDone).count(), all.size());
  }
}
