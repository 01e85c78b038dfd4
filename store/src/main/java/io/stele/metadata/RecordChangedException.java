package io.stele.metadata;

import io.stele.model.SteleException;

/**
 * A tablet's record is not in the state that a change was conditional on: somebody else has the
 * tablet now, or it is gone. Nothing was changed; read the record again, or stop.
 */
public final class RecordChangedException extends SteleException {
  private static final long serialVersionUID = 1L;

  RecordChangedException(String what, TabletRecord expected) {
    super(
        Code.REFUSED,
        what
            + " of tablet "
            + expected.id()
            + ": its record is no longer in the state "
            + expected.assignment());
  }
}
