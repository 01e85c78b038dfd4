package io.stele.tablet;

import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.LoweredCounts;
import io.stele.record.Pending;
import io.stele.record.Pin;
import java.util.List;

/**
 * Everything needed to open a tablet, from its durable record.
 *
 * @param id its id
 * @param epoch of the assignment under which it is opened; part of the names of its new files
 * @param extent its rows
 * @param schema of its table
 * @param files the SSTables; none of their bounds goes beyond the extent
 * @param redoPoint everything up to this sequence number is in the files; 0 for a new tablet
 * @param highestTimestamp the highest assigned timestamp according to the record, microseconds; 0
 *     for a new tablet
 * @param pins its pinned read points
 * @param pending changes that wait for the end of their jobs
 * @param lowered how many versions the table's families counted before
 */
public record TabletSpec(
    TabletId id,
    long epoch,
    RowRange extent,
    TableSchema schema,
    List<FileRef> files,
    long redoPoint,
    long highestTimestamp,
    List<Pin> pins,
    List<Pending> pending,
    LoweredCounts lowered) {
  public TabletSpec {
    pending = List.copyOf(pending);
    pins = List.copyOf(pins);
    files = List.copyOf(files);
    for (FileRef file : files) {
      if (!extent.covers(file.bounds())) {
        throw new IllegalArgumentException(
            "file " + file + " goes beyond its tablet's rows " + extent);
      }
    }
  }

  /** A tablet without waiting files of jobs, whose families never counted more versions. */
  public TabletSpec(
      TabletId id,
      long epoch,
      RowRange extent,
      TableSchema schema,
      List<FileRef> files,
      long redoPoint,
      long highestTimestamp,
      List<Pin> pins) {
    this(
        id,
        epoch,
        extent,
        schema,
        files,
        redoPoint,
        highestTimestamp,
        pins,
        List.of(),
        LoweredCounts.NONE);
  }

  /** A tablet without data. */
  public static TabletSpec empty(TabletId id, long epoch, RowRange extent, TableSchema schema) {
    return new TabletSpec(id, epoch, extent, schema, List.of(), 0, 0, List.of());
  }

  /**
   * A part of this tablet as a tablet of its own. It shares the files that have its rows, those
   * that wait for their jobs, and the pins, and continues above this tablet's sequence numbers.
   */
  public TabletSpec child(TabletId childId, long childEpoch, RowRange rows) {
    return new TabletSpec(
        childId,
        childEpoch,
        rows,
        schema,
        files.stream()
            .filter(file -> file.bounds().intersection(rows).isPresent())
            .map(file -> file.clipped(rows))
            .toList(),
        redoPoint,
        highestTimestamp,
        pins,
        pending.stream().filter(one -> one.meets(rows)).map(one -> one.clipped(rows)).toList(),
        lowered);
  }
}
