package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which rows of METADATA are valid, and reads those.
 *
 * <p>A split writes the lower child's row as a tentative record, then changes the parent's row,
 * which comes after it, into the upper child. That one change makes the lower child valid: a
 * tentative record is valid if the next valid row begins at its end, and names it as the one {@link
 * TabletRecord#below}. There is one tentative record per end, as a row's key is its end. But the
 * two rows may be read at different times, and an earlier split at the same row may have left a
 * record that is read first. So the end alone would not tell.
 */
final class ValidRecords {
  private static final Logger LOG = LoggerFactory.getLogger(ValidRecords.class);
  private static final int PAGE_ROWS = 256;
  private static final int NEIGHBOURS = 16;

  private ValidRecords() {}

  /** Decodes a row into a record. */
  @FunctionalInterface
  interface Decoder {
    Optional<TabletRecord> decode(Row row) throws CorruptionException;
  }

  static Optional<TabletRecord> decode(Row row) throws CorruptionException {
    return RecordCodec.decode(row, "tablet records");
  }

  static Optional<TabletRecord> decodeUndamaged(Row row, Consumer<String> damaged) {
    try {
      return decode(row);
    } catch (CorruptionException e) {
      LOG.error("Ignoring a tablet whose record is damaged", e);
      damaged.accept(String.valueOf(e.getMessage()));
      return Optional.empty();
    } catch (SteleException e) {
      LOG.error("Ignoring a tablet: {}", e.getMessage());
      damaged.accept(String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  /**
   * At least the first {@code enough} valid records in {@code range}, or all if there are fewer.
   * Whether the last ones are valid may depend on a row after the range, which is read too.
   */
  static List<TabletRecord> read(RecordRows rows, RowRange range, int enough, Decoder decoder)
      throws IOException {
    List<TabletRecord> valid = new ArrayList<>();
    List<TabletRecord> undecided = new ArrayList<>();
    int limit = Math.max(1, Math.min(enough, PAGE_ROWS)); // Nearly every row is valid.
    Bytes next = range.start();
    Bytes end = range.end();
    int most = enough;
    while (valid.size() < most) {
      List<Row> page = rows.scan(new RowRange(next, end), limit);
      for (Row row : page) {
        decoder.decode(row).ifPresent(undecided::add);
        if (!undecided.isEmpty() && undecided.get(undecided.size() - 1).tentative().isEmpty()) {
          valid.addAll(of(undecided));
          undecided.clear();
        }
      }
      if (page.size() == limit) {
        next = page.get(page.size() - 1).key().successor();
        limit = Math.max(NEIGHBOURS, limit);
        continue;
      }
      if (undecided.isEmpty() || end.isEmpty()) {
        break;
      }
      Bytes tableEnd = MetadataKeys.table(undecided.get(undecided.size() - 1).id().table()).end();
      if (end.compareTo(tableEnd) >= 0) {
        break; // No row follows: they are not valid.
      }
      next = end;
      end = tableEnd;
      most = valid.size() + 1; // As soon as it is known, it is enough.
    }
    valid.removeIf(record -> !range.isBeforeEnd(record.row()));
    return valid;
  }

  /**
   * The valid ones of {@code inOrder}, which are neighbours in METADATA and of which the last is
   * not tentative.
   */
  static List<TabletRecord> of(List<TabletRecord> inOrder) {
    Deque<TabletRecord> valid = new ArrayDeque<>();
    for (int i = inOrder.size() - 1; i >= 0; i--) {
      TabletRecord record = inOrder.get(i);
      if (record.tentative().isEmpty() || isNext(record, valid.peekFirst())) {
        valid.addFirst(record);
      }
    }
    return new ArrayList<>(valid);
  }

  private static boolean isNext(TabletRecord tentative, @Nullable TabletRecord next) {
    return next != null
        && next.id().table().equals(tentative.id().table())
        && next.extent().start().equals(tentative.extent().end())
        && (tentative.isMerging() // It was changed since its split.
            || next.below().isEmpty() // No split made its start, or one by an earlier version.
            || next.below().get().equals(tentative.id()));
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
