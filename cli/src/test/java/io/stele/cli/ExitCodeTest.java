package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ExitCodeTest {
  @Test
  void everyNumberMeansOneThingAndTheHelpNamesIt() {
    List<Integer> numbers = Stream.of(ExitCode.values()).map(ExitCode::number).toList();
    assertThat(numbers).doesNotHaveDuplicates();
    String help = String.join("\n", Main.commandLine().getCommandSpec().usageMessage().footer());
    String codes = help.substring(help.indexOf("Exit codes: "));
    assertThat(Pattern.compile("\\d+").matcher(codes).results().map(MatchResult::group))
        .containsExactlyElementsOf(numbers.stream().map(String::valueOf).toList());
  }

  @Test
  void everyKindOfFailureHasANumberOfItsOwn() {
    List<Integer> numbers =
        Stream.of(SteleException.Code.values())
            .map(code -> ExitCode.of(new SteleException(code, "why")).number())
            .toList();
    assertThat(numbers).doesNotHaveDuplicates();
    assertThat(ExitCode.of(new SteleException(SteleException.Code.ALREADY_EXISTS, "why")).number())
        .isEqualTo(8);
  }
}
