package io.stele.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes to one row, applied in the order given and all at once.
 *
 * <pre>{@code
 * Mutation.of("com.example/index.html")
 *     .put("contents", "", page)
 *     .put("anchor", "com.example/other.html", "look here")
 *     .deleteColumn("language", "");
 * }</pre>
 *
 * <p>Immutable: every call that adds an edit gives a new mutation. {@link #builder} is cheaper for
 * many edits.
 *
 * @param row the row key
 * @param edits the changes in order
 */
public record Mutation(Bytes row, List<Edit> edits) implements RowOperation {
  public Mutation {
    Limits.checkRow(row);
    edits = List.copyOf(edits);
    Limits.checkEdits(row, edits.size());
    for (Edit edit : edits) {
      check(edit);
    }
  }

  @Override
  public Kind kind() {
    return Kind.MUTATION;
  }

  private static void check(Edit edit) {
    switch (edit.kind()) {
      case PUT -> {
        Edit.Put put = (Edit.Put) edit;
        checkColumn(put.family(), put.qualifier());
      }
      case DELETE_CELL -> {
        Edit.DeleteCell delete = (Edit.DeleteCell) edit;
        checkColumn(delete.family(), delete.qualifier());
      }
      case DELETE_COLUMN -> {
        Edit.DeleteColumn delete = (Edit.DeleteColumn) edit;
        checkColumn(delete.family(), delete.qualifier());
      }
      case DELETE_FAMILY -> Limits.checkFamily(((Edit.DeleteFamily) edit).family());
      case DELETE_ROW -> {}
    }
  }

  private static void checkColumn(String family, Bytes qualifier) {
    Limits.checkFamily(family);
    Limits.checkQualifier(qualifier);
  }

  /** A mutation of {@code row} that changes nothing yet. */
  public static Mutation of(Bytes row) {
    return new Mutation(row, List.of());
  }

  /** A mutation of {@code row} that changes nothing yet. */
  public static Mutation of(String row) {
    return of(Bytes.of(row));
  }

  /** Collects edits of {@code row}. */
  public static Builder builder(Bytes row) {
    return new Builder(row);
  }

  /** Collects edits of {@code row}. */
  public static Builder builder(String row) {
    return builder(Bytes.of(row));
  }

  /** This mutation and then {@code edit}. */
  public Mutation with(Edit edit) {
    if (edits.isEmpty()) {
      return new Mutation(row, List.of(edit));
    }
    List<Edit> longer = new ArrayList<>(edits.size() + 1);
    longer.addAll(edits);
    longer.add(edit);
    return new Mutation(row, longer);
  }

  /** Puts a value at the time the server receives it. */
  public Mutation put(String family, String qualifier, String value) {
    return put(family, Bytes.of(qualifier), Bytes.of(value));
  }

  /** Puts a value at the time the server receives it. */
  public Mutation put(String family, String qualifier, byte[] value) {
    return put(family, Bytes.of(qualifier), Bytes.of(value));
  }

  /** Puts a value at the time the server receives it. */
  public Mutation put(String family, Bytes qualifier, Bytes value) {
    return put(family, qualifier, Edit.SERVER_TIMESTAMP, value);
  }

  /** Puts a value at {@code timestampMicros}. */
  public Mutation put(String family, Bytes qualifier, long timestampMicros, Bytes value) {
    return with(new Edit.Put(family, qualifier, timestampMicros, value));
  }

  /** Puts a value at {@code time}, cut to the microsecond. */
  public Mutation put(String family, String qualifier, Instant time, String value) {
    return put(family, Bytes.of(qualifier), Timestamps.micros(time), Bytes.of(value));
  }

  /** Deletes the version of a column with this timestamp. */
  public Mutation deleteCell(String family, Bytes qualifier, long timestampMicros) {
    return with(new Edit.DeleteCell(family, qualifier, timestampMicros));
  }

  /** Deletes every version of a column. */
  public Mutation deleteColumn(String family, String qualifier) {
    return deleteColumn(family, Bytes.of(qualifier), TimeRange.ALL);
  }

  /** Deletes the versions of a column within {@code range}. */
  public Mutation deleteColumn(String family, Bytes qualifier, TimeRange range) {
    return with(new Edit.DeleteColumn(family, qualifier, range));
  }

  /** Deletes everything the row has in {@code family}. */
  public Mutation deleteFamily(String family) {
    return with(new Edit.DeleteFamily(family));
  }

  /** Deletes the row. */
  public Mutation deleteRow() {
    return with(new Edit.DeleteRow());
  }

  /** Collects the edits of one mutation. Not safe for use by several threads. */
  public static final class Builder {
    private final Bytes row;
    private final List<Edit> edits = new ArrayList<>();

    private Builder(Bytes row) {
      this.row = row;
    }

    /** Adds {@code edit}. */
    public Builder add(Edit edit) {
      edits.add(edit);
      return this;
    }

    /** Adds a put at the time the server receives it. */
    public Builder put(String family, Bytes qualifier, Bytes value) {
      return put(family, qualifier, Edit.SERVER_TIMESTAMP, value);
    }

    /** Adds a put at the time the server receives it. */
    public Builder put(String family, String qualifier, String value) {
      return put(family, Bytes.of(qualifier), Bytes.of(value));
    }

    /** Adds a put at {@code timestampMicros}. */
    public Builder put(String family, Bytes qualifier, long timestampMicros, Bytes value) {
      return add(new Edit.Put(family, qualifier, timestampMicros, value));
    }

    /** Adds a put at {@code time}, cut to the microsecond. */
    public Builder put(String family, String qualifier, Instant time, String value) {
      return put(family, Bytes.of(qualifier), Timestamps.micros(time), Bytes.of(value));
    }

    /** Adds the deletion of the version of a column with this timestamp. */
    public Builder deleteCell(String family, Bytes qualifier, long timestampMicros) {
      return add(new Edit.DeleteCell(family, qualifier, timestampMicros));
    }

    /** Adds the deletion of every version of a column. */
    public Builder deleteColumn(String family, String qualifier) {
      return deleteColumn(family, Bytes.of(qualifier), TimeRange.ALL);
    }

    /** Adds the deletion of the versions of a column within {@code range}. */
    public Builder deleteColumn(String family, Bytes qualifier, TimeRange range) {
      return add(new Edit.DeleteColumn(family, qualifier, range));
    }

    /** Adds the deletion of everything the row has in {@code family}. */
    public Builder deleteFamily(String family) {
      return add(new Edit.DeleteFamily(family));
    }

    /** Adds the deletion of the row. */
    public Builder deleteRow() {
      return add(new Edit.DeleteRow());
    }

    /** The mutation. */
    public Mutation build() {
      return new Mutation(row, edits);
    }
  }
}
