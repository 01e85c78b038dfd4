package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.sim.Cores;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records of tablets whose table is not there any more, or not now. */
@ExtendWith(Cores.One.class)
class OrphanRecordsTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();

  /** A server has loaded the tablet, and was fenced: it may have data. */
  private void serve(TabletRecord tablet) throws IOException {
    master.records.release(master.records.loaded(master.records.assign(tablet, B)), "fenced");
  }

  @Test
  void aRecordThatADeposedMasterWritesOfATableDroppedSinceIsRemovedAndNeverAssigned()
      throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId table = master.table("users");
          master.stepUntilIdle();
          master.drop("users");
          master.rereadUntilIdle();
          assertThat(master.schemas.list().tables()).isEmpty();
          master.plane.requests.clear();
          master.records.createTable(table, List.of(Bytes.of("m"))); // Late.
          master.rereadUntilIdle();
          assertThat(master.tablets(table)).isEmpty();
          assertThat(master.plane.requests).isEmpty();
        });
  }

  @Test
  void aTableWhoseNodeIsLostIsForgottenSoonOnceItIsGivenUp() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId table = master.table("users");
          master.stepUntilIdle();
          String node = "tables/" + table.value();
          master.locks.delete(node, master.locks.read(node).orElseThrow().version());
          master.loop.giveUp(table);
          master.stepFor(Duration.ofMillis(1000), Duration.ofMillis(50)); // A second.
          assertThat(master.tablets(table)).isEmpty();
        });
  }

  @Test
  void anOrphanRecordWithDataIsLeftToPeople() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId lost = new TableId("t77");
          master.records.createTable(lost, List.of());
          TabletRecord record = master.only(lost);
          serve(record);
          master.rereadUntilIdle();
          assertThat(master.tablets(lost)).hasSize(1);
          assertThat(master.plane.requests).doesNotContain("load t77");
        });
  }

  /** Else the table would have gaps once its node is there again. */
  @Test
  void orphanRecordsWithoutDataStayAsLongAsAnotherOfTheirTableHasSome() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId lost = new TableId("t77");
          master.records.createTable(lost, List.of(Bytes.of("f"), Bytes.of("m")));
          TabletRecord second = master.tablets(lost).get(1);
          serve(second);
          master.rereadUntilIdle();
          assertThat(master.tablets(lost)).hasSize(3);
        });
  }
}
