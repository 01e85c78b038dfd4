package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class YarnCommandTest {
  @Test
  void anApplicationThatGoesOnAfterTheCommandIsNamed() {
    assertThat(YarnCommand.leftAlone("application_1_0001"))
        .startsWith("application_1_0001 continues")
        .contains("`stele yarn status`", "`stele yarn stop`");
  }
}
