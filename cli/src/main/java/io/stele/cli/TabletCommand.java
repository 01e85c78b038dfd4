package io.stele.cli;

import io.stele.client.Stele;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele tablet}: single tablets. */
@Command(
    name = "tablet",
    description = "Release tablets from quarantine.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(release)",
    footer = {
      "",
      "Examples:",
      "  stele tablet release t5/3c07f2a9d1e84b60",
      "",
      "What next: stele status shows the tablets in quarantine, and why they are there"
    })
final class TabletCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing subcommand: release");
  }

  @Command(
      name = "release",
      description = "Have servers try a quarantined tablet at once, instead of after its pause.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele status shows whether it is served."})
  int release(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLET", description = "The tablet's id, as stele status shows it.")
          String tablet)
      throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = Stele.connect(cluster.configuration())) {
      stele.admin().releaseTablet(tablet);
    }
    out.println("Released tablet " + tablet + ": a server will try to load it again.");
    return ExitCode.DONE.number();
  }
}
