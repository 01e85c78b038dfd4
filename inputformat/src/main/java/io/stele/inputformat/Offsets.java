package io.stele.inputformat;

import io.stele.client.RowKeySample;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.List;

/**
 * Where in a table its bytes are, by samples of its rows.
 *
 * @param samples ascending; the last has the empty row, for the table's end
 */
record Offsets(List<RowKeySample> samples) {
  Offsets {
    samples = List.copyOf(samples);
  }

  /** About how many bytes the rows in {@code range} take. */
  long bytes(RowRange range) {
    return end(range) - before(range.start());
  }

  /**
   * Samples of the rows in {@code ranges}, ascending, counted from the start of the first range as
   * if the ranges were all there is; the last has the empty row and the length of all. None where
   * no bytes are known of.
   */
  List<RowKeySample> within(List<RowRange> ranges, int most) {
    List<RowKeySample> within = new ArrayList<>();
    long done = 0;
    for (RowRange range : ranges) {
      long start = before(range.start());
      for (RowKeySample sample : samples) {
        if (!sample.row().isEmpty() && range.contains(sample.row())) {
          within.add(new RowKeySample(sample.row(), done + sample.offsetBytes() - start));
        }
      }
      done += bytes(range);
    }
    if (done == 0) {
      return List.of();
    }
    List<RowKeySample> thinned = new ArrayList<>();
    int step = within.size() / most + 1;
    for (int i = 0; i < within.size(); i += step) {
      thinned.add(within.get(i));
    }
    thinned.add(new RowKeySample(Bytes.EMPTY, done));
    return thinned;
  }

  /** The bytes of all rows before {@code row}. */
  private long before(Bytes row) {
    long offset = 0;
    for (RowKeySample sample : samples) {
      if (sample.row().isEmpty() || sample.row().compareTo(row) > 0) {
        break;
      }
      offset = sample.offsetBytes();
    }
    return offset;
  }

  private long end(RowRange range) {
    if (range.end().isEmpty()) {
      return samples.isEmpty() ? 0 : samples.get(samples.size() - 1).offsetBytes();
    }
    return before(range.end());
  }
}
