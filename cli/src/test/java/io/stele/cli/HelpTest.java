package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The help of a command with parameters has examples, and all examples are valid. */
class HelpTest {
  private static final int COLUMNS = 80;

  /** A key, an option's value or a name of a function: it has a sign within. */
  private static final Pattern COPIED = Pattern.compile(".*\\w[_.:=]\\w.*");

  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

  static Stream<Arguments> commands() {
    return leaves(Main.commandLine())
        .map(line -> Arguments.of(line.getCommandSpec().qualifiedName(), line));
  }

  private static Stream<CommandLine> leaves(CommandLine line) {
    return line.getSubcommands().isEmpty()
        ? Stream.of(line)
        : line.getSubcommands().values().stream().distinct().flatMap(HelpTest::leaves);
  }

  /** The examples in the footers of a command and those above it. */
  private static List<String> examples(CommandLine line) {
    String name = line.getCommandSpec().qualifiedName();
    return Stream.iterate(line, one -> one != null, CommandLine::getParent)
        .flatMap(one -> Stream.of(joined(one.getCommandSpec().usageMessage().footer())))
        .map(text -> text.strip().replaceAll("  .*| > .*", "")) // What it does; a redirection.
        .filter(text -> text.equals(name) || text.startsWith(name + " "))
        .toList();
  }

  /** The lines, with those that end with a backslash joined to the next. */
  private static String[] joined(String[] lines) {
    return String.join("\n", lines).replaceAll(" \\\\\n *", " ").split("\n");
  }

  private static Stream<CommandLine> all(CommandLine line) {
    return Stream.concat(
        Stream.of(line), line.getSubcommands().values().stream().distinct().flatMap(HelpTest::all));
  }

  static Stream<Arguments> helps() {
    return all(Main.commandLine())
        .map(line -> Arguments.of(line.getCommandSpec().qualifiedName(), line));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("helps")
  void noExampleIsWrappedOnANarrowTerminal(String name, CommandLine line) {
    CommandLine.Model.UsageMessageSpec usage = line.getCommandSpec().usageMessage();
    usage.autoWidth(false);
    usage.width(COLUMNS);
    boolean goesOn = false;
    for (String text : usage.footer()) {
      if (goesOn || text.startsWith("  stele ")) {
        assertThat(line.getUsageMessage().lines()).as(name).contains(text.stripTrailing());
      }
      goesOn = text.endsWith("\\");
    }
  }

  /** The footers are written for a narrow terminal: lines that are longer would be ragged there. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("helps")
  void noLineOfAFooterIsWrappedOnANarrowTerminal(String name, CommandLine line) {
    assertThat(line.getCommandSpec().usageMessage().footer())
        .as(name)
        .allSatisfy(text -> assertThat(text).hasSizeLessThanOrEqualTo(COLUMNS - 2));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("helps")
  void whatCanBeCopiedIsWholeOnANarrowTerminal(String name, CommandLine line) {
    CommandLine.Model.CommandSpec spec = line.getCommandSpec();
    spec.usageMessage().autoWidth(false);
    spec.usageMessage().width(COLUMNS);
    String help = line.getUsageMessage();
    Stream.of(
            Stream.of(spec.usageMessage().description()),
            Stream.of(spec.usageMessage().footer()),
            spec.args().stream().flatMap(one -> Stream.of(one.description())),
            line.getSubcommands().values().stream()
                .flatMap(one -> Stream.of(one.getCommandSpec().usageMessage().description())))
        .flatMap(texts -> texts)
        .flatMap(text -> Stream.of(text.split("[ ,;()]+")))
        .filter(word -> COPIED.matcher(word).matches())
        .forEach(word -> assertThat(help).as(name).contains(word));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("commands")
  void itsHelpHasExamplesThatCanBeTyped(String name, CommandLine line) {
    List<String> examples = examples(line);
    if (!line.getCommandSpec().positionalParameters().isEmpty()) {
      assertThat(examples).as("examples of `%s`", name).isNotEmpty();
    }
    for (String example : examples) {
      String[] words =
          WORD.matcher(example)
              .results()
              .skip(1) // stele
              .map(HelpTest::unquoted)
              .toArray(String[]::new);
      assertThatCode(() -> Main.commandLine().parseArgs(words))
          .as("\"%s\"", example)
          .doesNotThrowAnyException();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("commands")
  void theHelpCommandShowsTheSameAsTheOption(String name, CommandLine line) {
    List<String> path = List.of(name.split(" ")).subList(1, name.split(" ").length);
    List<String> words = Stream.concat(Stream.of("help"), path.stream()).toList();
    List<String> option = Stream.concat(path.stream(), Stream.of("--help")).toList();
    assertThat(Ran.of(words)).isEqualTo(Ran.of(option));
    assertThat(Ran.of(words).out()).contains(name);
  }

  @Test
  void theHelpCommandRefusesWordsThatAreNoCommands() {
    assertThat(Ran.of(List.of("help")).out()).isEqualTo(Ran.of(List.of("--help")).out());
    for (String words : List.of("help tabel", "help table craete", "help scan create")) {
      Ran ran = Ran.of(List.of(words.split(" ")));
      assertThat(ran.exit()).as(words).isEqualTo(ExitCode.USAGE.number());
      assertThat(ran.out()).isEmpty();
      assertThat(ran.err())
          .startsWith("stele: there is no command `" + words.replace("help", "stele") + "`\n");
    }
    assertThat(Ran.of(List.of("help", "table", "craete")).err())
        .endsWith("Try: stele table --help\n");
  }

  private static String unquoted(MatchResult word) {
    return word.group(1) == null ? word.group(2) : word.group(1);
  }
}
