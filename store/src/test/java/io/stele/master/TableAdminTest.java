package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static io.stele.master.Answers.ended;
import static io.stele.master.Answers.failure;
import static io.stele.master.Answers.running;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.master.ChangeRequest.Alter;
import io.stele.master.ChangeRequest.Clear;
import io.stele.master.ChangeRequest.Create;
import io.stele.master.ChangeRequest.Drop;
import io.stele.metadata.EndedChange;
import io.stele.metadata.LaterNodes;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableName;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.sim.Simulation;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class TableAdminTest {
  private static final ServerId A = new ServerId("a", 1, 1);

  private final MasterFixture master = new MasterFixture();

  /** Another master, which knows nothing of what this one did. */
  private TableChanges successor() {
    return new TableChanges(master.process, master.schemas, master.steps(), master.signal);
  }

  private void carryOn(TableChanges changes) throws Exception {
    changes.resume();
    for (int i = 0; i < 100 && changes.advance(table -> true); i++) {
      master.sleep(Duration.ofMillis(50));
    }
  }

  private Step step(String name) throws IOException {
    return master.schemas.names().read(name).running().orElseThrow().step();
  }

  @Test
  void aNewTableHasItsNameItsRecordsAndIsReady() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users", Bytes.of("g"), Bytes.of("p"));
          assertThat(master.records.reader().readAll(table)).hasSize(3);
          assertThat(master.schemas.require("users").id()).isEqualTo(table);
          assertThat(failure(master.create("again", "users"))).contains(Code.ALREADY_EXISTS);
        });
  }

  @Test
  void aChangeAskedForAgainIsAnsweredByWhatCameOfItWhateverHappenedSince() throws Exception {
    master.run(
        () -> {
          TableId table = running(master.create("one", "users"));
          assertThat(running(master.create("one", "users"))).isEqualTo(table);
          master.carryOn();
          Optional<TableId> made = Optional.of(table);
          assertThat(ended(master.create("one", "users")).table()).isEqualTo(made);
          assertThat(failure(master.create("two", "users"))).contains(Code.ALREADY_EXISTS);
          running(master.ask("gone", new Drop("users")));
          master.carryOn();
          assertThat(failure(master.create("two", "users"))).contains(Code.ALREADY_EXISTS);
          assertThat(ended(master.create("one", "users")).failure()).isEmpty();
          assertThat(ended(master.ask("gone", new Drop("users"))).failure()).isEmpty();
          assertThat(failure(master.ask("none", new Drop("users")))).contains(Code.NOT_FOUND);
          assertThat(master.schemas.list().tables()).isEmpty();
          TableId next = master.table("users");
          assertThat(ended(master.ask("gone", new Drop("users"))).failure()).isEmpty();
          assertThat(failure(master.ask("none", new Drop("users")))).contains(Code.NOT_FOUND);
          assertThat(master.schemas.require("users").id()).isEqualTo(next);
        });
  }

  @Test
  void aChangeThatIsNotRememberedIsNotMadeAgain() throws Exception {
    master.run(
        () -> {
          long seen = master.schemas.names().read("users").sequence();
          ChangeRequest first =
              new ChangeRequest("one", seen, new Create(MasterFixture.schema("users"), List.of()));
          running(master.tables.ask(first));
          master.carryOn();
          for (int i = 0; i < 30; i++) {
            assertThat(failure(master.create("other " + i, "users"))).contains(Code.ALREADY_EXISTS);
          }
          running(master.drop("users"));
          master.carryOn();
          assertFails(Code.OUTCOME_UNKNOWN, () -> master.tables.ask(first))
              .hasMessageContaining("is no longer remembered");
          assertThat(master.schemas.list().tables()).isEmpty();
        });
  }

  @Test
  void aNameOfNoTableIsForgottenAfterAnHourAndItsChangesAreNotMadeAgain() throws Exception {
    master.run(
        () -> {
          ChangeRequest first =
              new ChangeRequest("one", 0, new Create(MasterFixture.schema("users"), List.of()));
          running(master.tables.ask(first));
          master.carryOn();
          running(master.drop("users"));
          master.carryOn();
          master.changes.resume();
          master.sleep(Duration.ofMinutes(50));
          master.changes.resume();
          assertThat(master.schemas.names().all()).containsExactly("users");
          master.sleep(Duration.ofMinutes(20));
          master.changes.resume();
          assertThat(master.schemas.names().all()).isEmpty();
          assertThatThrownBy(() -> master.tables.ask(first))
              .hasMessageContaining("no longer remembered");
          master.table("users");
        });
  }

  @Test
  void oneChangeIsMadeToATableAtATime() throws Exception {
    master.run(
        () -> {
          running(master.create("one", "users"));
          assertBusy(() -> master.drop("users"), "is just being created");
          assertBusy(() -> master.create("two", "users"), "is just being created");
          master.carryOn();
          TabletRecord tablet = master.records.reader().readAll(new TableId("t1")).get(0);
          TabletRecord loaded = master.records.loaded(master.records.assign(tablet, A));
          running(master.ask("gone", new Drop("users")));
          master.carryOn();
          assertBusy(() -> master.create("two", "users"), "some of its tablets are not unloaded");
          assertBusy(() -> master.drop("users"), "is just being dropped");
          master.records.release(loaded, "test");
          master.carryOn();
          assertThat(failure(master.drop("users"))).contains(Code.NOT_FOUND);
        });
  }

  private static void assertBusy(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String why) {
    assertThatThrownBy(call)
        .hasMessageContaining(why)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(Code.RETRY_LATER));
  }

  @Test
  void eachStepOfACreationThatAMasterLeftIsTakenByTheNextWithoutBeingAsked() throws Exception {
    master.run(
        () -> {
          for (Step step : List.of(Step.WRITE_NODE, Step.WRITE_RECORDS, Step.MAKE_READY)) {
            String name = "users-" + step.ordinal();
            TableId table = running(master.create("creation", name, Bytes.of("m")));
            leaveAt(name, step);
            assertThat(step(name)).isEqualTo(step);
            carryOn(successor());
            assertThat(master.schemas.require(name).id()).isEqualTo(table);
            assertThat(master.records.reader().readAll(table)).hasSize(2);
            assertThat(ended(master.create("creation", name)).failure()).isEmpty();
          }
        });
  }

  @Test
  void eachStepOfADropThatAMasterLeftIsTakenByTheNextWithoutBeingAsked() throws Exception {
    master.run(
        () -> {
          for (Step step : List.of(Step.MARK_DROPPED, Step.REMOVE_RECORDS, Step.REMOVE_NODE)) {
            String name = "users-" + step.ordinal();
            TableId table = master.table(name, Bytes.of("m"));
            running(master.ask("gone", new Drop(name)));
            leaveAt(name, step);
            carryOn(successor());
            assertThat(master.schemas.table(table)).isEmpty();
            assertThat(master.schemas.holder(name)).isEmpty();
            assertThat(master.records.reader().readAll(table)).isEmpty();
            assertThat(ended(master.ask("gone", new Drop(name))).failure()).isEmpty();
          }
        });
  }

  @Test
  void rowsAreClearedTabletByTabletOnceWhoeverCarriesItOn() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users", Bytes.of("m"), Bytes.of("t"));
          master.start(A);
          master.watch.refreshWithLogs();
          for (TabletRecord tablet : master.records.reader().readAll(table)) {
            master.records.loaded(master.records.assign(tablet, A));
          }
          Clear wish = new Clear("users", RowRange.of("c", "p"));
          running(master.ask("clear", wish));
          carryOn(successor());
          assertThat(ended(master.ask("clear", wish)).failure()).isEmpty();
          assertThat(master.records.reader().readAll(table))
              .extracting(tablet -> tablet.cleared().rows())
              .containsExactly(
                  List.of(RowRange.of("c", "m")), List.of(RowRange.of("m", "p")), List.of());
          master.plane.requests.clear();
          carryOn(successor());
          assertThat(ended(master.ask("clear", wish)).failure()).isEmpty();
          assertThat(master.plane.requests).noneMatch(request -> request.startsWith("clear"));
          running(master.ask("again", wish));
        });
  }

  private static TableSchema of(String... families) {
    return TableSchema.of("users", families);
  }

  private TableAdmin.Answer alter(String id, TableSchema after) throws IOException {
    return master.ask(id, new Alter(after, Optional.empty()));
  }

  /** The tablets of a table of three, loaded. */
  private List<TabletRecord> loaded() throws Exception {
    TableId table = master.table("users", Bytes.of("m"), Bytes.of("t"));
    master.start(A);
    master.watch.refreshWithLogs();
    for (TabletRecord tablet : master.records.reader().readAll(table)) {
      master.records.loaded(master.records.assign(tablet, A));
    }
    return master.records.reader().readAll(table);
  }

  /** The tablets of such a table, one of whose families was dropped. */
  private List<TabletRecord> withDroppedFamily() throws Exception {
    TableId table = loaded().get(0).id().table();
    running(alter("more", of("f", "g")));
    carryOn(master.changes);
    running(alter("less", of("f")));
    carryOn(master.changes);
    assertThat(ended(alter("less", of("f"))).failure()).isEmpty();
    assertThat(master.schemas.require("users").dropped().names()).containsExactly("g");
    return master.records.reader().readAll(table);
  }

  @Test
  void aDroppedFamilyIsErasedFromAllTabletsBeforeItsNameIsUsedAgainWhoeverCarriesItOn()
      throws Exception {
    master.run(
        () -> {
          List<TabletRecord> tablets = withDroppedFamily();
          assertThat(master.plane.requests).noneMatch(request -> request.startsWith("erase"));
          TabletRecord away = master.records.unloaded(tablets.get(1), "test");
          running(alter("again", of("f", "g")));
          carryOn(successor());
          assertThat(step("users")).isEqualTo(Step.ERASE_FAMILIES);
          assertThat(master.schemas.require("users").schema()).isEqualTo(of("f"));
          SchemaChange change = master.schemas.names().read("users").running().orElseThrow();
          assertThat(change.wanted()).contains(of("f", "g"));
          assertBusy(() -> alter("other", of("f", "h")), "is still being removed from its tablets");

          master.records.loaded(master.records.assign(away, A));
          TableChanges next = successor();
          carryOn(next);
          assertThat(ended(alter("again", of("f", "g"))).failure()).isEmpty();
          StoredTable table = master.schemas.require("users");
          assertThat(table.schema()).isEqualTo(of("f", "g"));
          assertThat(table.dropped().names()).isEmpty();
          assertThat(master.plane.requests.stream().filter(one -> one.startsWith("erase [g]")))
              .hasSize(3);
          assertThat(master.records.reader().readAll(table.id()))
              .allMatch(one -> one.cleared().left(change.sequence(), one.extent()).isEmpty());
        });
  }

  @Test
  void anAlterationThatGetsNoFurtherEndsAndSaysHowFarItCame() throws Exception {
    master.run(
        () -> {
          List<TabletRecord> tablets = withDroppedFamily();
          master.records.unloaded(tablets.get(1), "test");
          running(alter("again", of("f", "g")));
          for (int i = 0; i < 20; i++) {
            master.changes.advance(table -> true);
            master.sleep(Duration.ofSeconds(1));
          }
          SchemaChange change = master.schemas.names().read("users").running().orElseThrow();
          assertThat(master.steps.isCleared(change, tablets.get(0).extent())).isTrue();
          assertThat(master.steps.isCleared(change, tablets.get(1).extent())).isFalse();
          for (int i = 0; i < 60; i++) {
            master.changes.advance(table -> true);
            master.sleep(Duration.ofSeconds(1));
          }
          EndedChange ended = ended(alter("again", of("f", "g")));
          assertThat(ended.failure().orElseThrow().code()).isEqualTo(Code.RETRY_LATER);
          assertThat(ended.failure().orElseThrow().message())
              .contains("the table had a family g, still to be removed from 1 of 3 tablets");
          assertThat(master.schemas.require("users").dropped().names()).containsExactly("g");
          running(master.drop("users"));
        });
  }

  @Test
  void aClearingThatGetsNoFurtherEndsAndSaysHowFarItCameAndTheTableCanBeDropped() throws Exception {
    master.run(
        () -> {
          List<TabletRecord> tablets = loaded();
          TabletRecord away = master.records.unloaded(tablets.get(1), "test");
          Clear wish = new Clear("users", RowRange.of("", "s"));
          running(master.ask("clear", wish));
          for (int i = 0; i < 80; i++) {
            master.changes.advance(table -> true);
            master.sleep(Duration.ofSeconds(1));
          }
          EndedChange ended = ended(master.ask("clear", wish));
          assertThat(ended.failure().orElseThrow().code()).isEqualTo(Code.OUTCOME_UNKNOWN);
          assertThat(ended.failure().orElseThrow().message())
              .contains("the rows were deleted from 1 of 2 tablets");

          running(master.ask("again", wish));
          carryOn(master.changes);
          assertBusy(() -> alter("other", of("f", "h")), "some of its tablets still have the rows");
          master.records.loaded(master.records.assign(away, A));
          carryOn(master.changes);
          assertThat(ended(master.ask("again", wish)).failure()).isEmpty();

          for (TabletRecord tablet : master.records.reader().readAll(away.id().table())) {
            master.records.unloaded(tablet, "test");
          }
          running(master.ask("gone", new Drop("users")));
          carryOn(master.changes);
          assertThat(ended(master.ask("gone", new Drop("users"))).failure()).isEmpty();
        });
  }

  private void assertDropEnds(ChangeRequest.Wish wish, Code code) throws Exception {
    master.run(
        () -> {
          for (TabletRecord tablet : withDroppedFamily()) {
            master.records.unloaded(tablet, "test");
          }
          running(master.ask("stuck", wish));
          carryOn(master.changes);
          TableId table = running(master.ask("gone", new Drop("users")));
          assertThat(master.changes.running()).hasSize(1);
          assertThat(failure(master.ask("stuck", wish))).contains(code);
          carryOn(master.changes);
          assertThat(ended(master.ask("gone", new Drop("users"))).failure()).isEmpty();
          assertThat(master.schemas.table(table)).isEmpty();
          assertThat(master.records.reader().readAll(table)).isEmpty();
        });
  }

  @Test
  void aDropEndsAClearing() throws Exception {
    assertDropEnds(new Clear("users", RowRange.ALL), Code.OUTCOME_UNKNOWN);
  }

  @Test
  void aDropEndsAnAlterationThatErasesAFamily() throws Exception {
    assertDropEnds(new Alter(of("f", "g"), Optional.empty()), Code.RETRY_LATER);
  }

  @Test
  void anAlterationThatAMasterLeftIsToldToAllServersByTheNextWithoutBeingAsked() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          master.start(A);
          master.watch.refreshWithLogs();
          TableSchema after = MasterFixture.schema("users").withHsync(true);
          running(master.ask("change", new Alter(after, Optional.empty())));
          assertThat(step("users")).isEqualTo(Step.WRITE_SCHEMA);
          carryOn(successor());
          assertThat(master.plane.requests).contains("refresh users");
          assertThat(master.schemas.table(table).orElseThrow().schema()).isEqualTo(after);
          assertThat(ended(master.ask("change", new Alter(after, Optional.empty()))).failure())
              .isEmpty();
        });
  }

  @Test
  void anAlterationThatAMasterMakesLateUndoesNoLaterOne() throws Exception {
    master.run(
        () -> {
          withDroppedFamily();
          running(alter("again", of("f", "g")));
          SchemaChange change = master.schemas.names().read("users").running().orElseThrow();
          SchemaChange late = change.at(Step.WRITE_SCHEMA);
          carryOn(master.changes);
          assertThat(ended(alter("again", of("f", "g"))).failure()).isEmpty();
          running(alter("without", of("f")));
          carryOn(master.changes);
          StoredTable after = master.schemas.require("users");

          SchemaSteps another = master.steps(); // Of a master that stood still until now.
          assertThat(another.take(late)).isInstanceOf(SchemaSteps.Taken.Waits.class);
          assertThat(master.schemas.require("users")).isEqualTo(after);
          assertThat(after.dropped().names()).containsExactly("g");
        });
  }

  @Test
  void anAlterationWaitsForTheLeaseOfAServerThatLostItsLockBeforeItWasTold() throws Exception {
    master.run(
        () -> {
          master.table("users");
          master.start(A);
          master.watch.refreshWithLogs();
          master.watch.suspected(A);
          master.watch.refresh();
          running(alter("more", of("f", "g")));
          carryOn(master.changes);
          assertThat(step("users")).isEqualTo(Step.TELL_SERVERS);
          assertThat(master.schemas.require("users").schema()).isEqualTo(of("f", "g"));
          assertThat(master.plane.requests).doesNotContain("refresh users");
          master.sleep(MasterFixture.LEASE);
          carryOn(master.changes);
          assertThat(ended(alter("more", of("f", "g"))).failure()).isEmpty();
        });
  }

  /** The lock service, where {@code first} happens before a node is read for the first time. */
  private LockService beforeReading(String path, Simulation.Work first) {
    AtomicBoolean done = new AtomicBoolean();
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("read")
                  && path.equals(arguments[0])
                  && done.compareAndSet(false, true)) {
                first.run();
              }
              try {
                return method.invoke(master.locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aTableWhoseCreationEndsWhileItIsLookedAtIsNotTakenForOneThatIsRemoved() throws Exception {
    master.run(
        () -> {
          TableId table = running(master.create("creation", "users"));
          leaveAt("users", Step.WRITE_RECORDS);
          LockService locks = beforeReading(LockPaths.tableName("users"), master::carryOn);
          Schemas schemas = new Schemas(master.process, locks);
          TableChanges next =
              new TableChanges(master.process, schemas, master.steps(), master.signal);
          next.resume();
          assertThat(master.schemas.require("users").id()).isEqualTo(table);
          assertThat(next.dropping()).isEmpty();
          carryOn(next);
          assertThat(master.records.reader().readAll(table)).hasSize(1);
        });
  }

  /** Takes the change in progress up to a step as a master does that ends before it writes so. */
  private void leaveAt(String name, Step until) throws IOException {
    SchemaSteps steps = master.steps();
    while (true) {
      TableName now = master.schemas.names().read(name);
      SchemaSteps.Taken taken = steps.take(now.running().orElseThrow());
      if (now.running().orElseThrow().step() == until) {
        return;
      }
      Step next = ((SchemaSteps.Taken.Next) taken).step();
      master.schemas.names().write(now, now.with(now.running().orElseThrow().at(next)));
    }
  }

  @Test
  void whatAMasterWroteLateOfATableThatIsGoneIsCleared() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          running(master.drop("users"));
          master.carryOn();
          master.schemas.create(table, MasterFixture.schema("users"), List.of()); // Late.
          TableId next = running(master.create("another", "users"));
          carryOn(master.changes);
          assertThat(master.schemas.table(table)).isEmpty();
          assertThat(master.schemas.require("users").id()).isEqualTo(next);
        });
  }

  @Test
  void theNameOfATableWhoseNodeWasLostIsNotGivenToAnother() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users", Bytes.of("m"));
          VersionedData node = master.locks.read(LockPaths.table(table)).orElseThrow();
          master.loseNode(table);
          String lost = "the node of table users (" + table + ") in ZooKeeper was lost";
          EndedChange refused = ended(master.create("two", "users"));
          assertThat(refused.failure().orElseThrow().code()).isEqualTo(Code.REFUSED);
          assertThat(refused.failure().orElseThrow().message())
              .contains(lost)
              .contains("stele repair");
          EndedChange drop = ended(master.drop("users"));
          assertThat(drop.failure().orElseThrow().code()).isEqualTo(Code.NOT_FOUND);
          assertThat(drop.failure().orElseThrow().message()).contains(lost);
          master.locks.create(LockPaths.table(table), node.data());
          assertThat(master.schemas.require("users").id()).isEqualTo(table);
          running(master.drop("users"));
        });
  }

  @Test
  void theNameOfATableOfWhichNothingIsLeftIsGivenToAnother() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users");
          master.loseNode(table);
          for (TabletRecord tablet : master.records.reader().readAll(table)) {
            master.records.delete(tablet);
          }
          TableId next = running(master.create("two", "users"));
          master.carryOn();
          assertThat(next).isNotEqualTo(table);
          assertThat(master.tables.freeName(table)).isTrue(); // It is another's.
          assertThat(master.schemas.require("users").id()).isEqualTo(next);
        });
  }

  @Test
  void anAlterationOrAClearingThatMeetsALostNodeSaysWhatIsLeft() throws Exception {
    for (ChangeRequest.Wish wish :
        List.of(
            new Alter(of("f", "g"), Optional.empty()), new Clear("users", RowRange.of("c", "p")))) {
      MasterFixture fixture = new MasterFixture();
      fixture.run(
          () -> {
            TableId table = fixture.table("users");
            running(fixture.ask("change", wish));
            assertThat(fixture.tables.freeName(table)).isFalse();
            fixture.loseNode(table);
            fixture.carryOn();
            EndedChange ended = ended(fixture.ask("change", wish));
            assertThat(ended.failure().orElseThrow().code()).isEqualTo(Code.NOT_FOUND);
            assertThat(ended.failure().orElseThrow().message())
                .contains("its tablets and files are there; see `stele check`");
          });
    }
  }

  @Test
  void splitRowsMustAscend() throws Exception {
    master.run(
        () -> {
          assertThatThrownBy(() -> master.table("users", Bytes.of("p"), Bytes.of("g")))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("must be ascending");
          assertThat(master.schemas.list().tables()).isEmpty();
          assertThat(master.schemas.names().all()).isEmpty();
        });
  }

  @Test
  void aTableWhoseRecordsCannotBeWrittenIsFinishedLater() throws Exception {
    master.run(
        () -> {
          master.memory.setAway(Optional.of(RowRange.ALL));
          TableId table = running(master.create("one", "users"));
          for (int i = 0; i < 20; i++) {
            boolean reachable = i % 2 == 0;
            assertThat(master.changes.advance(id -> reachable)).isTrue();
            master.sleep(Duration.ofMillis(100));
          }
          assertThat(master.schemas.table(table).orElseThrow().state())
              .isEqualTo(StoredTable.State.CREATING);
          assertThat(master.changes.running())
              .singleElement()
              .satisfies(change -> assertThat(change.name()).isEqualTo("users"));
          assertFails(Code.RETRY_LATER, () -> master.schemas.require("users"));
          master.memory.setAway(Optional.empty());
          master.carryOn();
          assertThat(master.schemas.require("users").state()).isEqualTo(StoredTable.State.READY);
          assertThat(master.changes.running()).isEmpty();
        });
  }

  @Test
  void aDroppedTableGoesWhenNobodyHasItsTablets() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("users", Bytes.of("m"));
          TabletRecord tablet = master.records.reader().readAll(table).get(0);
          TabletRecord loaded = master.records.loaded(master.records.assign(tablet, A));
          master.drop("users");
          master.carryOn();
          assertThat(master.changes.dropping()).containsExactly(table);
          assertThat(master.records.reader().readAll(table)).hasSize(2);
          assertFails(Code.NOT_FOUND, () -> master.schemas.require("users"));
          master.records.release(loaded, "test");
          master.carryOn();
          assertThat(master.changes.dropping()).isEmpty();
          assertThat(master.records.reader().readAll(table)).isEmpty();
          assertThat(master.schemas.list().tables()).isEmpty();
        });
  }

  @Test
  void aDamagedTableOrNameHidesNoOther() throws Exception {
    master.run(
        () -> {
          master.locks.create(LockPaths.TABLES + "/t9", Bytes.of("rubbish"));
          master.locks.create(LockPaths.TABLES + "/stray.node", Bytes.of("rubbish"));
          master.locks.create(LockPaths.tableName("damaged"), Bytes.of("rubbish"));
          running(master.create("one", "users"));
          TableChanges next = successor();
          carryOn(next);
          assertThat(master.schemas.require("users").state()).isEqualTo(StoredTable.State.READY);
          assertThat(master.schemas.list().damaged()).contains("t9");
        });
  }

  @Test
  void aTableOrNameOfALaterVersionHidesNoOther() throws Exception {
    master.run(
        () -> {
          TableId own = master.table("own");
          Bytes data = master.locks.read(LockPaths.table(own)).orElseThrow().data();
          master.locks.create(LockPaths.TABLES + "/t9", LaterNodes.tableInLaterState(data));
          master.locks.create(LockPaths.tableName("later"), LaterNodes.nameInLaterFormat());
          running(master.create("one", "users"));
          TableChanges next = successor();
          carryOn(next);
          assertThat(master.schemas.require("users").state()).isEqualTo(StoredTable.State.READY);
          assertThat(master.schemas.list().newer()).contains("t9");
        });
  }

  @Test
  void aTableThatRequiresWhatThisVersionDoesNotKnowIsRefusedBeforeAnythingIsRecorded()
      throws Exception {
    master.run(
        () -> {
          String path = LockPaths.table(master.table("users"));
          VersionedData own = master.locks.read(path).orElseThrow();
          master.locks.write(path, LaterNodes.tableRequiringMore(own.data()), own.version());
          String name = LockPaths.tableName("users");
          VersionedData before = master.locks.read(name).orElseThrow();
          for (ChangeRequest.Wish wish :
              List.of(
                  new Drop("users"),
                  new Clear("users", RowRange.ALL),
                  new Alter(MasterFixture.schema("users").withHsync(true), Optional.empty()))) {
            assertThatThrownBy(() -> master.ask("one", wish))
                .isInstanceOf(NewerFormatException.class)
                .hasMessageContaining("requires " + LaterNodes.FEATURE);
          }
          assertThat(master.locks.read(name)).contains(before);
        });
  }

  @Test
  void oneTableThatCannotGoOnHoldsUpNoOther() throws Exception {
    master.run(
        () -> {
          TableId stuck = running(master.create("one", "stuck"));
          running(master.create("two", "other"));
          master.memory.setAway(Optional.of(MetadataKeys.table(stuck)));
          master.carryOn();
          assertThat(master.schemas.require("other").state()).isEqualTo(StoredTable.State.READY);
        });
  }

  @Test
  void anAlterationOfAnotherSchemaThanTheCallerSawIsRefused() throws Exception {
    master.run(
        () -> {
          master.table("users");
          TableSchema other = MasterFixture.schema("users").withHsync(true);
          Alter alter =
              new Alter(MasterFixture.schema("users").withSplitBytes(1 << 29), Optional.of(other));
          EndedChange ended = ended(master.ask("change", alter));
          assertThat(ended.failure().orElseThrow().code()).isEqualTo(Code.REFUSED);
          assertThat(ended.failure().orElseThrow().message()).contains("altered by somebody else");
        });
  }
}
