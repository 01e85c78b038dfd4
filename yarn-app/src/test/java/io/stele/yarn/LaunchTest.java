package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How a container's process is started. */
class LaunchTest {
  @Test
  void memoryIsInLargePagesWhereTheNodeHasThem() throws Exception {
    boolean hasThem = Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage/enabled"));
    assertThat(shell("echo " + Launch.LARGE_PAGES))
        .isEqualTo(hasThem ? "-XX:+UseTransparentHugePages" : "");
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String flags = shell(java + " " + Launch.LARGE_PAGES + " -XX:+PrintFlagsFinal -version");
    if (hasThem) {
      assertThat(flags).containsPattern("UseTransparentHugePages += true");
    }
  }

  private static String shell(String command) throws Exception {
    Process process =
        new ProcessBuilder(List.of("bash", "-c", command)).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }
}
