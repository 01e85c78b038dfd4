package io.stele.model;

import java.io.Serializable;

/** A change to one row, applied whole or not at all, in an order that all its readers agree on. */
public sealed interface RowOperation extends Serializable
    permits Mutation, CheckAndMutate, ReadModifyWrite {
  /** The kinds of operation. */
  enum Kind {
    MUTATION,
    CHECK_AND_MUTATE,
    READ_MODIFY_WRITE
  }

  /** Which kind of operation this is: a switch over it names them all. */
  Kind kind();

  /** The row it changes. */
  Bytes row();
}
