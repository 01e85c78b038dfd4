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
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.mapreduce.Job;

/**
 * MapReduce jobs of the local runner, two maps and two reduces at a time, that read and write cells
 * of 1000 bytes: in tables and in SequenceFiles, without compression, on the same HDFS, in turn. A
 * job's start counts; making and dropping the table that it writes does not. All is one process.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.JobSpeed [MB] [rounds] [job,...] [shuffled]
 * </pre>
 *
 * <p>With {@code shuffled}, the SequenceFile has the rows in no order.
 */
public final class JobSpeed {
  /** A job may write its bytes to a log, to files, and again when files are merged or moved. */
  private static final int WRITTEN_MAX = 5;

  private static final int VALUE_BYTES = 1000;
  private static final String SHUFFLED = "shuffled";
  private static final Path CELLS = new Path("/cells");
  private static final Path FILES = new Path("/table-files");
  private static final Path SORTED = new Path("/sorted");
  private static final String WRITTEN = "written";
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final JobCluster cluster;
  private final int rows;
  private final Stele stele;

  private JobSpeed(JobCluster cluster, int megabytes) throws Exception {
    this.cluster = cluster;
    this.rows = megabytes * 1_000_000 / VALUE_BYTES;
    this.stele = cluster.stele().client();
  }

  /** Another store, on the same HDFS and ZooKeeper, whose jobs are compared too. */
  interface Peer {
    /**
     * Starts it and fills it.
     *
     * @param cells the SequenceFiles that all jobs which write read
     * @param bytes of all their values
     * @param middle the row in the middle
     * @return its jobs by name
     */
    Map<String, Compared> start(JobCluster cluster, Path cells, long bytes, String middle)
        throws Exception;
  }

  /** Megabytes of values a second, and milliseconds of CPU for each. */
  private record Speed(double perSecond, double cpuMillis) {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    compare(args, (cluster, cells, bytes, middle) -> Map.of());
  }

  /** Compares our jobs with those of another store, and ends the process. */
  static void compare(String[] args, Peer peer) throws Exception {
    int megabytes = args.length > 0 ? Integer.parseInt(args[0]) : 500;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    JobCluster cluster = new JobCluster();
    JobSpeed speed = new JobSpeed(cluster, megabytes);
    speed.fill(args.length > 3 && args[3].equals(SHUFFLED));
    Map<String, Compared> jobs = speed.jobs();
    jobs.putAll(peer.start(cluster, CELLS, speed.bytes(), row(speed.rows / 2)));
    if (args.length > 2 && !args[2].isEmpty()) {
      jobs.keySet().retainAll(Set.of(args[2].split(",")));
    }
    speed.compare(jobs, rounds);
    System.exit(0);
  }

  private Map<String, Compared> jobs() throws Exception {
    Map<String, Compared> jobs = new LinkedHashMap<>();
    ContentSummary files = cluster.fs().getContentSummary(FILES);
    long blocks = files.getLength() - files.getFileCount() * CheckedInputFormat.OUTSIDE_BYTES;
    jobs.put("raw", Compared.reading(() -> JobInputs.raw(conf(), FILES), files.getLength()));
    jobs.put("checked", Compared.reading(() -> JobInputs.checked(conf(), FILES), blocks));
    jobs.put("sequence", Compared.reading(() -> JobInputs.sequence(conf(), CELLS), bytes()));
    jobs.put("direct", Compared.reading(() -> JobInputs.table(conf(), "cells", "direct"), bytes()));
    jobs.put("served", Compared.reading(() -> JobInputs.table(conf(), "cells", "served"), bytes()));
    jobs.put(
        "sorted",
        Compared.writing(
            () -> {},
            () -> JobOutputs.sequence(conf(), CELLS, SORTED, row(rows / 2)),
            () -> cluster.fs().delete(SORTED, true)));
    Callable<Job> bulk = () -> JobOutputs.bulk(conf(), CELLS, WRITTEN);
    jobs.put("bulk", intoTable(List.of(Bytes.of(row(rows / 2))), bulk));
    jobs.put("bulk-sampled", intoTable(List.of(), bulk));
    Compared bulkMap =
        intoTable(List.of(), () -> JobOutputs.bulkWithoutReduce(conf(), CELLS, WRITTEN));
    jobs.put("bulk-map", bulkMap);
    jobs.put("bulk-map-compacted", bulkMap.thenRun(() -> stele.admin().compactTable(WRITTEN)));
    jobs.put("live", intoTable(List.of(), () -> JobOutputs.live(conf(), CELLS, WRITTEN)));
    return jobs;
  }

  /** A job that writes into a new table, which is divided at {@code splitRows}. */
  private Compared intoTable(List<Bytes> splitRows, Callable<Job> job) {
    return Compared.writing(
        () -> stele.admin().createTable(schema(WRITTEN), splitRows),
        job,
        () -> stele.admin().dropTable(WRITTEN));
  }

  /** Of all values. */
  private long bytes() {
    return (long) rows * VALUE_BYTES;
  }

  private Configuration conf() {
    return cluster.conf();
  }

  private static String row(int number) {
    return String.format(Locale.ROOT, "row%09d", number);
  }

  private static TableSchema schema(String name) {
    return TableSchema.of(name, List.of(ColumnFamily.of("f"))).withCodec(Codec.NONE);
  }

  /** Writes the cells to SequenceFiles and, by a bulk job, to a table. */
  private void fill(boolean shuffled) throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      order.add(i);
    }
    if (shuffled) {
      Collections.shuffle(order, new Random(1));
    }
    byte[] value = new byte[VALUE_BYTES];
    try (SequenceFile.Writer writer =
        SequenceFile.createWriter(
            conf(),
            SequenceFile.Writer.file(new Path(CELLS, "cells")),
            SequenceFile.Writer.keyClass(BytesWritable.class),
            SequenceFile.Writer.valueClass(BytesWritable.class),
            SequenceFile.Writer.compression(SequenceFile.CompressionType.NONE))) {
      for (int i : order) {
        random.nextBytes(value);
        writer.append(new BytesWritable(Bytes.of(row(i)).toByteArray()), new BytesWritable(value));
      }
    }
    stele.admin().createTable(schema("cells"));
    Compared.run(JobOutputs.bulk(conf(), CELLS, "cells"));
    stele.admin().compactTable("cells");
    // The same bytes beside it: the files of a table may be replaced while they are read.
    Path files = new Path(stele.jobs().environment().root(), "tables");
    FileUtil.copy(cluster.fs(), files, cluster.fs(), FILES, false, conf());
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
    compared.before().take();
    PageCache.warm(WRITTEN_MAX * bytes());
    System.gc();
    long cpu = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    compared.run().take();
    double seconds = (System.nanoTime() - start) / 1e9;
    double cpuMillis = (SYSTEM.getProcessCpuTime() - cpu) / 1e6;
    compared.after().take();
    double megabytes = bytes() / 1e6;
    return new Speed(megabytes / seconds, cpuMillis / megabytes);
  }

  private static void print(String name, int round, Speed speed) {
    System.out.printf(
        Locale.ROOT,
        "%-9s %-18s %6.1f MB/s %6.2f ms CPU a MB%n",
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
