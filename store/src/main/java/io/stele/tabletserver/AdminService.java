package io.stele.tabletserver;

import io.stele.log.LogKind;
import io.stele.metadata.TabletRecord;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.TabletStatistics;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.DescribeTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.LoadTabletRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.TabletServerService;
import io.stele.wire.control.ControlProtos.UnloadTabletRequestProto;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane of a tablet server: what the master, the ApplicationMaster and operators ask of
 * it.
 */
final class AdminService implements TabletServerService.BlockingInterface {
  private static final Logger LOG = LoggerFactory.getLogger(AdminService.class);
  private static final EmptyProto DONE = EmptyProto.getDefaultInstance();

  private final ProcessRuntime runtime;
  private final TabletServer server;
  // A compaction may wait for METADATA; a thread must be left for the request to load that.
  private final AtomicBoolean compacting = new AtomicBoolean();

  AdminService(ProcessRuntime runtime, TabletServer server) {
    this.runtime = runtime;
    this.server = server;
  }

  @Override
  public EmptyProto loadTablet(RpcController controller, LoadTabletRequestProto request) {
    TabletRefProto tablet = request.getTablet();
    server.load(id(tablet), ByteStrings.bytes(tablet.getMetadataRow()), tablet.getEpoch());
    return DONE;
  }

  @Override
  public EmptyProto unloadTablet(RpcController controller, UnloadTabletRequestProto request) {
    server.unload(id(request.getTablet()), request.getTablet().getEpoch(), request.getDiscard());
    return DONE;
  }

  @Override
  public EmptyProto refreshSchema(RpcController controller, DescribeTableRequestProto request)
      throws ServiceException {
    try {
      server.refreshSchema(request.getName());
      return DONE;
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }

  @Override
  public EmptyProto compactTable(RpcController controller, CompactTableRequestProto request)
      throws ServiceException {
    if (!compacting.compareAndSet(false, true)) {
      throw SteleException.retryLater("this server compacts other tables at the moment: try again");
    }
    try {
      server.compact(new TableId(request.getTableId()), request.getKind());
      return DONE;
    } catch (IOException e) {
      throw new ServiceException(e);
    } finally {
      compacting.set(false);
    }
  }

  @Override
  public ServerReportResponseProto report(RpcController controller, EmptyProto request) {
    ServerReportResponseProto.Builder report = ServerReportResponseProto.newBuilder();
    long sstableBytes = 0;
    for (HostedTablet hosted : server.tablets().all()) {
      TabletRecord record = hosted.record();
      TabletStatistics statistics = hosted.tablet().statistics();
      sstableBytes += statistics.fileBytes();
      report.addTablets(
          HostedTabletProto.newBuilder()
              .setTablet(
                  TabletRefProto.newBuilder()
                      .setTableId(record.id().table().value())
                      .setTablet(record.id().name())
                      .setEpoch(record.assignment().epoch())
                      .setMetadataRow(ByteStrings.of(record.row())))
              .setState(record.assignment().state().name())
              .setStartRow(ByteStrings.of(record.extent().start()))
              .setEndRow(ByteStrings.of(record.extent().end()))
              .setMemtableBytes(statistics.memtableBytes())
              .setSstableBytes(statistics.fileBytes())
              .setSstables(statistics.files()));
    }
    long memtableBytes = 0;
    for (LogKind kind : LogKind.values()) {
      memtableBytes += server.budgets().get(kind).bytes();
    }
    return report
        .setStatus(
            ServerStatusProto.newBuilder()
                .setServerId(server.id().toString())
                .setControlAddress(server.controlAddress().toString())
                .setDataAddress(server.id().host() + ":" + server.id().port())
                .setTablets(server.tablets().count())
                .setMemtableBytes(memtableBytes)
                .setSstableBytes(sstableBytes))
        .build();
  }

  @Override
  public EmptyProto drain(RpcController controller, EmptyProto request) {
    runtime.start(
        "drain",
        () -> {
          try {
            server.drain();
          } catch (IOException | RuntimeException e) {
            LOG.error("Could not drain; the server goes on", e);
          }
        });
    return DONE;
  }

  private static TabletId id(TabletRefProto tablet) {
    try {
      return new TabletId(new TableId(tablet.getTableId()), tablet.getTablet());
    } catch (IllegalArgumentException e) {
      throw new SteleException(SteleException.Code.REFUSED, e.getMessage(), e);
    }
  }
}
