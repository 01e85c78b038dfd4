package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What makes no sense is said before any cluster is asked. */
class WrongUsageTest {
  private static String refusal(String words) {
    Ran ran = Ran.of(List.of(words.split(" ")));
    assertThat(ran.exit()).as(ran.err()).isEqualTo(ExitCode.USAGE.number());
    return ran.err();
  }

  @Test
  void theHelpOfTheSubcommandIsNamed() {
    for (String command : List.of("scan", "table delete-rows", "job count", "job verify")) {
      assertThat(refusal(command + " web --from b --to a"))
          .startsWith("stele: --from b is after --to a\n")
          .endsWith("Try: stele " + command + " --help\n");
    }
  }

  @Test
  void valuesOfOptionsAreCheckedBeforeAClusterIsAsked() {
    assertThat(refusal("table create web b a:version=3"))
        .contains("versions=NUMBER", "not \"version=3\"")
        .endsWith("Try: stele table create --help\n");
    assertThat(refusal("table alter web a:version=3")).contains("not \"version=3\"");
    assertThat(refusal("table create web a --codec zst")).contains("--codec", "zstd-high");
    assertThat(refusal("table create web a --group g:codec=zst")).contains("--group", "zstd-high");
    assertThat(refusal("table create web a --split-size 10x")).contains("such as 64m");
    assertThat(refusal("table alter web --split-size 10x")).contains("such as 64m");
    assertThat(refusal("table change web/drop-0 --wait 10x")).contains("such as 30d");
    assertThat(refusal("table create web a --split-at \\x"))
        .contains("--split-at", "two hex digits");
    assertThat(refusal("table create web a --reader alice")).contains("--reader", "user:");
    assertThat(refusal("table alter web --drop-reader alice")).contains("--drop-reader", "user:");
    assertThat(refusal("job stats web --prefix-bytes 0")).contains("from 1");
    for (String command : List.of("get web row", "scan web", "job count web")) {
      assertThat(refusal(command + " --versions 0")).contains("from 1");
    }
  }

  @Test
  void rowsColumnsAndNumbersAreCheckedBeforeAClusterIsAsked() {
    for (String command :
        List.of(
            "put web \\xzz f: a",
            "put web row f:\\xzz a",
            "put web row f: \\xzz",
            "get web \\xzz",
            "get web row -c f:\\xzz",
            "scan web --from \\xzz",
            "job count web --prefix \\xzz",
            "tablet split web \\xzz")) {
      assertThat(refusal(command))
          .as(command)
          .contains("two hex digits")
          .doesNotContain("Exception")
          .endsWith(" --help\n");
    }
    assertThat(refusal("scan web --limit abc")).contains("write a whole number, not \"abc\"");
    assertThat(refusal("yarn flex tabletserver abc")).contains("write a whole number");
    assertThat(refusal("yarn flex tabletserver 99999999999")).contains("is out of range");
    assertThat(refusal("yarn flex tabletserver 0")).contains("--yes");
    assertThat(refusal("events web --last 0")).contains("from 1");
  }

  @Test
  void argumentsAreNamedNotNumbered() {
    for (String command : List.of("put web row", "put web row f:a", "table change nope")) {
      assertThat(refusal(command)).as(command).doesNotContain("positional", "at index");
    }
    assertThat(refusal("put web row")).startsWith("stele: COLUMN VALUE");
    assertThat(refusal("table change nope")).startsWith("stele: ID: ");
  }

  @Test
  void aPutNamesColumnsAndReadsStandardInputOnce() {
    assertThat(refusal("put web row anchor x"))
        .contains("FAMILY:QUALIFIER, or \"anchor:\" for the empty qualifier, not \"anchor\"");
    assertThat(refusal("put web row f:a - f:b -")).contains("only one value can be -");
  }

  @Test
  void namesAndIdsAreCheckedBeforeAClusterIsAsked() {
    assertThat(refusal("table create web a --codec zst"))
        .contains("unknown codec \"zst\": use one of none, snappy, ");
    assertThat(refusal("table create web a --group g:cache=zst"))
        .contains("unknown cache priority \"zst\": use one of ");
    assertThat(refusal("yarn flex tablet 3"))
        .startsWith("stele: there is no KIND \"tablet\": write master or tabletserver\n");
    assertThat(refusal("table change foo")).contains("\"foo\" is not the id of a change");
    assertThat(refusal("tablet release t9/ffff")).contains("16 hex digits");
    assertThat(refusal("job import-text web /x --fields profile:a"))
        .contains("one of them must be ROW")
        .endsWith("Try: stele job import-text --help\n");
    assertThat(refusal("job import-text web /x --fields ROW,f:a --format csv --separator \""))
        .contains("a quote cannot separate the fields of CSV");
    assertThat(refusal("job import-text web /x --fields ROW,f:a --format xml"))
        .contains("--format", "PLAIN, CSV");
    assertThat(refusal("status -D foo")).startsWith("stele: Value for option '-D'");
    assertThat(refusal("tablet split web a --async"))
        .startsWith("stele: there is no option --async");
    assertThat(refusal("demo --stop --keep")).contains("give one of them");
  }

  @Test
  void timesAndDurationsAreCheckedBeforeAClusterIsAsked() {
    assertThat(refusal("put web row f: a --timestamp -5")).contains("not -5");
    assertThat(refusal("put web row f: a --timestamp 1700000000000"))
        .contains("1970-01-20T16:13:20Z", "microseconds since 1970, not in milliseconds");
    assertThat(refusal("put web row f: a --timestamp yesterday")).contains("2026-01-31T12:00:00Z");
    assertThat(refusal("get web row --since 2026-01-02T00:00:00Z --until 2026-01-01T00:00:00Z"))
        .contains("--since is after --until");
    assertThat(refusal("scan web --filter nothing")).contains("--filter", "value_regex");
    for (String command :
        List.of("yarn start", "yarn stop", "server drain x", "server restart x")) {
      assertThat(refusal(command + " --timeout -5")).contains("--timeout", "such as 30d");
    }
    assertThat(refusal("repair --yes --accept-loss")).contains("--accept-loss", "TARGET");
    assertThat(refusal("check --wait 5x")).contains("--wait", "such as 30d");
    for (String time : List.of("90", "90s")) {
      assertThat(new OptionValue.Seconds().convert(time)).hasSeconds(90);
    }
  }

  @Test
  void aCommandOfOthersSaysWhichThereAre() {
    assertThat(refusal("log")).startsWith("stele: say which: ").contains("check", "accept-loss");
    for (String command : List.of("job", "server", "table", "tablet", "yarn")) {
      assertThat(refusal(command)).startsWith("stele: say which: ");
    }
  }

  @Test
  void aSchemaThatIsNotThereNamesItsOption() {
    for (String words : List.of("export-avro web /x", "import-avro /x web")) {
      Ran ran = Ran.of(List.of(("job " + words + " --schema nosuch.avsc").split(" ")));
      assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number());
      assertThat(ran.err())
          .startsWith("stele: --schema nosuch.avsc: there is no file that can be read there\n");
    }
  }

  @Test
  void anAlterationSaysWhatToChange() {
    assertThat(refusal("table alter web"))
        .startsWith("stele: say what to change: a family")
        .endsWith("Try: stele table alter --help\n");
  }

  @Test
  void aDemoThatCannotSucceedStartsNothing() {
    Ran pages = Ran.of(List.of("demo", "--pages", "/nosuch.jar", "--dir", "/proc/x"));
    assertThat(pages.exit()).isEqualTo(ExitCode.NOT_FOUND.number());
    assertThat(pages.err()).startsWith("stele: --pages /nosuch.jar: there is no file");
    Ran missing = Ran.of(List.of("status", "--conf", "/nonexistent"));
    assertThat(missing.err()).contains("--conf /nonexistent: there is no such directory");
  }

  @Test
  void whatIsMisspelledIsAnsweredWithTheNearestThereIs() {
    assertThat(refusal("table lsit"))
        .isEqualTo(
            """
            stele: there is no command `stele table lsit`
            Did you mean: stele table list
            Try: stele table --help
            """);
    assertThat(refusal("help tabel")).contains("\nDid you mean: stele table\n");
    assertThat(refusal("yarn strat")).contains("\nDid you mean: stele yarn start\n");
    assertThat(refusal("interactive"))
        .isEqualTo("stele: there is no command `stele interactive`\nTry: stele --help\n");
    assertThat(refusal("version")).contains("`stele --version` shows the version");
    assertThat(refusal("scan web --limt 5"))
        .isEqualTo(
            """
            stele: there is no option --limt
            Did you mean: --limit
            Try: stele scan --help
            """);
    assertThat(refusal("scan web --limt=5")).contains("no option --limt\n");
    assertThat(refusal("get web row x")).startsWith("stele: too many arguments: x\n");
  }

  @Test
  void aFamilyInAGroupThatIsNotDeclaredNamesTheOption() {
    assertThat(refusal("table create web a:group=nope --group other"))
        .contains("add --group nope\n")
        .endsWith("Try: stele table create --help\n");
  }

  @Test
  void aScanHasNoNegativeLimit() {
    assertThat(refusal("scan web --limit -1"))
        .startsWith("stele: --limit must not be negative, as -1 is")
        .endsWith("Try: stele scan --help\n");
  }
}
