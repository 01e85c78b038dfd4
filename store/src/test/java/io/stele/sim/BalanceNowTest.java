package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.ClusterChange;
import io.stele.client.ClusterStatus;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A balancing that was asked for, whose master ends. */
@ExtendWith(Cores.One.class)
class BalanceNowTest {
  private static final Duration LENGTH = Duration.ofSeconds(30);
  private static final int TABLETS = 40;
  private static final int LEAST = 10; // A balanced server has more.

  @Test
  void anotherMasterIsAskedToFinishIt() throws Exception {
    ClusterFixture.run(
        0,
        2,
        ClusterFixture.settings(0, LENGTH),
        fixture -> {
          SimulatedCluster cluster = fixture.cluster();
          SimulatedCluster.Slot first = cluster.slots(SimulatedCluster.Kind.MASTER).get(0);
          fixture.until(LENGTH, () -> fixture.client().admin().setBalanced(false));
          List<Bytes> splits =
              IntStream.range(1, TABLETS)
                  .mapToObj(i -> Bytes.of(String.format("%03d", i)))
                  .toList();
          TableSchema schema = TableSchema.of("t", List.of(ColumnFamily.of("f")));
          fixture.until(LENGTH, () -> fixture.client().admin().createTable(schema, splits));
          cluster.add(SimulatedCluster.Kind.MASTER);
          cluster.add(SimulatedCluster.Kind.SERVER);
          fixture.until(LENGTH, () -> assertThat(tablets(fixture)).hasSize(3));

          ClusterChange balance = fixture.client().admin().beginBalanceNow();
          fixture.until(LENGTH, () -> assertThat(tablets(fixture)).allMatch(count -> count > 0));
          assertThat(tablets(fixture)).as("it is under way").anyMatch(count -> count <= LEAST);
          first.process().kill();
          balance.await(LENGTH);
          assertThat(tablets(fixture)).hasSize(3).allMatch(count -> count > LEAST);
        });
  }

  private static List<Integer> tablets(ClusterFixture fixture) throws IOException {
    return fixture.client().admin().clusterStatus().servers().stream()
        .map(ClusterStatus.Server::tablets)
        .toList();
  }
}
