package io.stele.client;

import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Effect;
import io.stele.model.ServerId;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.RecoveryProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Reads what the master says of the cluster. */
final class StatusReader {
  private StatusReader() {}

  /** See {@link Admin#clusterStatus}. */
  static ClusterStatus read(ClusterCalls calls) throws IOException {
    return read(
        calls,
        calls.attempts(Effect.READ, "reading the cluster's status", calls.connection().timeout()));
  }

  /** The same, as {@code attempts} say. */
  static ClusterStatus read(ClusterCalls calls, Attempts attempts) throws IOException {
    ClusterStatusResponseProto status =
        calls.ask(attempts, master -> master.clusterStatus(null, EmptyProto.getDefaultInstance()));
    return new ClusterStatus(
        status.getMaster(),
        Optional.of(status.getWebAddress()).filter(address -> !address.isEmpty()),
        status.getServersList().stream().map(StatusReader::server).toList(),
        status.getTables(),
        status.getTablets(),
        status.getUnassigned(),
        !status.hasBalanced() || status.getBalanced(), // An older master does not say: the default.
        status.getTroubledList().stream()
            .map(
                tablet ->
                    new ClusterStatus.Troubled(
                        tablet.getTablet(),
                        tablet.getServed(),
                        tablet.getQuarantined(),
                        tablet.getReason()))
            .toList(),
        status.getChangesList().stream()
            .map(
                change ->
                    new ClusterStatus.Change(
                        TableChange.id(change.getTable(), change.getId()),
                        change.getTable(),
                        change.getParticiple(),
                        Instant.ofEpochMilli(change.getBegunMillis()),
                        new TableChange.Progress(
                            false,
                            change.getWaitsFor(),
                            change.getTabletsDone(),
                            change.getTablets())))
            .toList(),
        status.getRecoveriesList().stream().map(StatusReader::recovery).toList());
  }

  private static ClusterStatus.Recovery recovery(RecoveryProto recovery) {
    return new ClusterStatus.Recovery(
        recovery.getServer(),
        new ClusterStatus.Recovery.Loss(
            Instant.ofEpochMilli(recovery.getLostMillis()),
            recovery.hasDetectionMillis()
                ? Optional.of(Duration.ofMillis(recovery.getDetectionMillis()))
                : Optional.empty()),
        recovery.getTablets(),
        recovery.getStagesList().stream()
            .map(
                stage ->
                    new ClusterStatus.Recovery.Stage(
                        stage.getWhat(), Duration.ofMillis(stage.getMillis())))
            .toList(),
        recovery.hasFirstMillis()
            ? Optional.of(Duration.ofMillis(recovery.getFirstMillis()))
            : Optional.empty(),
        recovery.getOver());
  }

  private static ClusterStatus.Server server(ServerStatusProto server) {
    return new ClusterStatus.Server(
        ServerId.parse(server.getServerId()),
        Optional.of(server.getWebAddress()).filter(address -> !address.isEmpty()),
        server.getTablets(),
        server.getMemtableBytes(),
        server.getSstableBytes(),
        server.hasLocalPercent() ? Optional.of(server.getLocalPercent()) : Optional.empty(),
        server.getDraining());
  }
}
