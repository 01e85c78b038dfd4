package io.stele.record;

import io.stele.model.RowRange;

/**
 * What a job does to a tablet if it commits: it becomes true then, and is discarded if the job does
 * not commit. It is part of the tablet's durable record, and of the records of the children of a
 * split.
 */
public sealed interface Pending permits PendingFile, PendingReplacement {
  /** The job. */
  String job();

  /** The rows that it may change. */
  RowRange rows();

  /** The same for only the rows that are also in {@code other}; it {@link #meets} them. */
  Pending clipped(RowRange other);

  /** Whether it has rows of {@code other}. */
  default boolean meets(RowRange other) {
    return rows().intersection(other).isPresent();
  }
}
