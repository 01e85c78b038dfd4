package io.stele.model;

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
public record Mutation(Bytes row, List<Edit> edits) implements RowOperation, RowEdits<Mutation> {
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
  @Override
  public Mutation with(Edit edit) {
    if (edits.isEmpty()) {
      return new Mutation(row, List.of(edit));
    }
    List<Edit> longer = new ArrayList<>(edits.size() + 1);
    longer.addAll(edits);
    longer.add(edit);
    return new Mutation(row, longer);
  }

  /** Collects the edits of one mutation. Not safe for use by several threads. */
  public static final class Builder implements RowEdits<Builder> {
    private final Bytes row;
    private final List<Edit> edits = new ArrayList<>();

    private Builder(Bytes row) {
      this.row = row;
    }

    @Override
    public Builder with(Edit edit) {
      edits.add(edit);
      return this;
    }

    /** The mutation. */
    public Mutation build() {
      return new Mutation(row, edits);
    }
  }
}
