package io.stele.model;

/** A change to one row, applied whole or not at all, in an order that all its readers agree on. */
public sealed interface RowOperation permits Mutation, CheckAndMutate, ReadModifyWrite {
  /** The row it changes. */
  Bytes row();
}
