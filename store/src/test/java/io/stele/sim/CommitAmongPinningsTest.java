package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.metadata.JobNodes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** A job commits while so many others pin a table that at each moment one does. */
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

  private CompletableFuture<Void> start(SimulatedProcess process, String name, Call call) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    process.start(
        name,
        () -> {
          try {
            call.run();
            done.complete(null);
          } catch (Exception | AssertionError e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  private interface Call {
    void run() throws Exception;
  }

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
    List<CompletableFuture<Void>> done = new ArrayList<>();
    Simulation simulation = new Simulation(0, 100_000_000);
    simulation.run(
        () -> {
          Configuration conf =
              HistoryPlan.of(0, Duration.ofSeconds(30), Histories.NAMES).configuration();
          SimulatedCluster cluster = new SimulatedCluster(simulation, conf);
          cluster.add(SimulatedCluster.Kind.MASTER);
          SimulatedCluster.Slot server = cluster.add(SimulatedCluster.Kind.SERVER);
          SimulatedProcess client = cluster.clientProcess();
          Stele stele = cluster.connect(client);
          CompletableFuture<Void> test =
              start(
                  client,
                  "test",
                  () -> {
                    stele.admin().createTable(TableSchema.of(TABLE, "f"));
                    cluster.network().setDelay(server.process(), SLOW);
                    for (int i = 0; i < CLIENTS; i++) {
                      done.add(start(client, "pins", () -> pinAgainAndAgain(stele.jobs())));
                    }
                    client.sleep(Duration.ofSeconds(5));
                    try {
                      commitInTime(client, stele.jobs());
                    } finally {
                      over.set(true);
                    }
                  });
          simulation.outside().await(test);
          for (CompletableFuture<Void> pinner : done) {
            simulation.outside().await(pinner);
          }
          done.add(test);
        });
    assertThat(done).hasSize(CLIENTS + 1).allSatisfy(one -> assertThat(one).isCompleted());
  }
}
