package io.stele.client;

import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.wire.control.ControlProtos.ForgetTableRequestProto;
import io.stele.wire.control.ControlProtos.ReleaseTabletRequestProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import java.io.IOException;

/**
 * Repairs of tablets, servers and tables that the cluster cannot make by itself.
 *
 * <p>Safe for use by any number of threads.
 */
final class ClusterRepairs {
  private final ClusterCalls calls;

  ClusterRepairs(ClusterCalls calls) {
    this.calls = calls;
  }

  /** See {@link Admin#releaseTablet}. */
  void release(String tablet) throws IOException {
    ReleaseTabletRequestProto request =
        ReleaseTabletRequestProto.newBuilder().setTablet(tablet).build();
    calls.untilDone(
        "releasing tablet " + tablet + " from quarantine",
        "the cluster's status shows whether it is still quarantined",
        calls.connection().timeout(),
        attempts ->
            ClusterCalls.Progress.of(
                calls.ask(attempts, master -> master.releaseTablet(null, request)).getDone(),
                "its record is being written"));
  }

  /** See {@link Admin#evictServer} and {@link Admin#evictSilentServer}. */
  void evict(ServerId server, boolean onlyIfSilent) throws IOException {
    if (StatusReader.read(calls).servers().stream().noneMatch(one -> one.id().equals(server))) {
      throw SteleException.notFound("there is no tablet server " + server);
    }
    ServerExitedRequestProto request =
        ServerExitedRequestProto.newBuilder()
            .setServerId(server.toString())
            .setSeen(false)
            .setUnlessHeard(onlyIfSilent)
            .build();
    calls.untilDone(
        "evicting server " + server,
        "the cluster's status shows whether it is still there",
        calls.connection().timeout(),
        attempts -> {
          calls.ask(attempts, master -> master.serverExited(null, request));
          boolean live =
              StatusReader.read(calls, attempts).servers().stream()
                  .anyMatch(one -> one.id().equals(server));
          return ClusterCalls.Progress.of(
              !live, "the master has not seen yet that its lock is gone");
        });
  }

  /** See {@link Admin#forgetTable}. */
  void forget(TableId table) throws IOException {
    ForgetTableRequestProto request =
        ForgetTableRequestProto.newBuilder().setTableId(table.value()).build();
    calls.untilDone(
        "forgetting table " + table,
        "a check of the cluster shows whether records of it are left",
        calls.connection().timeout(),
        attempts ->
            ClusterCalls.Progress.of(
                calls.ask(attempts, master -> master.forgetTable(null, request)).getDone(),
                "its tablets are being unloaded, and their records deleted"));
  }
}
