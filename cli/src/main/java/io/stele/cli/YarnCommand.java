package io.stele.cli;

import io.stele.config.Keys;
import io.stele.model.Amount;
import io.stele.model.SteleException;
import io.stele.runtime.AtExit;
import io.stele.runtime.SystemRuntime;
import io.stele.yarn.AlikeComponents;
import io.stele.yarn.ApplicationStatus;
import io.stele.yarn.ComponentStatus;
import io.stele.yarn.StartOptions;
import io.stele.yarn.StopOutcome;
import io.stele.yarn.YarnSubmitter;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele yarn}: the application on YARN. */
@Command(
    name = "yarn",
    description = "Start, inspect, upgrade and stop Stele on YARN.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(start|status|flex|upgrade|stop)",
    footer = {
      "",
      "Nothing is installed on the nodes: jars are distributed through the file",
      "system, servers run in YARN containers, and the ApplicationMaster keeps the",
      "configured number running (stele.yarn.tabletserver.count,",
      "stele.yarn.master.count).",
      "",
      "Examples:",
      "  stele yarn start",
      "  stele yarn start -D stele.yarn.tabletserver.count=8 \\",
      "    -D stele.yarn.queue=serving",
      "  stele yarn status",
      "  stele yarn flex tabletserver 12",
      "  stele yarn upgrade",
      "  stele yarn stop",
      "",
      "Next: stele table create mytable family"
    })
final class YarnCommand {
  private static final List<String> KINDS = List.of("master", "tabletserver");

  @Spec private CommandSpec spec;

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  @Command(
      name = "start",
      description = "Submit Stele to YARN and wait until all processes run and a master answers.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "The data is under stele.root.dir. Stele serves all data that was there when it",
        "was stopped. If processes fail, this says why, and where their logs are. Exits",
        "with 5 when the time is up, and with 4 if the application gives up. Ctrl-C",
        "ends the command, not the application: run it again to wait on, with the",
        "settings of the first start."
      })
  int start(
      @Mixin ClusterOptions cluster,
      @Option(
              names = "--timeout",
              paramLabel = "TIME",
              defaultValue = "180s",
              converter = OptionValue.Seconds.class,
              description =
                  "Wait at most this long, such as 90s or 10m; a bare number is seconds (default: 180s).")
          Duration timeout)
      throws Exception {
    Configuration conf = cluster.configuration();
    try (YarnSubmitter yarn = YarnSubmitter.connect(conf)) {
      StartOptions options = StartOptions.of(Distribution.serverJars()).withTimeout(timeout);
      ApplicationId id = yarn.begin(options, this::progress);
      PrintWriter err = spec.commandLine().getErr();
      AtExit atCtrlC =
          SystemRuntime.atExit("application-left", () -> err.println(leftAlone(id.toString())));
      try {
        yarn.awaitServing(id, options, this::progress);
      } finally {
        atCtrlC.cancel();
      }
      out().println("Stele runs as " + id + ", cluster \"" + Keys.CLUSTER_NAME.in(conf) + "\".");
      out().println("Next: stele table list; stele yarn status");
    }
    return ExitCode.DONE.number();
  }

  /** What to say when this process ends while the application starts. */
  static String leftAlone(String id) {
    return id
        + " continues without this command; `stele yarn status` shows it, `stele yarn stop` stops it";
  }

  @Command(
      name = "status",
      description = "Show the application and its processes.",
      mixinStandardHelpOptions = true)
  int status(@Mixin ClusterOptions cluster) throws Exception {
    Configuration conf = cluster.configuration();
    try (YarnSubmitter yarn = YarnSubmitter.connect(conf)) {
      Optional<ApplicationStatus> running = yarn.status();
      if (running.isEmpty()) {
        throw SteleException.notFound(
            "no Stele of cluster \""
                + Keys.CLUSTER_NAME.in(conf)
                + "\" runs on this YARN; start it with 'stele yarn start'"
                + yarn.ended().map(YarnCommand::howItEnded).orElse(""));
      }
      print(running.get());
      if (!running.get().reachable()) {
        out().println(running.get().unanswered(yarn.hasBegun(running.get().id())));
      }
    }
    return ExitCode.DONE.number();
  }

  private static String howItEnded(ApplicationStatus last) {
    String words = last.diagnostics().strip();
    return ". The last one, "
        + last.id()
        + ", is "
        + last.state()
        + (words.isEmpty() ? "" : ": " + words);
  }

  private void print(ApplicationStatus status) {
    out().println(status.id() + "  " + status.name() + "  " + status.state());
    if (!status.trackingUrl().isEmpty()) {
      out().println("page: " + status.trackingUrl());
    }
    if (!status.components().isEmpty()) {
      TextTable table = new TextTable("PROCESS", "STATE", "NODE", "CONTAINER", "RESTARTS", "NOTE");
      for (AlikeComponents alike : AlikeComponents.of(status.components())) {
        ComponentStatus component = alike.first();
        table.line(
            alike.names(),
            component.state(),
            component.node(),
            component.container(),
            component.restarts(),
            component.note());
      }
      table.lines("").forEach(out()::println);
    }
  }

  @Command(
      name = "flex",
      description =
          "Change how many masters or tablet servers run, until Stele is stopped. Surplus tablet servers give their tablets away first.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "0 tablet servers needs --yes; at least one master stays.",
        "",
        "Example:",
        "  stele yarn flex tabletserver 12"
      })
  int flex(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "KIND", description = "master or tabletserver.") String kind,
      @Parameters(paramLabel = "COUNT", description = "How many are to run.") int count,
      @Option(names = "--yes", description = "Confirm a count of 0.") boolean sure)
      throws Exception {
    if (!KINDS.contains(kind)) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("flex"),
          "there is no KIND \"" + kind + "\": write " + String.join(" or ", KINDS));
    }
    boolean tablets = kind.equals("tabletserver");
    if (tablets && count == 0 && !sure) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("flex"),
          "this ends every tablet server, and no table can be read or written then: add --yes to confirm");
    }
    try (YarnSubmitter yarn = YarnSubmitter.connect(cluster.configuration())) {
      yarn.flex(kind, count);
    }
    String servers = Amount.of(count, tablets ? "tablet server" : kind);
    out().println("Asked for " + servers + "; `stele yarn status` shows when they run.");
    return ExitCode.DONE.number();
  }

  @Command(
      name = "upgrade",
      description =
          "Replace all tablet servers, then the masters, one after another, by those of this version with these settings. No request fails.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "A tablet server gives its tablets away first. The next one is replaced when",
        "another has taken its place and all tablets are served; masters come last. If",
        "it stops halfway, run it again: it continues where it stopped. To go back,",
        "run it with the version and the settings from before. stele yarn status shows",
        "which processes have yet to be upgraded.",
        "",
        "At least two tablet servers must run. The ApplicationMaster keeps running with",
        "its own settings until the next stele yarn start. Another size, other Java",
        "options or another cache off the heap for masters or tablet servers are",
        "refused; all other stele.yarn.* settings are ignored. To change how many run,",
        "use stele yarn flex.",
        "",
        "Examples:",
        "  stele yarn upgrade",
        "  stele yarn upgrade -D stele.tabletserver.memtable.bytes=128m"
      })
  int upgrade(
      @Mixin ClusterOptions cluster,
      @Option(
              names = "--timeout",
              paramLabel = "TIME",
              defaultValue = "300s",
              converter = OptionValue.Seconds.class,
              description =
                  "Wait at most this long for each server, such as 90s or 10m; a bare number is seconds (default: 300s).")
          Duration timeout)
      throws Exception {
    try (YarnSubmitter yarn = YarnSubmitter.connect(cluster.configuration())) {
      yarn.upgrade(StartOptions.of(Distribution.serverJars()).withTimeout(timeout), this::progress);
    }
    out()
        .println(
            "All tablet servers and masters are upgraded. Next: stele yarn status; stele check");
    return ExitCode.DONE.number();
  }

  @Command(
      name = "stop",
      description =
          "Stop Stele cleanly: tablet servers give their tablets away, then everything ends. The data stays.",
      mixinStandardHelpOptions = true)
  int stop(
      @Mixin ClusterOptions cluster,
      @Option(
              names = "--timeout",
              paramLabel = "TIME",
              defaultValue = "120s",
              converter = OptionValue.Seconds.class,
              description =
                  "Give tablet servers this long to give their tablets away, then have YARN kill what is left, such as 90s or 10m; a bare"
                      + " number is seconds (default: 120s). Killing loses no acknowledged write.")
          Duration timeout)
      throws Exception {
    Configuration conf = cluster.configuration();
    try (YarnSubmitter yarn = YarnSubmitter.connect(conf)) {
      StopOutcome outcome =
          yarn.stop(timeout, this::progress)
              .orElseThrow(
                  () ->
                      SteleException.notFound(
                          "no Stele of cluster \""
                              + Keys.CLUSTER_NAME.in(conf)
                              + "\" runs on this YARN"));
      out().println("Stopped. The data stays under " + Keys.ROOT_DIR.in(conf) + ".");
      if (!outcome.words().isEmpty()) {
        out().println("But not cleanly: " + outcome.words() + ".");
        out()
            .println("Give tablet servers more time with --timeout; docs/operations.md says more.");
      }
    }
    return ExitCode.DONE.number();
  }

  private void progress(String line) {
    out().println("  " + line);
  }
}
