package io.stele.inputformat;

import io.stele.client.RowKeySample;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.InputSplit;

/** The rows of one tablet that one mapper reads. */
public final class TableSplit extends InputSplit implements Writable {
  /** Samples kept for telling progress: one for each percent is plenty. */
  private static final int SAMPLES_MAX = 100;

  private String table = "";
  private int scan;
  private List<RowRange> ranges = List.of();
  private String host = "";
  private long bytes;
  private List<RowKeySample> samples = List.of();

  /** Filled by {@link #readFields}: for Hadoop. */
  public TableSplit() {}

  private TableSplit(
      String table,
      int scan,
      List<RowRange> ranges,
      String host,
      long bytes,
      List<RowKeySample> samples) {
    this.table = table;
    this.scan = scan;
    this.ranges = ranges;
    this.host = host;
    this.bytes = bytes;
    this.samples = samples;
  }

  /**
   * What a scan reads of a tablet; nothing if its ranges do not meet the tablet's.
   *
   * @param samples of the whole table, ascending, the last one for its end
   */
  static Optional<TableSplit> of(
      TableScan scan, int index, TabletInfo tablet, List<RowKeySample> samples) {
    List<RowRange> asked = scan.query().ranges();
    List<RowRange> ranges =
        (asked.isEmpty() ? List.of(RowRange.ALL) : asked)
            .stream().flatMap(range -> range.intersection(tablet.rows()).stream()).toList();
    if (ranges.isEmpty()) {
      return Optional.empty();
    }
    Offsets offsets = new Offsets(samples);
    long whole = offsets.bytes(tablet.rows());
    long part = ranges.stream().mapToLong(offsets::bytes).sum();
    // The samples say where the bytes are, METADATA how many there are.
    long bytes = whole == 0 ? tablet.bytes() : Math.round((double) part / whole * tablet.bytes());
    String host = tablet.server().map(server -> server.host()).orElse("");
    return Optional.of(
        new TableSplit(
            scan.table(), index, ranges, host, bytes, offsets.within(ranges, SAMPLES_MAX)));
  }

  /** The table's name. */
  public String table() {
    return table;
  }

  /** The rows; several ranges where the job asked for several in this tablet. */
  public List<RowRange> ranges() {
    return ranges;
  }

  /** The host of the tablet's server when the job was submitted; empty if it had none. */
  public Optional<String> host() {
    return host.isEmpty() ? Optional.empty() : Optional.of(host);
  }

  /** Which of the job's scans this is a part of. */
  int scan() {
    return scan;
  }

  /** How far a reader is that has come to {@code row}, 0 to 1; empty if that is not known. */
  Optional<Float> progressAt(Bytes row) {
    if (samples.isEmpty()) {
      return Optional.empty();
    }
    long offset = 0;
    for (RowKeySample sample : samples) {
      if (sample.row().isEmpty() || sample.row().compareTo(row) > 0) {
        break;
      }
      offset = sample.offsetBytes();
    }
    long end = samples.get(samples.size() - 1).offsetBytes();
    return Optional.of(end == 0 ? 0f : (float) ((double) offset / end));
  }

  /** What the rows take on disk, and in memtables, in bytes. */
  @Override
  public long getLength() {
    return bytes;
  }

  @Override
  public String[] getLocations() {
    return host.isEmpty() ? new String[0] : new String[] {host};
  }

  @Override
  public void write(DataOutput out) throws IOException {
    WritableUtils.writeString(out, table);
    WritableUtils.writeVInt(out, scan);
    WritableUtils.writeVInt(out, ranges.size());
    for (RowRange range : ranges) {
      write(range.start(), out);
      write(range.end(), out);
    }
    WritableUtils.writeString(out, host);
    WritableUtils.writeVLong(out, bytes);
    WritableUtils.writeVInt(out, samples.size());
    for (RowKeySample sample : samples) {
      write(sample.row(), out);
      WritableUtils.writeVLong(out, sample.offsetBytes());
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    table = WritableUtils.readString(in);
    scan = WritableUtils.readVInt(in);
    List<RowRange> newRanges = new ArrayList<>();
    for (int left = WritableUtils.readVInt(in); left > 0; left--) {
      newRanges.add(new RowRange(read(in), read(in)));
    }
    ranges = List.copyOf(newRanges);
    host = WritableUtils.readString(in);
    bytes = WritableUtils.readVLong(in);
    List<RowKeySample> newSamples = new ArrayList<>();
    for (int left = WritableUtils.readVInt(in); left > 0; left--) {
      newSamples.add(new RowKeySample(read(in), WritableUtils.readVLong(in)));
    }
    samples = List.copyOf(newSamples);
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
    return table + " " + (ranges.size() == 1 ? ranges.get(0) : ranges) + ", " + bytes + " bytes";
  }
}
