package io.stele.master;

import static io.stele.master.Answers.ended;
import static io.stele.master.Answers.failure;
import static io.stele.master.Answers.running;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.master.ChangeRequest.Alter;
import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableName;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Changes of tables of which a step cannot be taken: they must not keep others from being made. */
class RefusedChangesTest {
  private final MasterFixture master = new MasterFixture();

  private static TableSchema of(String... families) {
    return TableSchema.of("users", families);
  }

  private TableAdmin.Answer alter(String id, TableSchema after) throws IOException {
    return master.ask(id, new Alter(after, Optional.empty()));
  }

  /** Has the changes in the lock service found, as after the start of a master, and made. */
  private void carryOn() throws IOException {
    master.changes.resume();
    master.carryOn();
  }

  /** A table whose node is nearly full of the rows at which it was split. */
  private TableId tableWithFullNode() throws IOException {
    Bytes[] rows = new Bytes[252];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = Bytes.of(String.format("%04d", i) + "r".repeat(2_044));
    }
    return master.table("users", rows);
  }

  private static TableSchema withManyFamilies() {
    String[] families = new String[200];
    for (int i = 0; i < families.length; i++) {
      families[i] = "a-family-with-a-name-that-is-long-" + i;
    }
    return of(families);
  }

  @Test
  void whatTheNodeOfATableHasNoRoomForIsRefusedBeforeItIsBegun() throws Exception {
    master.run(
        () -> {
          TableId table = tableWithFullNode();
          StoredTable before = master.schemas.table(table).orElseThrow();
          EndedChange refused = ended(alter("large", withManyFamilies()));
          assertThat(refused.failure().orElseThrow().code()).isEqualTo(Code.REFUSED);
          assertThat(refused.failure().orElseThrow().message()).contains("the limit is 524288");
          assertThat(master.schemas.table(table)).contains(before);
          running(master.drop("users"));
          master.carryOn();
          assertThat(failure(master.drop("users"))).contains(Code.NOT_FOUND);
        });
  }

  /** Jobs may begin after it was begun, and a new version of the master may have other rules. */
  @Test
  void aChangeOfWhichAStepIsRefusedEndsAndTheNextOneIsMade() throws Exception {
    master.run(
        () -> {
          TableId table = tableWithFullNode();
          TableName name = master.schemas.names().read("users");
          SchemaChange large =
              new SchemaChange(
                  "large",
                  name.next(0),
                  Step.WRITE_SCHEMA,
                  table,
                  Optional.of(withManyFamilies()),
                  List.of(),
                  0,
                  RowRange.ALL);
          assertThat(master.schemas.names().write(name, name.with(large))).isTrue();
          carryOn();
          assertThat(failure(alter("large", withManyFamilies()))).contains(Code.REFUSED);
          running(alter("small", of("f", "g")));
          master.carryOn();
          assertThat(ended(alter("small", of("f", "g"))).failure()).isEmpty();
        });
  }

  /** Its id is another table's: the counter of ids was lost, and has been restored too low. */
  @Test
  void aTableThatWouldGetTheNodeOfAnotherIsNotCreated() throws Exception {
    master.run(
        () -> {
          TableId first = master.table("users");
          StoredTable before = master.schemas.table(first).orElseThrow();
          TableName name = master.schemas.names().read("other");
          SchemaChange create =
              new SchemaChange(
                  "create",
                  name.next(0),
                  Step.WRITE_NODE,
                  first,
                  Optional.of(MasterFixture.schema("other")),
                  List.of(),
                  0,
                  RowRange.ALL);
          TableName with = name.of(Optional.of(first)).with(create);
          assertThat(master.schemas.names().write(name, with)).isTrue();
          carryOn();
          EndedChange ended = ended(master.create("create", "other"));
          assertThat(ended.failure().orElseThrow().message()).contains("is already that of table");
          assertThat(master.schemas.names().holder("other")).isEmpty();
          assertThat(master.schemas.table(first)).contains(before);
        });
  }

  @Test
  void theIdsOfNewTablesGoOnAboveThoseThatHaveNodesIfTheirCounterIsLost() throws Exception {
    master.run(
        () -> {
          master.table("one");
          TableId second = master.table("two");
          int version = master.locks.read("table-ids").orElseThrow().version();
          assertThat(master.locks.delete("table-ids", version)).isTrue();
          assertThat(master.schemas.nextId()).isEqualTo(new TableId("t3"));
          assertThat(second).isEqualTo(new TableId("t2"));

          version = master.locks.read("table-ids").orElseThrow().version();
          master.locks.write("table-ids", Bytes.of("0 restored"), version);
          assertThat(master.schemas.nextId()).isEqualTo(new TableId("t3"));
        });
  }

  /** Neither the schema nor the readers can be written, as long as this may take. */
  @ParameterizedTest
  @EnumSource(names = {"WRITE_SCHEMA", "GRANT_READING"})
  void aDropEndsAnAlterationThatIsStillToBeWritten(Step step) throws Exception {
    master.run(
        () -> {
          master.table("users");
          running(alter("stuck", of("f", "g")));
          TableName now = master.schemas.names().read("users");
          TableName stuck = now.with(now.running().orElseThrow().at(step));
          assertThat(master.schemas.names().write(now, stuck)).isTrue();
          TableId table = running(master.drop("users"));
          assertThat(failure(alter("stuck", of("f", "g")))).contains(Code.OUTCOME_UNKNOWN);
          carryOn();
          assertThat(master.schemas.table(table)).isEmpty();
        });
  }
}
