package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/stele} before it starts Java, in a distribution without jars. */
@Timeout(60)
class LauncherScriptTest {
  @TempDir Path home;

  @BeforeEach
  void unpack() throws Exception {
    Files.createDirectories(home.resolve("lib"));
    Files.createDirectories(home.resolve("conf"));
    Files.createDirectories(home.resolve("bin"));
    Files.copy(Path.of("..", "bin", "stele"), home.resolve("bin").resolve("stele"));
  }

  private Ran run(Map<String, String> environment) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("bash", home.resolve("bin").resolve("stele").toString(), "status");
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("STELE_") || name.startsWith("HADOOP_"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    Path err = home.resolve("err");
    Process process =
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(err.toFile()).start();
    int exit = process.waitFor();
    return new Ran(exit, "", Files.readString(err, StandardCharsets.UTF_8));
  }

  private void assertRefused(Map<String, String> environment, String words) throws Exception {
    Ran ran = run(environment);
    assertThat(ran.err()).contains(words);
    assertThat(ran.exit()).as("as with --conf").isEqualTo(ExitCode.REFUSED.number());
  }

  @Test
  void aDirectoryThatIsNotOneOfConfigurationIsRefusedAsByTheOption() throws Exception {
    String nowhere = home.resolve("nowhere").toString();
    assertRefused(Map.of("STELE_CONF_DIR", nowhere), "there is no directory " + nowhere);
    assertRefused(Map.of("HADOOP_CONF_DIR", nowhere), "HADOOP_CONF_DIR is " + nowhere);
    assertRefused(
        Map.of("STELE_CONF_DIR", home.resolve("lib").toString()), "no stele-site.xml in it");
    assertThat(Ran.of(List.of("status", "--conf", nowhere)).exit())
        .isEqualTo(ExitCode.REFUSED.number());
  }
}
