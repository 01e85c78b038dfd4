package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tablets are pinned, and a server that has some of them stands still and keeps its connections.
 */
@ExtendWith(Cores.One.class)
class PinningWhileAServerStandsStillTest {
  private static final Duration LEASE = Duration.ofMinutes(2);
  private static final String TABLE = "pinned";

  /** The client's patience. Much less is enough to find the tablets where they are by then. */
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private static final Duration IN_TIME = Duration.ofSeconds(90);

  @Test
  void theJobGoesOnWhereTheTabletsHaveGone() throws Exception {
    Configuration settings = ClusterFixture.settings(0, Duration.ofSeconds(30));
    settings.set(Keys.CLIENT_TIMEOUT.name(), TIMEOUT.toSeconds() + "s");
    ClusterFixture.run(
        0,
        3,
        settings,
        fixture -> {
          List<Bytes> splits = List.of(Bytes.of("f"), Bytes.of("m"), Bytes.of("t"));
          fixture.client().admin().createTable(TableSchema.of(TABLE, "f"), splits);
          for (SimulatedCluster.Slot slot : fixture.cluster().slots(SimulatedCluster.Kind.SERVER)) {
            Jobs jobs = fixture.jobs();
            String job = jobs.begin(LEASE);
            assertThat(fixture.client().table(TABLE).tablets())
                .as("the client knows where they are")
                .allMatch(tablet -> tablet.server().isPresent());
            slot.process().pause();
            long begin = fixture.process().nanoTime();
            try {
              jobs.pin(job, TABLE, RowRange.ALL);
              jobs.commit(job, Map.of());
            } finally {
              slot.process().resume();
            }
            assertThat(Duration.ofNanos(fixture.process().nanoTime() - begin))
                .as("the time of pinning")
                .isLessThan(IN_TIME);
            fixture.process().sleep(Duration.ofMinutes(2)); // The server is another one by then.
          }
        });
  }
}
