package io.stele.record;

import io.stele.model.RowRange;

/**
 * A job's replacement of rows: when the tablet takes the job's files, everything written to these
 * rows before is deleted. A tablet has this record even if the job has written nothing there.
 *
 * @param job that replaces them
 * @param rows which are replaced
 */
public record PendingReplacement(String job, RowRange rows) implements Pending {
  @Override
  public PendingReplacement clipped(RowRange other) {
    return new PendingReplacement(job, rows.intersection(other).orElseThrow());
  }
}
