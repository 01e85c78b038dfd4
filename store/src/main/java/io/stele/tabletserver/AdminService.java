package io.stele.tabletserver;

import io.stele.metadata.JobFileRefs;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.tablet.TabletStatistics;
import io.stele.wire.ByteStrings;
import io.stele.wire.HostShare;
import io.stele.wire.TabletRefs;
import io.stele.wire.control.ControlProtos.ClearTabletRequestProto;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.CompactTabletsRequestProto;
import io.stele.wire.control.ControlProtos.CompactTabletsResponseProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.EraseFamiliesRequestProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.JobFileProto;
import io.stele.wire.control.ControlProtos.JobFilesResponseProto;
import io.stele.wire.control.ControlProtos.LoadTabletsRequestProto;
import io.stele.wire.control.ControlProtos.PinTabletRequestProto;
import io.stele.wire.control.ControlProtos.PinTabletResponseProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.RegisterFilesRequestProto;
import io.stele.wire.control.ControlProtos.ResolveJobRequestProto;
import io.stele.wire.control.ControlProtos.RowRangeProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.SortSegmentsRequestProto;
import io.stele.wire.control.ControlProtos.SortSegmentsResponseProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import io.stele.wire.control.ControlProtos.TabletCompactionProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.TabletServerService;
import io.stele.wire.control.ControlProtos.TabletToCompactProto;
import io.stele.wire.control.ControlProtos.UnloadTabletsRequestProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The control plane of a tablet server: requests from the master, the ApplicationMaster and
 * operators.
 *
 * <p>Safe for use by any number of threads.
 */
final class AdminService implements TabletServerService.BlockingInterface {
  private static final EmptyProto DONE = EmptyProto.getDefaultInstance();

  private final ServerContext server;
  private final Schemas schemas;
  private final TabletLifecycle lifecycle;
  private final RequestedWork requested;
  private final LogSorter sorter;
  private final TableCompactions compactions;
  private final CompletableFuture<TabletServer> whole;
  // A compaction may wait for METADATA; one thread must stay free for the request to load METADATA.
  private final AtomicBoolean compacting = new AtomicBoolean();

  /**
   * A service over the parts of a server.
   *
   * @param whole completes with the server itself when it has started
   */
  AdminService(
      ServerContext server,
      Schemas schemas,
      TabletLifecycle lifecycle,
      RequestedWork requested,
      LogSorter sorter,
      CompletableFuture<TabletServer> whole) {
    this.server = server;
    this.schemas = schemas;
    this.lifecycle = lifecycle;
    this.requested = requested;
    this.sorter = sorter;
    this.compactions = new TableCompactions(server.tablets());
    this.whole = whole;
  }

  @Override
  public EmptyProto loadTablets(RpcController controller, LoadTabletsRequestProto request) {
    for (TabletRefProto tablet : request.getTabletsList()) {
      lifecycle.load(
          TabletRefs.id(tablet), ByteStrings.bytes(tablet.getMetadataRow()), tablet.getEpoch());
    }
    return DONE;
  }

  @Override
  public EmptyProto unloadTablets(RpcController controller, UnloadTabletsRequestProto request) {
    for (TabletRefProto tablet : request.getTabletsList()) {
      lifecycle.unload(TabletRefs.id(tablet), tablet.getEpoch(), request.getDiscard());
    }
    return DONE;
  }

  @Override
  public EmptyProto splitTablet(RpcController controller, SplitTabletRequestProto request) {
    TabletRefProto tablet = request.getTablet();
    Optional<Bytes> row =
        request.hasRow() ? Optional.of(ByteStrings.bytes(request.getRow())) : Optional.empty();
    lifecycle.split(TabletRefs.id(tablet), tablet.getEpoch(), row);
    return DONE;
  }

  @Override
  public PinTabletResponseProto pinTablet(RpcController controller, PinTabletRequestProto request) {
    HostedTablet hosted = users(request.getTablet());
    if (!requested.pin(hosted, request.getJob())) {
      PinTabletResponseProto.Builder answer = PinTabletResponseProto.newBuilder().setDone(false);
      RequestedWork.whyNotPinned(hosted, request.getJob()).ifPresent(answer::setTrouble);
      return answer.build();
    }
    RowRange rows = hosted.record().extent();
    return PinTabletResponseProto.newBuilder()
        .setDone(true)
        .setStartRow(ByteStrings.of(rows.start()))
        .setEndRow(ByteStrings.of(rows.end()))
        .build();
  }

  @Override
  public JobFilesResponseProto registerFiles(
      RpcController controller, RegisterFilesRequestProto request) {
    HostedTablet hosted = users(request.getTablet());
    RowRange asked = ByteStrings.range(request.getStartRow(), request.getEndRow());
    RowRange rows = hosted.record().extent();
    if (!asked.covers(rows)) {
      return answer(hosted, false); // It has rows of which the files are not known here.
    }
    List<Pending> changes = new ArrayList<>();
    for (JobFileProto file : request.getFilesList()) {
      PendingFile pending = JobFileRefs.decode(request.getJob(), file);
      pending.file().requireFamilies(hosted.tablet().schema());
      changes.add(pending);
    }
    for (RowRangeProto replaced : request.getReplacedList()) {
      RowRange range = ByteStrings.range(replaced.getStartRow(), replaced.getEndRow());
      changes.add(new PendingReplacement(request.getJob(), range));
    }
    List<Pending> here =
        changes.stream().filter(one -> one.meets(rows)).map(one -> one.clipped(rows)).toList();
    if (here.isEmpty() || requested.register(hosted, here)) {
      return answer(hosted, true);
    }
    JobFilesResponseProto.Builder answer = answer(hosted, false).toBuilder();
    RequestedWork.whyNotRegistered(hosted, request.getJob()).ifPresent(answer::setTrouble);
    return answer.build();
  }

  @Override
  public JobFilesResponseProto resolveJob(
      RpcController controller, ResolveJobRequestProto request) {
    HostedTablet hosted = users(request.getTablet());
    return answer(hosted, requested.resolve(hosted, request.getJob()));
  }

  @Override
  public EmptyProto clearTablet(RpcController controller, ClearTabletRequestProto request) {
    RowRange rows = ByteStrings.range(request.getStartRow(), request.getEndRow());
    requested.clear(users(request.getTablet()), request.getChange(), rows);
    return DONE;
  }

  @Override
  public EmptyProto eraseFamilies(RpcController controller, EraseFamiliesRequestProto request)
      throws ServiceException {
    HostedTablet hosted = users(request.getTablet());
    Set<String> families = new TreeSet<>(request.getFamiliesList());
    try {
      if (families.stream().anyMatch(name -> hosted.tablet().schema().family(name).isPresent())) {
        lifecycle.alter(schemas.require(request.getTable())); // It may be an older schema.
      }
    } catch (IOException e) {
      throw new ServiceException(e);
    }
    requested.erase(hosted, request.getChange(), families);
    return DONE;
  }

  private static JobFilesResponseProto answer(HostedTablet hosted, boolean done) {
    RowRange rows = hosted.record().extent();
    return JobFilesResponseProto.newBuilder()
        .setDone(done)
        .setStartRow(ByteStrings.of(rows.start()))
        .setEndRow(ByteStrings.of(rows.end()))
        .setReplaces(true)
        .build();
  }

  /** The user tablet that a request names, if it is served here. */
  private HostedTablet users(TabletRefProto tablet) {
    TabletId id = TabletRefs.id(tablet);
    if (id.table().isSystem()) {
      throw SteleException.refused(
          "tablet "
              + id
              + " is not a user's: jobs neither pin nor write it, and it is not cleared");
    }
    return server.tablets().require(id, tablet.getEpoch());
  }

  @Override
  public SortSegmentsResponseProto sortSegments(
      RpcController controller, SortSegmentsRequestProto request) {
    try {
      ServerId dead = ServerId.parse(request.getServerId());
      return SortSegmentsResponseProto.newBuilder()
          .addAllDone(sorter.sort(dead, request.getSegmentsList()))
          .build();
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }

  @Override
  public EmptyProto refreshSchema(RpcController controller, RefreshSchemaRequestProto request)
      throws ServiceException {
    try {
      StoredTable table = schemas.require(request.getName());
      lifecycle.alter(table);
      server.tablets().checkAltered(table.id());
      return DONE;
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }

  /** Kept for clients of earlier versions alone, which know no other: {@link #compactTablets}. */
  @Override
  public EmptyProto compactTable(RpcController controller, CompactTableRequestProto request)
      throws ServiceException {
    if (!compacting.compareAndSet(false, true)) {
      throw SteleException.retryLater("this server is compacting other tables: try again");
    }
    try {
      compactions.compact(new TableId(request.getTableId()));
      return DONE;
    } catch (IOException e) {
      throw new ServiceException(e);
    } finally {
      compacting.set(false);
    }
  }

  @Override
  public CompactTabletsResponseProto compactTablets(
      RpcController controller, CompactTabletsRequestProto request) {
    CompactTabletsResponseProto.Builder answer = CompactTabletsResponseProto.newBuilder();
    for (TabletToCompactProto one : request.getTabletsList()) {
      answer.addTablets(compact(one));
    }
    return answer.build();
  }

  private TabletCompactionProto compact(TabletToCompactProto asked) {
    TabletCompactionProto.Builder answer = TabletCompactionProto.newBuilder();
    TabletId id = TabletRefs.id(asked.getTablet());
    if (id.table().isSystem()) {
      throw SteleException.refused("tablet " + id + " is not a user's: it compacts by itself");
    }
    Optional<HostedTablet> served = server.tablets().find(id, asked.getTablet().getEpoch());
    if (served.isEmpty()) {
      return answer.build();
    }
    HostedTablet hosted = served.get();
    RowRange rows = hosted.record().extent();
    long number = asked.hasCompaction() ? asked.getCompaction() : requested.compact(hosted);
    boolean done = requested.isCompacted(hosted, number);
    Optional<String> failure = done ? Optional.empty() : RequestedWork.whyNotCompacted(hosted);
    failure.ifPresent(
        why -> answer.setTrouble(why).setRests(RequestedWork.restsFromCompaction(hosted)));
    return answer
        .setCompaction(number)
        .setDone(done)
        .setStartRow(ByteStrings.of(rows.start()))
        .setEndRow(ByteStrings.of(rows.end()))
        .build();
  }

  @Override
  public ServerReportResponseProto report(RpcController controller, EmptyProto request) {
    if (!whole.isDone()) {
      throw SteleException.retryLater("this server is starting");
    }
    TabletLocality locality = whole.getNow(null).locality();
    ServerReportResponseProto.Builder report = ServerReportResponseProto.newBuilder();
    long sstableBytes = 0;
    Map<String, Integer> hosts = new LinkedHashMap<>();
    // List coming tablets first and leaving tablets last, so that each is included at least once.
    server.tablets().coming().forEach(hosted -> report.addMoving(describe(hosted)));
    Collection<HostedTablet> served = server.tablets().all();
    for (HostedTablet hosted : served) {
      sstableBytes += hosted.tablet().fileBytes();
      HostedTabletProto.Builder described = describe(hosted);
      for (HostShare share : locality.of(hosted)) {
        described.addHosts(hosts.computeIfAbsent(share.host(), host -> hosts.size()));
        described.addHostPercents(share.percent());
      }
      report.addTablets(described);
    }
    server.tablets().leaving().forEach(hosted -> report.addMoving(describe(hosted)));
    long memtableBytes = 0;
    for (KindResources resources : server.resources().all()) {
      memtableBytes += resources.memtables().bytes();
    }
    ServerStatusProto.Builder status =
        ServerStatusProto.newBuilder()
            .setServerId(server.id().toString())
            .setControlAddress(whole.getNow(null).controlAddress().toString())
            .setDataAddress(server.id().hostAndPort())
            .setDraining(whole.getNow(null).isDraining())
            .setValueBytesMax(whole.getNow(null).valueBytesMax())
            .setOperationsBytes(whole.getNow(null).operationsBytes())
            .setTablets(server.tablets().count())
            .setMemtableBytes(memtableBytes)
            .setSstableBytes(sstableBytes);
    locality.localPercent(served).ifPresent(status::setLocalPercent);
    return report.setStatus(status).addAllHosts(hosts.keySet()).build();
  }

  /** What a report says of a tablet. */
  static HostedTabletProto.Builder describe(HostedTablet hosted) {
    TabletRecord record = hosted.record();
    TabletStatistics statistics = hosted.tablet().statistics();
    HostedTabletProto.Builder described = HostedTabletProto.newBuilder();
    hosted.work().troubles().forEach(trouble -> described.addTroubles(trouble.toString()));
    return described
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
        .setSstables(statistics.files())
        .setRequests(hosted.requests())
        .setStopped(hosted.tablet().failure().isPresent());
  }

  @Override
  public EmptyProto drain(RpcController controller, DrainRequestProto request) {
    if (whole.isDone()) {
      drain(whole.getNow(null), request); // If it is refused, the caller is told.
    } else {
      whole.thenAccept(started -> drain(started, request));
    }
    return DONE;
  }

  private void drain(TabletServer started, DrainRequestProto request) {
    if (request.getUndo()) {
      started.undrain();
    } else if (request.getStay()) {
      started.drain();
    } else {
      started.beginDrainAndEnd(request.getUnlessLast(), Draining.Reason.of(request));
    }
  }
}
