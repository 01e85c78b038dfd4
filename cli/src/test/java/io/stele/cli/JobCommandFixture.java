package io.stele.cli;

import io.stele.client.Jobs;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A cluster in this JVM for each test of commands about its jobs. */
abstract class JobCommandFixture {
  @TempDir Path scratch;

  CommandCluster commands;
  Jobs jobs;

  @BeforeEach
  void start() throws Exception {
    commands = new CommandCluster(scratch);
    jobs = commands.cluster().client().jobs();
  }

  @AfterEach
  void stop() {
    if (commands != null) { // Else it did not start.
      commands.close();
    }
  }
}
