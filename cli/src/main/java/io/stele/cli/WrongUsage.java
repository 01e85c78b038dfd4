package io.stele.cli;

import io.stele.config.Keys;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says what is wrong with a command line, and what may have been meant. */
final class WrongUsage {
  private WrongUsage() {}

  /** Reports {@code wrong} and returns the exit code that tells of it. */
  static int report(ParameterException wrong, String[] args) {
    CommandLine command = wrong.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("stele: " + text(wrong));
    err.println("Try: " + command.getCommandSpec().qualifiedName(" ") + " --help");
    return ExitCode.USAGE.number();
  }

  /** That {@code command} has no subcommand {@code word}, and which it has that is spelled so. */
  static String noCommand(CommandLine command, String word) {
    String before = command.getCommandSpec().qualifiedName(" ") + " ";
    String text = "there is no command `" + before + word + "`";
    if (command.getParent() == null && word.equals("version")) {
      return text + "; `stele --version` shows the version";
    }
    return Keys.misspelled(word, command.getSubcommands().keySet())
        .map(name -> text + "\nDid you mean: " + before + name)
        .orElse(text);
  }

  private static String text(ParameterException wrong) {
    CommandLine command = wrong.getCommandLine();
    List<String> words = List.of();
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      words = unmatched.getUnmatched();
    } else if (wrong instanceof MissingParameterException) {
      words =
          command.getUnmatchedArguments(); // A row may be among them, for it looks like an option.
    }
    if (words.isEmpty()) {
      String text =
          String.valueOf(wrong.getMessage())
              .replace("option option", "option")
              .replaceFirst(
                  "^Invalid value for positional parameter at index \\S+ \\((.*?)\\): ", "$1: ")
              .replaceFirst(
                  "^positional parameter at index \\S+ \\((.*?)\\) requires at least .*",
                  "$1 is missing");
      return text.equals("Missing required subcommand")
          ? "say which: " + String.join(", ", command.getSubcommands().keySet())
          : text;
    }
    Optional<String> option = words.stream().filter(word -> word.startsWith("-")).findFirst();
    if (option.isPresent()) {
      return noOption(command, option.get().replaceFirst("=.*", ""));
    }
    return command.getSubcommands().isEmpty()
        ? "too many arguments: " + String.join(" ", words)
        : noCommand(command, words.get(0));
  }

  private static String noOption(CommandLine command, String option) {
    String text = "there is no option " + option;
    List<String> names =
        command.getCommandSpec().options().stream()
            .filter(one -> !one.hidden())
            .flatMap(one -> Stream.of(one.names()))
            .toList();
    // An option of one letter is near to any other.
    Optional<String> meant =
        option.startsWith("--") ? Keys.misspelled(option, names) : Optional.<String>empty();
    boolean maybeRow =
        meant.isEmpty()
            && command.getCommandSpec().positionalParameters().stream()
                .anyMatch(one -> one.paramLabel().equals("ROW"));
    return text
        + meant.map(name -> "\nDid you mean: " + name).orElse("")
        + (maybeRow ? "\nWrite `--` before a row that begins with `-`" : "");
  }
}
