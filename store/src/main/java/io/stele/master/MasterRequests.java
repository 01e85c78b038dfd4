package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.IoCallable;
import io.stele.wire.ByteStrings;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletRefs;
import io.stele.wire.control.ControlProtos.AlterTableRequestProto;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import io.stele.wire.control.ControlProtos.BalanceResponseProto;
import io.stele.wire.control.ControlProtos.BeginJobRequestProto;
import io.stele.wire.control.ControlProtos.BeginJobResponseProto;
import io.stele.wire.control.ControlProtos.ClearRowsRequestProto;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.CommitJobRequestProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.DropTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.EndJobRequestProto;
import io.stele.wire.control.ControlProtos.FindTableChangeRequestProto;
import io.stele.wire.control.ControlProtos.ForgetTableRequestProto;
import io.stele.wire.control.ControlProtos.ForgetTableResponseProto;
import io.stele.wire.control.ControlProtos.MakeJobDirectoryRequestProto;
import io.stele.wire.control.ControlProtos.MergeTabletRequestProto;
import io.stele.wire.control.ControlProtos.MergeTabletResponseProto;
import io.stele.wire.control.ControlProtos.MoveTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletResponseProto;
import io.stele.wire.control.ControlProtos.ReleaseTabletRequestProto;
import io.stele.wire.control.ControlProtos.ReleaseTabletResponseProto;
import io.stele.wire.control.ControlProtos.RenewJobRequestProto;
import io.stele.wire.control.ControlProtos.RenewJobResponseProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import io.stele.wire.control.ControlProtos.TabletNotLoadedRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.TabletsChangedRequestProto;
import io.stele.wire.control.ControlProtos.TabletsChangedResponseProto;
import io.stele.wire.control.ControlProtos.TakersProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the requests to the master over the control plane. No request waits for METADATA or for a
 * tablet server, so none blocks another: a request to change a table begins the change, or reports
 * its progress. Requests about directories of jobs wait for the NameNode, a few at a time.
 *
 * <p>Safe for use by any number of threads.
 */
final class MasterRequests implements MasterProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(MasterRequests.class);

  /** How many servers that take tablets are named to one that drains; one would do. */
  private static final int TAKERS_MAX = 100;

  private final MasterLoop loop;
  private final MasterParts parts;
  private final ServerWatch servers;
  private final BalanceSchedule balance;
  private final Topics topics;
  private final LoopSignal signal;

  /** What answers the requests about one topic each. */
  record Topics(ChangeRequests changes, JobRequests jobs, ClusterStatusAnswer status) {}

  MasterRequests(
      MasterLoop loop,
      MasterParts parts,
      ServerWatch servers,
      BalanceSchedule balance,
      Topics topics,
      LoopSignal signal) {
    this.loop = loop;
    this.parts = parts;
    this.servers = servers;
    this.balance = balance;
    this.topics = topics;
    this.signal = signal;
  }

  private static <R> R serve(IoCallable<R> body) throws ServiceException {
    try {
      return body.call();
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }

  @Override
  public TableChangeProto createTable(RpcController c, CreateTableRequestProto request)
      throws ServiceException {
    return serve(() -> topics.changes().create(request));
  }

  @Override
  public TableChangeProto alterTable(RpcController c, AlterTableRequestProto request)
      throws ServiceException {
    return serve(() -> topics.changes().alter(request));
  }

  @Override
  public TableChangeProto dropTable(RpcController c, DropTableRequestProto request)
      throws ServiceException {
    return serve(() -> topics.changes().drop(request));
  }

  @Override
  public TableChangeProto clearRows(RpcController c, ClearRowsRequestProto request)
      throws ServiceException {
    return serve(() -> topics.changes().clear(request));
  }

  @Override
  public TableChangeProto findTableChange(RpcController c, FindTableChangeRequestProto request)
      throws ServiceException {
    return serve(() -> topics.changes().find(request));
  }

  @Override
  public ClusterStatusResponseProto clusterStatus(RpcController c, EmptyProto request)
      throws ServiceException {
    return serve(
        () -> {
          if (loop.view().tablets().isEmpty()) { // There is always the root tablet.
            throw SteleException.retryLater(
                "this master was elected just now, and has not looked at the cluster yet");
          }
          return topics.status().now();
        });
  }

  @Override
  public EmptyProto serverExited(RpcController c, ServerExitedRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          ServerId server = parsed(request.getServerId(), ServerId::parse);
          if (request.getUnlessHeard()) {
            requireSilent(server);
          }
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

  /**
   * Refuses to take a server for dead that answers the master, or while the master hears no other
   * that could have its tablets: then the master may be the one that is cut off.
   */
  private void requireSilent(ServerId server) {
    Duration lately = SilentServers.LATELY;
    if (!parts.reports().isSilent(server, lately)) {
      throw SteleException.refused(
          "tablet server "
              + server
              + " has answered the master within the last "
              + lately.toSeconds()
              + " s, so it is not dead: see why your host cannot reach it");
    }
    boolean hearsOthers =
        servers.live().entrySet().stream()
            .filter(other -> !other.getKey().equals(server) && !other.getValue().draining())
            .anyMatch(other -> !parts.reports().isSilent(other.getKey(), lately));
    if (!hearsOthers) {
      throw SteleException.refused(
          "the master hears no other tablet server that takes tablets, so it may be cut off itself,"
              + " and nobody could have the tablets of "
              + server
              + ": see why it reaches none, or end the server where it runs");
    }
  }

  @Override
  public EmptyProto tabletNotLoaded(RpcController c, TabletNotLoadedRequestProto request) {
    TabletRefProto tablet = request.getTablet();
    parts
        .failures()
        .failed(
            new LoadFailureReport(
                parsed(request.getServerId(), ServerId::parse),
                TabletRefs.id(tablet),
                tablet.getEpoch(),
                request.getReason(),
                request.getFailsElsewhere()));
    signal.wakeUp();
    return EmptyProto.getDefaultInstance();
  }

  @Override
  public TabletsChangedResponseProto tabletsChanged(
      RpcController c, TabletsChangedRequestProto request) {
    ServerId server = parsed(request.getServerId(), ServerId::parse);
    if (request.hasDraining()) { // First: what it gave away must not go back to it.
      servers.heard(server, request.getDraining());
    }
    loop.changed(request.getTabletsList().stream().map(MasterRequests::rowOf).toList());
    return TabletsChangedResponseProto.newBuilder()
        .setTakers(
            TakersProto.newBuilder()
                .addAllServerIds(
                    parts.silent().takers(loop.view().live()).stream()
                        .filter(other -> !other.equals(server))
                        .limit(TAKERS_MAX)
                        .map(ServerId::toString)
                        .toList()))
        .build();
  }

  private static RecordRow rowOf(TabletRefProto tablet) {
    return new RecordRow(
        parsed(tablet.getTableId(), TableId::new), ByteStrings.bytes(tablet.getMetadataRow()));
  }

  @Override
  public MoveTabletResponseProto moveTablet(RpcController c, MoveTabletRequestProto request) {
    TabletRefProto ref = request.getTablet();
    TabletId tablet = TabletRefs.id(ref);
    Optional<ServerId> to =
        request.hasServerId()
            ? Optional.of(parsed(request.getServerId(), ServerId::parse))
            : Optional.empty();
    MasterLoop.View view = loop.view();
    TabletRecord record = view.tablets().get(tablet);
    if (record == null || isBehind(record, ref)) {
      loop.changed(List.of(rowOf(ref)));
      return MoveTabletResponseProto.newBuilder()
          .setDone(false)
          .setNotBegun(true)
          .setWaitsFor("the master does not know tablet " + tablet + " as it is now")
          .build();
    }
    Optional<ServerId> at = record.assignment().server();
    if (view.isServed(record)
        && (record.assignment().epoch() > ref.getEpoch() || (to.isPresent() && to.equals(at)))) {
      return MoveTabletResponseProto.newBuilder()
          .setDone(true)
          .setServerId(at.orElseThrow().toString())
          .build();
    }
    if (view.isServed(record)) {
      checkTarget(view, at.orElseThrow(), to);
      parts.moves().ask(record, to);
      signal.wakeUp();
    }
    return MoveTabletResponseProto.newBuilder()
        .setDone(false)
        .setWaitsFor("the tablet is " + record.assignment())
        .build();
  }

  /** Whether {@code record} is older than what a client has seen, which was a loaded tablet. */
  private static boolean isBehind(TabletRecord record, TabletRefProto seen) {
    Assignment assignment = record.assignment();
    return assignment.epoch() < seen.getEpoch()
        || (assignment.epoch() == seen.getEpoch()
            && assignment.state() == Assignment.State.ASSIGNED);
  }

  @Override
  public MergeTabletResponseProto mergeTablet(RpcController c, MergeTabletRequestProto request) {
    TabletRefProto ref = request.getTablet();
    TabletId tablet = TabletRefs.id(ref);
    NavigableMap<TabletId, TabletRecord> tablets = loop.view().tablets();
    TabletRecord upper = tablets.get(tablet);
    if (upper == null) { // It may have been split or merged: who asks looks again.
      loop.changed(List.of(rowOf(ref)));
      return mergeNotBegun("the master does not know tablet " + tablet + " as it is now");
    }
    if (upper.extent().start().isEmpty()) {
      throw SteleException.refused("tablet " + tablet + " is the first of its table");
    }
    Optional<TabletRecord> lower = Merges.before(upper, tablets);
    if (lower.isEmpty()) {
      signal.rereadSoon(MetadataKeys.table(tablet.table()));
      return mergeNotBegun("the master does not know which tablet is before " + tablet + " now");
    }
    Optional<String> refusal = parts.merges().refusal(request.getRequest());
    if (refusal.isPresent()) {
      throw SteleException.refused("it cannot be merged: " + refusal.get());
    }
    boolean asked = parts.merges().ask(lower.get(), upper, request.getRequest());
    signal.wakeUp();
    return asked
        ? MergeTabletResponseProto.newBuilder()
            .setWaitsFor(lower.get() + " and " + upper + " are to be unloaded")
            .build()
        : mergeNotBegun(
            "too many tablets are being merged, or one of " + lower.get() + " and " + upper);
  }

  private static MergeTabletResponseProto mergeNotBegun(String why) {
    return MergeTabletResponseProto.newBuilder().setWaitsFor(why).setNotBegun(true).build();
  }

  @Override
  public BalanceResponseProto balance(RpcController c, BalanceRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          if (request.hasOn()) {
            balance.set(request.getOn());
          }
          if (request.getNow()) {
            balance.beginNow();
            signal.wakeUp();
          }
          Map.Entry<String, BalanceSchedule.RunState> run = balance.lastRun();
          return BalanceResponseProto.newBuilder()
              .setOn(balance.isOn())
              .setMoving(parts.moves().count())
              .setRun(run.getKey())
              .setNowInProgress(run.getValue() == BalanceSchedule.RunState.IN_PROGRESS)
              .setStopped(run.getValue() == BalanceSchedule.RunState.STOPPED)
              .build();
        });
  }

  @Override
  public BeginJobResponseProto beginJob(RpcController c, BeginJobRequestProto request)
      throws ServiceException {
    return serve(() -> topics.jobs().begin(request));
  }

  @Override
  public RenewJobResponseProto renewJob(RpcController c, RenewJobRequestProto request)
      throws ServiceException {
    return serve(() -> topics.jobs().renew(request));
  }

  @Override
  public EmptyProto commitJob(RpcController c, CommitJobRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          topics.jobs().commit(request);
          return EmptyProto.getDefaultInstance();
        });
  }

  @Override
  public EmptyProto makeJobDirectory(RpcController c, MakeJobDirectoryRequestProto request)
      throws ServiceException {
    return serve(
        () -> {
          topics.jobs().makeDirectory(request);
          return EmptyProto.getDefaultInstance();
        });
  }

  @Override
  public EmptyProto endJob(RpcController c, EndJobRequestProto request) throws ServiceException {
    return serve(
        () -> {
          topics.jobs().end(request);
          return EmptyProto.getDefaultInstance();
        });
  }

  private static void checkTarget(MasterLoop.View view, ServerId at, Optional<ServerId> to) {
    boolean takes =
        view.live().entrySet().stream()
            .filter(server -> to.isEmpty() || to.get().equals(server.getKey()))
            .anyMatch(server -> !server.getKey().equals(at) && !server.getValue().draining());
    if (!takes) {
      throw SteleException.refused(
          to.map(server -> "server " + server + " does not take tablets")
                  .orElse("no other server takes tablets")
              + ": `stele server list` shows those that do");
    }
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
      parts.failures().release(tablet);
      signal.wakeUp();
    }
    return ReleaseTabletResponseProto.newBuilder().setDone(!record.isQuarantined()).build();
  }

  @Override
  public ForgetTableResponseProto forgetTable(RpcController c, ForgetTableRequestProto request)
      throws ServiceException {
    return serve(() -> topics.changes().forget(request));
  }

  static <T> T parsed(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }
}
