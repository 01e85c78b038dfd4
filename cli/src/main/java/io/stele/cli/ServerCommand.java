package io.stele.cli;

import io.stele.client.ClusterChange;
import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele server}: single tablet servers. */
@Command(
    name = "server",
    description =
        "List tablet servers, drain one of its tablets, or restart servers one after another.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(list | drain | restart)",
    footer = {
      "",
      "Examples:",
      "  stele server list",
      "  stele server drain node7:41231",
      "  stele server drain --no-wait node7:41231",
      "  stele server drain --undo node7:41231",
      "  stele server restart --all",
      "",
      "Next: stele tablet move moves a single tablet"
    })
final class ServerCommand {
  @Spec private CommandSpec spec;

  @Command(
      name = "list",
      description = "Show the tablet servers, and which of them are being drained.",
      mixinStandardHelpOptions = true)
  int list(@Mixin ClusterOptions cluster) throws Exception {
    try (Stele stele = cluster.connect()) {
      print(stele.admin().clusterStatus().servers(), spec.commandLine().getOut());
    }
    return ExitCode.DONE.number();
  }

  static void print(List<ClusterStatus.Server> servers, PrintWriter out) {
    TextTable text = new TextTable("SERVER", "TABLETS", "SIZE", "LOCAL", "STATE", "NAME");
    for (ClusterStatus.Server server : servers) {
      text.line(
          server.id().hostAndPort(),
          server.tablets(),
          TextTable.size(server.sstableBytes()),
          StatusCommand.local(server),
          server.draining() ? "draining" : "takes tablets",
          server.id());
    }
    text.lines("").forEach(out::println);
  }

  @Command(
      name = "drain",
      description =
          "Move all tablets off a server, and assign it none until --undo or until it ends.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele server list shows how many tablets it still has."})
  int drain(
      @Mixin ClusterOptions cluster,
      @Option(names = "--undo", description = "Let the server take tablets again.") boolean undo,
      @Option(
              names = "--timeout",
              paramLabel = "TIME",
              converter = OptionValue.Seconds.class,
              description =
                  "How long to wait until it has no tablets, such as 90s or 10m; a bare number is seconds (default:"
                      + " ${DEFAULT-VALUE}).",
              defaultValue = "300s")
          Duration timeout,
      @Mixin WaitOptions wait,
      @Parameters(
              paramLabel = "SERVER",
              description = "HOST:PORT or the name, as stele server list shows them.")
          String server)
      throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      ServerId id = find(stele.admin().clusterStatus().servers(), server).id();
      if (undo) {
        stele.admin().undrainServer(id);
        out.println("Server " + id.hostAndPort() + " takes tablets again.");
        return ExitCode.DONE.number();
      }
      ClusterChange drain = stele.admin().beginDrainServer(id);
      if (wait.within(timeout).finish(drain, out).isPresent()) {
        boolean isThere =
            stele.admin().clusterStatus().servers().stream().anyMatch(one -> one.id().equals(id));
        out.println(
            "Server "
                + id.hostAndPort()
                + (isThere
                    ? " has no tablets and takes none until --undo."
                    : " has ended; other servers have its tablets."));
      }
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "restart",
      description = "Drain and end tablet servers one after another; no request fails.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Each server that has ended must be replaced from outside: on YARN the",
        "ApplicationMaster does this. Before it touches the next server, the command",
        "waits until as many servers take tablets as before, and all tablets are",
        "served. The only server that takes tablets is not restarted: start another",
        "first. A server that cannot give its tablets away tries again, also after",
        "the command has ended, until stele server drain --undo.",
        "",
        "Examples:",
        "  stele server restart node7:41231",
        "  stele server restart --all"
      })
  int restart(
      @Mixin ClusterOptions cluster,
      @Option(names = "--all", description = "All servers that run now.") boolean all,
      @Option(
              names = "--timeout",
              paramLabel = "TIME",
              converter = OptionValue.Seconds.class,
              description =
                  "How long to wait for each server, such as 90s or 10m; a bare number is seconds (default: ${DEFAULT-VALUE}).",
              defaultValue = "300s")
          Duration timeout,
      @Parameters(
              paramLabel = "SERVER",
              arity = "0..*",
              description = "HOST:PORT or the name, as stele server list shows them.")
          List<String> servers)
      throws Exception {
    if (all == (servers != null && !servers.isEmpty())) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("restart"), "name servers, or say --all");
    }
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      ClusterStatus before = stele.admin().clusterStatus();
      List<ServerId> chosen =
          all
              ? before.servers().stream().map(ClusterStatus.Server::id).toList()
              : servers.stream().map(server -> find(before.servers(), server).id()).toList();
      int done = 0;
      for (ServerId server : chosen) {
        try {
          out.println(restart(stele, server, before.takers(), all, timeout));
        } catch (SteleException e) {
          throw withThoseDone(e, chosen, done);
        }
        done++;
      }
    }
    return ExitCode.DONE.number();
  }

  /**
   * Restarts a server.
   *
   * @param takers how many servers took tablets at first
   * @param all whether all servers are restarted: one that has ended by itself is then done
   * @return what has become of it, for people
   */
  private static String restart(
      Stele stele, ServerId server, long takers, boolean all, Duration timeout) throws IOException {
    String gone = "Server " + server.hostAndPort() + " had ended by itself.";
    ClusterStatus now = stele.admin().clusterStatus();
    requireAsMany(takers, now.takers());
    Optional<ClusterStatus.Server> found =
        now.servers().stream().filter(any -> any.id().equals(server)).findFirst();
    if (all && found.isEmpty()) {
      return gone;
    }
    requireAnother(server, now);
    boolean drained = found.isPresent() && found.get().draining();
    try {
      stele.admin().restartServer(server, timeout);
    } catch (SteleException e) {
      if (all && e.code() == SteleException.Code.NOT_FOUND) {
        return gone;
      }
      throw e;
    }
    // Whether one that drains is replaced depends on why it does.
    return "Server "
        + server.hostAndPort()
        + (drained ? " has ended." : " has ended, and another has taken its place.");
  }

  /**
   * The failure of a restart, with the servers that were restarted and those that were not.
   *
   * @param done how many of the chosen, from the first on, were restarted
   */
  static SteleException withThoseDone(SteleException failure, List<ServerId> chosen, int done) {
    if (chosen.size() == 1) {
      return failure;
    }
    return new SteleException(
        failure.code(),
        failure.getMessage()
            + (done == 0 ? "" : ". Restarted: " + names(chosen.subList(0, done)))
            + ". Still to be restarted: "
            + names(chosen.subList(done, chosen.size())),
        failure);
  }

  private static String names(List<ServerId> servers) {
    return servers.stream().map(ServerId::hostAndPort).collect(Collectors.joining(", "));
  }

  /** Refuses to go on where a server that has been restarted does not keep running. */
  private static void requireAsMany(long before, long now) {
    if (now < before) {
      throw SteleException.retryLater(
          now
              + " servers take tablets, fewer than the "
              + before
              + " at first: see why with `stele yarn status` and the servers' logs, then restart"
              + " the others");
    }
  }

  /** Refuses to restart a server where no other could have its tablets meanwhile. */
  static void requireAnother(ServerId server, ClusterStatus now) {
    if (!now.anotherTakesTablets(server)) {
      throw SteleException.refused(
          "no other server takes the tablets of "
              + server.hostAndPort()
              + " while it is restarted: "
              + ClusterStatus.START_ANOTHER);
    }
  }

  /** Whether {@code text} names the server. */
  static boolean isCalled(ServerId server, String text) {
    return server.toString().equals(text) || server.hostAndPort().equals(text);
  }

  /** The server that {@code text} names. */
  static ClusterStatus.Server find(List<ClusterStatus.Server> servers, String text) {
    return servers.stream()
        .filter(server -> isCalled(server.id(), text))
        .findFirst()
        .orElseThrow(
            () ->
                SteleException.notFound(
                    "there is no server " + text + "; `stele server list` shows those that run"));
  }
}
