package io.stele.benchmarks;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.mapreduce.HFileOutputFormat2;
import org.apache.hadoop.hbase.mapreduce.TableMapReduceUtil;
import org.apache.hadoop.hbase.mapreduce.TableMapper;
import org.apache.hadoop.hbase.mapreduce.TableOutputFormat;
import org.apache.hadoop.hbase.util.MapReduceExtendedCell;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/** The jobs of {@link JobInputs} and {@link JobOutputs}, by HBase's formats. */
final class HBaseJobs {
  private HBaseJobs() {}

  /** As HBase's guide advises for jobs: what is read once goes into no cache. */
  private static Scan all() {
    return new Scan().setCacheBlocks(false);
  }

  static Job served(Configuration conf, TableName table) throws IOException {
    Job job = Job.getInstance(conf, "hbase-served");
    TableMapReduceUtil.initTableMapperJob(
        table.getNameAsString(),
        all(),
        CellMapper.class,
        NullWritable.class,
        NullWritable.class,
        job,
        false);
    return counting(job);
  }

  /** Restores a snapshot to a directory and reads its files. */
  static Job snapshot(Configuration conf, String snapshot, Path restored) throws IOException {
    Job job = Job.getInstance(conf, "hbase-snapshot");
    TableMapReduceUtil.initTableSnapshotMapperJob(
        snapshot,
        all(),
        CellMapper.class,
        NullWritable.class,
        NullWritable.class,
        job,
        false,
        restored);
    return counting(job);
  }

  private static Job counting(Job job) {
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  /** Writes records as files of a table's regions, a reducer each. */
  static Job files(Configuration conf, Path from, Path to, Table table, RegionLocator places)
      throws IOException {
    Job job = reading(Job.getInstance(conf, "hbase-bulk"), from, FileMapper.class);
    job.setMapOutputKeyClass(ImmutableBytesWritable.class);
    job.setMapOutputValueClass(MapReduceExtendedCell.class);
    HFileOutputFormat2.configureIncrementalLoad(job, table, places);
    FileOutputFormat.setOutputPath(job, to);
    return job;
  }

  /** Writes records through the region server. */
  static Job live(Configuration conf, Path from, TableName table) throws IOException {
    conf.set(TableOutputFormat.OUTPUT_TABLE, table.getNameAsString());
    Job job = reading(Job.getInstance(conf, "hbase-live"), from, PutMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(TableOutputFormat.class);
    return job;
  }

  private static Job reading(Job job, Path from, Class<? extends Mapper<?, ?, ?, ?>> mapper)
      throws IOException {
    FileInputFormat.addInputPath(job, from);
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(mapper);
    return job;
  }

  /** Counts, and tells the counter in the end, as those of {@link JobInputs} do. */
  public static final class CellMapper extends TableMapper<NullWritable, NullWritable> {
    private long bytes;

    @Override
    protected void map(ImmutableBytesWritable key, Result row, Context context) {
      bytes += row.rawCells()[0].getValueLength();
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(JobInputs.Counter.BYTES).increment(bytes);
    }
  }

  /** A record as a cell of a file. */
  public static final class FileMapper
      extends Mapper<BytesWritable, BytesWritable, ImmutableBytesWritable, MapReduceExtendedCell> {
    private final long now = System.currentTimeMillis();

    @Override
    protected void map(BytesWritable key, BytesWritable value, Context context)
        throws IOException, InterruptedException {
      byte[] row = Arrays.copyOf(key.getBytes(), key.getLength());
      byte[] copy = Arrays.copyOf(value.getBytes(), value.getLength());
      KeyValue cell = new KeyValue(row, HBaseServer.FAMILY, HBaseServer.QUALIFIER, now, copy);
      context.write(new ImmutableBytesWritable(row), new MapReduceExtendedCell(cell));
    }
  }

  /** A record as a put. */
  public static final class PutMapper
      extends Mapper<BytesWritable, BytesWritable, ImmutableBytesWritable, Mutation> {
    @Override
    protected void map(BytesWritable key, BytesWritable value, Context context)
        throws IOException, InterruptedException {
      byte[] row = Arrays.copyOf(key.getBytes(), key.getLength());
      byte[] copy = Arrays.copyOf(value.getBytes(), value.getLength());
      context.write(
          new ImmutableBytesWritable(row),
          new Put(row).addColumn(HBaseServer.FAMILY, HBaseServer.QUALIFIER, copy));
    }
  }
}
