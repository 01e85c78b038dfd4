package io.stele.mapreduce;

import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.config.JobKeys;
import io.stele.config.Keys;
import io.stele.format.Compression;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.SteleException;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;

/**
 * Sets up a job that reads or writes tables.
 *
 * <pre>{@code
 * Job job = SteleJob.create(conf, "count anchors", AnchorCount.class);
 * TableInputFormat.addTable(job, "webtable", RowQuery.ALL.family("anchor"));
 * job.setMapperClass(AnchorMapper.class);
 * ...
 * job.waitForCompletion(true);
 * }</pre>
 *
 * <p>The tasks get the jars of Stele's client and formats, one small library of codecs and the jar
 * of the program, and nothing else: everything else that they need is on the class path of every
 * Hadoop task.
 */
public final class SteleJob {
  /**
   * The minimum number of bytes that each reducer of {@link #bulkInto} writes into a table of one
   * tablet, as cells in memory; with a suffix such as {@code 256m}.
   */
  public static final String REDUCER_BYTES_KEY = JobKeys.BULK_REDUCER_BYTES;

  private static final long REDUCER_BYTES = 128L << 20;

  /**
   * How long a task waits for a tablet that is being recovered: well below the timeout of tasks.
   */
  private static final String TASK_TIMEOUT = "5m";

  private SteleJob() {}

  /**
   * A new job.
   *
   * @param conf Hadoop's configuration with that of the cluster; copied. {@code
   *     mapreduce.framework.name} must be set in it: see {@link #prepare}
   * @param program classes of the program whose jars the tasks need: usually the one with {@code
   *     main}
   * @throws SteleException REFUSED if a class of the program is in a directory that is too large to
   *     become a jar, or a key is wrong
   */
  public static Job create(Configuration conf, String name, Class<?>... program)
      throws IOException {
    Job job = Job.getInstance(conf, name);
    prepare(job, program);
    return job;
  }

  /**
   * Prepares an existing job for tables: adds the jars, registers serialization of the model's
   * types for the shuffle, and lets tasks wait for a tablet longer than a client would. Set {@code
   * mapreduce.framework.name} before: with the local runner, whose tasks run in this process, no
   * jars are added.
   *
   * @param program classes of the program whose jars the tasks need; a class that is in a directory
   *     brings all of it, without what begins with a dot, as a jar
   * @throws SteleException REFUSED if such a directory has more than 64 MB, or a key is wrong
   */
  public static void prepare(Job job, Class<?>... program) throws IOException {
    Configuration conf = job.getConfiguration();
    Set<Path> jars = new LinkedHashSet<>();
    for (Class<?> one :
        List.of(Stele.class, TableInputFormat.class, TableOutputFormat.class, SteleJob.class)) {
      jars.add(ClassJars.of(one));
    }
    for (Class<?> one : Compression.libraries()) {
      jars.add(ClassJars.of(one));
    }
    for (Class<?> one : program) {
      jars.add(ClassJars.of(one));
    }
    if (!isLocal(conf)) { // The local runner would link each jar into the working directory.
      for (Path jar : jars) {
        append(conf, "tmpjars", jar.toUri().toString());
      }
    }
    job.setJar(ClassJars.of(program.length > 0 ? program[0] : SteleJob.class).toString());
    ModelSerialization.register(conf);
    conf.setIfUnset(Keys.CLIENT_TIMEOUT.name(), TASK_TIMEOUT);
    conf.setBoolean(Job.USED_GENERIC_PARSER, true); // Else it advises to ship jars in another way.
    Keys.check(conf);
    JobKeys.check(conf);
  }

  /**
   * Lets the job's mappers write {@code Bytes} as keys, sorted as rows are. A reducer, or a
   * combiner, gets the values of a key in the order of the map tasks, and those of a task as it
   * wrote them.
   */
  public static void setMapOutputKeyToBytes(Job job) {
    job.setMapOutputKeyClass(io.stele.model.Bytes.class);
    ModelSerialization.registerKeys(job.getConfiguration());
  }

  /**
   * Makes the job write files for a table with {@link BulkOutputFormat}, and divides the work among
   * reducers. Mappers write {@code (Bytes row, Mutation)}: this sets the classes of map output to
   * these. Call it when the job's input and mapper are set: it is refused before.
   *
   * <p>Each reducer writes the rows of some neighbouring tablets. If the table has only one tablet,
   * as a new table does, this runs the job's mapper over samples of its input, in this process, to
   * find out which rows it writes. Reducers get equal parts of these rows, and each part becomes a
   * tablet when the job commits.
   *
   * @param reducersMax the maximum number of reducers
   * @param families the families that the job writes
   * @throws SteleException NOT_FOUND if there is no such table, REFUSED if the job's input or
   *     mapper is not set, or the mapper does not write rows as keys
   */
  public static void bulkInto(Job job, String table, int reducersMax, String... families)
      throws IOException {
    requireInputAndMapper(job.getConfiguration());
    BulkOutputFormat.addTable(job, table, families);
    BulkOutputFormat.reduceByTablet(job, table, reducersMax);
    int tablets;
    try (Stele stele = Stele.connect(job.getConfiguration())) {
      tablets = stele.table(table).tablets().size();
    }
    if (tablets == 1 && reducersMax > 1) {
      long bytesMin =
          JobKeys.bytes(job.getConfiguration(), REDUCER_BYTES_KEY, "0", "1e", REDUCER_BYTES);
      BulkOutputFormat.reduceByRows(
          job, table, OutputSample.of(job, reducersMax).starts(reducersMax, bytesMin));
    }
  }

  /**
   * Makes a job without reducers write files for a table with {@link BulkOutputFormat}: mappers
   * write {@code (anything, Mutation)}, in any order, and each task sorts what it writes. There is
   * no shuffle, so the job takes less time than with {@link #bulkInto}. In return, every tablet
   * gets files of all tasks whose first to last row meets it, which its server must compact
   * afterwards.
   *
   * <p>If the table has only one tablet, as a new table does, it is split right before the job
   * commits, into parts of similar size.
   *
   * @param tabletsMax the maximum number of tablets that it is split into, each with at least
   *     {@link BulkOutputFormat#TABLET_BYTES_KEY}
   * @param families the families that the job writes
   * @throws SteleException NOT_FOUND if there is no such table
   */
  public static void bulkWithoutReduce(Job job, String table, int tabletsMax, String... families)
      throws IOException {
    BulkOutputFormat.addTable(job, table, families);
    BulkOutputFormat.sortInTasks(job, table, tabletsMax);
    job.setNumReduceTasks(0);
  }

  /**
   * Refuses a job without input or mapper, whether or not it needs a sample of them: a program must
   * not depend on how many tablets its table happens to have.
   */
  private static void requireInputAndMapper(Configuration conf) {
    Class<?> format =
        conf.getClass(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, TextInputFormat.class, Object.class);
    boolean readsFiles = FileInputFormat.class.isAssignableFrom(format);
    String missing =
        readsFiles && conf.getTrimmed(FileInputFormat.INPUT_DIR, "").isEmpty()
            ? "input"
            : conf.getTrimmed(MRJobConfig.MAP_CLASS_ATTR, "").isEmpty() ? "mapper" : "";
    if (!missing.isEmpty()) {
      throw SteleException.refused(
          "the job has no "
              + missing
              + " yet: set the job's input and mapper before bulkInto, which samples them");
    }
  }

  private static boolean isLocal(Configuration conf) {
    return conf.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME)
        .equals(MRConfig.LOCAL_FRAMEWORK_NAME);
  }

  private static void append(Configuration conf, String key, String value) {
    Set<String> values = new LinkedHashSet<>(conf.getTrimmedStringCollection(key));
    values.add(value);
    conf.set(key, String.join(",", values));
  }
}
