package io.stele.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code stele classpath}: what programs of users need on their class paths. */
@Command(
    name = "classpath",
    description =
        "Print what Hadoop needs on its class path for programs that use Stele: the directory of"
            + " stele-site.xml, and Stele's jars.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "For a job or a program of your own, with the hadoop command of your cluster:",
      "  HADOOP_CLASSPATH=\"$(stele classpath)\" hadoop jar my.jar my.Main",
      "",
      "Example:",
      "  stele classpath --conf /etc/stele"
    })
final class ClasspathCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    String jars = Distribution.home().resolve("lib").toString() + "/*";
    spec.commandLine().getOut().println(cluster.configurationDirectory() + ":" + jars);
    return ExitCode.DONE.number();
  }
}
