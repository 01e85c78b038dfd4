package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ExitCodeTest {
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
