package io.stele.master;

import io.stele.model.ServerId;
import io.stele.web.Metric;
import io.stele.web.StatusPage;
import io.stele.web.StatusPage.Section;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.RecoveryProto;
import io.stele.wire.control.ControlProtos.RunningChangeProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.StageProto;
import io.stele.wire.control.ControlProtos.TroubledTabletProto;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/** The master's status page: the status of the cluster. */
final class MasterPage {
  private MasterPage() {}

  /** The page of this moment. */
  static StatusPage of(ClusterStatusAnswer status) {
    try {
      return of(status.now());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The page that shows {@code status}. */
  static StatusPage of(ClusterStatusResponseProto status) {
    return new StatusPage(
        "Master " + status.getMaster(),
        List.of(
            new Section(
                "Tablet servers",
                List.of(
                    "server",
                    "page",
                    "tablets",
                    "memtable bytes",
                    "SSTable bytes",
                    "local bytes",
                    "state"),
                status.getServersList().stream().map(MasterPage::row).toList()),
            new Section(
                "Recoveries of dead servers",
                List.of(
                    "server",
                    "lost",
                    "after its end",
                    "tablets",
                    "first served",
                    "stages",
                    "state"),
                status.getRecoveriesList().stream().map(MasterPage::row).toList()),
            new Section(
                "Table changes in progress",
                List.of("table", "change", "begun", "waits for", "tablets done"),
                status.getChangesList().stream().map(MasterPage::row).toList()),
            new Section(
                "Tablets in trouble",
                List.of("tablet", "state", "trouble"),
                status.getTroubledList().stream().map(MasterPage::row).toList())),
        metrics(status));
  }

  private static List<Metric> metrics(ClusterStatusResponseProto status) {
    return List.of(
        gauge("servers", "Tablet servers that hold their locks", status.getServersCount()),
        gauge(
            "servers_draining",
            "Tablet servers that give their tablets away",
            status.getServersList().stream().filter(ServerStatusProto::getDraining).count()),
        gauge("tables", "Tables", status.getTables()),
        gauge("tablets", "Tablets, METADATA's included", status.getTablets()),
        gauge(
            "tablets_unassigned",
            "Tablets that no server serves at this moment",
            status.getUnassigned()),
        gauge(
            "tablets_in_trouble",
            "Tablets that cannot be loaded, or whose server reports trouble",
            status.getTroubledCount()),
        gauge(
            "tablets_in_quarantine",
            "Tablets that failed to load so often that they are rarely tried",
            status.getTroubledList().stream().filter(TroubledTabletProto::getQuarantined).count()),
        gauge(
            "recoveries_under_way",
            "Dead servers whose tablets are not all served again",
            status.getRecoveriesList().stream().filter(recovery -> !recovery.getOver()).count()),
        gauge("changes", "Table changes in progress", status.getChangesCount()),
        gauge("balancing", "1 if balancing is on, 0 if it is off", status.getBalanced() ? 1 : 0));
  }

  private static Metric gauge(String name, String help, Number value) {
    return Metric.gauge("stele_master_" + name, help, value);
  }

  private static List<String> row(ServerStatusProto server) {
    return List.of(
        ServerId.parse(server.getServerId()).hostAndPort(),
        server.hasWebAddress() ? "http://" + server.getWebAddress() + "/" : "",
        Integer.toString(server.getTablets()),
        Long.toString(server.getMemtableBytes()),
        Long.toString(server.getSstableBytes()),
        server.hasLocalPercent() ? server.getLocalPercent() + " %" : "",
        server.getDraining() ? "draining" : "takes tablets");
  }

  private static List<String> row(RecoveryProto recovery) {
    return List.of(
        recovery.getServer(),
        Instant.ofEpochMilli(recovery.getLostMillis()).toString(),
        recovery.hasDetectionMillis() ? "at most " + recovery.getDetectionMillis() + " ms" : "",
        Integer.toString(recovery.getTablets()),
        recovery.hasFirstMillis() ? recovery.getFirstMillis() + " ms" : "",
        recovery.getStagesList().stream().map(MasterPage::text).collect(Collectors.joining(", ")),
        recovery.getOver() ? "all served" : "under way");
  }

  private static String text(StageProto stage) {
    return stage.getWhat() + " " + stage.getMillis() + " ms";
  }

  private static List<String> row(RunningChangeProto change) {
    return List.of(
        change.getTable(),
        "being " + change.getParticiple(),
        Instant.ofEpochMilli(change.getBegunMillis()).toString(),
        change.getWaitsFor(),
        change.hasTablets() ? change.getTabletsDone() + " of " + change.getTablets() : "");
  }

  private static List<String> row(TroubledTabletProto tablet) {
    String state = tablet.getServed() ? "served" : "not served";
    return List.of(
        tablet.getTablet(), tablet.getQuarantined() ? "in quarantine" : state, tablet.getReason());
  }
}
