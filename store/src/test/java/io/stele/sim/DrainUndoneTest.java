package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Admin;
import io.stele.client.Table;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.tabletserver.TabletServer;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Drains that an operator undoes: also of a server that does not reach the only other one. If that
 * has METADATA, the server cannot give a tablet away to the end.
 */
@ExtendWith(Cores.One.class)
class DrainUndoneTest {
  private static final Duration LENGTH = Duration.ofSeconds(60);
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final long END = FIRST + Integer.getInteger("stele.last", 8);
  private static final Duration UNDONE_MAX = Duration.ofSeconds(3);
  private static final int TABLES = 4;
  private static final String REASON = "its container is called back";

  private static void run(long seed, int drained) throws Exception {
    ClusterFixture.run(
        seed,
        2,
        ClusterFixture.settings(seed, LENGTH),
        fixture -> {
          for (int i = 0; i < TABLES; i++) {
            Table table = fixture.createTable("t" + i, LENGTH);
            fixture.until(LENGTH, () -> table.mutate(Mutation.of("row").put("f", "", "value")));
          }
          SimulatedCluster cluster = fixture.cluster();
          List<SimulatedCluster.Slot> slots = cluster.slots(SimulatedCluster.Kind.SERVER);
          TabletServer server = slots.get(drained).server().orElseThrow();
          Set<SimulatedProcess> both = Set.of(slots.get(0).process(), slots.get(1).process());
          cluster.network().cut((from, to) -> both.contains(from) && both.contains(to));
          cluster.operator().drain(slots.get(drained));
          fixture.until(LENGTH, () -> assertThat(server.isDraining()).isTrue());
          long millis = fixture.process().random().nextLong() & 0xfff;
          fixture.process().sleep(Duration.ofMillis(millis));
          server.undrain();
          fixture.process().sleep(UNDONE_MAX);
          assertThat(server.isDraining()).as("server %d drains", drained).isFalse();
          cluster.network().cut((from, to) -> false);
          for (int i = 0; i < TABLES; i++) {
            Table table = fixture.client().table("t" + i);
            fixture.until(LENGTH, () -> assertThat(table.readRow("row")).isPresent());
          }
          assertThat(server.isDraining()).isFalse();
        });
  }

  /** Asks the only server to end for a reason, which then holds for {@code time}. */
  private static void holdsFor(
      Duration time, DrainRequestProto.Builder request, ClusterFixture fixture) throws Exception {
    SimulatedCluster cluster = fixture.cluster();
    SimulatedCluster.Slot slot = cluster.slots(SimulatedCluster.Kind.SERVER).get(0);
    ServerId id = slot.server().orElseThrow().id();
    Admin admin = fixture.client().admin();
    cluster.drain(slot, request.setUnlessLast(true).setReason(REASON).build());
    fixture.until(LENGTH, () -> assertRefused(() -> admin.undrainServer(id)));
    fixture.process().sleep(time.minusSeconds(2));
    assertRefused(() -> admin.undrainServer(id));
    fixture.process().sleep(Duration.ofSeconds(4));
    admin.undrainServer(id);
  }

  private static void assertRefused(ThrowingCallable undo) {
    assertThatThrownBy(undo)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining(REASON);
  }

  @Test
  void anEndThatIsAskedForAgainAndAgainIsUndoneOnlyOnceItsReasonHoldsNoMore() throws Exception {
    ClusterFixture.run(
        fixture -> {
          fixture.createTable("t", LENGTH);
          holdsFor(Duration.ofSeconds(30), DrainRequestProto.newBuilder(), fixture);
          holdsFor(
              Duration.ofMinutes(2),
              DrainRequestProto.newBuilder().setReasonHoldsMillis(120_000),
              fixture);
        });
  }

  @Test
  void theServerTakesTabletsAgainWhetherOrNotItReachesMetadata() throws Exception {
    for (long seed = FIRST; seed < END; seed++) {
      run(seed, 0);
      run(seed, 1);
    }
  }
}
