package io.stele.cli;

import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stele status}: the cluster as its master sees it. */
@Command(
    name = "status",
    description = "Show the master, the tablet servers and their tablets.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Next: stele table describe TABLE shows which server has which tablet; stele",
      "yarn status shows the containers."
    })
final class StatusCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Option(
      names = "--targets",
      description =
          "Print the addresses of the pages instead, as Prometheus reads them from a file"
              + " (file_sd_configs).")
  private boolean targets;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      ClusterStatus status = stele.admin().clusterStatus();
      if (targets) {
        printTargets(status, out);
        return ExitCode.DONE.number();
      }
      out.println(
          "master  "
              + status.master()
              + status.webAddress().map(address -> ", http://" + address + "/").orElse(""));
      out.println("tables  " + status.tables());
      out.println(
          "tablets "
              + status.tablets()
              + " (METADATA's included)"
              + (status.unassigned() > 0
                  ? ", " + status.unassigned() + " of them not served now"
                  : ""));
      TextTable text = new TextTable("SERVER", "TABLETS", "MEMTABLES", "SIZE", "LOCAL", "PAGE");
      for (ClusterStatus.Server server : status.servers()) {
        text.line(
            server.id().hostAndPort(),
            server.tablets(),
            TextTable.size(server.memtableBytes()),
            TextTable.size(server.sstableBytes()),
            local(server),
            server.webAddress().map(address -> "http://" + address + "/").orElse(""));
      }
      text.lines("").forEach(out::println);
      if (!status.balanced()) {
        out.println("balancing is off (stele balance on starts it again)");
      }
      printAttention(status, out);
    }
    return ExitCode.DONE.number();
  }

  /** The addresses as JSON: letters, digits, dots, hyphens and a colon, so nothing is escaped. */
  private static void printTargets(ClusterStatus status, PrintWriter out) {
    List<String> lines = new ArrayList<>();
    status.webAddress().ifPresent(address -> lines.add(targets("master", List.of(address))));
    lines.add(
        targets(
            "tabletserver",
            status.servers().stream().flatMap(server -> server.webAddress().stream()).toList()));
    out.println("[\n" + String.join(",\n", lines) + "\n]");
  }

  private static String targets(String process, List<String> addresses) {
    String quoted =
        addresses.stream().map(one -> '"' + one + '"').collect(Collectors.joining(", "));
    return "  {\"labels\": {\"process\": \"" + process + "\"}, \"targets\": [" + quoted + "]}";
  }

  /** What is in progress or in trouble, a line each. */
  private static void printAttention(ClusterStatus status, PrintWriter out) {
    for (ClusterStatus.Server server : status.servers()) {
      if (server.draining()) {
        String name = server.id().hostAndPort();
        out.println(
            "server "
                + name
                + " is being drained (stele server drain --undo "
                + name
                + " ends that)");
      }
    }
    for (ClusterStatus.Recovery recovery : status.recoveries()) {
      out.println(RecoveryText.of(recovery));
    }
    for (ClusterStatus.Change change : status.changes()) {
      out.println(
          "table "
              + change.table()
              + " is being "
              + change.action()
              + " since "
              + change.begun()
              + ": "
              + change.progress());
    }
    for (ClusterStatus.Troubled tablet : status.troubled()) {
      String how =
          tablet.quarantined()
              ? " is in quarantine (stele tablet release " + tablet.tablet() + "): "
              : tablet.served() ? " is served, but " : " is not served yet: ";
      out.println("tablet " + tablet.tablet() + how + tablet.reason());
    }
  }

  /** The share of a server's bytes that lies on its own host. */
  static String local(ClusterStatus.Server server) {
    return server.localPercent().map(percent -> percent + " %").orElse("-");
  }
}
