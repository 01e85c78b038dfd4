package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.IoRunnable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Clusters whose lock service is away for forty sessions. */
@ExtendWith(Cores.One.class)
class LongOutageTest {
  private static final int SEEDS = 20;
  private static final int SERVERS = 2;
  private static final Duration OUTAGE = Duration.ofSeconds(60);
  private static final Duration BACK_MAX = Duration.ofSeconds(5);
  private static final Duration RECOVERED_MAX = Duration.ofSeconds(60);
  private static final Duration LATE_MAX = Duration.ofSeconds(1);

  @Test
  void whereSessionsSurviveNobodyEndsNothingIsAnsweredAndServiceGoesOnAtOnce() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      ClusterFixture.run(seed, SERVERS, settings(seed), cluster -> minute(cluster, false));
    }
  }

  @Test
  void whereSessionsEndedServiceComesBackWithOthers() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      ClusterFixture.run(seed, SERVERS, settings(seed), cluster -> minute(cluster, true));
    }
  }

  @Test
  void aChangeOfMetadataThatIsInDoubtForHoursEndsNoServer() throws Exception {
    Configuration settings = settings(0);
    settings.set(Keys.LOG_AGE_MAX.name(), "30s"); // A minor compaction is due meanwhile.
    ClusterFixture.run(
        0,
        SERVERS,
        settings,
        cluster -> {
          SimulatedProcess process = cluster.process();
          Table table = begin(cluster);
          List<SimulatedProcess> before = cluster.members();
          cluster.cluster().ensemble().setDown(true);
          process.sleep(Duration.ofHours(2));
          assertThat(cluster.members()).isEqualTo(before);
          cluster.cluster().ensemble().setDown(false);
          isBack(cluster, BACK_MAX, table);
          process.sleep(RECOVERED_MAX); // What was in doubt is done.
          assertThat(cluster.members()).isEqualTo(before);
          assertThat(table.tablets().get(0).sstables()).isPositive();
        });
  }

  private static Configuration settings(long seed) {
    return ClusterFixture.settings(seed, OUTAGE);
  }

  private static void minute(ClusterFixture cluster, boolean expires) throws Exception {
    SimulatedProcess process = cluster.process();
    Table table = begin(cluster);
    List<SimulatedProcess> before = cluster.members();
    cluster.cluster().ensemble().setDown(true);
    process.sleep(Keys.LEASE.in(cluster.cluster().conf()).plusSeconds(1)); // The leases are over.
    Deadline end = Deadline.after(process, OUTAGE);
    while (!end.isOver()) {
      long start = process.nanoTime();
      assertThat(isAnswered(() -> put(table, "meanwhile"))).isFalse();
      assertThat(isAnswered(() -> table.readRow("before"))).isFalse();
      assertThat(Duration.ofNanos(process.nanoTime() - start))
          .isLessThan(HistoryPlan.CLIENT_TIMEOUT.plus(LATE_MAX).multipliedBy(2));
    }
    assertThat(cluster.members()).isEqualTo(before);
    if (expires) {
      cluster.slots().forEach(slot -> slot.session().expire());
    }
    cluster.cluster().ensemble().setDown(false);
    isBack(cluster, expires ? RECOVERED_MAX : BACK_MAX, table);
    if (expires) {
      process.sleep(RECOVERED_MAX);
      assertThat(cluster.members()).doesNotContainAnyElementsOf(before);
    } else {
      assertThat(cluster.members()).isEqualTo(before);
    }
  }

  /** A table with a row, when all servers have started. */
  private static Table begin(ClusterFixture cluster) throws Exception {
    Table table = cluster.createTable("t", RECOVERED_MAX);
    cluster.until(RECOVERED_MAX, () -> put(table, "before"));
    while (!allHaveStarted(cluster)) {
      cluster.process().sleep(Duration.ofMillis(100));
    }
    return table;
  }

  private static boolean allHaveStarted(ClusterFixture cluster) {
    return cluster.cluster().slots(SimulatedCluster.Kind.SERVER).stream()
        .allMatch(slot -> slot.server().isPresent() && !slot.process().isDead());
  }

  private static void isBack(ClusterFixture cluster, Duration limit, Table table) throws Exception {
    long start = cluster.process().nanoTime();
    cluster.until(limit, () -> put(table, "after"));
    cluster.until(limit, () -> table.readRow("before"));
    assertThat(Duration.ofNanos(cluster.process().nanoTime() - start)).isLessThanOrEqualTo(limit);
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
}
