package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands that need a master, on a cluster without one. */
@Timeout(120)
class MasterWaitTest {
  @TempDir Path scratch;

  @Test
  void aCommandThatWaitsForAMasterSaysSo() throws Exception {
    try (CommandCluster commands = new CommandCluster(scratch)) {
      commands.cluster().killMaster();
      Ran ran = commands.run("status", "-D", "stele.client.timeout=4s");
      assertThat(ran.exit()).isEqualTo(ExitCode.RETRY_LATER.number());
      assertThat(ran.err())
          .containsOnlyOnce("no master answers yet; waiting up to 4 s (no master is active)\n");
    }
  }
}
