package io.stele.cli;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which rows to read, or to delete. */
final class RangeOptions {
  @Option(names = "--prefix", paramLabel = "TEXT", description = "Only rows that begin with this.")
  private Optional<Bytes> prefix = Optional.empty();

  @Option(
      names = "--from",
      paramLabel = "ROW",
      defaultValue = "",
      description = "Start at this row.")
  private Bytes from = Bytes.EMPTY;

  @Option(
      names = "--to",
      paramLabel = "ROW",
      defaultValue = "",
      description = "Stop before this row.")
  private Bytes to = Bytes.EMPTY;

  /**
   * The rows.
   *
   * @param parent the command that was run, or the one it is a subcommand of
   * @throws ParameterException if the options contradict each other
   */
  RowRange of(CommandLine parent) {
    CommandLine command = run(parent);
    if (prefix.isPresent()) {
      if (!from.isEmpty() || !to.isEmpty()) {
        throw new ParameterException(command, "--prefix sets both ends: leave out --from and --to");
      }
      return RowRange.prefix(prefix.get());
    }
    if (!to.isEmpty() && from.compareTo(to) > 0) {
      throw new ParameterException(command, "--from " + from + " is after --to " + to);
    }
    return new RowRange(from, to);
  }

  /** The command that was run: {@code command}, or its subcommand. */
  static CommandLine run(CommandLine command) {
    CommandLine.ParseResult parsed = command.getParseResult();
    return parsed != null && parsed.hasSubcommand()
        ? parsed.subcommand().commandSpec().commandLine()
        : command;
  }
}
