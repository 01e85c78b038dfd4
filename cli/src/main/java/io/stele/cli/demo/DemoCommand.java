package io.stele.cli.demo;

import io.stele.cli.Distribution;
import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code stele demo}. */
@Command(
    name = "demo",
    description =
        "Start Hadoop on this machine, run Stele on it, and fill and read a Webtable with MapReduce.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Hadoop's real daemons (HDFS, YARN) run in one Java process, ZooKeeper, Stele's",
      "servers and the jobs' tasks in their own. It takes a few minutes, 5 GB of",
      "memory and 1 GB of disk, all in one directory. It changes nothing else on the",
      "machine and leaves nothing running, even after Ctrl-C. Each demo begins empty:",
      "the tables of the last one are deleted.",
      "",
      "Examples:",
      "  stele demo",
      "  stele demo --keep        leave it up, to try other commands",
      "  stele demo --keep --data-nodes 4 -D stele.yarn.master.count=2 \\",
      "    -D stele.yarn.tabletserver.count=3",
      "  stele demo --stop        end the one that was left up",
      "",
      "Next: stele scan webtable --prefix org.apache.hadoop -c language:"
    })
public final class DemoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--keep", description = "Keep the cluster running at the end.")
  private boolean keep;

  @Option(
      names = "--stop",
      description = "Stop the cluster that --keep left running. Its tables are lost with it.")
  private boolean stop;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Directory for all files (default: .stele in the checkout, or ~/.stele).")
  private Optional<Path> directory = Optional.empty();

  @Option(
      names = "--pages",
      paramLabel = "JAR",
      arity = "1..*",
      description = "Javadoc jars (or zip files of web pages) to load instead of Hadoop's.")
  private List<Path> pages = List.of();

  @Option(
      names = "--data-nodes",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "How many DataNodes HDFS has, up to 9; each block is on three of them, or on all (default: ${DEFAULT-VALUE}).")
  private int dataNodes;

  @Option(
      names = "-D",
      paramLabel = "KEY=VALUE",
      description =
          "Set a configuration key of the demo's cluster, such as stele.yarn.tabletserver.count.")
  private Map<String, String> settings = Map.of();

  @Option(
      names = {"-v", "--verbose"},
      description = "Write the log to standard error.")
  private boolean verbose;

  /** Made by picocli. */
  public DemoCommand() {}

  @Override
  public Integer call() throws Exception {
    Path work =
        directory
            .orElseGet(() -> Path.of(System.getProperty("stele.work.dir", ".stele")))
            .toAbsolutePath()
            .normalize();
    PrintWriter out = spec.commandLine().getOut();
    if (stop && keep) {
      throw new ParameterException(
          spec.commandLine(), "--keep leaves a demo up and --stop ends it: give one of them");
    }
    if (stop) {
      int ended = EmbeddedHadoop.end(work);
      out.println(
          ended == 0
              ? "No demo runs in " + work + "."
              : "Stopped the demo in "
                  + work
                  + " ("
                  + ended
                  + " processes). The next one begins without this one's tables.");
      return 0;
    }
    if (dataNodes < 1 || dataNodes > EmbeddedHadoop.Options.DATA_NODES_MAX) {
      throw new ParameterException(
          spec.commandLine(),
          "--data-nodes must be from 1 to "
              + EmbeddedHadoop.Options.DATA_NODES_MAX
              + ", not "
              + dataNodes);
    }
    requirePages();
    if (EmbeddedHadoop.isRunning(work)) {
      throw SteleException.refused(
          "a demo is running in "
              + work
              + ": stop it with 'stele demo --stop', or use another --dir");
    }
    claim(work);
    if (!verbose) {
      // Nothing has logged yet: the first logger finds this.
      System.setProperty("stele.log", "INFO, file");
      System.setProperty(
          "stele.log.file",
          Path.of(EmbeddedHadoop.logDirectory(work).toString(), "demo.log").toString());
    }
    try {
      new Demo(
              work,
              pages.isEmpty() ? Distribution.pages() : pages,
              keep,
              dataNodes,
              DemoCluster.settings(settings),
              out)
          .run();
      return 0;
    } catch (IOException | RuntimeException e) {
      DemoCluster.waitIfEnding();
      throw e;
    }
  }

  /** Hadoop takes a minute to start: what cannot be loaded afterwards is better known before. */
  private void requirePages() {
    for (Path jar : pages) {
      if (!Files.isReadable(jar) || Files.isDirectory(jar)) {
        throw SteleException.notFound(
            "--pages "
                + jar
                + ": there is no file that can be read there; name a javadoc jar or a zip file of web"
                + " pages, or leave out --pages to load Hadoop's");
      }
    }
  }

  private static void claim(Path work) {
    try {
      EmbeddedHadoop.claim(work);
    } catch (IOException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          "cannot make directory " + work + ": choose another --dir",
          e);
    }
  }
}
