package io.stele.tabletserver;

import io.stele.files.HdfsOutage;
import io.stele.lock.UnreachableException;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a tablet server that waits for what it needs: a root directory, the lock service and
 * HDFS. A process that ended instead would be started again until its ApplicationMaster gives up.
 *
 * <p>Safe for use by any number of threads; it keeps no state. {@link #start} blocks its caller.
 */
public final class ServerStart {
  private static final Logger LOG = LoggerFactory.getLogger(ServerStart.class);
  private static final Duration RETRY = Duration.ofMillis(500);

  private ServerStart() {}

  /**
   * Starts a server, as {@link TabletServer#start} does, and waits for a master that has yet to
   * create the root directory and for the lock service, however long that takes.
   *
   * @throws IOException if HDFS has been away for {@link HdfsOutage#PATIENCE}, or something else
   *     fails that nobody need wait for
   */
  public static TabletServer start(TabletServer.Environment environment)
      throws IOException, InterruptedException {
    Deadline patience = Deadline.after(environment.runtime(), HdfsOutage.PATIENCE);
    while (true) {
      try {
        return TabletServer.start(environment);
      } catch (SteleException e) {
        if (e.code() != SteleException.Code.NOT_FOUND) {
          throw e;
        }
        LOG.info("Waiting for a master to create the root directory: {}", e.getMessage());
      } catch (UnreachableException e) {
        LOG.warn("Waiting for ZooKeeper: {}", e.getMessage());
      } catch (IOException e) {
        if (!HdfsOutage.mayHaveCaused(e) || patience.isOver()) {
          throw e;
        }
        LOG.warn("The tablet server cannot start yet; will retry: {}", e.toString());
      }
      environment.runtime().sleep(RETRY);
    }
  }
}
