package io.stele.cli;

import io.stele.client.Stele;
import io.stele.client.TabletEvent;
import io.stele.model.ServerId;
import java.io.PrintWriter;
import java.util.List;
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
    description =
        "Show what happened to the tablets of a table, to one tablet, or to those of a server.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Each tablet keeps its last events. What happened before a split is shown for the upper half.",
      "",
      "Examples:",
      "  stele events web",
      "  stele events t5/3c07f2a9d1e84b60",
      "  stele events node7:41231"
    })
final class EventsCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "Show only so many, the newest (${DEFAULT-VALUE}).",
      defaultValue = "200")
  private int last;

  @Parameters(
      paramLabel = "TABLE|TABLET|SERVER",
      description = "A table's name, a tablet's id, or a server's HOST:PORT or name.")
  private String of;

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = Stele.connect(cluster.configuration())) {
      List<TabletEvent> events = read(stele);
      TextTable text = new TextTable("TIME", "TABLET", "EPOCH", "SERVER", "EVENT");
      for (TabletEvent event : events.subList(Math.max(0, events.size() - last), events.size())) {
        text.line(
            event.time(),
            event.tablet(),
            event.epoch(),
            event.server().map(ServerId::hostAndPort).orElse("-"),
            event.what());
      }
      text.lines("").forEach(out::println);
    }
    return ExitCode.DONE.number();
  }

  private List<TabletEvent> read(Stele stele) throws Exception {
    if (of.contains("/")) {
      return stele.admin().events().stream().filter(one -> one.tablet().equals(of)).toList();
    }
    if (of.contains(":") || of.chars().filter(c -> c == '_').count() >= 2) {
      return stele.admin().events().stream()
          .filter(one -> one.server().filter(id -> ServerCommand.isCalled(id, of)).isPresent())
          .toList();
    }
    return stele.admin().events(of);
  }
}
