package io.stele.record;

import io.stele.model.RowRange;

/**
 * A job replaces rows: when the tablet takes the job's files, all that was written to these rows
 * before goes. A tablet has it also where the job has written nothing.
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
