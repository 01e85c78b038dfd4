package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.metadata.Assignment;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.sim.Cores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tablets that their servers take long to load, or never load. */
@ExtendWith(Cores.One.class)
class SlowLoadsTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);
  private static final ServerId C = new ServerId("c", 1, 1);

  private final MasterFixture master = new MasterFixture();

  @Test
  void aServerThatAnswersAndLoadsNothingKeepsNoTabletWaitingForEver() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(B);
          master.stepUntilIdle();
          master.start(A);
          master.plane.stalled.add(A.host());
          TableId first = master.table("first");
          master.signal.rereadAllSoon();
          stepFor(LoadTimes.PATIENCE.minusSeconds(20));
          assertThat(master.only(first).assignment().isTo(A)).as("the lightest").isTrue();
          stepFor(Duration.ofSeconds(40));
          assertThat(master.isServed(first)).isTrue();
          assertThat(master.only(first).assignment().isTo(B)).isTrue();
          assertThat(master.only(first).isQuarantined()).isFalse();
          assertThat(master.parts.silent().takers(master.loop.view().live())).containsExactly(A, B);
        });
  }

  @Test
  void aServerThatDidNotLoadATabletGetsOthersWhenItIsTheOnlyOneLeft() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock other = master.start(B);
          master.stepUntilIdle();
          master.start(A);
          master.plane.stalled.add(A.host());
          TableId table = master.table("users");
          master.signal.rereadAllSoon();
          stepFor(LoadTimes.PATIENCE.plusSeconds(20));
          assertThat(master.only(table).assignment().isTo(B)).isTrue();
          master.plane.stalled.clear();
          other.release();
          master.stepUntilIdle();
          assertThat(master.only(table).assignment().isTo(A)).isTrue();
          assertThat(master.isServed(table)).isTrue();
        });
  }

  /** It is not the servers then: tablets would only go round. */
  @Test
  void nothingIsTakenFromServersOfWhichManyAreTooSlow() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          List<ServerId> servers = List.of(A, B, C, new ServerId("d", 1, 1));
          for (ServerId server : servers) {
            master.start(server);
          }
          master.stepUntilIdle();
          servers.forEach(server -> master.plane.stalled.add(server.host()));
          TableId table = master.table("users", Bytes.of("g"), Bytes.of("m"), Bytes.of("t"));
          master.signal.rereadAllSoon();
          stepFor(Duration.ofSeconds(10));
          List<TabletRecord> before = master.tablets(table);
          assertThat(before)
              .allMatch(one -> one.assignment().state() == Assignment.State.ASSIGNED)
              .extracting(one -> one.assignment().server())
              .doesNotHaveDuplicates();
          stepFor(LoadTimes.PATIENCE.multipliedBy(3));
          assertThat(master.tablets(table)).isEqualTo(before);
        });
  }

  @Test
  void metadataIsTakenSoonerFromAServerThatLoadsNothing() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.plane.stalled.add(A.host());
          master.start(A);
          master.loop.step();
          master.start(B);
          stepFor(LoadTimes.SYSTEM_PATIENCE.plusSeconds(20));
          assertThat(master.root().assignment().isTo(B)).isTrue();
          stepFor(LoadTimes.SYSTEM_PATIENCE.plusSeconds(20)); // METADATA comes after the root.
          assertThat(master.isServed(TableId.METADATA)).isTrue();
        });
  }

  /** It may be the tablet that takes long: each server has twice the time of the one before. */
  @Test
  void aTabletThatLoadsSlowlyHasMoreTimeOnEachServer() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(B);
          master.stepUntilIdle();
          master.start(A);
          TableId table = master.table("users");
          master.plane.slow.add(master.only(table).id());
          master.signal.rereadAllSoon();
          List<Long> taken = new ArrayList<>();
          long epoch = 0;
          long since = 0;
          for (long second = 0; second < 3600; second += 5) {
            stepFor(Duration.ofSeconds(5));
            TabletRecord now = master.only(table);
            if (now.assignment().epoch() != epoch && now.assignment().server().isPresent()) {
              epoch = now.assignment().epoch();
              taken.add((second - since) / 60);
              since = second;
            }
          }
          assertThat(taken).containsExactly(0L, 5L, 10L, 20L);
        });
  }

  @Test
  void aTabletStaysWithTheOnlyServerHoweverLongItTakes() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          master.stepUntilIdle();
          TableId table = master.table("users");
          master.plane.slow.add(master.only(table).id());
          master.signal.rereadAllSoon();
          master.loop.step();
          long epoch = master.only(table).assignment().epoch();
          stepFor(LoadTimes.PATIENCE.multipliedBy(3));
          assertThat(master.only(table).assignment().epoch()).isEqualTo(epoch);
          master.start(B);
          stepFor(Duration.ofSeconds(20));
          assertThat(master.only(table).assignment().isTo(B)).isTrue();
        });
  }

  private void stepFor(Duration time) throws Exception {
    master.stepFor(time, Duration.ofSeconds(5));
  }
}
