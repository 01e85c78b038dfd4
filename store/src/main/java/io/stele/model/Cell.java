package io.stele.model;

import java.io.Serializable;
import java.time.Instant;
import java.util.List;

/**
 * One version of one column in one row.
 *
 * @param family the column family's name
 * @param qualifier the column's name within the family; may be empty
 * @param timestampMicros microseconds since 1970, or whatever the writer chose to count
 * @param value what was written
 * @param labels what filters labelled the cell with; most cells have none
 */
public record Cell(
    String family, Bytes qualifier, long timestampMicros, Bytes value, List<String> labels)
    implements Serializable {
  public Cell {
    labels = List.copyOf(labels);
  }

  /** A cell without labels. */
  public Cell(String family, Bytes qualifier, long timestampMicros, Bytes value) {
    this(family, qualifier, timestampMicros, value, List.of());
  }

  /** The timestamp as a time, for writers that count from 1970 as servers do. */
  public Instant time() {
    return Timestamps.time(timestampMicros);
  }

  /** Whether the cell is a version of {@code column}. */
  public boolean isOf(Column column) {
    return family.equals(column.family()) && qualifier.equals(column.qualifier());
  }

  @Override
  public String toString() {
    return family
        + ":"
        + qualifier
        + " @"
        + timestampMicros
        + " = "
        + value
        + (labels.isEmpty() ? "" : " " + labels);
  }
}
