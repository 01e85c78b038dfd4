package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where a new table is cut into tablets. */
final class SplitOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--split-at",
      paramLabel = "ROW",
      description = "Create the table with a tablet that starts at this row; may be repeated.")
  private List<Bytes> rows = List.of();

  @Option(
      names = "--splits-file",
      paramLabel = "FILE",
      description = "The same for each line of this file on your machine.")
  private Optional<Path> file = Optional.empty();

  /** The rows at which the tablets of a table begin, but the first. */
  static List<Bytes> rows(Stele stele, String table) throws IOException {
    return stele.table(table).tablets().stream()
        .map(tablet -> tablet.rows().start())
        .filter(row -> !row.isEmpty())
        .toList();
  }

  /** Writes rows as {@code --splits-file} reads them. */
  static void write(Path file, List<Bytes> rows) throws IOException {
    Files.write(file, rows.stream().map(Bytes::toString).toList());
  }

  /** The first rows of tablets, other than the first one. */
  List<Bytes> rows() throws IOException {
    List<Bytes> all = new ArrayList<>(rows);
    if (file.isPresent()) {
      all.addAll(read(file.get()));
    }
    return all;
  }

  private List<Bytes> read(Path from) throws IOException {
    List<Bytes> read = new ArrayList<>();
    int number = 0;
    try {
      for (String line : Files.readAllLines(from)) {
        number++;
        if (!line.isEmpty()) {
          read.add(OptionValue.of(line, Bytes::parse, command));
        }
      }
    } catch (NoSuchFileException e) {
      throw new ParameterException(
          command.commandLine(), "--splits-file " + from + ": there is no such file", e);
    } catch (ParameterException e) {
      throw new ParameterException(
          command.commandLine(), from + ", line " + number + ": " + e.getMessage(), e);
    }
    return read;
  }
}
