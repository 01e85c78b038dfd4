package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Writes that their caller does not wait for. */
@ExtendWith(Cores.One.class)
class WritesWithoutWaitingTest {
  private static final int MORE_THAN_ALLOWED = 1500;
  private static final String VALUE = "v".repeat(60 << 10);

  @Test
  void fillNoMemoryWhileTheServerIsAway() throws Exception {
    ClusterFixture.run(
        cluster -> {
          Table table = cluster.createTable("t", Duration.ofMinutes(1));
          table.mutate(Mutation.of("r").put("f", "q", "known")); // So is the tablet.
          SimulatedProcess process = cluster.process();
          Set<SimulatedProcess> members = Set.copyOf(cluster.members());
          cluster.cluster().network().cut((from, to) -> from == process && members.contains(to));

          List<CompletableFuture<Void>> writes = new ArrayList<>();
          for (int i = 0; i < MORE_THAN_ALLOWED; i++) {
            writes.add(table.mutateAsync(Mutation.of("r" + i).put("f", "q", VALUE)));
          }
          List<CompletableFuture<Void>> refused =
              writes.stream().filter(CompletableFuture::isDone).toList();
          assertThat(refused).hasSizeBetween(MORE_THAN_ALLOWED / 4, MORE_THAN_ALLOWED / 2);
          for (CompletableFuture<Void> write : refused) {
            assertThatThrownBy(write::join)
                .cause()
                .isInstanceOfSatisfying(
                    SteleException.class,
                    e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
          }

          Mutation more = Mutation.of("r").put("f", "q", VALUE);
          Filter any = Filter.newestIs(Column.of("f", "q"), Bytes.of("known"));
          for (CompletableFuture<?> write :
              List.of(
                  table.mutateAllAsync(List.of(more, more)),
                  table.checkAndMutateAsync(CheckAndMutate.ifAny(any, more)))) {
            assertThat(write).isCompletedExceptionally();
          }

          cluster.cluster().network().cut((from, to) -> false);
          for (CompletableFuture<Void> write : writes) {
            process.await(write, Duration.ofMinutes(1));
          }
          assertThat(table.mutateAsync(Mutation.of("r").put("f", "q", VALUE)))
              .as("there is room again")
              .satisfies(process::await);
        });
  }
}
