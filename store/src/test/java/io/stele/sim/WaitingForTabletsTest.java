package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Jobs;
import io.stele.config.Keys;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.record.JobChange;
import io.stele.record.PendingFile;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.junit.jupiter.api.Test;

/** Whoever waits for a tablet is told for which and why, in virtual time. */
class WaitingForTabletsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @Test
  void aCommitThatWaitsForATabletSaysAgainAndAgainForWhichAndWhy() throws Exception {
    LoggedMessages warnings = new LoggedMessages(Level.WARN);
    Logger logger = Logger.getLogger("io.stele.client");
    logger.addAppender(warnings);
    logger.setLevel(Level.WARN);
    logger.setAdditivity(false); // Tests print errors only.
    Configuration settings = ClusterFixture.settings(0, Duration.ofSeconds(30));
    settings.set(Keys.CLIENT_TIMEOUT.name(), TIMEOUT.toSeconds() + "s");
    try {
      ClusterFixture.run(0, 1, settings, WaitingForTabletsTest::registerAFileThatIsMissing);
    } finally {
      logger.setAdditivity(true);
      logger.setLevel(null);
      logger.removeAppender(warnings);
    }
    assertThat(warnings.all())
        .filteredOn(message -> message.contains("registering files of job"))
        .hasSizeBetween(4, 6) // Every 10 s of the minute.
        .allMatch(message -> message.contains("its server says") && message.contains("lost-0.sst"));
  }

  private static void registerAFileThatIsMissing(ClusterFixture fixture) throws Exception {
    fixture.createTable("web", Duration.ofSeconds(20));
    Jobs jobs = fixture.jobs();
    TableId table = jobs.environment().tableId("web");
    String job = jobs.begin(Duration.ofMinutes(10));
    FileRef lost =
        PendingFile.unnumbered(
            PendingFile.directory(job) + "/lost-0.sst", 1000, RowRange.of("a", "b"), List.of("f"));
    assertThatThrownBy(() -> jobs.register(job, Map.of(table, JobChange.of(List.of(lost)))))
        .hasMessageContaining("not ready")
        .hasMessageContaining("its server says");
  }
}
