package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.junit.jupiter.api.Test;

class ContainerExitTest {
  @Test
  void whoRanOutOfMemoryIsSaidToHaveInTheFirstLine() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx16m");
    command.addAll(Launch.OUT_OF_MEMORY_OPTIONS);
    String classes =
        Path.of(Greedy.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    command.addAll(List.of("-cp", classes, Greedy.class.getName()));
    Process process =
        new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    // YARN gives the end of it as diagnostics.
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.waitFor();

    String exit =
        new ContainerExit(status, "Last 4096 bytes of stderr :\n" + errors).describe("c", "n");
    assertThat(exit.lines().findFirst().orElseThrow())
        .contains("java.lang.OutOfMemoryError: Java heap space")
        .contains("stele.yarn.*.memory")
        .endsWith("on n (c)");
  }

  /** Takes all memory. */
  static final class Greedy {
    private Greedy() {}

    public static void main(String[] args) {
      List<byte[]> all = new ArrayList<>();
      while (true) {
        all.add(new byte[1 << 20]);
      }
    }
  }

  @Test
  void anErrorThatWeEndForIsNamedToo() {
    String words =
        "The tablet server ends: tablet t1/00 could not make a minor compaction:"
            + " java.lang.OutOfMemoryError: Cannot reserve 7 bytes of direct buffer memory";
    assertThat(new ContainerExit(3, words).describe("c", "n"))
        .startsWith("ran out of memory (java.lang.OutOfMemoryError: Cannot reserve 7 bytes");
  }

  @Test
  void othersAreToldAsBefore() {
    assertThat(new ContainerExit(3, "The tablet server ends: its lease is gone").describe("c", "n"))
        .isEqualTo(
            "ended with exit code 3 on n (c): The tablet server ends: its lease is gone\nThe tablet server ends: its lease is gone");
    assertThat(new ContainerExit(0, "").describe("c", "n"))
        .isEqualTo("exited on its own (exit 0) on n (c)");
    assertThat(
            new ContainerExit(ContainerExitStatus.ABORTED, "OutOfMemoryError earlier")
                .describe("c", "n"))
        .isEqualTo("was lost with its node or released on n (c)");
  }

  @Test
  void onlyTheNodesOwnWordIsEvidenceThatTheProcessHasEnded() {
    assertThat(new ContainerExit(0, "").wasSeen()).isTrue();
    assertThat(new ContainerExit(137, "").wasSeen()).isTrue();
    assertThat(new ContainerExit(ContainerExitStatus.KILLED_EXCEEDED_PMEM, "").wasSeen()).isTrue();
    int foundNoMoreByARestartedNode = 154;
    assertThat(new ContainerExit(foundNoMoreByARestartedNode, "").wasSeen()).isFalse();
    assertThat(new ContainerExit(ContainerExitStatus.ABORTED, "").wasSeen()).isFalse();
    assertThat(new ContainerExit(ContainerExitStatus.PREEMPTED, "").wasSeen()).isFalse();
    assertThat(new ContainerExit(ContainerExitStatus.INVALID, "").wasSeen()).isFalse();
  }
}
