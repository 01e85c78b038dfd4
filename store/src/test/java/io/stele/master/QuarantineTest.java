package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.sim.Cores;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tablets that cannot be loaded: tried elsewhere, then in quarantine, then more and more seldom.
 */
@ExtendWith(Cores.One.class)
class QuarantineTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();

  /** A table whose only tablet no server can load. */
  private TableId damagedTable() throws IOException {
    TableId table = master.table("bad");
    master.plane.damaged.add(master.only(table).id());
    return table;
  }

  @Test
  void aTabletThatCannotBeLoadedIsTriedElsewhereThenQuarantinedAndOthersGoOn() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          master.start(B);
          TableId bad = damagedTable();
          TableId good = master.table("good");
          master.whileTheLoopRuns(
              () -> {
                master.sleep(Duration.ofSeconds(30));
                assertThat(master.isServed(good)).isTrue();
                TabletRecord stuck = master.only(bad);
                assertThat(stuck.isQuarantined()).isTrue();
                assertThat(stuck.assignment().epoch()).as("attempts").isEqualTo(4);
                assertThat(master.plane.failedOn).contains("a", "b");
              });
        });
  }

  @Test
  void aTabletInQuarantineIsTriedAgainByItselfMoreAndMoreSeldom() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId bad = damagedTable();
          master.whileTheLoopRuns(
              () -> {
                master.sleep(Duration.ofSeconds(30));
                long before = master.only(bad).assignment().epoch();
                assertThat(master.parts.failures().retryIn(master.only(bad).id()).orElseThrow())
                    .isBetween(Duration.ofSeconds(20), Duration.ofMinutes(1));
                master.sleep(Duration.ofHours(10));
                TabletRecord stuck = master.only(bad);
                assertThat(stuck.isQuarantined()).isTrue();
                // After 1, 2, 4, 8, 16 and 32 minutes, then every hour.
                assertThat(stuck.assignment().epoch() - before).isBetween(13L, 16L);

                master.plane.damaged.clear();
                master.sleep(Duration.ofHours(1));
                assertServedWithoutTrouble(bad);
              });
        });
  }

  @Test
  void aTabletInQuarantineIsTriedAtOnceWhenAnOperatorReleasesIt() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId bad = damagedTable();
          master.whileTheLoopRuns(
              () -> {
                master.sleep(Duration.ofMinutes(20));
                assertThat(master.only(bad).isQuarantined()).isTrue();
                master.plane.damaged.clear();
                master.parts.failures().release(master.only(bad).id());
                master.signal.wakeUp();
                master.sleep(Duration.ofSeconds(5));
                assertServedWithoutTrouble(bad);
              });
        });
  }

  private void assertServedWithoutTrouble(TableId table) throws IOException {
    assertThat(master.isServed(table)).isTrue();
    assertThat(master.only(table).trouble()).isEmpty();
  }

  @Test
  void whatPassesIsTriedAgainForEverAndMoreAndMoreSeldom() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId table = master.table("users");
          master.plane.away.add(master.only(table).id());
          master.whileTheLoopRuns(
              () -> {
                master.sleep(Duration.ofMinutes(10));
                TabletRecord waiting = master.only(table);
                assertThat(waiting.isQuarantined()).isFalse();
                assertThat(waiting.assignment().epoch()).isBetween(5L, 25L);
                master.plane.away.clear();
                master.sleep(Duration.ofMinutes(2));
                assertThat(master.isServed(table)).isTrue();
              });
        });
  }
}
