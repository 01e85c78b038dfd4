package io.stele.cli;

import io.stele.config.Key;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import java.io.PrintWriter;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele conf}: the configuration keys. */
@Command(
    name = "conf",
    description = "List the configuration keys, what they mean, and their current values.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  stele conf",
      "  stele conf yarn           only keys with \"yarn\" in the name"
    })
final class ConfCommand implements java.util.concurrent.Callable<Integer> {
  private static final String OF_JOBS =
      "; keys of MapReduce jobs, mapreduce.stele.*, are in docs/mapreduce.md";

  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "TEXT",
      defaultValue = "",
      description = "Show only keys that contain this text.")
  private String text;

  @Override
  public Integer call() throws Exception {
    Configuration conf = cluster.configuration();
    PrintWriter out = spec.commandLine().getOut();
    if (Keys.all().keySet().stream().noneMatch(name -> name.contains(text))) {
      throw SteleException.notFound(
          "no configuration key contains \""
              + text
              + "\"; "
              + (text.startsWith("stele.")
                  ? "did you mean " + Keys.nearest(text) + "?"
                  : "`stele conf` shows all keys")
              + OF_JOBS);
    }
    for (Key<?> key : new TreeMap<>(Keys.all()).values()) {
      if (key.name().contains(text)) {
        String value = conf.getTrimmed(key.name(), key.defaultText());
        out.println(
            key.name()
                + " = "
                + value
                + (value.equals(key.defaultText())
                    ? ""
                    : "   (default: " + key.defaultText() + ")"));
        out.println("    " + key.doc() + " Allowed: " + key.allowed() + ".");
      }
    }
    if (text.isEmpty()) {
      out.println(OF_JOBS.substring(2));
    }
    return ExitCode.DONE.number();
  }
}
