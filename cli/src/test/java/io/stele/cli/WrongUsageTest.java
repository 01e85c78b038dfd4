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
  void aScanHasNoNegativeLimit() {
    assertThat(refusal("scan web --limit -1"))
        .startsWith("stele: --limit must not be negative, as -1 is")
        .endsWith("Try: stele scan --help\n");
  }
}
