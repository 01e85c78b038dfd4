package io.stele.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressDisplayTest {
  private static String shown(boolean terminal) {
    StringWriter shown = new StringWriter();
    ProgressDisplay display = new ProgressDisplay(new PrintWriter(shown), terminal, 100, 2);
    display.begin("Start Hadoop");
    display.end("HDFS, YARN");
    return shown.toString();
  }

  @Test
  void withoutATerminalAStepIsNamedOnce() {
    assertThat(shown(false).lines().toList())
        .hasSize(2)
        .satisfies(lines -> assertThat(lines.get(0)).isEqualTo("1/2  Start Hadoop"))
        .satisfies(lines -> assertThat(lines.get(1)).matches(" +[0-9.]+ s  HDFS, YARN"));
  }

  @Test
  void onATerminalTheLineOfAStepChangesInPlace() {
    assertThat(shown(true)).endsWith("HDFS, YARN" + System.lineSeparator());
    assertThat(shown(true)).startsWith("\r\033[K1/2  Start Hadoop");
  }
}
