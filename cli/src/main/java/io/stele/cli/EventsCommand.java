package io.stele.cli;

import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.client.TabletEvent;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele events}: what happened to tablets. */
@Command(
    name = "events",
    description = "Show the events of a table's tablets, of one tablet, or of a server's tablets.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Each tablet keeps its latest events. Events before a split are shown with the",
      "upper half. After the events: how long each stage of a recovery took, for the",
      "recoveries that this master saw.",
      "",
      "Examples:",
      "  stele events webtable",
      "  stele events t5/3c07f2a9d1e84b60",
      "  stele events root/0000000000000000",
      "  stele events node7:41231"
    })
final class EventsCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "Show at most this many events, the newest (default: ${DEFAULT-VALUE}).",
      defaultValue = "200",
      converter = OptionValue.Count.class)
  private int last;

  @Parameters(
      paramLabel = "TABLE|TABLET|SERVER",
      description = "A table's name, a tablet's id, or a server's name or HOST:PORT.")
  private String of;

  @Override
  public Integer call() throws Exception {
    try (Stele stele = cluster.connect()) {
      List<TabletEvent> events = read(stele);
      int first = Math.max(0, events.size() - last);
      if (events.isEmpty()) {
        spec.commandLine().getOut().println("There are no events of " + of + ".");
        return ExitCode.DONE.number();
      }
      print(events.subList(first, events.size()), recoveries(stele), spec.commandLine().getOut());
    }
    return ExitCode.DONE.number();
  }

  private List<ClusterStatus.Recovery> recoveries(Stele stele) throws IOException {
    try {
      return stele.admin().clusterStatus().recoveries();
    } catch (SteleException e) {
      spec.commandLine()
          .getErr()
          .println("The master cannot be asked how long recoveries took: " + e.getMessage());
      return List.of();
    }
  }

  /** Prints events, and what the time of recoveries went into whose servers they name. */
  static void print(
      List<TabletEvent> events, List<ClusterStatus.Recovery> recoveries, PrintWriter out) {
    TextTable text = new TextTable("TIME", "TABLET", "EPOCH", "SERVER", "EVENT");
    Set<String> servers = new HashSet<>();
    for (TabletEvent event : events) {
      text.line(
          event.time(),
          event.tablet(),
          event.epoch(),
          event.server().map(ServerId::hostAndPort).orElse("-"),
          event.what());
      event.server().map(ServerId::toString).ifPresent(servers::add);
    }
    text.lines("").forEach(out::println);
    recoveries.stream()
        .filter(recovery -> servers.contains(recovery.server()))
        .map(RecoveryText::of)
        .forEach(out::println);
  }

  private List<TabletEvent> read(Stele stele) throws Exception {
    if (of.contains("/")) {
      return stele.admin().tabletEvents(of);
    }
    boolean maybeServer = of.contains(":") || of.matches("[^_]+_\\d+_\\d+");
    if (!maybeServer || stele.admin().tableExists(of)) {
      return stele.admin().events(of);
    }
    List<TabletEvent> events =
        stele.admin().events().stream()
            .filter(one -> one.server().filter(id -> ServerCommand.isCalled(id, of)).isPresent())
            .toList();
    if (events.isEmpty()) { // A dead server has events: else it is known only if it runs.
      ServerCommand.find(stele.admin().clusterStatus().servers(), of);
    }
    return events;
  }
}
