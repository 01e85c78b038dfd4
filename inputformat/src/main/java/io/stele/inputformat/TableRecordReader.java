package io.stele.inputformat;

import io.stele.client.JobRenewal;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Reads the rows of one split. Used by one thread, except for {@link #getProgress}. */
final class TableRecordReader extends RecordReader<Bytes, Row> {
  private Stele stele;
  private Rows rows;
  private Optional<JobRenewal> renewal = Optional.empty();
  private Counter rowCounter;
  private Counter cellCounter;
  private Counter byteCounter;
  private Optional<Row> current = Optional.empty();
  private volatile Progress progress = new Progress(List.of(), 1);

  @Override
  public void initialize(InputSplit inputSplit, TaskAttemptContext taskContext) throws IOException {
    TableSplit split = (TableSplit) inputSplit;
    progress = new Progress(split.marks(), split.getLength());
    rowCounter = taskContext.getCounter(TableInputFormat.Counter.ROWS);
    cellCounter = taskContext.getCounter(TableInputFormat.Counter.CELLS);
    byteCounter = taskContext.getCounter(TableInputFormat.Counter.BYTES);
    TableScan scan = TableScan.all(taskContext.getConfiguration()).get(split.scan());
    stele = Stele.connect(taskContext.getConfiguration(), taskContext::progress);
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
    rows = table.readRows(scan.query().withRanges(split.ranges()));
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    current = rows.readOn();
    if (current.isPresent()) {
      count(current.get());
    } else {
      progress.end();
    }
    return current.isPresent();
  }

  private void count(Row row) {
    long bytes = row.key().length();
    for (Cell cell : row.cells()) {
      bytes += cell.qualifier().length() + cell.value().length();
    }
    progress.read(row.key(), bytes);
    rowCounter.increment(1);
    cellCounter.increment(row.cells().size());
    byteCounter.increment(bytes);
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

  @Override
  public void close() {
    renewal.ifPresent(JobRenewal::close);
    if (rows != null) {
      rows.close();
    }
    if (stele != null) {
      stele.close();
    }
  }
}
