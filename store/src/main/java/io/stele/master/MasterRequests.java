package io.stele.master;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableCodec;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.CreateTableResponseProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the master does on request, over the control plane. Requests that change something return
 * when it is done, or after a while with the rest going on.
 *
 * <p>Safe for use by any number of threads.
 */
final class MasterRequests implements MasterProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(MasterRequests.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private final ProcessRuntime runtime;
  private final MasterLoop loop;
  private final TableAdmin tables;
  private final TabletRecords records;
  private final ServerWatch servers;
  private final TabletServers requests;
  private volatile Optional<Address> self = Optional.empty();

  MasterRequests(
      ProcessRuntime runtime,
      MasterLoop loop,
      TableAdmin tables,
      TabletRecords records,
      ServerWatch servers,
      TabletServers requests) {
    this.runtime = runtime;
    this.loop = loop;
    this.tables = tables;
    this.records = records;
    this.servers = servers;
    this.requests = requests;
  }

  /** Says where the master serves. */
  void servesAt(Address address) {
    self = Optional.of(address);
  }

  /** The body of a request. */
  @FunctionalInterface
  private interface Body<R> {
    R run() throws IOException;
  }

  private static <R> R serve(Body<R> body) throws ServiceException {
    try {
      return body.run();
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }

  @Override
  public CreateTableResponseProto createTable(RpcController c, CreateTableRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          TableSchema schema = schema(ByteStrings.bytes(request.getSchema()));
          List<Bytes> splitRows =
              request.getSplitRowsList().stream().map(ByteStrings::bytes).toList();
          StoredTable table = tables.create(schema, splitRows);
          loop.lookAtAll();
          await(() -> isServed(table.id()));
          return CreateTableResponseProto.newBuilder().setTableId(table.id().value()).build();
        });
  }

  @Override
  public EmptyProto alterTable(RpcController c, AlterTableRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          Optional<TableSchema> before =
              request.hasBefore()
                  ? Optional.of(schema(ByteStrings.bytes(request.getBefore())))
                  : Optional.empty();
          StoredTable table = tables.alter(schema(ByteStrings.bytes(request.getSchema())), before);
          for (ServerId server : servers.live().keySet()) {
            tell(server, table.schema().name());
          }
          return EmptyProto.getDefaultInstance();
        });
  }

  /** Has one server read a schema again; one that dies reads it anyway, when it is back. */
  private void tell(ServerId server, String table) throws IOException {
    IOException[] last = new IOException[1];
    boolean told =
        await(
            () -> {
              ServerInfo info = servers.live().get(server);
              if (info == null) {
                return true;
              }
              try {
                requests.refreshSchema(info, table);
                return true;
              } catch (IOException e) {
                last[0] = e;
                return false;
              }
            });
    if (!told) {
      throw new SteleException(
          SteleException.Code.OUTCOME_UNKNOWN,
          "table "
              + table
              + " is altered, but tablet server "
              + server
              + " does not answer and may not know yet: "
              + last[0].getMessage(),
          last[0]);
    }
  }

  @Override
  public EmptyProto dropTable(RpcController c, DropTableRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          StoredTable table = tables.drop(request.getName());
          loop.lookAtAll();
          boolean gone = await(() -> !tables.dropping().contains(table.id()));
          LOG.info("Table {} is {}", request.getName(), gone ? "dropped" : "still being dropped");
          return EmptyProto.getDefaultInstance();
        });
  }

  @Override
  public ClusterStatusResponseProto clusterStatus(RpcController c, EmptyProto request)
      throws ServiceException {
    return serve(
        () -> {
          MasterLoop.View view = loop.view();
          int unassigned = 0;
          for (TabletRecord record : view.tablets().values()) {
            unassigned += view.isServed(record) ? 0 : 1;
          }
          ClusterStatusResponseProto.Builder status =
              ClusterStatusResponseProto.newBuilder()
                  .setTables(
                      (int)
                          tables.schemas().list().tables().stream()
                              .filter(table -> table.state() == StoredTable.State.READY)
                              .count())
                  .setTablets(view.tablets().size())
                  .setUnassigned(unassigned);
          self.ifPresent(address -> status.setMaster(address.toString()));
          for (Map.Entry<ServerId, ServerInfo> server : view.live().entrySet()) {
            status.addServers(status(server.getKey(), server.getValue(), view));
          }
          return status.build();
        });
  }

  private ServerStatusProto status(ServerId server, ServerInfo info, MasterLoop.View view) {
    List<TabletRecord> tablets =
        view.tablets().values().stream()
            .filter(record -> record.assignment().isTo(server) && view.isServed(record))
            .toList();
    ServerStatusProto.Builder status =
        ServerStatusProto.newBuilder()
            .setServerId(server.toString())
            .setControlAddress(info.control().toString())
            .setDataAddress(info.data().toString())
            .setTablets(tablets.size())
            .setSstableBytes(tablets.stream().mapToLong(TabletRecord::fileBytes).sum());
    info.web().ifPresent(web -> status.setWebAddress(web.toString()));
    try {
      ServerStatusProto own = requests.report(info).getStatus();
      status.mergeFrom(own);
    } catch (IOException | SteleException e) {
      LOG.info("Tablet server {} does not report: {}", server, e.toString());
    }
    return status.build();
  }

  @Override
  public EmptyProto serverExited(RpcController c, ServerExitedRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          ServerId server;
          try {
            server = ServerId.parse(request.getServerId());
          } catch (IllegalArgumentException e) {
            throw SteleException.refused(e);
          }
          LOG.info("Tablet server {} is reported to have ended", server);
          servers.exited(server);
          return EmptyProto.getDefaultInstance();
        });
  }

  private boolean isServed(TableId table) throws IOException {
    List<TabletRecord> tablets = records.readAll(table);
    MasterLoop.View view = loop.view();
    return !tablets.isEmpty() && tablets.stream().allMatch(view::isServed);
  }

  /** Waits until {@code done}, for a while at most. */
  private boolean await(Done done) throws IOException {
    Deadline deadline = Deadline.after(runtime, PATIENCE);
    while (!done.isDone()) {
      if (deadline.isOver()) {
        return false;
      }
      try {
        runtime.sleep(LOOK_AGAIN);
      } catch (InterruptedException e) {
        Futures.interruptAgain();
        return false; // The master ends; the next one finishes what was begun.
      }
    }
    return true;
  }

  /** Whether something is as it should be. */
  @FunctionalInterface
  private interface Done {
    boolean isDone() throws IOException;
  }

  private static TableSchema schema(Bytes bytes) {
    try {
      return TableCodec.decode(bytes);
    } catch (CorruptionException e) {
      throw new SteleException(SteleException.Code.REFUSED, e.getMessage(), e);
    }
  }
}
