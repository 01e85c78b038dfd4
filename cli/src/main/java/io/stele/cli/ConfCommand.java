package io.stele.cli;

import io.stele.config.JobKeyDocs;
import io.stele.config.JobKeys;
import io.stele.config.Key;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import java.io.PrintWriter;
import java.util.TreeMap;
import java.util.stream.Stream;
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
      "  stele conf yarn           only keys with \"yarn\" in the name",
      "  stele conf mapreduce      keys of MapReduce jobs"
    })
final class ConfCommand implements java.util.concurrent.Callable<Integer> {
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
    if (Stream.concat(Keys.all().keySet().stream(), JobKeys.names().stream())
        .noneMatch(name -> name.contains(text))) {
      throw SteleException.notFound(
          "no configuration key contains \""
              + text
              + "\"; "
              + (text.startsWith("stele.")
                  ? "did you mean " + Keys.nearest(text) + "?"
                  : "`stele conf` shows all keys"));
    }
    for (Key<?> key : new TreeMap<>(Keys.all()).values()) {
      show(
          out, conf, key.name(), key.defaultText(), key.doc() + " Allowed: " + key.allowed() + ".");
    }
    JobKeyDocs.byName().forEach((name, doc) -> show(out, conf, name, doc.unset(), doc.text()));
    return ExitCode.DONE.number();
  }

  private void show(PrintWriter out, Configuration conf, String name, String unset, String doc) {
    if (name.contains(text)) {
      String value = conf.getTrimmed(name, unset);
      String changed = value.equals(unset) || unset.isEmpty() ? "" : "   (default: " + unset + ")";
      out.println((name + " = " + value + changed).stripTrailing());
      out.println("    " + doc);
    }
  }
}
