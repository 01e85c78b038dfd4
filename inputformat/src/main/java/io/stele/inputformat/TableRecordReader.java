package io.stele.inputformat;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Reads the rows of one split. Used by one thread, except for {@link #getProgress}. */
final class TableRecordReader extends RecordReader<Bytes, Row> {
  private TableSplit split;
  private TaskAttemptContext context;
  private Stele stele;
  private Rows rows;
  private volatile Optional<Row> current = Optional.empty();
  private volatile boolean done;
  private volatile long bytesRead;

  @Override
  public void initialize(InputSplit inputSplit, TaskAttemptContext taskContext) throws IOException {
    split = (TableSplit) inputSplit;
    context = taskContext;
    TableScan scan = TableScan.all(context.getConfiguration()).get(split.scan());
    stele = Stele.connect(context.getConfiguration());
    rows = stele.table(split.table()).readRows(scan.query().withRanges(split.ranges()));
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    Optional<Row> next = rows.readOn();
    current = next;
    done = next.isEmpty();
    next.ifPresent(this::count);
    return next.isPresent();
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread counts, others look.
  private void count(Row row) {
    long bytes = row.key().length();
    for (Cell cell : row.cells()) {
      bytes += cell.qualifier().length() + cell.value().length();
    }
    bytesRead = bytesRead + bytes;
    context.getCounter(TableInputFormat.Counter.ROWS).increment(1);
    context.getCounter(TableInputFormat.Counter.CELLS).increment(row.cells().size());
    context.getCounter(TableInputFormat.Counter.BYTES).increment(bytes);
  }

  @Override
  public Bytes getCurrentKey() {
    return current.orElseThrow().key();
  }

  @Override
  public Row getCurrentValue() {
    return current.orElseThrow();
  }

  /**
   * By the bytes on disk that lie before the current row; where no SSTable tells, by the bytes
   * read, which are not compressed.
   */
  @Override
  public float getProgress() {
    if (done) {
      return 1;
    }
    return current
        .map(row -> split.progressAt(row.key()).orElseGet(this::progressByBytes))
        .orElse(0f);
  }

  private float progressByBytes() {
    return split.getLength() == 0
        ? 0
        : Math.min(1f, (float) ((double) bytesRead / split.getLength()));
  }

  @Override
  public void close() {
    if (rows != null) {
      rows.close();
    }
    if (stele != null) {
      stele.close();
    }
  }
}
