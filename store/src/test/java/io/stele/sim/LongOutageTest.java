package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.Task;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** Clusters whose lock service is away for forty sessions. */
class LongOutageTest {
  private static final int SEEDS = 20;
  private static final long STEPS_MAX = 3_000_000;
  private static final Duration OUTAGE = Duration.ofSeconds(60);
  private static final Duration BACK_MAX = Duration.ofSeconds(5);
  private static final Duration RECOVERED_MAX = Duration.ofSeconds(60);
  private static final Duration LATE_MAX = Duration.ofSeconds(1);

  @Test
  void whereSessionsSurviveNobodyEndsNothingIsAnsweredAndServiceGoesOnAtOnce() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      new Outage(seed, false).run();
    }
  }

  @Test
  void whereSessionsEndedServiceComesBackWithOthers() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      new Outage(seed, true).run();
    }
  }

  @Test
  void aChangeOfMetadataThatIsInDoubtForHoursEndsNoServer() throws Exception {
    Outage outage = new Outage(0, false);
    outage.settings.set(Keys.LOG_AGE_MAX.name(), "30s"); // A minor compaction is due meanwhile.
    outage.run(outage::hours);
  }

  private static final class Outage {
    private final long seed;
    private final boolean expires;
    private final Simulation simulation;
    private final Configuration settings;
    private SimulatedCluster cluster;
    private SimulatedProcess process;
    private Stele client;

    Outage(long seed, boolean expires) {
      this.seed = seed;
      this.expires = expires;
      this.simulation = new Simulation(seed, STEPS_MAX);
      this.settings = HistoryPlan.of(seed, OUTAGE, Histories.NAMES).configuration();
    }

    void run() throws Exception {
      run(this::minute);
    }

    void run(Work work) throws Exception {
      simulation.run(
          () -> {
            cluster = new SimulatedCluster(simulation, settings);
            cluster.add(SimulatedCluster.Kind.MASTER);
            cluster.add(SimulatedCluster.Kind.SERVER);
            cluster.add(SimulatedCluster.Kind.SERVER);
            process = cluster.clientProcess();
            client = cluster.connect(process);
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Task task = process.start("client", () -> make(work, failure));
            simulation.outside().await(task.ended());
            assertThat(failure.getNow(null)).as("seed %d", seed).isNull();
          });
    }

    private interface Work {
      void make() throws Exception;
    }

    private static void make(Work work, CompletableFuture<Throwable> failure) {
      try {
        work.make();
      } catch (Exception | AssertionError e) {
        failure.complete(e);
      }
    }

    private List<SimulatedProcess> members() {
      return Stream.of(SimulatedCluster.Kind.values())
          .flatMap(kind -> cluster.slots(kind).stream())
          .map(SimulatedCluster.Slot::process)
          .toList();
    }

    private boolean allHaveStarted() {
      return cluster.slots(SimulatedCluster.Kind.SERVER).stream()
          .allMatch(slot -> slot.server().isPresent() && !slot.process().isDead());
    }

    /** A table with a row, when all servers have started. */
    private Table begin() throws Exception {
      until(
          RECOVERED_MAX,
          () -> client.admin().createTable(TableSchema.of("t", List.of(ColumnFamily.of("f")))));
      Table table = client.table("t");
      until(RECOVERED_MAX, () -> put(table, "before"));
      while (!allHaveStarted()) {
        process.sleep(Duration.ofMillis(100));
      }
      return table;
    }

    private void hours() throws Exception {
      Table table = begin();
      List<SimulatedProcess> before = members();
      cluster.ensemble().setDown(true);
      process.sleep(Duration.ofHours(2));
      assertThat(members()).isEqualTo(before);
      cluster.ensemble().setDown(false);
      until(BACK_MAX, () -> put(table, "after"));
      until(BACK_MAX, () -> table.readRow("before"));
      process.sleep(RECOVERED_MAX); // What was in doubt is done.
      assertThat(members()).isEqualTo(before);
      assertThat(table.tablets().get(0).sstables()).isPositive();
    }

    private void minute() throws Exception {
      Table table = begin();
      List<SimulatedProcess> before = members();

      cluster.ensemble().setDown(true);
      process.sleep(Keys.LEASE.in(cluster.conf()).plusSeconds(1)); // The leases are over.
      Deadline end = Deadline.after(process, OUTAGE);
      while (!end.isOver()) {
        long start = process.nanoTime();
        assertThat(isAnswered(() -> put(table, "meanwhile"))).isFalse();
        assertThat(isAnswered(() -> table.readRow("before"))).isFalse();
        assertThat(Duration.ofNanos(process.nanoTime() - start))
            .isLessThan(HistoryPlan.CLIENT_TIMEOUT.plus(LATE_MAX).multipliedBy(2));
      }
      assertThat(members()).isEqualTo(before);
      if (expires) {
        for (SimulatedCluster.Kind kind : SimulatedCluster.Kind.values()) {
          cluster.slots(kind).forEach(slot -> slot.session().expire());
        }
      }
      cluster.ensemble().setDown(false);
      until(expires ? RECOVERED_MAX : BACK_MAX, () -> put(table, "after"));
      until(BACK_MAX, () -> table.readRow("before"));
      if (expires) {
        process.sleep(RECOVERED_MAX);
        assertThat(members()).doesNotContainAnyElementsOf(before);
      } else {
        assertThat(members()).isEqualTo(before);
      }
    }

    private static void put(Table table, String row) throws IOException {
      table.mutate(Mutation.of(row).put("f", "", "value"));
    }

    private static boolean isAnswered(IoRunnable call) throws IOException {
      try {
        call.run();
        return true;
      } catch (SteleException e) {
        return false;
      }
    }

    private void until(Duration limit, IoRunnable call) throws Exception {
      long start = process.nanoTime();
      while (true) {
        try {
          call.run();
          assertThat(Duration.ofNanos(process.nanoTime() - start)).isLessThanOrEqualTo(limit);
          return;
        } catch (SteleException | IOException e) {
          if (process.nanoTime() - start > limit.toNanos()) {
            throw e;
          }
          process.sleep(Duration.ofMillis(20));
        }
      }
    }
  }
}
