package io.stele.cli;

import io.stele.model.TimeRange;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which versions to read, by their timestamps. */
final class TimeOptions {
  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = OptionValue.Timestamp.class,
      description =
          "Only cells with timestamps from this time on, such as 2026-11-01T00:00:00Z, or in"
              + " microseconds since 1970.")
  private Optional<Long> since = Optional.empty();

  @Option(
      names = "--until",
      paramLabel = "TIME",
      converter = OptionValue.Timestamp.class,
      description = "Only cells with timestamps before this time.")
  private Optional<Long> until = Optional.empty();

  /**
   * The timestamps.
   *
   * @param parent the command that was run, or the one it is a subcommand of
   * @throws ParameterException if the options contradict each other
   */
  TimeRange of(CommandLine parent) {
    long from = since.orElse(TimeRange.ALL.fromMicros());
    long to = until.orElse(TimeRange.ALL.toMicros());
    if (from > to) {
      throw new ParameterException(RangeOptions.run(parent), "--since is after --until");
    }
    return new TimeRange(from, to);
  }
}
