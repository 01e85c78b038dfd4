package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TableAdminTest {
  private static final ServerId A = new ServerId("a", 1, 1);

  private final MasterFixture master = new MasterFixture();

  @Test
  void aNewTableHasItsNameItsRecordsAndIsReady() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users", Bytes.of("g"), Bytes.of("p"));
          assertThat(master.records.readAll(table)).hasSize(3);
          assertThat(master.schemas.require("users").id()).isEqualTo(table);
          assertThatThrownBy(() -> master.table("users"))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("there is a table users already");
        });
  }

  @Test
  void splitRowsMustAscend() throws Exception {
    master.run(
        () -> {
          assertThatThrownBy(() -> master.table("users", Bytes.of("p"), Bytes.of("g")))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("must ascend");
          assertThat(master.schemas.list().tables()).isEmpty();
        });
  }

  @Test
  void aTableThatAnEarlierMasterBeganIsFinished() throws Exception {
    master.run(
        () -> {
          TableId table =
              master.schemas.create(MasterFixture.schema("users"), List.of(Bytes.of("m"))).id();
          assertThat(master.tables.resume()).isTrue();
          assertThat(master.tables.goOn(id -> true)).isTrue();
          assertThat(master.schemas.require("users").state()).isEqualTo(StoredTable.State.READY);
          assertThat(master.records.readAll(table)).hasSize(2);
          assertThat(master.tables.goOn(id -> true)).isFalse();
        });
  }

  @Test
  void aTableWhoseRecordsCannotBeWrittenIsFinishedLater() throws Exception {
    master.run(
        () -> {
          master.memory.setAway(Optional.of(RowRange.ALL));
          assertThatThrownBy(() -> master.table("users"))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
          master.tables.resume();
          assertThat(master.tables.goOn(id -> true)).isFalse();
          master.memory.setAway(Optional.empty());
          master.tables.resume();
          assertThat(master.tables.goOn(id -> false)).isFalse();
          assertThat(master.tables.goOn(id -> true)).isTrue();
          assertThat(master.schemas.require("users").state()).isEqualTo(StoredTable.State.READY);
        });
  }

  @Test
  void aDroppedTableGoesWhenNobodyHasItsTablets() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users", Bytes.of("m"));
          TabletRecord tablet = master.records.readAll(table).get(0);
          TabletRecord loaded = master.records.loaded(master.records.assign(tablet, A));
          master.tables.drop("users");
          assertThat(master.tables.dropping()).containsExactly(table);
          assertThat(master.tables.goOn(id -> true)).isFalse();
          assertThat(master.records.readAll(table)).hasSize(2);
          master.records.release(loaded, "test");
          while (master.tables.goOn(id -> true)) {
            continue;
          }
          assertThat(master.tables.dropping()).isEmpty();
          assertThat(master.records.readAll(table)).isEmpty();
          assertThat(master.schemas.list().tables()).isEmpty();
        });
  }

  @Test
  void aDamagedTableHidesNoOther() throws Exception {
    master.run(
        () -> {
          master.locks.create(LockPaths.TABLES + "/t9", Bytes.of("rubbish"));
          master.locks.create(LockPaths.TABLES + "/stray.node", Bytes.of("rubbish"));
          master.schemas.create(MasterFixture.schema("users"), List.of());
          assertThat(master.tables.resume()).isTrue();
          assertThat(master.tables.goOn(id -> true)).isTrue();
          assertThat(master.schemas.list().tables())
              .extracting(table -> table.schema().name())
              .containsExactly("users");
          assertThat(master.schemas.list().damaged()).contains("t9");
        });
  }

  @Test
  void anAlterationOfAnotherSchemaThanTheCallerSawIsRefused() throws Exception {
    master.run(
        () -> {
          master.table("users");
          assertThatThrownBy(
                  () ->
                      master.tables.alter(
                          MasterFixture.schema("users"),
                          Optional.of(MasterFixture.schema("users").withHsync(true))))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("altered by somebody else");
        });
  }
}
