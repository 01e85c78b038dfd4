package io.stele.mapreduce.jobs;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;

/** Sums and maxima over rows, which can be added up. Used by one thread at a time. */
final class Statistics implements Writable {
  private long rows;
  private long columns;
  private long cells;
  private long bytes;
  private long versionsMax;
  private long valueBytesMax;

  /** Empty statistics; Hadoop needs this constructor. */
  Statistics() {}

  /** Counts what one row has of a family. */
  void addRow() {
    rows++;
  }

  /** Counts a column with so many versions. */
  void addColumn(long versions) {
    columns++;
    cells += versions;
    versionsMax = Math.max(versionsMax, versions);
  }

  /** Counts the bytes of a cell. */
  void addBytes(long qualifierBytes, long valueBytes) {
    bytes += qualifierBytes + valueBytes;
    valueBytesMax = Math.max(valueBytesMax, valueBytes);
  }

  /** Counts bytes that belong to no cell. */
  void addKeyBytes(long keyBytes) {
    bytes += keyBytes;
  }

  void add(Statistics other) {
    rows += other.rows;
    columns += other.columns;
    cells += other.cells;
    bytes += other.bytes;
    versionsMax = Math.max(versionsMax, other.versionsMax);
    valueBytesMax = Math.max(valueBytesMax, other.valueBytesMax);
  }

  long rows() {
    return rows;
  }

  long columns() {
    return columns;
  }

  long cells() {
    return cells;
  }

  long bytes() {
    return bytes;
  }

  long versionsMax() {
    return versionsMax;
  }

  long valueBytesMax() {
    return valueBytesMax;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    for (long number : new long[] {rows, columns, cells, bytes, versionsMax, valueBytesMax}) {
      out.writeLong(number);
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    rows = in.readLong();
    columns = in.readLong();
    cells = in.readLong();
    bytes = in.readLong();
    versionsMax = in.readLong();
    valueBytesMax = in.readLong();
  }
}
