package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.metadata.JobNodes;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A job commits while tablets are pinned for another one, for longer than one call may take. */
class CommitWhilePinnedTest {
  private static final Duration PINNED = HistoryPlan.CLIENT_TIMEOUT.multipliedBy(3);
  private static final Duration LEASE = Duration.ofMinutes(2);

  /** An answer takes longer than the last attempt of a call has. */
  private static final Duration SLOW = Duration.ofMillis(200);

  private static void pin(ClusterFixture fixture, String job) throws Exception {
    SimulatedProcess process = fixture.process();
    JobNodes nodes = new JobNodes(process, fixture.cluster().ensemble().connect(process));
    int id = nodes.read(job).orElseThrow().version();
    assertThat(nodes.beginPinning(job, id)).isEqualTo(JobNodes.Begun.YES);
    fixture.start(
        "pins",
        () -> {
          for (long i = 0; i < PINNED.toSeconds(); i++) {
            process.sleep(Duration.ofSeconds(1));
            nodes.renewPinning(job, id);
          }
          nodes.endPinning(job, id);
        });
  }

  @Test
  void aCommitWaitsThoughTheLastAnswerToACallWasTooLate() throws Exception {
    ClusterFixture.run(
        fixture -> {
          SimulatedProcess process = fixture.process();
          Jobs jobs = fixture.jobs();
          String committing = jobs.begin(LEASE);
          pin(fixture, jobs.begin(LEASE));
          fixture.slowMaster(SLOW);
          long before = process.nanoTime();
          jobs.commit(committing, Map.of());
          assertThat(Duration.ofNanos(process.nanoTime() - before))
              .as("the time of the commit")
              .isGreaterThan(PINNED.minus(SLOW));
          assertThat(jobs.state(committing)).isEqualTo(JobNodes.State.COMMITTED);
        });
  }
}
