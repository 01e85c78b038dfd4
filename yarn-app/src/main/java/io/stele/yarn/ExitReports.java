package io.stele.yarn;

import io.stele.runtime.ProcessRuntime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of ended containers: of a tablet server its master, of a master the lock service. Only the
 * data of its lock tells which of the two ran in a container, as it may have ended between two
 * attempts of the ApplicationMaster. So each is told both ways.
 *
 * <p>A report to the master may wait minutes until there is one, and there may be more of them than
 * threads. So they have threads of their own. What a new master needs does not wait for them: that
 * a process is started for it, and that the lock of the one before is taken.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class ExitReports implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExitReports.class);

  private final Servers servers;
  private final BlockingCalls toMaster;
  private final BlockingCalls toLockService;

  ExitReports(Servers servers, ProcessRuntime runtime, EventQueue events) {
    this.servers = servers;
    this.toMaster = new BlockingCalls(runtime, events, "server-exit");
    this.toLockService = new BlockingCalls(runtime, events, "master-exit");
  }

  /**
   * Reports the container's end.
   *
   * @param seen whether the process's end was seen where it ran
   */
  void report(String containerId, boolean seen) {
    toLockService.run(
        () -> servers.deposeMaster(containerId),
        () -> {},
        failure ->
            LOG.warn(
                "Cannot take the lock of the master if it ran in {}: another is elected when the"
                    + " lock expires",
                containerId,
                failure));
    toMaster.run(
        () -> servers.exited(containerId, seen),
        () -> {},
        failure ->
            LOG.warn(
                "Cannot tell the master that {} ended: it will find out when the lock expires",
                containerId,
                failure));
  }

  @Override
  public void close() {
    toLockService.close();
    toMaster.close();
  }
}
