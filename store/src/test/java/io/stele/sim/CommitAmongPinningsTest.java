package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.metadata.JobNodes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A job commits while so many others pin a table that at each moment one does. */
@ExtendWith(Cores.One.class)
class CommitAmongPinningsTest {
  private static final Duration LEASE = Duration.ofMinutes(2);
  private static final String TABLE = "pinned";
  private static final int CLIENTS = 8;

  /** So that a pinning takes most of the time of whoever pins again and again. */
  private static final Duration SLOW = Duration.ofMillis(200);

  /** As much as a commit waits before others do, and some pinnings more. */
  private static final Duration IN_TIME = Duration.ofSeconds(80);

  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger pinned = new AtomicInteger();

  private void pinAgainAndAgain(Jobs jobs) throws Exception {
    while (!over.get()) {
      String job = jobs.begin(LEASE);
      try {
        jobs.pin(job, TABLE, RowRange.ALL);
        pinned.incrementAndGet();
      } catch (SteleException e) {
        if (e.code() != SteleException.Code.RETRY_LATER) {
          throw e;
        }
      }
      jobs.end(job);
    }
  }

  private void commitInTime(SimulatedProcess process, Jobs jobs) throws Exception {
    String committing = jobs.begin(LEASE);
    long before = process.nanoTime();
    jobs.commit(committing, Map.of());
    assertThat(Duration.ofNanos(process.nanoTime() - before))
        .as("the time of the commit")
        .isBetween(Duration.ofSeconds(50), IN_TIME);
    assertThat(jobs.state(committing)).isEqualTo(JobNodes.State.COMMITTED);
    int then = pinned.get();
    while (pinned.get() < then + CLIENTS) {
      process.sleep(Duration.ofSeconds(1));
    }
  }

  @Test
  void aCommitHasItsTurnThoughPinningsOverlapWithoutEnd() throws Exception {
    ClusterFixture.run(
        fixture -> {
          fixture.client().admin().createTable(TableSchema.of(TABLE, "f"));
          fixture.slowServer(SLOW);
          for (int i = 0; i < CLIENTS; i++) {
            fixture.start("pins", () -> pinAgainAndAgain(fixture.jobs()));
          }
          fixture.process().sleep(Duration.ofSeconds(5));
          try {
            commitInTime(fixture.process(), fixture.jobs());
          } finally {
            over.set(true);
          }
        });
  }
}
