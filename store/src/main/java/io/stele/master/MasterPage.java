package io.stele.master;

import io.stele.config.ClusterConfig;
import io.stele.config.Version;
import io.stele.model.Amount;
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
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The master's status page: the status of the cluster. Safe for use by any number of threads. */
final class MasterPage {
  private final ClusterConfig cluster;
  private final Instant since;
  private final ClusterStatusAnswer status;
  private final TableOverview tables;

  /** The page of the master that has been active since {@code since}. */
  MasterPage(
      ClusterConfig cluster, Instant since, ClusterStatusAnswer status, TableOverview tables) {
    this.cluster = cluster;
    this.since = since;
    this.status = status;
    this.tables = tables;
  }

  /** The page of this moment. */
  StatusPage render() {
    try {
      return of(cluster(), status.now(), tables.now());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Section cluster() {
    return new Section(
        "Cluster",
        List.of("name", "root directory", "version of Stele", "active since"),
        List.of(
            List.of(
                cluster.name(),
                cluster.root().toString(),
                Version.text(),
                since.truncatedTo(ChronoUnit.SECONDS).toString())));
  }

  /** The page that shows {@code status}. */
  static StatusPage of(
      Section cluster, ClusterStatusResponseProto status, TableOverview.Shown tables) {
    return new StatusPage(
        "Master " + status.getMaster(),
        List.of(
            cluster,
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
            tables(status, tables),
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

  private static Section tables(ClusterStatusResponseProto status, TableOverview.Shown tables) {
    Map<String, String> changes = new HashMap<>();
    status
        .getChangesList()
        .forEach(change -> changes.put(change.getTable(), "being " + change.getParticiple()));
    int left = tables.all() - tables.tables().size();
    return new Section(
        "Tables" + (left > 0 ? ", the largest; there are " + left + " more" : ""),
        List.of("table", "tablets", "SSTable bytes", "state"),
        tables.tables().stream()
            .map(table -> row(table, Optional.ofNullable(changes.get(table.name()))))
            .toList());
  }

  private static List<String> row(TableOverview.Table table, Optional<String> change) {
    int notServed = table.totals().notServed();
    String served = notServed == 0 ? "served" : Amount.of(notServed, "tablet") + " not served";
    return List.of(
        table.name(),
        Integer.toString(table.totals().tablets()),
        Long.toString(table.totals().bytes()),
        change.map(being -> notServed == 0 ? being : being + ", " + served).orElse(served));
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
            "recoveries_in_progress",
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
        recovery.getOver() ? "all served" : "in progress");
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
