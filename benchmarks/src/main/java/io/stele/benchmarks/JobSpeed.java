package io.stele.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.TableSchema;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.mapreduce.Job;

/**
 * MapReduce jobs of the local runner, two maps and two reduces at a time, that read and write cells
 * of 1000 bytes: in tables and in SequenceFiles, without compression, on the same HDFS, in turn. A
 * job's start counts. All is one process.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.JobSpeed [MB] [rounds] [job,...]
 * </pre>
 */
public final class JobSpeed {
  private static final int VALUE_BYTES = 1000;
  private static final Path CELLS = new Path("/cells");
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final JobCluster cluster;
  private final int rows;
  private final Stele stele;
  private final List<Path> directories = new ArrayList<>(); // Of the job that runs.
  private final List<String> tables = new ArrayList<>();
  private int outputs;

  private JobSpeed(JobCluster cluster, int megabytes) throws Exception {
    this.cluster = cluster;
    this.rows = megabytes * 1_000_000 / VALUE_BYTES;
    this.stele = cluster.stele().client();
  }

  /** One of the jobs that are compared. */
  private interface Compared {
    /** Makes it ready. */
    Job job() throws Exception;
  }

  /** Megabytes of values a second, and milliseconds of CPU for each. */
  private record Speed(double perSecond, double cpuMillis) {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int megabytes = args.length > 0 ? Integer.parseInt(args[0]) : 500;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    JobSpeed speed = new JobSpeed(new JobCluster(), megabytes);
    speed.fill();
    Map<String, Compared> jobs = speed.jobs();
    Set<String> wanted = new TreeSet<>(jobs.keySet());
    if (args.length > 2) {
      wanted = Set.of(args[2].split(","));
    }
    jobs.keySet().retainAll(wanted);
    speed.compare(jobs, rounds);
    System.exit(0);
  }

  private Map<String, Compared> jobs() {
    Map<String, Compared> jobs = new LinkedHashMap<>();
    jobs.put("raw", () -> JobInputs.raw(conf(), new Path("/table-files")));
    jobs.put("sequence", () -> JobInputs.sequence(conf(), CELLS));
    jobs.put("direct", () -> JobInputs.table(conf(), "cells", "direct"));
    jobs.put("served", () -> JobInputs.table(conf(), "cells", "served"));
    jobs.put("sorted", () -> JobOutputs.sequence(conf(), CELLS, next(), row(rows / 2)));
    jobs.put("bulk", () -> JobOutputs.bulk(conf(), CELLS, table()));
    jobs.put("live", () -> JobOutputs.live(conf(), CELLS, table()));
    return jobs;
  }

  private Configuration conf() {
    return cluster.conf();
  }

  private static String row(int number) {
    return String.format(Locale.ROOT, "row%09d", number);
  }

  private Path next() {
    Path path = new Path("/sorted" + outputs++);
    directories.add(path);
    return path;
  }

  /** A new, empty table. */
  private String table() throws Exception {
    String name = "written" + outputs++;
    stele.admin().createTable(schema(name));
    tables.add(name);
    return name;
  }

  private static TableSchema schema(String name) {
    return TableSchema.of(name, List.of(ColumnFamily.of("f"))).withCodec(Codec.NONE);
  }

  /** Writes the cells to SequenceFiles and, by a bulk job, to a table. */
  private void fill() throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    byte[] value = new byte[VALUE_BYTES];
    try (SequenceFile.Writer writer =
        SequenceFile.createWriter(
            conf(),
            SequenceFile.Writer.file(new Path(CELLS, "cells")),
            SequenceFile.Writer.keyClass(BytesWritable.class),
            SequenceFile.Writer.valueClass(BytesWritable.class),
            SequenceFile.Writer.compression(SequenceFile.CompressionType.NONE))) {
      for (int i = 0; i < rows; i++) {
        random.nextBytes(value);
        writer.append(new BytesWritable(Bytes.of(row(i)).toByteArray()), new BytesWritable(value));
      }
    }
    stele.admin().createTable(schema("cells"));
    run(JobOutputs.bulk(conf(), CELLS, "cells"));
    stele.admin().compactTable("cells");
    // The same bytes beside it: the files of a table may be replaced while they are read.
    Path files = new Path(stele.jobs().root(), "tables");
    FileUtil.copy(cluster.fs(), files, cluster.fs(), new Path("/table-files"), false, conf());
  }

  private static void run(Job job) throws Exception {
    if (!job.waitForCompletion(false)) {
      throw new IllegalStateException("job " + job.getJobName() + " failed");
    }
  }

  /** Each job in turn, and that again; the first round is not counted. */
  private void compare(Map<String, Compared> jobs, int rounds) throws Exception {
    Map<String, List<Speed>> speeds = new LinkedHashMap<>();
    for (int round = 0; round <= rounds; round++) {
      for (Map.Entry<String, Compared> one : jobs.entrySet()) {
        Speed speed = measure(one.getValue());
        if (round > 0) {
          speeds.computeIfAbsent(one.getKey(), name -> new ArrayList<>()).add(speed);
        }
        print(one.getKey(), round, speed);
      }
    }
    speeds.forEach(
        (name, all) ->
            print(
                name,
                -1,
                new Speed(
                    median(all.stream().map(Speed::perSecond).toList()),
                    median(all.stream().map(Speed::cpuMillis).toList()))));
  }

  private Speed measure(Compared compared) throws Exception {
    System.gc();
    long cpu = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    run(compared.job());
    double seconds = (System.nanoTime() - start) / 1e9;
    double cpuMillis = (SYSTEM.getProcessCpuTime() - cpu) / 1e6;
    double megabytes = (double) rows * VALUE_BYTES / 1e6;
    for (Path written : directories) {
      cluster.fs().delete(written, true);
    }
    directories.clear();
    for (String written : tables) {
      stele.admin().dropTable(written);
    }
    tables.clear();
    return new Speed(megabytes / seconds, cpuMillis / megabytes);
  }

  private static void print(String name, int round, Speed speed) {
    System.out.printf(
        Locale.ROOT,
        "%-9s %-8s %6.1f MB/s %6.2f ms CPU a MB%n",
        round < 0 ? "median" : "round " + round,
        name,
        speed.perSecond(),
        speed.cpuMillis());
  }

  private static double median(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
