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
