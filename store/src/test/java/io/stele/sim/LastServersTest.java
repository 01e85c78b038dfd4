package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Servers that were all asked to end unless they are the last, while nobody starts others. However
 * the requests, an outage and a death meet, one of them stays, and serves all tablets.
 */
@ExtendWith(Cores.One.class)
class LastServersTest {
  private static final Duration LENGTH = Duration.ofSeconds(60);
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final long END = FIRST + Integer.getInteger("stele.last", 12);
  private static final int ROWS = 8;

  /** What happens besides, once the servers were asked. */
  private interface Event {
    void happen(ClusterFixture fixture, SimulatedCluster.Slot server) throws Exception;
  }

  private static void run(long seed, int servers, Event event) throws Exception {
    ClusterFixture.run(
        seed,
        servers,
        ClusterFixture.settings(seed, LENGTH),
        fixture -> {
          fixture.until(LENGTH, () -> createTable(fixture));
          Table table = fixture.client().table("t");
          for (int i = 0; i < ROWS; i++) {
            Mutation row = Mutation.of("r" + i).put("f", "q", "v");
            fixture.until(LENGTH, () -> table.mutate(row));
          }
          SimulatedCluster cluster = fixture.cluster();
          cluster.startNoMore();
          List<SimulatedCluster.Slot> slots = cluster.slots(SimulatedCluster.Kind.SERVER);
          slots.forEach(slot -> cluster.drainAndEnd(slot, true));
          event.happen(fixture, slots.get((int) (seed % slots.size())));
          fixture.process().sleep(Duration.ofSeconds(20));
          assertThat(slots.stream().filter(slot -> !slot.process().isDead())).hasSize(1);
          fixture.until(LENGTH, () -> assertThat(rows(table)).isEqualTo(ROWS));
        });
  }

  private static void createTable(ClusterFixture fixture) throws IOException {
    List<Bytes> splits = IntStream.range(1, ROWS).mapToObj(i -> Bytes.of("r" + i)).toList();
    if (!fixture.client().admin().tableExists("t")) {
      fixture
          .client()
          .admin()
          .createTable(TableSchema.of("t", List.of(ColumnFamily.of("f"))), splits);
    }
  }

  private static int rows(Table table) throws IOException {
    int count = 0;
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        assertThat(row.cells()).hasSize(1);
        count++;
      }
    }
    return count;
  }

  private static void sleepForSomeTime(ClusterFixture fixture) throws InterruptedException {
    long millis = fixture.process().random().nextLong() & 0xfff;
    fixture.process().sleep(Duration.ofMillis(millis));
  }

  @Test
  void oneOfSeveralStays() throws Exception {
    for (long seed = FIRST; seed < END; seed++) {
      run(seed, 3, (fixture, server) -> {});
    }
  }

  @Test
  void oneOfSeveralStaysAfterAnOutage() throws Exception {
    for (long seed = FIRST; seed < END; seed++) {
      run(
          seed,
          3,
          (fixture, server) -> {
            sleepForSomeTime(fixture);
            fixture.cluster().ensemble().setDown(true);
            fixture.process().sleep(Duration.ofSeconds(10));
            fixture.cluster().ensemble().setDown(false);
          });
    }
  }

  @Test
  void theLastTakesBackWhatItsOnlyTakerHadWhenItDied() throws Exception {
    AtomicInteger kills = new AtomicInteger();
    for (long seed = FIRST; seed < END; seed++) {
      run(
          seed,
          2,
          (fixture, server) -> {
            sleepForSomeTime(fixture);
            if (fixture.cluster().slots(SimulatedCluster.Kind.SERVER).stream()
                .noneMatch(slot -> slot.process().isDead())) {
              server.process().kill();
              kills.incrementAndGet();
            }
          });
    }
    assertThat(kills).as("killed while the other was to end").hasPositiveValue();
  }
}
