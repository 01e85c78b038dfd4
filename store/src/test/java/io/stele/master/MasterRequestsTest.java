package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.metadata.TableCodec;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Task;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.ChangeIdProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.FindTableChangeRequestProto;
import io.stele.wire.control.ControlProtos.ForgetTableRequestProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MasterRequestsTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();

  @Test
  void aTableIsCreatedWhenItIsServed() throws Exception {
    master.run(
        () -> {
          running(true);
          TableId table = untilDone(() -> master.requests.createTable(null, create()));
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aTableThatNobodyCanServeIsBegunAndSaysWhatItWaitsFor() throws Exception {
    master.run(
        () -> {
          running(false);
          for (int i = 0; i < 20; i++) {
            TableChangeProto change = master.requests.createTable(null, create());
            assertThat(change.getDone()).isFalse();
            assertThat(change.getWaitsFor()).isNotEmpty();
            master.sleep(Duration.ofSeconds(1));
          }
          master.start(A);
          untilDone(() -> master.requests.createTable(null, create()));
        });
  }

  @Test
  void aChangeSaysOfHowManyTabletsItIsDone() throws Exception {
    master.run(
        () -> {
          running(true);
          TableId table = master.table("t", Bytes.of("h"), Bytes.of("p"));
          master.sleep(Duration.ofSeconds(2));
          master.plane.stuck.add(master.records.reader().readAll(table).get(1).id());
          master.requests.dropTable(null, drop("t"));
          master.sleep(Duration.ofSeconds(5));
          FindTableChangeRequestProto request =
              FindTableChangeRequestProto.newBuilder()
                  .setName("t")
                  .setId(drop("t").getChange().getId())
                  .build();
          TableChangeProto found = master.requests.findTableChange(null, request);
          assertThat(found.getDone()).isFalse();
          assertThat(found.getTabletsDone()).isEqualTo(2);
          assertThat(found.getTablets()).isEqualTo(3);
          master.plane.stuck.clear();
          untilDone(() -> master.requests.findTableChange(null, request));
        });
  }

  @Test
  void noRequestForATableWaitsSoThatAReportOfADeathIsTakenAtOnce() throws Exception {
    master.run(
        () -> {
          running(true);
          untilDone(() -> master.requests.createTable(null, create()));
          master.topics.status().servesAt(new Address("here", 7));
          master.memory.setAway(Optional.of(RowRange.ALL));
          long start = master.simulation.nowNanos();
          for (int i = 0; i < 100; i++) {
            CreateTableRequestProto request = create("table" + i);
            assertThat(master.requests.createTable(null, request).getDone()).isFalse();
          }
          assertThat(master.requests.dropTable(null, drop("users")).getDone()).isFalse();
          master.requests.clusterStatus(null, EmptyProto.getDefaultInstance());
          master.requests.serverExited(
              null,
              ServerExitedRequestProto.newBuilder()
                  .setServerId(A.toString())
                  .setSeen(true)
                  .build());
          assertThat(master.simulation.nowNanos()).isEqualTo(start);
          assertThat(master.locks.read(LockPaths.server(A))).isEmpty();
        });
  }

  @Test
  void aMasterThatHasNotLookedYetDoesNotSayThatThereIsNothing() throws Exception {
    master.run(
        () -> {
          master.topics.status().servesAt(new Address("here", 7));
          EmptyProto request = EmptyProto.getDefaultInstance();
          assertThatThrownBy(() -> master.requests.clusterStatus(null, request))
              .isInstanceOf(SteleException.class)
              .extracting(failure -> ((SteleException) failure).code())
              .isEqualTo(SteleException.Code.RETRY_LATER);
          running(true);
          master.sleep(Duration.ofSeconds(5));
          assertThat(master.requests.clusterStatus(null, request).getTablets()).isPositive();
        });
  }

  @Test
  void theStatusShowsChangesInProgress() throws Exception {
    master.run(
        () -> {
          running(true);
          master.sleep(Duration.ofSeconds(5)); // The loop has looked.
          master.topics.status().servesAt(new Address("here", 7));
          master.memory.setAway(Optional.of(RowRange.ALL));
          master.requests.createTable(null, create());
          var status = master.requests.clusterStatus(null, EmptyProto.getDefaultInstance());
          assertThat(status.getChangesList())
              .singleElement()
              .satisfies(
                  change -> {
                    assertThat(change.getTable()).isEqualTo("users");
                    assertThat(change.getParticiple()).isEqualTo("created");
                    assertThat(change.getId()).isEqualTo("creation of users");
                  });
        });
  }

  @Test
  void aRefusalIsAnAnswerAndTheSameEachTime() throws Exception {
    master.run(
        () -> {
          running(true);
          for (int i = 0; i < 2; i++) {
            TableChangeProto answer = master.requests.dropTable(null, drop("users"));
            assertThat(answer.getDone()).isTrue();
            assertThat(answer.getFailure()).isEqualTo("NOT_FOUND");
            untilDone(() -> master.requests.createTable(null, create()));
          }
        });
  }

  @Test
  void aTableIsDroppedWhenNothingIsLeftOfIt() throws Exception {
    master.run(
        () -> {
          running(true);
          TableId table = untilDone(() -> master.requests.createTable(null, create()));
          assertThat(untilDone(() -> master.requests.dropTable(null, drop("users"))))
              .isEqualTo(table);
          assertThat(master.schemas.list().tables()).isEmpty();
          assertThat(master.plane.requests).contains("unload t1");
        });
  }

  @Test
  void aTableIsAlteredWhenAllServersKnow() throws Exception {
    master.run(
        () -> {
          running(true);
          untilDone(() -> master.requests.createTable(null, create()));
          AlterTableRequestProto request =
              AlterTableRequestProto.newBuilder()
                  .setSchema(
                      ByteStrings.of(
                          TableCodec.encode(MasterFixture.schema("users").withHsync(true))))
                  .setChange(change("alteration"))
                  .build();
          assertThat(master.requests.alterTable(null, request).getDone()).isFalse();
          untilDone(() -> master.requests.alterTable(null, request));
          assertThat(master.plane.requests).containsOnlyOnce("refresh users");
          assertThat(master.schemas.require("users").schema().hsync()).isTrue();
        });
  }

  @Test
  void aReportedExitFreesTheServersLockAndGarbageIsRefused() throws Exception {
    master.run(
        () -> {
          running(true);
          master.requests.serverExited(
              null,
              ServerExitedRequestProto.newBuilder()
                  .setServerId(A.toString())
                  .setSeen(true)
                  .build());
          assertThat(master.locks.read(LockPaths.server(A))).isEmpty();
          assertThatThrownBy(
                  () ->
                      master.requests.serverExited(
                          null,
                          ServerExitedRequestProto.newBuilder()
                              .setServerId("?")
                              .setSeen(true)
                              .build()))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
        });
  }

  @Test
  void aServerThatTheMasterHearsIsNotEvictedByOneThatCannotReachIt() throws Exception {
    ServerExitedRequestProto unreachable =
        ServerExitedRequestProto.newBuilder()
            .setServerId(A.toString())
            .setSeen(false)
            .setUnlessHeard(true)
            .build();
    master.run(
        () -> {
          Task loop = running(true);
          master.sleep(Duration.ofSeconds(10)); // It has reported.
          assertThatThrownBy(() -> master.requests.serverExited(null, unreachable))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
          assertThat(master.locks.read(LockPaths.server(A))).isPresent();

          master.plane.silent.add(A.host());
          master.sleep(Duration.ofSeconds(20));
          assertThatThrownBy(() -> master.requests.serverExited(null, unreachable))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("hears no other tablet server");
          assertThat(master.locks.read(LockPaths.server(A))).isPresent();

          master.start(B);
          master.sleep(Duration.ofSeconds(20));
          master.requests.serverExited(null, unreachable);
          assertThat(master.locks.read(LockPaths.server(A))).isEmpty();
          master.stopLoop(loop);
        });
  }

  @Test
  void theStatusCountsTablesTabletsAndServers() throws Exception {
    master.run(
        () -> {
          running(true);
          untilDone(() -> master.requests.createTable(null, create()));
          master.sleep(Duration.ofSeconds(5)); // It shows what the loop saw last.
          master.topics.status().servesAt(new Address("here", 7));
          var status = master.requests.clusterStatus(null, EmptyProto.getDefaultInstance());
          assertThat(status.getMaster()).isEqualTo("here:7");
          assertThat(status.getTables()).isEqualTo(1);
          assertThat(status.getTablets()).isEqualTo(3);
          assertThat(status.getUnassigned()).isZero();
          assertThat(status.getServersList())
              .singleElement()
              .satisfies(
                  server -> {
                    assertThat(server.getControlAddress()).isEqualTo("a:1");
                    assertThat(server.getMemtableBytes()).as("as it reports").isEqualTo(7);
                    assertThat(server.getTablets()).isEqualTo(3);
                  });
        });
  }

  private static CreateTableRequestProto create() {
    return create("users");
  }

  private static CreateTableRequestProto create(String name) {
    return CreateTableRequestProto.newBuilder()
        .setSchema(ByteStrings.of(TableCodec.encode(MasterFixture.schema(name))))
        .setChange(change("creation of " + name))
        .build();
  }

  private static DropTableRequestProto drop(String name) {
    return DropTableRequestProto.newBuilder().setName(name).setChange(change("drop")).build();
  }

  private static ChangeIdProto change(String id) {
    return ChangeIdProto.newBuilder().setId(id).setSeen(0).build();
  }

  private interface Request {
    TableChangeProto make() throws Exception;
  }

  @Test
  void aTableThatIsForgottenLeavesItsNameToAnother() throws Exception {
    master.run(
        () -> {
          running(true);
          TableId table = master.table("t", Bytes.of("m"));
          master.sleep(Duration.ofSeconds(2));
          master.loseNode(table);
          ForgetTableRequestProto request =
              ForgetTableRequestProto.newBuilder().setTableId(table.value()).build();
          for (int i = 0; !master.requests.forgetTable(null, request).getDone(); i++) {
            assertThat(i).isLessThan(200);
            master.sleep(Duration.ofMillis(100));
          }
          assertThat(master.records.reader().readAll(table)).isEmpty();
          assertThat(master.schemas.names().read("t").table()).isEmpty();
          assertThat(master.requests.forgetTable(null, request).getDone()).isTrue();
        });
  }

  private TableId untilDone(Request request) throws Exception {
    for (int i = 0; i < 200; i++) {
      TableChangeProto change = request.make();
      if (change.getDone()) {
        return new TableId(change.getTableId());
      }
      master.sleep(Duration.ofMillis(100));
    }
    throw new AssertionError("not done: " + request.make());
  }

  private Task running(boolean withServer) throws Exception {
    master.bootstrap();
    if (withServer) {
      master.start(A);
    }
    return master.startLoop();
  }
}
