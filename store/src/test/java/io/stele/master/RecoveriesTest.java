package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockService;
import io.stele.metadata.MemoryRecords;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ManualRuntime;
import io.stele.sim.MemoryLockStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RecoveriesTest {
  private static final ServerId DEAD = new ServerId("a", 1, 1);
  private static final ServerId OTHER = new ServerId("b", 1, 1);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualRuntime runtime = new ManualRuntime();
  private final Recoveries recoveries = new Recoveries(runtime);
  private final LockService locks = new MemoryLockStore().connect();
  private final TabletRecord fresh =
      new MemoryRecords(new MasterFixture().process, locks)
          .fresh(new TabletId(new TableId("t1"), "0000000000000001"), RowRange.ALL);

  private void look(TabletRecord record, Set<ServerId> live) {
    Map<ServerId, ServerInfo> servers = new TreeMap<>();
    live.forEach(one -> servers.put(one, TabletServersTest.info(one.host())));
    recoveries.update(
        new MasterLoop.View(servers, new TreeMap<>(Map.of(record.id(), record))),
        server -> record.assignment().isTo(server) ? List.of(record) : List.of(),
        server -> false,
        true);
  }

  @Test
  void tabletsAreServedAgainByAnotherServerEvenIfTheLostOneIsStillSeen() {
    TabletRecord before =
        KnownRecordsTest.with(fresh, fresh.assignment().assignedTo(DEAD).loaded());
    TabletRecord assigned =
        KnownRecordsTest.with(fresh, before.assignment().released().assignedTo(OTHER));
    TabletRecord loaded = KnownRecordsTest.with(fresh, assigned.assignment().loaded());
    recoveries.heard(DEAD, runtime.nanoTime());
    runtime.pass(SECOND.multipliedBy(2));
    recoveries.lost(DEAD);
    look(before, Set.of(DEAD, OTHER)); // It looked before the server was lost.
    runtime.pass(SECOND);
    recoveries.leaseOver(DEAD);
    recoveries.fenced(DEAD);
    look(before, Set.of(OTHER));
    runtime.pass(SECOND);
    look(assigned, Set.of(OTHER));
    runtime.pass(SECOND);
    look(loaded, Set.of(OTHER));
    assertThat(recoveries.latest())
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.isOver()).isTrue();
              assertThat(one.detection()).contains(SECOND.multipliedBy(2));
              assertThat(one.tablets()).isEqualTo(1);
              assertThat(one.first()).contains(SECOND.multipliedBy(3));
              assertThat(one.took()).isEqualTo(SECOND.multipliedBy(3));
              assertThat(one.stages())
                  .containsEntry(Recoveries.Stage.LEASE, SECOND)
                  .containsEntry(Recoveries.Stage.ASSIGN, SECOND)
                  .containsEntry(Recoveries.Stage.LOAD, SECOND);
            });
  }
}
