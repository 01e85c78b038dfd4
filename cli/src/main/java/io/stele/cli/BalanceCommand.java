package io.stele.cli;

import io.stele.client.Stele;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code stele balance}: turns the balancing of tablets on or off, or balances them now. */
@Command(
    name = "balance",
    description = "Show whether balancing is on, turn it on or off, or balance the tablets once.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "[on | off | now]",
    footer = {"", "Next: stele server list shows how many tablets each server has"})
final class BalanceCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    try (Stele stele = cluster.connect()) {
      out().println("Balancing is " + (stele.admin().isBalanced() ? "on." : "off."));
    }
    return ExitCode.DONE.number();
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  @Command(
      name = "on",
      description = "Let the master move tablets from servers with more load than others.",
      mixinStandardHelpOptions = true)
  int on(@Mixin ClusterOptions options) throws Exception {
    return set(options, true);
  }

  @Command(
      name = "off",
      description = "Leave tablets where they are until balancing is turned on again.",
      mixinStandardHelpOptions = true)
  int off(@Mixin ClusterOptions options) throws Exception {
    return set(options, false);
  }

  private int set(ClusterOptions options, boolean on) throws Exception {
    try (Stele stele = options.connect()) {
      stele.admin().setBalanced(on);
    }
    out().println("Balancing is " + (on ? "on." : "off."));
    return ExitCode.DONE.number();
  }

  @Command(
      name = "now",
      description =
          "Balance the tablets once, whether balancing is on or off. Waits at most for"
              + " stele.client.timeout (60s); then it exits with 6, and balancing continues.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele server list shows how many tablets each server has"})
  int now(@Mixin ClusterOptions options, @Mixin WaitOptions wait) throws Exception {
    try (Stele stele = options.connect()) {
      wait.finish(stele.admin().beginBalanceNow(), "Tablets are balanced.", out());
    }
    return ExitCode.DONE.number();
  }
}
