package io.stele.master;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableCodec;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.ReleaseTabletRequestProto;
import io.stele.wire.control.ControlProtos.ReleaseTabletResponseProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import io.stele.wire.control.ControlProtos.TabletNotLoadedRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.TroubledTabletProto;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the master does on request, over the control plane. No request waits for METADATA or for a
 * tablet server, so none blocks another: a request to change a table begins the change, or reports
 * how far it is.
 *
 * <p>Safe for use by any number of threads.
 */
final class MasterRequests implements MasterProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(MasterRequests.class);

  private final MasterLoop loop;
  private final TableAdmin tables;
  private final ServerWatch servers;
  private volatile Optional<Address> self = Optional.empty();

  MasterRequests(MasterLoop loop, TableAdmin tables, ServerWatch servers) {
    this.loop = loop;
    this.tables = tables;
    this.servers = servers;
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
  public TableChangeProto createTable(RpcController c, CreateTableRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          TableSchema schema = schema(ByteStrings.bytes(request.getSchema()));
          List<Bytes> splitRows =
              request.getSplitRowsList().stream().map(ByteStrings::bytes).toList();
          StoredTable table = tables.create(schema, splitRows, request.getCreation());
          if (table.state() == StoredTable.State.CREATING) {
            return waitsFor(table.id(), "its records are being written to METADATA");
          }
          if (!loop.view().isServed(table.id())) {
            return waitsFor(table.id(), "some of its tablets are not loaded yet");
          }
          tables.told(table.id());
          return done(table.id());
        });
  }

  @Override
  public TableChangeProto alterTable(RpcController c, AlterTableRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          Optional<TableSchema> before =
              request.hasBefore()
                  ? Optional.of(schema(ByteStrings.bytes(request.getBefore())))
                  : Optional.empty();
          StoredTable table = tables.alter(schema(ByteStrings.bytes(request.getSchema())), before);
          Optional<ServerId> left = loop.news().spread(table, servers.live());
          return left.isPresent()
              ? waitsFor(table.id(), "tablet server " + left.get() + " may not know the change yet")
              : done(table.id());
        });
  }

  @Override
  public TableChangeProto dropTable(RpcController c, DropTableRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          Optional<TableId> id =
              request.hasTableId()
                  ? Optional.of(parsed(request.getTableId(), TableId::new))
                  : Optional.empty();
          Optional<StoredTable> going = tables.drop(request.getName(), id);
          return going.isPresent()
              ? waitsFor(going.get().id(), "some of its tablets are not unloaded yet")
              : done(id.orElseThrow());
        });
  }

  private static TableChangeProto done(TableId table) {
    return TableChangeProto.newBuilder().setTableId(table.value()).setDone(true).build();
  }

  private static TableChangeProto waitsFor(TableId table, String what) {
    return TableChangeProto.newBuilder()
        .setTableId(table.value())
        .setDone(false)
        .setWaitsFor(what)
        .build();
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
          addTroubles(status, view);
          for (Map.Entry<ServerId, ServerInfo> server : view.live().entrySet()) {
            status.addServers(status(server.getKey(), server.getValue(), view));
          }
          return status.build();
        });
  }

  private void addTroubles(ClusterStatusResponseProto.Builder status, MasterLoop.View view) {
    for (TabletRecord record : view.tablets().values()) {
      record
          .trouble()
          .ifPresent(
              trouble ->
                  status.addTroubled(
                      TroubledTabletProto.newBuilder()
                          .setTablet(record.id().toString())
                          .setReason(trouble.server() + " could not load it: " + trouble.reason())
                          .setQuarantined(trouble.quarantined())));
    }
    loop.reports()
        .troubles()
        .forEach(
            (tablet, reason) ->
                status.addTroubled(
                    TroubledTabletProto.newBuilder()
                        .setTablet(tablet.toString())
                        .setReason(reason)
                        .setServed(true)));
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
    loop.reports().status(server).ifPresent(status::mergeFrom);
    return status.build();
  }

  @Override
  public EmptyProto serverExited(RpcController c, ServerExitedRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          ServerId server = parsed(request.getServerId(), ServerId::parse);
          LOG.info(
              "Tablet server {} was reported to have ended{}",
              server,
              request.getSeen() ? "" : ", which nobody has seen");
          if (request.getSeen()) {
            servers.exited(server);
          } else {
            servers.suspected(server);
          }
          return EmptyProto.getDefaultInstance();
        });
  }

  @Override
  public EmptyProto tabletNotLoaded(RpcController c, TabletNotLoadedRequestProto request) {
    TabletRefProto tablet = request.getTablet();
    loop.notLoaded(
        new LoadFailure(
            parsed(request.getServerId(), ServerId::parse),
            parsed(tablet.getTableId() + "/" + tablet.getTablet(), TabletId::parse),
            tablet.getEpoch(),
            request.getReason(),
            request.getFailsElsewhere()));
    return EmptyProto.getDefaultInstance();
  }

  @Override
  public ReleaseTabletResponseProto releaseTablet(
      RpcController c, ReleaseTabletRequestProto request) {
    TabletId tablet = parsed(request.getTablet(), TabletId::parse);
    TabletRecord record = loop.view().tablets().get(tablet);
    if (record == null) {
      throw SteleException.notFound(
          "there is no tablet " + tablet + "; `stele status` shows those in quarantine");
    }
    if (record.isQuarantined()) {
      loop.release(tablet);
    }
    return ReleaseTabletResponseProto.newBuilder().setDone(!record.isQuarantined()).build();
  }

  private static <T> T parsed(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }

  private static TableSchema schema(Bytes bytes) {
    try {
      return TableCodec.decode(bytes);
    } catch (CorruptionException e) {
      throw new SteleException(SteleException.Code.REFUSED, String.valueOf(e.getMessage()), e);
    }
  }
}
