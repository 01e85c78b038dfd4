package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which rows of METADATA are valid.
 *
 * <p>A split writes the lower child's row as a tentative record, then changes the parent's row,
 * which comes after it, into the upper child. That one change makes the lower child valid: a
 * tentative record is valid if the next valid row begins at its end. No other row can begin there,
 * as a row's key is its end: there is one tentative record per end.
 */
final class CountedRecords {
  private CountedRecords() {}

  /**
   * Of {@code inOrder}, which are neighbours in METADATA and of which the last is not tentative,
   * those that count.
   */
  static List<TabletRecord> counting(List<TabletRecord> inOrder) {
    Deque<TabletRecord> counting = new ArrayDeque<>();
    for (int i = inOrder.size() - 1; i >= 0; i--) {
      TabletRecord record = inOrder.get(i);
      if (record.tentative().isEmpty() || isNext(record, counting.peekFirst())) {
        counting.addFirst(record);
      }
    }
    return new ArrayList<>(counting);
  }

  private static boolean isNext(TabletRecord tentative, @Nullable TabletRecord next) {
    return next != null
        && next.id().table().equals(tentative.id().table())
        && next.extent().start().equals(tentative.extent().end());
  }

  /**
   * Whether {@code records}, in order, cover all rows of their table once: false of a read during
   * which a split went on.
   */
  static boolean tile(List<TabletRecord> records) {
    Bytes end = Bytes.EMPTY;
    for (int i = 0; i < records.size(); i++) {
      RowRange extent = records.get(i).extent();
      if (!extent.start().equals(end) || (i > 0 && end.isEmpty())) {
        return false;
      }
      end = extent.end();
    }
    return !records.isEmpty() && end.isEmpty();
  }
}
