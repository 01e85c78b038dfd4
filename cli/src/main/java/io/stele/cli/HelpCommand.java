package io.stele.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele help}: the help of any command, as {@code --help} shows it. */
@Command(
    name = "help",
    description = "Show what a command does, with examples.",
    mixinStandardHelpOptions = true,
    footer = {"", "Examples:", "  stele help", "  stele help scan", "  stele help table create"})
final class HelpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "COMMAND",
      description = "The command, and its subcommand if it has any.")
  private List<String> words = List.of();

  @Override
  public Integer call() {
    CommandLine command = spec.root().commandLine();
    for (String word : words) {
      CommandLine next = command.getSubcommands().get(word);
      if (next == null) {
        throw new ParameterException(command, WrongUsage.noCommand(command, word));
      }
      command = next;
    }
    command.usage(spec.commandLine().getOut());
    return ExitCode.DONE.number();
  }
}
