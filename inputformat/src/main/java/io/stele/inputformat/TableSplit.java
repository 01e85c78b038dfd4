package io.stele.inputformat;

import io.stele.client.RowKeySample;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.InputSplit;

/** The rows that one mapper reads: a piece of a tablet, or several small ones of one host. */
public final class TableSplit extends InputSplit implements Writable {
  private String table = "";
  private TableId tableId = TableId.METADATA;
  private int scan;
  private List<RowRange> ranges = List.of();
  private String host = "";
  private long bytes;
  private List<RowKeySample> marks = List.of();
  private String pin = "";
  private boolean direct;
  private List<String> blockHosts = List.of();

  /** Filled by {@link #readFields}: for Hadoop. */
  public TableSplit() {}

  /**
   * A split of the table that {@code scan} reads.
   *
   * @param marks rows, ascending, with the bytes of the split that lie before them; the first is
   *     the beginning
   */
  TableSplit(
      TableScan scan,
      int index,
      TableId tableId,
      List<RowRange> ranges,
      String host,
      List<RowKeySample> marks) {
    this.table = scan.table();
    this.tableId = tableId;
    this.scan = index;
    this.ranges = List.copyOf(ranges);
    this.host = host;
    this.marks = List.copyOf(marks.subList(0, marks.size() - 1));
    // Never 0: some frameworks leave out splits without bytes, and there may be rows.
    this.bytes = Math.max(1, marks.get(marks.size() - 1).offsetBytes());
  }

  /** Has its rows read at the pin of a job. */
  void atPin(String job) {
    pin = job;
  }

  /** Has its rows read from files, most of whose bytes are on {@code hosts}. */
  void readFrom(List<String> hosts) {
    direct = true;
    blockHosts = List.copyOf(hosts);
  }

  /** Whether its rows are read from files, without their servers. */
  boolean isDirect() {
    return direct;
  }

  /** The job at whose pin the rows are read; empty: as they are when they are read. */
  public Optional<String> pin() {
    return pin.isEmpty() ? Optional.empty() : Optional.of(pin);
  }

  /** The table's name. */
  public String table() {
    return table;
  }

  /** The table that had that name when the job was submitted. */
  public TableId tableId() {
    return tableId;
  }

  /** The rows, ascending; several ranges where the job asked for several, or tablets are small. */
  public List<RowRange> ranges() {
    return ranges;
  }

  /** The host of the tablets' server when the job was submitted; empty if they had none. */
  public Optional<String> host() {
    return host.isEmpty() ? Optional.empty() : Optional.of(host);
  }

  /** Which of the job's scans this is a part of. */
  int scan() {
    return scan;
  }

  /** Rows, ascending, with the bytes of the split that lie before them. */
  List<RowKeySample> marks() {
    return marks;
  }

  /** What the rows take on disk, and in memtables, in bytes; at least 1. */
  @Override
  public long getLength() {
    return bytes;
  }

  @Override
  public String[] getLocations() {
    if (!blockHosts.isEmpty()) {
      return blockHosts.toArray(new String[0]);
    }
    return host.isEmpty() ? new String[0] : new String[] {host};
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeString(out, table);
    WritableUtils.writeString(out, tableId.value());
    WritableUtils.writeVInt(out, scan);
    WritableUtils.writeVInt(out, ranges.size());
    for (RowRange range : ranges) {
      write(range.start(), out);
      write(range.end(), out);
    }
    WritableUtils.writeString(out, host);
    WritableUtils.writeVLong(out, bytes);
    WritableUtils.writeVInt(out, marks.size());
    for (RowKeySample mark : marks) {
      write(mark.row(), out);
      WritableUtils.writeVLong(out, mark.offsetBytes());
    }
    WritableUtils.writeString(out, pin);
    out.writeBoolean(direct);
    WritableUtils.writeStringArray(out, blockHosts.toArray(new String[0]));
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    table = WritableUtils.readString(in);
    tableId = new TableId(WritableUtils.readString(in));
    scan = WritableUtils.readVInt(in);
    List<RowRange> newRanges = new ArrayList<>();
    for (int left = WritableUtils.readVInt(in); left > 0; left--) {
      newRanges.add(new RowRange(read(in), read(in)));
    }
    ranges = List.copyOf(newRanges);
    host = WritableUtils.readString(in);
    bytes = WritableUtils.readVLong(in);
    List<RowKeySample> newMarks = new ArrayList<>();
    for (int left = WritableUtils.readVInt(in); left > 0; left--) {
      newMarks.add(new RowKeySample(read(in), WritableUtils.readVLong(in)));
    }
    marks = List.copyOf(newMarks);
    pin = WritableUtils.readString(in);
    direct = in.readBoolean();
    blockHosts = List.of(WritableUtils.readStringArray(in));
  }

  private static void write(Bytes text, DataOutput out) throws IOException {
    WritableUtils.writeVInt(out, text.length());
    out.write(text.toByteArray());
  }

  private static Bytes read(DataInput in) throws IOException {
    byte[] text = new byte[WritableUtils.readVInt(in)];
    in.readFully(text);
    return Bytes.wrap(text);
  }

  /** Shown by Hadoop with each task: the table and the rows. */
  @Override
  public String toString() {
    String rows = ranges.get(0).toString();
    return table
        + " "
        + (ranges.size() == 1 ? rows : rows + " and " + (ranges.size() - 1) + " more ranges")
        + ", "
        + bytes
        + " bytes";
  }
}
