package io.stele.model;

/**
 * A mutation that depends on the contents of its row. The row is read and changed in one atomic
 * step.
 *
 * @param row the row that is read and changed
 * @param predicate applied to the row; it holds if at least one cell passes
 * @param ifTrue what to do if the predicate holds; may have no edits
 * @param ifFalse what to do if it does not; may have no edits
 */
public record CheckAndMutate(Bytes row, Filter predicate, Mutation ifTrue, Mutation ifFalse)
    implements RowOperation {
  public CheckAndMutate {
    Limits.checkRow(row);
    if (!ifTrue.row().equals(row) || !ifFalse.row().equals(row)) {
      throw SteleException.refused(
          "a conditional mutation of row \""
              + row
              + "\" may only change that row, not \""
              + (ifTrue.row().equals(row) ? ifFalse : ifTrue).row()
              + "\"");
    }
  }

  @Override
  public Kind kind() {
    return Kind.CHECK_AND_MUTATE;
  }

  /** Applies {@code mutation} if at least one cell of its row passes {@code predicate}. */
  public static CheckAndMutate ifAny(Filter predicate, Mutation mutation) {
    return new CheckAndMutate(mutation.row(), predicate, mutation, Mutation.of(mutation.row()));
  }

  /**
   * Applies {@code mutation} if no cell of its row passes {@code predicate}. The result says
   * whether the predicate held: false if {@code mutation} was applied.
   */
  public static CheckAndMutate ifNone(Filter predicate, Mutation mutation) {
    return new CheckAndMutate(mutation.row(), predicate, Mutation.of(mutation.row()), mutation);
  }
}
