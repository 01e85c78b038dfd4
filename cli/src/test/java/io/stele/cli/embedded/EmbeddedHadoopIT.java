package io.stele.cli.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.cli.Await;
import io.stele.lock.CuratorLockService;
import io.stele.lock.Lock;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The daemons are real, and nothing of them stays. */
@Timeout(300)
class EmbeddedHadoopIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static java.nio.file.Path directory(String name) {
    return java.nio.file.Path.of("target", "embedded", name);
  }

  @Test
  void runsAMapReduceJobOnYarnAndLeavesNoProcessBehind() throws Exception {
    List<String> up = new ArrayList<>();
    List<TaggedProcess> seen;
    try (EmbeddedHadoop hadoop =
        EmbeddedHadoop.start(EmbeddedHadoop.Options.in(directory("word-count")), up::add)) {
      assertThat(up).containsExactlyInAnyOrder("ZooKeeper", "HDFS", "YARN", "MapReduce history");
      theOnlyDataNodeKeepsItsBlocks(hadoop);
      Job job = wordCount(hadoop.configuration());
      job.submit();
      seen = new ArrayList<>();
      while (!job.isComplete()) {
        seen.addAll(hadoop.processes());
        Thread.sleep(100); // Lets the job go on; nothing depends on how long.
      }
      assertThat(job.isSuccessful()).isTrue();
      assertThat(job.getCounters().findCounter("test", "words").getValue()).isEqualTo(6);
      assertThat(read(hadoop.configuration(), "/out/part-r-00000")).isEqualTo("a\t3\nb\t2\nc\t1\n");
      assertThat(hadoop.processes()).hasSizeGreaterThanOrEqualTo(1);
    }
    assertThat(seen).anyMatch(process -> process.command().contains("MRAppMaster"));
    assertThat(seen)
        .anyMatch(process -> process.isJava() && process.command().contains("YarnChild"));
    assertThat(EmbeddedHadoop.processes(directory("word-count"))).isEmpty();
    assertThat(EmbeddedHadoop.isRunning(directory("word-count"))).isFalse();
  }

  private static void theOnlyDataNodeKeepsItsBlocks(EmbeddedHadoop hadoop) throws Exception {
    assertThatThrownBy(
            () ->
                EmbeddedHadoop.beWithout(
                    hadoop.directory(), Outage.DATANODE_DISK, Duration.ofMillis(1), 0))
        .hasMessageContaining("the only DataNode has the only replica");
    assertThat(write(hadoop.configuration(), "/written")).isTrue();
  }

  @Test
  void aKilledDaemonTakesItsContainersWithIt() throws Exception {
    try (EmbeddedHadoop hadoop =
        EmbeddedHadoop.start(EmbeddedHadoop.Options.in(directory("killed")).withDataNodes(4))) {
      assertThatThrownBy(() -> EmbeddedHadoop.start(EmbeddedHadoop.Options.in(directory("killed"))))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("already runs in");
      outagesEnd(hadoop);
      Job job = wordCount(hadoop.configuration());
      job.submit();
      Await.until(
          PATIENCE,
          "the job's ApplicationMaster",
          () ->
              hadoop.processes().stream()
                  .anyMatch(process -> process.command().contains("MRAppMaster")));
      hadoop.processes().stream()
          .filter(
              process ->
                  process.isJava() && process.command().contains(HadoopDaemons.class.getName()))
          .forEach(TaggedProcess::kill);
      Await.until(PATIENCE, "the end of all processes", () -> hadoop.processes().isEmpty());
    }
  }

  /** Files and sessions are there again after each outage. */
  private static void outagesEnd(EmbeddedHadoop hadoop) throws Exception {
    Configuration conf = hadoop.configuration();
    try (FSDataOutputStream out = FileSystem.get(conf).create(new Path("/kept"))) {
      out.writeUTF("kept");
    }
    try (LockService locks =
        CuratorLockService.connect(
            SystemRuntime.INSTANCE,
            conf.get("stele.zookeeper.quorum"),
            "outages",
            Duration.ofSeconds(20))) {
      Lock lock = locks.tryLock("lock", Bytes.of("kept")).orElseThrow();
      for (Outage outage : Outage.values()) {
        String which =
            EmbeddedHadoop.beWithout(hadoop.directory(), outage, Duration.ofMillis(500), 6);
        assertThat(which.isEmpty())
            .as("%s: %s", outage, which)
            .isEqualTo(outage != Outage.DATANODE && outage != Outage.DATANODE_DISK);
        Await.until(PATIENCE, "a file", () -> succeeds(() -> read(conf, "/kept").endsWith("kept")));
        Await.until(PATIENCE, "a node", () -> succeeds(() -> locks.read("lock").isPresent()));
        Await.until(PATIENCE, "a new file", () -> succeeds(() -> write(conf, "/after-" + outage)));
      }
      lock.renew();
    }
    assertThat(conf.getInt("dfs.replication", 0)).isEqualTo(3);
    assertThat(FileSystem.get(conf).getFileStatus(new Path("/kept")).getReplication())
        .isEqualTo((short) 3);
  }

  private static boolean write(Configuration conf, String path) throws IOException {
    try (FSDataOutputStream out = FileSystem.get(conf).create(new Path(path))) {
      out.writeUTF("written");
    }
    return true;
  }

  /** Connections from before an outage fail once. */
  private static boolean succeeds(java.util.concurrent.Callable<Boolean> call) throws Exception {
    try {
      return call.call();
    } catch (IOException e) {
      return false;
    }
  }

  private static Job wordCount(Configuration conf) throws IOException {
    FileSystem fs = FileSystem.get(conf);
    try (FSDataOutputStream out = fs.create(new Path("/in/text"))) {
      out.write("a b c\na b\na\n".getBytes(StandardCharsets.UTF_8));
    }
    Job job = Job.getInstance(conf, "word count");
    job.setJar(testClasses().toString());
    job.setMapperClass(Words.class);
    job.setCombinerClass(IntSumReducer.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path("/in"));
    FileOutputFormat.setOutputPath(job, new Path("/out"));
    return job;
  }

  private static java.nio.file.Path testClasses() throws IOException {
    return JarOf.classes(Words.class);
  }

  private static String read(Configuration conf, String path) throws IOException {
    try (var in = FileSystem.get(conf).open(new Path(path))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Splits lines into words. */
  public static final class Words extends Mapper<LongWritable, Text, Text, IntWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      for (StringTokenizer words = new StringTokenizer(line.toString()); words.hasMoreTokens(); ) {
        context.getCounter("test", "words").increment(1);
        context.write(new Text(words.nextToken()), new IntWritable(1));
      }
    }
  }
}
