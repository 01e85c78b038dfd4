package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import java.util.ArrayList;
import java.util.List;

/** Converts rows to mutations that write their cells with the same timestamps. */
final class RowMutations {
  /** Well below what a server takes in one operation; a row beyond it becomes several. */
  private static final long BYTES_MAX = 4L << 20;

  private static final int EDITS_MAX = 10_000;

  private RowMutations() {}

  /** Mutations that write {@code cells}, in order. */
  static List<Mutation> of(Bytes row, Iterable<Cell> cells) {
    List<Mutation> mutations = new ArrayList<>();
    List<Edit> edits = new ArrayList<>();
    long keyBytes = OperationSize.keyBytes(row);
    long bytes = 0;
    for (Cell cell : cells) {
      long more =
          OperationSize.cell(keyBytes, cell.family(), cell.qualifier(), cell.value().length());
      if (!edits.isEmpty() && (bytes + more > BYTES_MAX || edits.size() == EDITS_MAX)) {
        mutations.add(new Mutation(row, edits));
        edits.clear();
        bytes = 0;
      }
      edits.add(
          new Edit.Put(cell.family(), cell.qualifier(), cell.timestampMicros(), cell.value()));
      bytes += more;
    }
    if (!edits.isEmpty()) {
      mutations.add(new Mutation(row, edits));
    }
    return mutations;
  }
}
