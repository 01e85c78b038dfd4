package io.stele.mapreduce.jobs;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.Amount;
import io.stele.model.Bytes;
import io.stele.model.Row;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/**
 * Counts rows, cells and bytes.
 *
 * <p>The mappers do nothing: the counters of the input format, {@link TableInputFormat.Counter},
 * are the result.
 */
public record CountRows(TableInput input) implements TableJob {
  /**
   * What was counted.
   *
   * @param bytes of row keys, qualifiers and values
   */
  public record Result(long rows, long cells, long bytes) {
    /** What a finished job has counted. */
    public static Result of(Job finished) throws IOException {
      Counters counters = CompleteJob.counters(finished);
      return new Result(
          counters.findCounter(TableInputFormat.Counter.ROWS).getValue(),
          counters.findCounter(TableInputFormat.Counter.CELLS).getValue(),
          counters.findCounter(TableInputFormat.Counter.BYTES).getValue());
    }

    String text() {
      return Amount.of(rows, "row")
          + ", "
          + Amount.of(cells, "cell")
          + ", "
          + Amount.of(bytes, "byte")
          + " of keys, qualifiers and values";
    }
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    Job job = CompleteJob.create(conf, "count the rows of " + input.table());
    input.addTo(job);
    job.setMapperClass(CountMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    return Report.good(List.of(Result.of(finished).text() + "."));
  }

  /** Lets the input format count. */
  static final class CountMapper extends Mapper<Bytes, Row, NullWritable, NullWritable> {
    @Override
    protected void map(Bytes key, Row row, Context context) {}
  }
}
