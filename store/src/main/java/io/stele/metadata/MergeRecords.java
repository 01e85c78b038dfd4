package io.stele.metadata;

import io.stele.metadata.TabletRecord.Tentative;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TabletId;
import io.stele.record.MergedFiles;
import io.stele.record.RecordChangeSize;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Merges the records of two neighbouring tablets while no server has them. For the master; its
 * writes are conditional as in {@link TabletRecords}.
 *
 * <p>First the lower record is marked: it names the upper one's epoch, is valid as long as the
 * upper tablet begins where it ends, and cannot be assigned. Then one conditional write turns the
 * upper record into the record of both tablets, and makes the lower one invalid.
 *
 * <p>A master that finds a marked record continues: it completes the merge, or gives it up if the
 * upper record has changed since. After that no master can complete it, however late, because the
 * write is conditional on the state before that change.
 *
 * <p>Safe for use by any number of threads. All calls block.
 */
public final class MergeRecords {
  private final TabletRecords records;

  /** Merges of {@code records}. */
  public MergeRecords(TabletRecords records) {
    this.records = records;
  }

  /** Whether no server has the tablet, and its files have all its data. */
  public static boolean isFree(TabletRecord record) {
    return record.assignment().state() == Assignment.State.NONE && record.logs().isEmpty();
  }

  /**
   * Why the two cannot be merged, whichever servers have them; empty if they can.
   *
   * @param upper begins where {@code lower} ends
   */
  public static Optional<String> obstacle(TabletRecord lower, TabletRecord upper) {
    if (lower.id().table().isSystem()) {
      return Optional.of("tablets of " + lower.id().table() + " are not merged");
    }
    for (TabletRecord record : new TabletRecord[] {lower, upper}) {
      if (!record.pins().isEmpty()) {
        return Optional.of(
            "tablet "
                + record.id()
                + " is pinned by job "
                + record.pins().get(0).name()
                + ", whose read point holds for its rows alone");
      }
      if (!record.pending().isEmpty()) {
        return Optional.of(
            "tablet "
                + record.id()
                + " has files that wait for the end of job "
                + record.pending().get(0).job());
      }
      if (record.trouble().isPresent()) {
        return Optional.of(
            "tablet " + record.id() + " could not be loaded: " + record.trouble().get().reason());
      }
    }
    return fits(lower, upper)
        ? Optional.empty()
        : Optional.of(
            "tablets "
                + lower.id()
                + " and "
                + upper.id()
                + " have more files, with those that are yet to be swept, than one record has room for");
  }

  private static boolean fits(TabletRecord lower, TabletRecord upper) {
    RecordChangeSize size =
        new RecordChangeSize(new RowRange(lower.extent().start(), upper.extent().end()));
    upper.files().forEach(size::remove);
    lower.files().forEach(size::put);
    upper.files().forEach(size::put);
    lower.dropped().keySet().forEach(size::putDropped);
    return size.fits();
  }

  /** Whether {@code lower}, which is marked, can still be merged with {@code upper}. */
  public static boolean canFinish(TabletRecord lower, TabletRecord upper) {
    Tentative mark = lower.tentative().orElseThrow();
    return upper.id().equals(mark.parent())
        && upper.assignment().state() == Assignment.State.NONE
        && upper.assignment().epoch() == mark.parentEpoch();
  }

  /**
   * Marks the lower record.
   *
   * @param upper begins where {@code lower} ends; both are {@link #isFree free}
   * @param merged the tablet that they will become
   */
  public TabletRecord begin(TabletRecord lower, TabletRecord upper, TabletId merged)
      throws IOException {
    requireFree(lower);
    requireFree(upper);
    if (!lower.extent().end().equals(upper.extent().start()) || lower.extent().end().isEmpty()) {
      throw new IllegalArgumentException(lower + " does not end where " + upper + " begins");
    }
    if (obstacle(lower, upper).isPresent() || lower.isMerging() || upper.isMerging()) {
      throw new IllegalArgumentException(lower + " and " + upper + " cannot be merged now");
    }
    Tentative mark = new Tentative(upper.id(), upper.assignment().epoch(), merged, true);
    TabletRecord next = again(lower).withTentative(mark);
    Mutation.Builder row =
        TabletRecords.change(lower, "to be merged with " + upper.id(), next.assignment());
    RecordCodec.putState(row, next);
    RecordCodec.putTentative(row, mark);
    TabletRecords.requireFeatures(row, lower, next);
    records.apply("merge", lower, row);
    return next;
  }

  /**
   * Merges both tablets, and removes the lower record, which is no longer valid.
   *
   * @param lower as {@link #begin} has marked it
   * @throws RecordChangedException if the merge is no longer possible
   */
  public TabletRecord finish(TabletRecord lower, TabletRecord upper) throws IOException {
    Tentative mark = lower.tentative().filter(Tentative::merge).orElseThrow();
    requireFree(lower);
    if (!canFinish(lower, upper)) {
      throw new RecordChangedException("merge", upper);
    }
    requireFree(upper);
    TabletRecord merged = merged(lower, upper, mark.child());
    Mutation.Builder row =
        TabletRecords.change(
            upper, "merged from " + lower.id() + " and " + upper.id(), merged.assignment());
    RecordCodec.putExtent(row, merged);
    RecordCodec.putState(row, merged);
    RecordCodec.putRedo(row, merged.redo());
    RecordCodec.putCleared(row, merged.cleared());
    upper.files().forEach(file -> RecordCodec.deleteFile(row, upper, file));
    merged.files().forEach(file -> RecordCodec.putFile(row, file));
    lower.dropped().forEach((path, millis) -> RecordCodec.putDropped(row, path, millis));
    TabletRecords.requireFeatures(row, upper, merged);
    records.apply("merge", upper, row);
    // If this fails, the server that loads the merged tablet removes the record.
    records.rowsOf(lower).update(TabletRecords.still(mark), Mutation.of(lower.row()).deleteRow());
    return merged;
  }

  /**
   * Removes the mark, so that the tablet can be assigned; or removes the record, if it is no longer
   * valid.
   *
   * @param lower a marked record
   * @return the record without the mark; empty if it was removed
   * @throws RecordChangedException if the merge can still be made, or the record read after it
   *     cannot be that of a merged tablet
   */
  public Optional<TabletRecord> giveUp(TabletRecord lower) throws IOException {
    Tentative mark = lower.tentative().filter(Tentative::merge).orElseThrow();
    // This read may become outdated, but an epoch that has passed does not come back.
    TabletRecord upper =
        records
            .reader()
            .find(lower.id().table(), lower.extent().end())
            .orElseThrow(() -> new RecordChangedException("merge", lower));
    if (!upper.extent().start().equals(lower.extent().end())) {
      requireNewer(upper, lower);
      records.rowsOf(lower).update(TabletRecords.still(mark), Mutation.of(lower.row()).deleteRow());
      return Optional.empty();
    }
    if (canFinish(lower, upper)) {
      throw new RecordChangedException("merge", upper);
    }
    TabletRecord next = again(lower);
    Mutation.Builder row = TabletRecords.change(lower, "not merged", next.assignment());
    RecordCodec.putState(row, next);
    TabletRecords.requireFeatures(row, lower, next);
    records.apply("merge", lower, row);
    return Optional.of(next);
  }

  /**
   * Removing a record is not conditional on what was read. A tablet into which the marked one was
   * merged has a higher epoch. A record left by a split that was never made has not, though it may
   * seem valid if it was read before the record after it was written.
   */
  private static void requireNewer(TabletRecord upper, TabletRecord lower)
      throws RecordChangedException {
    if (upper.assignment().epoch() <= lower.assignment().epoch()) {
      throw new RecordChangedException("merge", upper);
    }
  }

  /** The same tablet under the next epoch: writes conditional on the earlier state then fail. */
  private static TabletRecord again(TabletRecord record) {
    Assignment next = record.assignment().released(record.assignment().epoch() + 1);
    return record.withAssignment(next, record.logs());
  }

  private static TabletRecord merged(TabletRecord lower, TabletRecord upper, TabletId id) {
    TabletRecord larger = lower.fileBytes() > upper.fileBytes() ? lower : upper;
    Assignment assignment =
        larger
            .assignment()
            .released(Math.max(lower.assignment().epoch(), upper.assignment().epoch()) + 1);
    Map<String, Long> dropped = new TreeMap<>(upper.dropped());
    dropped.putAll(lower.dropped());
    Redo redo =
        new Redo(
            Math.max(lower.redo().sequence(), upper.redo().sequence()),
            Math.max(lower.redo().highestTimestamp(), upper.redo().highestTimestamp()));
    RowRange rows = new RowRange(lower.extent().start(), upper.extent().end());
    return TabletRecord.builder(id, rows, upper.row())
        .below(lower.below())
        .assignment(assignment)
        .files(MergedFiles.of(lower.files(), upper.files()))
        .redo(redo)
        .dropped(dropped)
        .pins(upper.pins())
        .pending(upper.pending())
        .cleared(lower.cleared().and(upper.cleared()))
        .build();
  }

  private static void requireFree(TabletRecord record) {
    if (!isFree(record)) {
      throw new IllegalArgumentException(record + " is not free, or names logs: " + record.logs());
    }
  }
}
