package io.stele.mapreduce;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.OperationSize;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.WrappedMapper;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.task.MapContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Estimates the output of a job's mappers from the beginnings of many pieces of its input: it runs
 * the job's own mapper over them in this process. Not safe for use by several threads.
 */
final class OutputSample {
  private static final int PIECES_MIN = 16;
  private static final int PIECES_MAX = 64;
  private static final int PIECES_OF_PART = 8;
  private static final int RECORDS_MIN = 10_000;
  private static final int RECORDS_OF_PART = 200;
  private static final int RECORDS_OF_PIECE_MAX = 1000;
  private static final int WRITES = 10_000;
  private static final double ROUNDING = 1e-9; // Of sums of what was sampled, at most.

  /**
   * How much is read. To begin a piece costs as much as many records: the reader of a SequenceFile
   * looks for a mark, byte by byte.
   *
   * @param pieces of the input: sorted input is divided as exactly as that
   * @param records of each piece
   */
  private record Size(int pieces, int records) {
    /** For a division into so many parts at most. */
    static Size of(int parts) {
      int pieces = (int) clamp((long) PIECES_OF_PART * parts, PIECES_MIN, PIECES_MAX);
      long records = Math.max(RECORDS_MIN, (long) RECORDS_OF_PART * parts) / pieces;
      return new Size(pieces, (int) clamp(records, 1, RECORDS_OF_PIECE_MAX));
    }

    private static long clamp(long value, long min, long max) {
      return Math.max(min, Math.min(max, value));
    }
  }

  /**
   * A row that would be written.
   *
   * @param bytes how many bytes of output it represents
   */
  private record Sampled(Bytes row, double bytes) {}

  private final List<Sampled> rows = new ArrayList<>();

  private final Size size;

  private OutputSample(Size size) {
    this.size = size;
  }

  /**
   * Samples a job whose input and mapper are set.
   *
   * @param parts into how many its output is to be divided, at most
   * @throws SteleException REFUSED if the mapper does not write rows as keys
   */
  static OutputSample of(Job job, int parts) throws IOException {
    Job reading = Job.getInstance(job.getConfiguration());
    reading.getCredentials().addAll(job.getCredentials());
    Configuration conf = reading.getConfiguration();
    conf.set(TableInputFormat.MODE_KEY, "served");
    conf.set(TableInputFormat.READ_KEY, "latest"); // A pin would be for nothing.
    try {
      InputFormat<?, ?> format = ReflectionUtils.newInstance(reading.getInputFormatClass(), conf);
      return sample(reading, format, Size.of(parts));
    } catch (ClassNotFoundException e) {
      throw new IOException("the job's input format or mapper is not on the class path", e);
    } catch (InterruptedException e) {
      throw (IOException) new InterruptedIOException("interrupted while sampling").initCause(e);
    }
  }

  private static <K, V> OutputSample sample(Job reading, InputFormat<K, V> format, Size size)
      throws IOException, InterruptedException, ClassNotFoundException {
    Configuration conf = reading.getConfiguration();
    long piece = Math.max(1, bytes(format.getSplits(reading)) / size.pieces());
    long largest = FileInputFormat.getMaxSplitSize(reading);
    FileInputFormat.setMaxInputSplitSize(reading, Math.min(piece, largest));
    conf.setLong(TableInputFormat.SPLIT_BYTES_KEY, piece);
    List<InputSplit> splits = format.getSplits(reading);
    int read = Math.min(size.pieces(), splits.size());
    OutputSample sample = new OutputSample(size);
    for (int i = 0; i < read; i++) {
      InputSplit split = splits.get((int) ((long) i * splits.size() / read));
      @SuppressWarnings("unchecked") // As Hadoop takes it, too.
      Mapper<K, V, Object, Object> mapper =
          (Mapper<K, V, Object, Object>)
              ReflectionUtils.newInstance(reading.getMapperClass(), conf);
      sample.read(format, mapper, split, i, conf, (double) splits.size() / read);
    }
    sample.rows.sort(Comparator.comparing(Sampled::row));
    return sample;
  }

  private static long bytes(List<InputSplit> splits) throws IOException, InterruptedException {
    long bytes = 0;
    for (InputSplit split : splits) {
      bytes += split.getLength();
    }
    return bytes;
  }

  /** What a mapper has written. */
  private static final class Writes extends RecordWriter<Object, Object> {
    private final List<Sampled> rows = new ArrayList<>();

    @Override
    public void write(Object key, Object value) {
      if (!(key instanceof Bytes row)) {
        throw SteleException.refused(
            "the job's mapper writes keys of "
                + (key == null ? "null" : key.getClass().getName())
                + ": files of tables need the row as key, as "
                + Bytes.class.getName());
      }
      long bytes =
          value instanceof RowOperation operation ? OperationSize.of(operation) : row.length();
      rows.add(new Sampled(row, bytes));
    }

    @Override
    public void close(TaskAttemptContext context) {}
  }

  /** The first records of a split. */
  private static final class Beginning<K, V> extends RecordReader<K, V> {
    private final RecordReader<K, V> all;
    private final Writes writes;
    private final int recordsMax;
    private int records;
    private boolean ended;

    Beginning(RecordReader<K, V> all, Writes writes, int recordsMax) {
      this.all = all;
      this.writes = writes;
      this.recordsMax = recordsMax;
    }

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context)
        throws IOException, InterruptedException {
      all.initialize(split, context);
    }

    @Override
    public boolean nextKeyValue() throws IOException, InterruptedException {
      if (records++ == recordsMax || writes.rows.size() >= WRITES) {
        return false;
      }
      ended = !all.nextKeyValue();
      return !ended;
    }

    /** How much of the split was read. */
    double share() throws IOException, InterruptedException {
      float progress = all.getProgress();
      return ended || progress <= 0 ? 1 : progress; // Some do not tell.
    }

    @Override
    public K getCurrentKey() throws IOException, InterruptedException {
      return all.getCurrentKey();
    }

    @Override
    public V getCurrentValue() throws IOException, InterruptedException {
      return all.getCurrentValue();
    }

    @Override
    public float getProgress() throws IOException, InterruptedException {
      return all.getProgress();
    }

    @Override
    public void close() throws IOException {
      all.close();
    }
  }

  /**
   * Reads one piece.
   *
   * @param standsFor how many pieces this one stands for
   */
  private <K, V> void read(
      InputFormat<K, V> format,
      Mapper<K, V, Object, Object> mapper,
      InputSplit split,
      int number,
      Configuration conf,
      double standsFor)
      throws IOException, InterruptedException {
    TaskAttemptID id = new TaskAttemptID("sample", 1, TaskType.MAP, number, 0);
    TaskAttemptContext context = new TaskAttemptContextImpl(conf, id);
    Writes writes = new Writes();
    try (Beginning<K, V> reader =
        new Beginning<>(format.createRecordReader(split, context), writes, size.records())) {
      reader.initialize(split, context);
      mapper.run(
          new WrappedMapper<K, V, Object, Object>()
              .getMapContext(
                  new MapContextImpl<>(
                      conf,
                      id,
                      reader,
                      writes,
                      new NullOutputFormat<>().getOutputCommitter(context),
                      new TaskAttemptContextImpl.DummyReporter(),
                      split)));
      double times = standsFor / reader.share();
      writes.rows.forEach(one -> rows.add(new Sampled(one.row(), one.bytes() * times)));
    }
  }

  /**
   * Rows that divide the output into parts of about the same size.
   *
   * @param partsMax there are not more parts
   * @param bytesMin parts are not much smaller, as cells in memory
   * @return the first rows of all parts but the first, ascending
   */
  List<Bytes> starts(int partsMax, long bytesMin) {
    double bytes = rows.stream().mapToDouble(Sampled::bytes).sum();
    double part = Math.max(bytes / partsMax, (double) bytesMin);
    List<Bytes> starts = new ArrayList<>();
    double before = 0;
    double cut = part;
    Bytes last = rows.isEmpty() ? Bytes.EMPTY : rows.get(0).row();
    for (Sampled one : rows) {
      if (before >= cut * (1 - ROUNDING)
          && starts.size() < partsMax - 1
          && one.row().compareTo(last) > 0
          && one.row().length() <= Limits.SPLIT_ROW_BYTES_MAX) {
        starts.add(one.row());
        last = one.row();
        // With the same leniency as above, or the very next row would begin a part, too.
        cut = (Math.floor(before * (1 + 2 * ROUNDING) / part) + 1) * part;
      }
      before += one.bytes();
    }
    return starts;
  }
}
