package io.stele.cli;

import io.stele.cli.demo.DemoCommand;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The {@code stele} command. */
@Command(
    name = "stele",
    description = "Stele: Bigtable for Hadoop.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      YarnCommand.class,
      StatusCommand.class,
      TableCommand.class,
      TabletCommand.class,
      ServerCommand.class,
      BalanceCommand.class,
      EventsCommand.class,
      PutCommand.class,
      IncrementCommand.class,
      DeleteCommand.class,
      GetCommand.class,
      ScanCommand.class,
      JobCommand.class,
      CheckCommand.class,
      RepairCommand.class,
      RestoreZooKeeperCommand.class,
      FileCommand.class,
      LogCommand.class,
      ConfCommand.class,
      ClasspathCommand.class,
      TortureCommand.class,
      HelpCommand.class
    },
    footer = {
      "",
      "Start with one of:",
      "  stele demo                  see it work on this machine in a few minutes",
      "  stele demo --keep           the same, and keep it running to try out",
      "  stele yarn start            run it on your Hadoop",
      "  stele COMMAND --help        show what a command does, with examples",
      "",
      "Exit codes: 0 success, 1 failure, 2 wrong usage, 3 not found, 4 refused,",
      "5 retry later, 6 may or may not be applied, 7 damaged file, 8 exists already,",
      "9 differs or has problems, 130 interrupted, 141 output closed"
    })
public final class Main {
  private Main() {}

  /** Runs the command line {@code args} and exits. */
  public static void main(String[] args) {
    // Before the first logger is made: what conf/log4j.properties refers to.
    boolean verbose = List.of(args).contains("--verbose") || List.of(args).contains("-v");
    String wanted = System.getenv().getOrDefault("STELE_LOG", verbose ? "INFO" : "OFF");
    System.setProperty("stele.log", System.getProperty("stele.log", wanted + ", console"));
    System.exit(run(commandLine(), args));
  }

  /** Runs the command line {@code args}; returns what to exit with. */
  static int run(CommandLine line, String... args) {
    try {
      int code = line.execute(args);
      line.getOut().flush(); // What is not a whole line yet.
      return code;
    } catch (UncheckedIOException | OutOfMemoryError failure) {
      return Failures.report(failure, line);
    }
  }

  private static int execute(CommandLine.ParseResult parsed) {
    try {
      return new CommandLine.RunLast().execute(parsed);
    } catch (UncheckedIOException failure) { // Of printing help: picocli would show its stack.
      return Failures.report(failure, parsed.commandSpec().commandLine());
    }
  }

  /** The command line, ready to execute. */
  static CommandLine commandLine() {
    return commandLine(CommandLine.defaultFactory());
  }

  /** The same, with commands made by {@code factory}. */
  static CommandLine commandLine(CommandLine.IFactory factory) {
    CommandLine line = OptionValue.register(new CommandLine(new Main(), factory));
    line.setOut(StandardOutput.ofProcess().printer());
    line.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
    line.registerConverter(org.apache.hadoop.fs.Path.class, org.apache.hadoop.fs.Path::new);
    line.setExecutionStrategy(Main::execute);
    line.setExpandAtFiles(false);
    line.setAbbreviatedOptionsAllowed(false);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpAutoWidth(true);
    line.setParameterExceptionHandler(WrongUsage::report);
    line.setExecutionExceptionHandler(
        (failure, command, parsed) -> Failures.report(failure, command));
    return line;
  }

  /** The version of the store's jar: {@code hadoop jar} unpacks the one that this class is in. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "stele " + io.stele.config.Version.text(),
        "Java " + Runtime.version() + ", Hadoop " + org.apache.hadoop.util.VersionInfo.getVersion()
      };
    }
  }
}
