package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.time.Duration;
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
  void aNameThatALateMasterClaimedForATableDroppedSinceIsFree() throws Exception {
    master.run(
        () -> {
          master.locks.create(LockPaths.tableName("users"), Bytes.of("t99"));
          TableId table = master.table("users");
          assertThat(master.schemas.require("users").id()).isEqualTo(table);
        });
  }

  @Test
  void splitRowsMustAscend() throws Exception {
    master.run(
        () -> {
          assertThatThrownBy(() -> master.table("users", Bytes.of("p"), Bytes.of("g")))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("must be ascending");
          assertThat(master.schemas.list().tables()).isEmpty();
        });
  }

  @Test
  void aTableThatAnEarlierMasterBeganIsFinished() throws Exception {
    master.run(
        () -> {
          TableId table =
              master.schemas.create(MasterFixture.schema("users"), List.of(Bytes.of("m")), "").id();
          master.tables.resume();
          assertThat(master.tables.goOn(id -> true)).isTrue();
          master.finished(table);
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
          TableId table = begin("one", "users");
          for (int i = 0; i < 20; i++) {
            boolean reachable = i % 2 == 0;
            assertThat(master.tables.goOn(id -> reachable)).isTrue();
            master.sleep(Duration.ofMillis(100));
          }
          assertThat(master.schemas.table(table).orElseThrow().state())
              .isEqualTo(StoredTable.State.CREATING);
          master.memory.setAway(Optional.empty());
          master.finished(table);
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
          master.tables.drop("users", Optional.empty());
          assertThat(master.tables.dropping()).containsExactly(table);
          master.finished(table);
          assertThat(master.tables.dropping()).containsExactly(table);
          assertThat(master.records.readAll(table)).hasSize(2);
          master.records.release(loaded, "test");
          master.finished(table);
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
          master.schemas.create(MasterFixture.schema("users"), List.of(), "");
          master.tables.resume();
          assertThat(master.tables.goOn(id -> true)).isTrue();
          assertThat(master.schemas.list().tables())
              .extracting(table -> table.schema().name())
              .containsExactly("users");
          assertThat(master.schemas.list().damaged()).contains("t9");
        });
  }

  @Test
  void aCreationAskedForAgainIsJoinedWhileItGoesOnAndUntilSomebodyWasTold() throws Exception {
    master.run(
        () -> {
          TableId table = begin("one", "users");
          assertThat(begin("one", "users")).as("the same wish").isEqualTo(table);
          assertThat(begin("two", "users")).as("the same schema").isEqualTo(table);
          assertThatThrownBy(() -> begin("three", "users", Bytes.of("m")))
              .hasMessageContaining("is already being created");
          assertThatThrownBy(() -> master.schemas.require("users"))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
          master.finished(table);
          assertThat(begin("two", "users")).as("just done").isEqualTo(table);
          master.tables.told(table);
          assertThatThrownBy(() -> begin("two", "users"))
              .hasMessageContaining("there is a table users already");
          assertThat(begin("one", "users")).as("the same wish").isEqualTo(table);
          assertThat(master.schemas.list().tables()).hasSize(1);
        });
  }

  @Test
  void aTableBeingCreatedCanBeDropped() throws Exception {
    master.run(
        () -> {
          TableId table = begin("one", "users");
          master.tables.drop("users", Optional.empty());
          master.finished(table);
          assertThat(master.schemas.list().tables()).isEmpty();
          assertThat(master.records.readAll(table)).isEmpty();
        });
  }

  @Test
  void aDropAskedForAgainIsJoinedAndOfOneThatIsGoneItIsDone() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          TabletRecord tablet = master.records.readAll(table).get(0);
          TabletRecord loaded = master.records.loaded(master.records.assign(tablet, A));
          master.tables.drop("users", Optional.of(table));
          master.finished(table);
          assertThat(master.schemas.holder("users")).as("its name is free").isEmpty();
          assertThat(master.tables.drop("users", Optional.empty())).isPresent();
          assertThat(master.tables.drop("users", Optional.of(table))).isPresent();
          TableId next = master.table("users");
          master.records.release(loaded, "test");
          master.finished(table);
          assertThat(master.tables.drop("users", Optional.of(table))).isEmpty();
          assertThat(master.schemas.require("users").id()).isEqualTo(next);
        });
  }

  @Test
  void oneTableThatCannotGoOnHoldsUpNoOther() throws Exception {
    master.run(
        () -> {
          TableId stuck = begin("one", "stuck");
          TableId other = begin("two", "other");
          master.memory.setAway(Optional.of(MetadataKeys.table(stuck)));
          master.finished(other);
          assertThat(master.schemas.require("other").state()).isEqualTo(StoredTable.State.READY);
        });
  }

  private TableId begin(String creation, String name, Bytes... splitRows) throws Exception {
    return master.tables.create(MasterFixture.schema(name), List.of(splitRows), creation).id();
  }

  @Test
  void anAlterationAskedForAgainIsDone() throws Exception {
    master.run(
        () -> {
          master.table("users");
          TableSchema before = MasterFixture.schema("users");
          TableSchema after = before.withHsync(true);
          StoredTable altered = master.tables.alter(after, Optional.of(before));
          assertThat(master.tables.alter(after, Optional.of(before))).isEqualTo(altered);
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
                          MasterFixture.schema("users").withSplitBytes(1 << 29),
                          Optional.of(MasterFixture.schema("users").withHsync(true))))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("altered by somebody else");
        });
  }
}
