package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.metadata.JobNodes;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** A job commits while tablets are pinned for another one, for longer than one call may take. */
class CommitWhilePinnedTest {
  private static final Duration PINNED = HistoryPlan.CLIENT_TIMEOUT.multipliedBy(3);
  private static final Duration LEASE = Duration.ofMinutes(2);

  /** An answer takes longer than the last attempt of a call has. */
  private static final Duration SLOW = Duration.ofMillis(200);

  private static void pin(SimulatedProcess process, JobNodes nodes, String job) throws Exception {
    int id = nodes.read(job).orElseThrow().version();
    assertThat(nodes.beginPinning(job, id)).isEqualTo(JobNodes.Begun.YES);
    process.start("pins", () -> keepPinning(process, nodes, job, id));
  }

  private static void keepPinning(
      SimulatedProcess process, JobNodes nodes, String job, int pinning) {
    try {
      for (long i = 0; i < PINNED.toSeconds(); i++) {
        process.sleep(Duration.ofSeconds(1));
        nodes.renewPinning(job, pinning);
      }
      nodes.endPinning(job, pinning);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aCommitWaitsThoughTheLastAnswerToACallWasTooLate() throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Simulation simulation = new Simulation(0, 30_000_000);
    simulation.run(
        () -> {
          Configuration conf =
              HistoryPlan.of(0, Duration.ofSeconds(30), Histories.NAMES).configuration();
          SimulatedCluster cluster = new SimulatedCluster(simulation, conf);
          SimulatedCluster.Slot master = cluster.add(SimulatedCluster.Kind.MASTER);
          SimulatedProcess client = cluster.clientProcess();
          Jobs jobs = cluster.connect(client).jobs();
          JobNodes nodes = new JobNodes(client, cluster.ensemble().connect(client));
          Runnable test =
              () -> {
                try {
                  String committing = jobs.begin(LEASE);
                  pin(client, nodes, jobs.begin(LEASE));
                  cluster.network().setDelay(master.process(), SLOW);
                  long before = client.nanoTime();
                  jobs.commit(committing, Map.of());
                  assertThat(Duration.ofNanos(client.nanoTime() - before))
                      .as("the time of the commit")
                      .isGreaterThan(PINNED.minus(SLOW));
                  assertThat(jobs.state(committing)).isEqualTo(JobNodes.State.COMMITTED);
                  done.complete(null);
                } catch (Exception | AssertionError e) {
                  done.completeExceptionally(e);
                }
              };
          simulation.outside().await(client.start("test", test).ended());
        });
    assertThat(done).isCompleted();
  }
}
