package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.metadata.TableCodec;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Task;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MasterRequestsTest {
  private static final ServerId A = new ServerId("a", 1, 1);

  private final MasterFixture master = new MasterFixture();

  @Test
  void aCreatedTableIsServedWhenTheRequestReturns() throws Exception {
    master.run(
        () -> {
          running(true);
          TableId table = new TableId(master.requests.createTable(null, create()).getTableId());
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aTableThatNobodyCanServeIsCreatedAllTheSame() throws Exception {
    master.run(
        () -> {
          running(false);
          long start = master.simulation.nowNanos();
          master.requests.createTable(null, create());
          Duration took = Duration.ofNanos(master.simulation.nowNanos() - start);
          assertThat(took).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(31));
          assertThat(master.schemas.require("users").schema().name()).isEqualTo("users");
        });
  }

  @Test
  void aDroppedTableIsGoneWhenTheRequestReturns() throws Exception {
    master.run(
        () -> {
          running(true);
          master.requests.createTable(null, create());
          master.requests.dropTable(
              null, DropTableRequestProto.newBuilder().setName("users").build());
          assertThat(master.schemas.list().tables()).isEmpty();
          assertThat(master.plane.requests).contains("unload t1");
        });
  }

  @Test
  void anAlteredTableIsToldToAllServers() throws Exception {
    master.run(
        () -> {
          running(true);
          master.requests.createTable(null, create());
          master.requests.alterTable(
              null,
              AlterTableRequestProto.newBuilder()
                  .setSchema(
                      ByteStrings.of(
                          TableCodec.encode(MasterFixture.schema("users").withHsync(true))))
                  .build());
          assertThat(master.plane.requests).contains("refresh users");
          assertThat(master.schemas.require("users").schema().hsync()).isTrue();
        });
  }

  @Test
  void aReportedExitFreesTheServersLockAndGarbageIsRefused() throws Exception {
    master.run(
        () -> {
          running(true);
          master.requests.serverExited(
              null, ServerExitedRequestProto.newBuilder().setServerId(A.toString()).build());
          assertThat(master.locks.read(LockPaths.server(A))).isEmpty();
          assertThatThrownBy(
                  () ->
                      master.requests.serverExited(
                          null, ServerExitedRequestProto.newBuilder().setServerId("?").build()))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
        });
  }

  @Test
  void theStatusCountsTablesTabletsAndServers() throws Exception {
    master.run(
        () -> {
          running(true);
          master.requests.createTable(null, create());
          master.sleep(Duration.ofSeconds(2)); // It shows what the loop saw last.
          master.requests.servesAt(new Address("here", 7));
          var status = master.requests.clusterStatus(null, EmptyProto.getDefaultInstance());
          assertThat(status.getMaster()).isEqualTo("here:7");
          assertThat(status.getTables()).isEqualTo(1);
          assertThat(status.getTablets()).isEqualTo(3);
          assertThat(status.getUnassigned()).isZero();
          assertThat(status.getServersList())
              .singleElement()
              .satisfies(server -> assertThat(server.getServerId()).isEqualTo(A.toString()));
        });
  }

  private static CreateTableRequestProto create() {
    return CreateTableRequestProto.newBuilder()
        .setSchema(ByteStrings.of(TableCodec.encode(MasterFixture.schema("users"))))
        .build();
  }

  private Task running(boolean withServer) throws Exception {
    master.bootstrap();
    if (withServer) {
      master.start(A);
    }
    return master.process.start("loop", master.loop);
  }
}
