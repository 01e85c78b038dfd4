package io.stele.cli.demo;

import io.stele.cli.JobFailure;
import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.client.Stele;
import io.stele.examples.webtable.Webtable;
import io.stele.examples.webtable.WebtableLink;
import io.stele.examples.webtable.WebtableLoad;
import io.stele.examples.webtable.WebtableReport;
import io.stele.model.Bytes;
import io.stele.runtime.AtExit;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.yarn.ComponentStatus;
import io.stele.yarn.YarnSubmitter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.Job;

/**
 * The demo, step by step: Hadoop, Stele on YARN, a table, and three MapReduce jobs over it.
 *
 * <p>For one thread, and one run.
 */
final class Demo {
  private static final org.apache.hadoop.fs.Path PAGES =
      new org.apache.hadoop.fs.Path("/demo/pages");
  private static final org.apache.hadoop.fs.Path REPORT =
      new org.apache.hadoop.fs.Path("/demo/report");

  /** Small, so that a table of some megabytes splits. */
  private static final long SPLIT_BYTES = 3 << 19;

  /**
   * About a quarter of the pages lies in each of the tablets that these make: every server begins
   * with some.
   */
  private static final List<Bytes> FIRST_SPLITS =
      List.of(
              "/docs/hadoop-common/org/apache/hadoop/io/",
              "/docs/hadoop-hdfs-client/",
              "/docs/hadoop-yarn-common/")
          .stream()
          .map(path -> Webtable.row("hadoop.apache.org", path))
          .toList();

  private static final Duration POLL = Duration.ofMillis(250);
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;

  private final Path directory;
  private final List<Path> pages;
  private final boolean keep;
  private final int dataNodes;
  private final Configuration site;
  private final PrintWriter out;
  private final ProgressDisplay progress;

  /**
   * @param pages javadoc jars
   * @param keep whether the cluster stays up
   * @param dataNodes how many HDFS has
   * @param site what is set for the cluster
   */
  @SuppressWarnings("SystemConsoleNull") // As it was before Java 22: bin/stele says so.
  Demo(
      Path directory,
      List<Path> pages,
      boolean keep,
      int dataNodes,
      Configuration site,
      PrintWriter out) {
    this.directory = directory;
    this.pages = pages;
    this.keep = keep;
    this.dataNodes = dataNodes;
    this.site = site;
    this.out = out;
    this.progress = new ProgressDisplay(out, System.console() != null, columns(), keep ? 7 : 8);
  }

  void run() throws IOException {
    long started = RUNTIME.nanoTime();
    out.println(
        "Running Stele on its own Hadoop on this machine. All files are in "
            + directory
            + ", logs in its logs directory.");
    out.println(
        keep
            ? "The cluster keeps running at the end. Ctrl-C stops everything."
            : "Nothing keeps running at the end. Ctrl-C stops everything.");
    out.println();
    AtExit atCtrlC = SystemRuntime.atExit("demo-interrupted", this::interrupted);
    try (DemoCluster cluster = startHadoop();
        MemoryWatch memory = new MemoryWatch(cluster.hadoop())) {
      progress.end(
          "ZooKeeper, HDFS"
              + (dataNodes == 1 ? "" : " with " + dataNodes + " DataNodes")
              + ", YARN with "
              + DemoCluster.NODE_MANAGERS
              + " nodes");
      run(cluster, memory, started);
    } finally {
      atCtrlC.cancel();
      progress.close();
    }
    if (!keep) {
      out.println(LeftFiles.text(directory));
    }
  }

  private void run(DemoCluster cluster, MemoryWatch memory, long started) throws IOException {
    Configuration conf = cluster.configuration();
    try (YarnSubmitter yarn = YarnSubmitter.connect(conf)) {
      startStele(yarn);
      WebtableLoad.Result loaded;
      WebtableLink.Result linked;
      WebtableReport.Result report;
      Optional<String> fewAnchors;
      try (Stele stele = Stele.connect(conf)) {
        createTable(stele);
        copyPages(conf);
        Job load = WebtableLoad.job(conf, Webtable.TABLE, List.of(PAGES));
        run("Load: pages into the table", load);
        loaded = WebtableLoad.result(load);
        progress.end(
            String.format(
                Locale.ROOT, "%,d pages, %,.0f MB", loaded.pages(), loaded.pageBytes() / 1e6));
        Job link = WebtableLink.job(conf, Webtable.TABLE);
        run("Link: who refers to whom", link);
        linked = WebtableLink.result(link);
        progress.end(
            String.format(
                Locale.ROOT, "%,d links to %,d pages", linked.anchors(), linked.referredPages()));
        Job ranking = WebtableReport.job(conf, Webtable.TABLE, REPORT);
        run("Report: read it all again", ranking);
        report = WebtableReport.result(ranking);
        progress.end(
            String.format(
                Locale.ROOT,
                "%,d cells, %,.0f MB, %d tablets",
                report.cells(),
                report.bytes() / 1e6,
                report.tablets().size()));
        fewAnchors = FewAnchors.row(stele);
      }
      Path local = copyReport(conf, report);
      if (!keep) {
        progress.begin("Stop Stele");
        yarn.stop(Duration.ofSeconds(60), progress::say);
        progress.end("tablets given away, servers ended");
      }
      Summary summary =
          new Summary(
              conf,
              report,
              FIRST_SPLITS.size() + 1,
              Summary.Disk.of(conf, report),
              progress.done(),
              memory.peakBytes(),
              memory.peakProcesses(),
              local,
              fewAnchors);
      progress.close();
      summary.print(out, Duration.ofNanos(RUNTIME.nanoTime() - started), keep, directory);
    }
    if (keep) {
      cluster.hadoop().detach();
    }
  }

  private DemoCluster startHadoop() throws IOException {
    progress.begin("Start Hadoop");
    TreeSet<String> up = new TreeSet<>();
    return DemoCluster.startHadoop(
        directory,
        dataNodes,
        site,
        daemon -> {
          up.add(daemon);
          progress.say(String.join(", ", up) + " up");
        });
  }

  private void startStele(YarnSubmitter yarn) throws IOException {
    progress.begin("Start Stele on YARN");
    DemoCluster.startStele(yarn, progress::say);
    List<String> components =
        yarn.status().stream()
            .flatMap(status -> status.components().stream())
            .map(ComponentStatus::id)
            .toList();
    long masters = components.stream().filter(id -> id.startsWith("master")).count();
    long servers = components.stream().filter(id -> id.startsWith("tabletserver")).count();
    progress.end(
        "ApplicationMaster, "
            + (masters == 1 ? "master" : masters + " masters")
            + ", "
            + servers
            + " tablet servers");
  }

  private void createTable(Stele stele) throws IOException {
    progress.begin("Create table " + Webtable.TABLE);
    stele.admin().createTable(Webtable.schema(Webtable.TABLE, SPLIT_BYTES), FIRST_SPLITS);
    progress.end(
        FIRST_SPLITS.size()
            + 1
            + " tablets; families "
            + Webtable.CONTENTS
            + ", "
            + Webtable.LANGUAGE
            + ", "
            + Webtable.ANCHOR);
  }

  private void copyPages(Configuration conf) throws IOException {
    progress.begin("Copy web pages to HDFS");
    FileSystem fs = FileSystem.get(conf);
    fs.mkdirs(PAGES);
    long bytes = 0;
    for (Path jar : pages) {
      progress.say(jar.getFileName().toString());
      bytes += Files.size(jar);
      fs.copyFromLocalFile(
          new org.apache.hadoop.fs.Path(jar.toUri()),
          new org.apache.hadoop.fs.Path(PAGES, jar.getFileName().toString()));
    }
    progress.end(
        String.format(Locale.ROOT, "%d javadoc jars, %,.0f MB", pages.size(), bytes / 1e6));
  }

  /** Runs a job to its end; the step is left open for what came of it. */
  private void run(String title, Job job) throws IOException {
    progress.begin(title);
    try {
      job.submit();
      while (!job.isComplete()) {
        float map = job.mapProgress();
        boolean reduces = job.getNumReduceTasks() > 0;
        float reduce = reduces ? job.reduceProgress() : 0;
        String what = reduces && map >= 1 ? "reducing" : map > 0 ? "mapping" : "starting";
        progress.say(reduces ? (map + reduce) / 2 : map, what);
        RUNTIME.sleep(POLL);
      }
      if (!job.isSuccessful()) {
        throw new IOException(
            "job \""
                + job.getJobName()
                + "\" ("
                + job.getJobID()
                + ") failed: "
                + JobFailure.of(job)
                + "; its logs are under "
                + EmbeddedHadoop.logDirectory(directory)
                + "/containers-*");
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for job \"" + job.getJobName() + "\"");
    } catch (ClassNotFoundException e) {
      throw new IOException(
          "job \"" + job.getJobName() + "\" names a class that does not exist", e);
    }
  }

  private Path copyReport(Configuration conf, WebtableReport.Result report) throws IOException {
    Path local = directory.resolve("report.txt");
    FileSystem fs = report.file().getFileSystem(conf);
    try (var in = fs.open(report.file());
        OutputStream file = Files.newOutputStream(local)) {
      in.transferTo(file);
    }
    return local;
  }

  private void interrupted() {
    String step = progress.title();
    try {
      progress.close();
      if (!step.isEmpty()) {
        out.println();
        out.println("Interrupted in \"" + step + "\"; stopping everything.");
        out.flush();
      }
    } catch (UncheckedIOException e) {
      // It is stopped all the same.
    }
  }

  private static int columns() {
    String columns = System.getenv().getOrDefault("COLUMNS", "");
    return columns.matches("[0-9]{2,4}") ? Integer.parseInt(columns) : 100;
  }
}
