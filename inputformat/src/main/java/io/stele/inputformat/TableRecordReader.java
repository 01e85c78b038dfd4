package io.stele.inputformat;

import io.stele.client.JobRenewal;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.client.Table;
import io.stele.direct.DirectRows;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Reads the rows of one split. Used by one thread, except for {@link #getProgress}. */
final class TableRecordReader extends RecordReader<Bytes, Row> {
  private Stele stele;
  private Source rows;
  private Optional<JobRenewal> renewal = Optional.empty();
  private ReadCounters counters;
  private Optional<Row> current = Optional.empty();
  private boolean closed;
  private volatile Progress progress = new Progress(List.of(), 1);

  /** Where rows come from. */
  private interface Source extends Closeable {
    /** The next row, or none at the end. */
    Optional<Row> next() throws IOException;
  }

  /** Rows from tablet servers. */
  private record Served(Rows rows) implements Source {
    @Override
    public Optional<Row> next() throws IOException {
      return rows.readWithoutTimeout();
    }

    @Override
    public void close() {
      rows.close();
    }
  }

  /** Rows from files. */
  private record Direct(DirectRows rows, TaskAttemptContext context) implements Source {
    @Override
    public Optional<Row> next() throws IOException {
      return rows.read();
    }

    @Override
    public void close() {
      rows.close();
      count(TableInputFormat.Counter.RETRIES, rows.retries());
      count(TableInputFormat.Counter.LOCAL_FILE_BYTES, rows.localBytes());
      count(TableInputFormat.Counter.REMOTE_FILE_BYTES, rows.remoteBytes());
    }

    private void count(TableInputFormat.Counter counter, long value) {
      context.getCounter(counter).increment(value);
    }
  }

  /** Nothing is left to do. */
  private record NoRows() implements Source {
    @Override
    public Optional<Row> next() {
      return Optional.empty();
    }

    @Override
    public void close() {}
  }

  @Override
  public void initialize(InputSplit inputSplit, TaskAttemptContext taskContext) throws IOException {
    TableSplit split = (TableSplit) inputSplit;
    try {
      progress = new Progress(split.marks(), split.getLength());
      counters = new ReadCounters(taskContext);
      TableScan scan = TableScan.all(taskContext.getConfiguration()).get(split.scan());
      stele = Stele.connect(taskContext.getConfiguration(), taskContext::progress);
      if (SubmittedOutput.hasCommittedBefore(stele.jobs(), taskContext.getConfiguration())) {
        taskContext.getCounter(TableInputFormat.Counter.SPLITS_NOT_READ).increment(1);
        rows = new NoRows(); // The pin has ended with the output's job, and the table may be gone.
        return;
      }
      Table table = stele.table(split.table());
      if (!table.id().equals(split.tableId())) {
        throw SteleException.refused(
            "table "
                + split.table()
                + " was dropped and made again since the job was submitted (it was "
                + split.tableId()
                + ", now it is "
                + table.id()
                + "): submit the job again");
      }
      if (split.pin().isPresent()) {
        renewal = Optional.of(stele.jobs().keep(split.pin().get()));
        table = table.atPin(split.pin().get());
      }
      RowQuery query = scan.query().withRanges(split.ranges());
      rows =
          split.isDirect()
              ? new Direct(DirectRows.of(table, query), taskContext)
              : new Served(table.withoutCaching().readRows(query));
    } catch (IOException | RuntimeException e) {
      closeAfter(e);
      throw e;
    }
  }

  /** Not every framework closes a reader that it could not open. */
  private void closeAfter(Exception failure) {
    try {
      close();
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    if (renewal.isPresent()) {
      renewal.get().check();
    }
    current = rows.next();
    if (current.isPresent()) {
      count(current.get());
    } else {
      progress.end();
      counters.tell();
    }
    return current.isPresent();
  }

  private void count(Row row) {
    long bytes = row.key().length();
    for (Cell cell : row.cells()) {
      bytes += cell.qualifier().length() + cell.value().length();
    }
    progress.read(row.key(), bytes);
    counters.row(row.cells().size(), bytes);
  }

  @Override
  public Bytes getCurrentKey() {
    return current.orElseThrow().key();
  }

  @Override
  public Row getCurrentValue() {
    return current.orElseThrow();
  }

  @Override
  public float getProgress() {
    return progress.part();
  }

  /** Closing again does nothing: Spark closes readers at the end of the rows and of the task. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    renewal.ifPresent(JobRenewal::close);
    if (rows != null) {
      counters.tell();
      rows.close();
    }
    if (stele != null) {
      stele.close();
    }
  }
}
