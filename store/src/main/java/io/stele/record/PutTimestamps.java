package io.stele.record;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The timestamps of a job's puts that have none of their own: in rows that the job has pinned to
 * read them, the timestamp of the pin, and one time for all other rows. So a put of the job is
 * newer than what the job has read in that column, and older than what others write to it later.
 * Immutable.
 */
public final class PutTimestamps {
  private final long elsewhereMicros;
  private final List<NavigableMap<Bytes, Pinned>> inputs; // By the first row.

  /**
   * Rows that are pinned.
   *
   * @param rows those of a tablet
   * @param micros the timestamp of its pin, as {@link Pin#timestampMicros} says
   */
  public record Pinned(RowRange rows, long micros) {}

  private PutTimestamps(long elsewhereMicros, List<NavigableMap<Bytes, Pinned>> inputs) {
    this.elsewhereMicros = elsewhereMicros;
    this.inputs = inputs;
  }

  /** The same timestamp in all rows; microseconds. */
  public static PutTimestamps always(long micros) {
    return new PutTimestamps(micros, List.of());
  }

  /**
   * These timestamps, and those of an input's pins. A row that several inputs have gets the highest
   * timestamp of them, because the job may read what the last one sees.
   *
   * @param pinned ranges that do not overlap
   */
  public PutTimestamps with(List<Pinned> pinned) {
    NavigableMap<Bytes, Pinned> input = new TreeMap<>();
    pinned.forEach(one -> input.put(one.rows().start(), one));
    List<NavigableMap<Bytes, Pinned>> more = new ArrayList<>(inputs);
    more.add(input);
    return new PutTimestamps(elsewhereMicros, List.copyOf(more));
  }

  /** The timestamp of puts to {@code row}, microseconds. */
  public long at(Bytes row) {
    long highest = Long.MIN_VALUE;
    for (NavigableMap<Bytes, Pinned> input : inputs) {
      Map.Entry<Bytes, Pinned> found = input.floorEntry(row);
      if (found != null && found.getValue().rows().contains(row)) {
        highest = Math.max(highest, found.getValue().micros());
      }
    }
    return highest == Long.MIN_VALUE ? elsewhereMicros : highest;
  }

  /** The timestamp of puts to rows that are not pinned, microseconds. */
  public long elsewhere() {
    return elsewhereMicros;
  }
}
