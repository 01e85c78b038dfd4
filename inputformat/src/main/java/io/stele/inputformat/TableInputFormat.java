package io.stele.inputformat;

import io.stele.client.RowKeySample;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Rows of tables as the input of a job: the key is the row key, the value the row.
 *
 * <pre>{@code
 * Job job = Job.getInstance(conf, "count anchors");
 * TableInputFormat.addTable(job, "webtable", RowQuery.ALL.family("anchor"));
 * job.setMapperClass(AnchorMapper.class); // extends Mapper<Bytes, Row, Text, LongWritable>
 * }</pre>
 *
 * <p>There is one split for each tablet that has rows asked for, with the host of its tablet server
 * and its length on disk. The rows are read from the tablet servers, so that everything
 * acknowledged before a mapper begins is seen; a row is whole, and no row is missing or comes
 * twice, whatever happens to tablets and tablet servers meanwhile. Rows written while the job runs
 * may be seen or not. A mapper may take any time between two rows.
 *
 * <p>A split covers the rows that its tablet had when the job was submitted. Should the tablet have
 * been split since, the split goes on into the new tablets by itself.
 *
 * <p>{@link Counter} has what was read. Neither keys nor values need to be written out for the
 * mapper; a job that sends them through the shuffle registers {@code
 * io.stele.mapreduce.ModelSerialization}.
 */
public final class TableInputFormat extends InputFormat<Bytes, Row> {
  /** What the job's mappers have read. */
  public enum Counter {
    /** Rows that had at least one cell asked for. */
    ROWS,
    /** Cells in them. */
    CELLS,
    /** Bytes of row keys, qualifiers and values in them. */
    BYTES
  }

  /**
   * Adds rows of a table to the job's input, and makes this the job's input format. May be called
   * several times, also for the same table.
   *
   * @param query which rows, and what of them; it cannot have a row limit, as no mapper knows of
   *     the others
   * @throws SteleException REFUSED if the query has a row limit
   */
  public static void addTable(Job job, String table, RowQuery query) {
    if (query.rowLimit() != Long.MAX_VALUE) {
      throw SteleException.refused(
          "a job reads all rows of its ranges: remove the row limit of "
              + query.rowLimit()
              + " from the query of table "
              + table
              + ", and stop reading in the mapper");
    }
    job.setInputFormatClass(TableInputFormat.class);
    TableScan.add(job.getConfiguration(), new TableScan(table, query));
  }

  /**
   * Fetches what the job's tasks need to prove who they are into the job's credentials. Submitting
   * does it too; use this to submit in another way.
   */
  public static void initCredentials(Job job) throws IOException {
    Stele.addCredentials(job.getConfiguration(), job.getCredentials());
  }

  @Override
  public List<InputSplit> getSplits(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    Stele.addCredentials(conf, context.getCredentials());
    List<TableScan> scans = TableScan.all(conf);
    List<InputSplit> splits = new ArrayList<>();
    try (Stele stele = Stele.connect(conf)) {
      for (int i = 0; i < scans.size(); i++) {
        Table table = stele.table(scans.get(i).table());
        table.checkFamilies(scans.get(i).query());
        List<RowKeySample> samples = table.sampleRowKeys();
        for (TabletInfo tablet : table.tablets()) {
          TableSplit.of(scans.get(i), i, tablet, samples).ifPresent(splits::add);
        }
      }
    }
    return splits;
  }

  @Override
  public RecordReader<Bytes, Row> createRecordReader(InputSplit split, TaskAttemptContext context) {
    return new TableRecordReader();
  }
}
