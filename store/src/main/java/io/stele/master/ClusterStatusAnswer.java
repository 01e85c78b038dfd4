package io.stele.master;

import io.stele.metadata.Layout;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.wire.Address;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.RecoveryProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.StageProto;
import io.stele.wire.control.ControlProtos.TroubledTabletProto;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The status of the cluster, as the master tells clients and shows it on its page: the servers,
 * what they serve, and what is in progress or in trouble. Apart from the list of tables, it is what
 * the master knows already: neither METADATA nor a tablet server is asked.
 *
 * <p>Safe for use by any number of threads.
 */
final class ClusterStatusAnswer {
  private final InstantSource clock;
  private final MasterLoop loop;
  private final MasterParts parts;
  private final ChangeRequests changes;
  private final Recoveries recoveries;
  private final BalanceSchedule balance;
  private volatile Optional<Address> self = Optional.empty();
  private volatile Optional<Address> page = Optional.empty();
  private volatile Optional<Layout> layout = Optional.empty();

  /**
   * A status without the master's addresses and the cluster's root directory.
   *
   * @param clock the master's wall clock
   */
  ClusterStatusAnswer(
      InstantSource clock,
      MasterLoop loop,
      MasterParts parts,
      ChangeRequests changes,
      Recoveries recoveries,
      BalanceSchedule balance) {
    this.clock = clock;
    this.loop = loop;
    this.parts = parts;
    this.changes = changes;
    this.recoveries = recoveries;
    this.balance = balance;
  }

  /** Says where the master serves. */
  void servesAt(Address address) {
    self = Optional.of(address);
  }

  /** Says where the master's page is. */
  void showsPageAt(Address address) {
    page = Optional.of(address);
  }

  /** Says where the cluster's files are. */
  void hasFilesIn(Layout root) {
    layout = Optional.of(root);
  }

  /**
   * The cluster at this moment.
   *
   * @throws IOException if the tables cannot be listed
   */
  ClusterStatusResponseProto now() throws IOException {
    MasterLoop.View view = loop.view();
    Served served = Served.of(view);
    ClusterStatusResponseProto.Builder status =
        ClusterStatusResponseProto.newBuilder()
            .setTablets(served.tablets())
            .setUnassigned(served.unassigned())
            .setBalanced(balance.wasOn())
            .setNowMicros(ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()));
    self.ifPresent(address -> status.setMaster(address.toString()));
    page.ifPresent(address -> status.setWebAddress(address.toString()));
    layout.ifPresent(files -> status.setRoot(files.root().toString()).setCluster(files.cluster()));
    addTroubles(status, view);
    changes.addTo(status);
    recoveries.latest().forEach(recovery -> status.addRecoveries(message(recovery)));
    for (Map.Entry<ServerId, ServerInfo> server : view.live().entrySet()) {
      status.addServers(status(server.getKey(), server.getValue(), served));
    }
    return status.build();
  }

  private static RecoveryProto message(Recoveries.Recovery recovery) {
    RecoveryProto.Builder message =
        RecoveryProto.newBuilder()
            .setServer(recovery.server().toString())
            .setLostMillis(recovery.lost().toEpochMilli())
            .setTablets(recovery.tablets())
            .setOver(recovery.isOver());
    recovery
        .stages()
        .forEach(
            (stage, took) ->
                message.addStages(
                    StageProto.newBuilder().setWhat(stage.text()).setMillis(took.toMillis())));
    recovery.detection().ifPresent(most -> message.setDetectionMillis(most.toMillis()));
    recovery.first().ifPresent(first -> message.setFirstMillis(first.toMillis()));
    return message.build();
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
                          .setReason(
                              trouble.server()
                                  + " could not load it: "
                                  + trouble.reason()
                                  + retry(record.id()))
                          .setQuarantined(trouble.quarantined())));
    }
    parts
        .reports()
        .troubles()
        .forEach(
            (tablet, reason) ->
                status.addTroubled(
                    TroubledTabletProto.newBuilder()
                        .setTablet(tablet.toString())
                        .setReason(reason)
                        .setServed(true)));
  }

  private String retry(TabletId tablet) {
    return parts
        .failures()
        .retryIn(tablet)
        .map(in -> " (tried again in " + in.toSeconds() + " s)")
        .orElse("");
  }

  /** What there is, counted in one pass. */
  private record Served(
      int tablets, int unassigned, Map<ServerId, Integer> count, Map<ServerId, Long> bytes) {
    static Served of(MasterLoop.View view) {
      Map<ServerId, Integer> count = new HashMap<>();
      Map<ServerId, Long> bytes = new HashMap<>();
      int tablets = 0;
      int unassigned = 0;
      for (TabletRecord record : view.tablets().values()) {
        tablets++;
        if (view.isServed(record)) {
          ServerId server = record.assignment().server().orElseThrow();
          count.merge(server, 1, Integer::sum);
          bytes.merge(server, record.fileBytes(), Long::sum);
        } else {
          unassigned++;
        }
      }
      return new Served(tablets, unassigned, count, bytes);
    }
  }

  private ServerStatusProto status(ServerId server, ServerInfo info, Served served) {
    ServerStatusProto.Builder recorded =
        ServerStatusProto.newBuilder()
            .setServerId(server.toString())
            .setControlAddress(info.control().toString())
            .setDraining(info.draining())
            .setDataAddress(info.data().toString())
            .setTablets(served.count().getOrDefault(server, 0))
            .setSstableBytes(served.bytes().getOrDefault(server, 0L));
    info.web().ifPresent(web -> recorded.setWebAddress(web.toString()));
    return joined(recorded.build(), parts.reports().status(server));
  }

  /**
   * What is known of a server. The records and its lock are newer than its last report, which
   * counts only as far as it is of the same tablets.
   *
   * @param recorded what the records and the server's lock say
   */
  static ServerStatusProto joined(ServerStatusProto recorded, Optional<ServerStatusProto> report) {
    if (report.isEmpty()) {
      return recorded;
    }
    ServerStatusProto.Builder status =
        recorded.toBuilder()
            .mergeFrom(report.get())
            .setTablets(recorded.getTablets())
            .setDraining(recorded.getDraining());
    if (report.get().getTablets() != recorded.getTablets()) {
      status.setSstableBytes(recorded.getSstableBytes());
    }
    if (recorded.getTablets() == 0) {
      status.setMemtableBytes(0).clearLocalPercent();
    }
    return status.build();
  }
}
