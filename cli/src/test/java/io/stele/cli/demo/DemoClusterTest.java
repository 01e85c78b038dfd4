package io.stele.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoClusterTest {
  @Test
  void programsOnItShowHowFarTheirJobsAre(@TempDir Path directory) throws Exception {
    DemoCluster.writeLogSettings(directory);
    Properties settings = new Properties();
    try (InputStream file = Files.newInputStream(directory.resolve("log4j.properties"))) {
      settings.load(file);
    }
    assertThat(settings)
        .containsEntry("log4j.rootLogger", "WARN,console")
        .containsEntry("log4j.logger.org.apache.hadoop.mapreduce.Job", "INFO")
        .containsEntry("log4j.appender.console.target", "System.err");
  }

  @Test
  void itsTabletServersHaveTheMemoryThatItsSettingsNeed() {
    Configuration settings = DemoCluster.settings();
    assertThat(settings.get("stele.yarn.tabletserver.memory")).isEqualTo("768m");
    ProcessMemory asYarnDividesIt = new ProcessMemory(544L << 20, 128L << 20);
    assertThat(MemoryPlan.of(settings, asYarnDividesIt).requestBytes()).isPositive();
  }
}
