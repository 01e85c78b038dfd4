package io.stele.mapreduce;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Counts the rows, cells and bytes of a table, or of its rows with a prefix.
 *
 * <p>The mappers do nothing: {@link TableInputFormat.Counter} has it all.
 */
public final class RowCount extends Configured implements Tool {
  /**
   * What was counted.
   *
   * @param bytes of row keys, qualifiers and values
   */
  public record Result(long rows, long cells, long bytes) {}

  /** The job, ready to be submitted. */
  public static Job job(Configuration conf, String table, RowQuery query) throws IOException {
    Job job = SteleJob.create(conf, "count the rows of " + table);
    TableInputFormat.addTable(job, table, query);
    job.setMapperClass(CountMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  /** What a finished job has counted. */
  public static Result result(Job finished) throws IOException {
    var counters = finished.getCounters();
    return new Result(
        counters.findCounter(TableInputFormat.Counter.ROWS).getValue(),
        counters.findCounter(TableInputFormat.Counter.CELLS).getValue(),
        counters.findCounter(TableInputFormat.Counter.BYTES).getValue());
  }

  @Override
  public int run(String[] args) throws Exception {
    if (args.length < 1 || args.length > 2) {
      System.err.println("rowcount <table> [<prefix>]: counts a table's rows, cells and bytes");
      return 2;
    }
    RowQuery query = args.length == 2 ? RowQuery.prefix(args[1]) : RowQuery.ALL;
    Job job = job(getConf(), args[0], query);
    if (!job.waitForCompletion(true)) {
      return 1;
    }
    Result result = result(job);
    System.out.printf(
        "%,d rows, %,d cells, %,d bytes%n", result.rows(), result.cells(), result.bytes());
    return 0;
  }

  /** Runs the tool. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    System.exit(ToolRunner.run(conf, new RowCount(), args));
  }

  /** Lets the input format count. */
  static final class CountMapper extends Mapper<Bytes, Row, NullWritable, NullWritable> {
    @Override
    protected void map(Bytes key, Row row, Context context) {}
  }
}
