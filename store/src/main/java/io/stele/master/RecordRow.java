package io.stele.master;

import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.TableId;

/**
 * The place of a tablet's record.
 *
 * @param table the tablet's
 * @param row of METADATA, or of the root tablet
 */
record RecordRow(TableId table, Bytes row) implements Comparable<RecordRow> {
  static RecordRow of(TabletRecord record) {
    return new RecordRow(record.id().table(), record.row());
  }

  @Override
  public int compareTo(RecordRow other) {
    return row.compareTo(other.row); // It begins with the table.
  }
}
