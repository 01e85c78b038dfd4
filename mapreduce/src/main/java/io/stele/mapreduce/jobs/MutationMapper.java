package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.mapreduce.Mapper;

/** Writes cells, and counts them. */
abstract class MutationMapper<K, V> extends Mapper<K, V, Bytes, Mutation> {
  /** What the mappers wrote, or in a dry run would have written. */
  enum Counter {
    /** Rows; a row in several places of a file counts once for each place. */
    ROWS,
    CELLS,
    /** Lines of text that could not be taken. */
    BAD_LINES
  }

  /** The task's counters. To look one up takes a lock and a search by name. */
  private record Counted(
      org.apache.hadoop.mapreduce.Counter rows, org.apache.hadoop.mapreduce.Counter cells) {
    void row(long itsCells) {
      rows.increment(1);
      cells.increment(itsCells);
    }
  }

  private Optional<Counted> counted = Optional.empty();

  @Override
  public final void run(Context context) throws IOException, InterruptedException {
    counted =
        Optional.of(
            new Counted(context.getCounter(Counter.ROWS), context.getCounter(Counter.CELLS)));
    super.run(context);
  }

  /** Writes {@code cells} of one row, in order. Without cells there is no row. */
  final void write(Bytes row, List<Cell> cells, Context context)
      throws IOException, InterruptedException {
    for (Mutation mutation : RowMutations.of(row, cells)) {
      context.write(row, mutation);
    }
    if (!cells.isEmpty()) {
      counted.orElseThrow().row(cells.size());
    }
  }

  /** Writes {@code mutation}. */
  final void write(Mutation mutation, Context context) throws IOException, InterruptedException {
    context.write(mutation.row(), mutation);
    long cells = mutation.edits().stream().filter(Edit.Put.class::isInstance).count();
    counted.orElseThrow().row(cells);
  }
}
