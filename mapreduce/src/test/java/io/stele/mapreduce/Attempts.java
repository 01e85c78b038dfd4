package io.stele.mapreduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.MapContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.map.WrappedMapper;
import org.apache.hadoop.mapreduce.task.MapContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Runs a job of mappers alone in the order in which MapReduce does, and stops attempts of its tasks
 * between two records: the local runner makes one attempt only, and on YARN nobody knows what
 * happens in the cluster between two of them. For one thread.
 *
 * @param <K> keys of the input
 * @param <V> values of the input
 */
final class Attempts<K, V> {
  private final Job job;
  private final InputFormat<K, V> input;
  private final OutputFormat<Object, Object> output;
  private OutputCommitter committer;
  private List<InputSplit> splits = List.of();

  /** Something that happens in the middle of an attempt. */
  @FunctionalInterface
  interface Interlude {
    /** Happens once. */
    void run() throws Exception;
  }

  /** An attempt was stopped. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @SuppressWarnings("unchecked") // The job says what it reads and writes.
  Attempts(Job job) throws Exception {
    this.job = job;
    job.setJobID(context(0, 0).getJobID());
    this.input =
        (InputFormat<K, V>)
            ReflectionUtils.newInstance(job.getInputFormatClass(), job.getConfiguration());
    this.output =
        (OutputFormat<Object, Object>)
            ReflectionUtils.newInstance(job.getOutputFormatClass(), job.getConfiguration());
    this.committer = output.getOutputCommitter(context(0, 0));
  }

  private TaskAttemptContext context(int task, int attempt) {
    return new TaskAttemptContextImpl(
        job.getConfiguration(),
        new TaskAttemptID("attempts", job.hashCode(), TaskType.MAP, task, attempt));
  }

  /** Begins the output, as a submission does before it makes the splits. */
  void checkOutput() throws Exception {
    output.checkOutputSpecs(job);
  }

  /** Makes the splits, and sets the job up. */
  List<InputSplit> begin() throws Exception {
    splits = List.copyOf(input.getSplits(job));
    committer.setupJob(job);
    return splits;
  }

  /** Sets the job up again, as another ApplicationMaster that has found nothing of the first. */
  void beginAgain() throws Exception {
    job.getConfiguration().setInt(MRJobConfig.APPLICATION_ATTEMPT_ID, 2);
    committer = output.getOutputCommitter(context(0, 1000));
    committer.setupJob(job);
  }

  /** Makes the output of all committed tasks that of the job. */
  void commit() throws IOException {
    committer.commitJob(job);
  }

  /** An attempt that has not read anything yet. */
  Attempt attempt(int task, int number) throws Exception {
    return new Attempt(task, number);
  }

  /** One attempt of a task. Holds what its process would hold. */
  final class Attempt {
    private final TaskAttemptContext context;
    private final Interrupted reader;
    private final RecordWriter<Object, Object> writer;
    private final MapContext<K, V, Object, Object> map;
    private final Mapper<K, V, Object, Object> mapper;

    @SuppressWarnings("unchecked") // As above.
    private Attempt(int task, int number) throws Exception {
      context = context(task, number);
      InputSplit split = splits.get(task);
      reader = new Interrupted(input.createRecordReader(split, context));
      writer = output.getRecordWriter(context);
      map =
          new MapContextImpl<>(
              job.getConfiguration(),
              context.getTaskAttemptID(),
              reader,
              writer,
              committer,
              new TaskAttemptContextImpl.DummyReporter(),
              split);
      reader.initialize(split, map);
      mapper =
          (Mapper<K, V, Object, Object>)
              ReflectionUtils.newInstance(job.getMapperClass(), job.getConfiguration());
    }

    /** Runs on to the end; what the attempt has written is not committed. */
    void run() throws Exception {
      mapper.run(new WrappedMapper<K, V, Object, Object>().getMapContext(map));
    }

    /** Has something happen when so many more records have been read. */
    void interrupt(int records, Interlude interlude) {
      reader.interrupt(records, interlude);
    }

    /**
     * Runs on for that many records, and stops.
     *
     * @return whether it stopped: otherwise the split has no more records
     */
    boolean stopAfter(int records) throws Exception {
      reader.interrupt(
          records,
          () -> {
            throw new Stopped();
          });
      try {
        run();
        return false;
      } catch (Stopped e) {
        return true;
      }
    }

    /** The key of the last record that it has read. */
    K last() {
      return reader.last.orElseThrow();
    }

    /** Lets go of everything, as a task does that ends well. */
    void close() throws Exception {
      reader.close();
      writer.close(context);
    }

    /** Makes what was written that of the task, where the format wants that. */
    void commit() throws IOException {
      if (committer.needsTaskCommit(context)) {
        committer.commitTask(context);
      }
    }

    /** Ends as the framework ends an attempt that has failed or comes too late. */
    void abort() throws Exception {
      close();
      committer.abortTask(context);
    }
  }

  /** A reader in the middle of whose records things happen. */
  private final class Interrupted extends RecordReader<K, V> {
    private final RecordReader<K, V> records;
    private final List<Interlude> interludes = new ArrayList<>();
    private Optional<K> last = Optional.empty();
    private int left;

    Interrupted(RecordReader<K, V> records) {
      this.records = records;
    }

    void interrupt(int after, Interlude interlude) {
      left = after;
      interludes.add(interlude);
    }

    @Override
    public void initialize(InputSplit split, TaskAttemptContext task)
        throws IOException, InterruptedException {
      records.initialize(split, task);
    }

    @Override
    public boolean nextKeyValue() throws IOException, InterruptedException {
      if (!interludes.isEmpty() && left-- == 0) {
        try {
          interludes.remove(0).run();
        } catch (IOException | InterruptedException | RuntimeException e) {
          throw e;
        } catch (Exception e) {
          throw new IOException(e);
        }
      }
      boolean there = records.nextKeyValue();
      if (there) {
        last = Optional.of(records.getCurrentKey());
      }
      return there;
    }

    @Override
    public K getCurrentKey() throws IOException, InterruptedException {
      return records.getCurrentKey();
    }

    @Override
    public V getCurrentValue() throws IOException, InterruptedException {
      return records.getCurrentValue();
    }

    @Override
    public float getProgress() throws IOException, InterruptedException {
      return records.getProgress();
    }

    @Override
    public void close() throws IOException {
      records.close();
    }
  }
}
