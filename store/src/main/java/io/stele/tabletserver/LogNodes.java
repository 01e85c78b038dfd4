package io.stele.tabletserver;

import io.stele.runtime.Futures;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the commit logs off DataNodes that an operator takes away: has them leave segments that are
 * on too many of these. Apart from {@link Maintenance}, which must not wait for HDFS.
 *
 * <p>For one thread.
 */
final class LogNodes {
  private static final Logger LOG = LoggerFactory.getLogger(LogNodes.class);

  /** A DataNode with blocks takes longer than that to be decommissioned. */
  private static final Duration EVERY = Duration.ofSeconds(20);

  private final ServerLife life;
  private final ServerResources resources;

  LogNodes(ServerContext server) {
    this.life = server.life();
    this.resources = server.resources();
  }

  /** Checks again and again, until the server ends. */
  void run() {
    try {
      while (!life.awaitEnd(EVERY)) {
        resources.all().forEach(LogNodes::check);
      }
    } catch (InterruptedException e) {
      Futures.interruptAgain(); // The server stops.
    }
  }

  private static void check(KindResources kind) {
    try {
      if (kind.log().leaveDataNodes()) {
        LOG.info(
            "The {} log leaves its open segments: their DataNodes are being taken away",
            kind.kind());
      }
    } catch (IOException e) {
      LOG.debug("Cannot find out now on which DataNodes the {} log is", kind.kind(), e);
    }
  }
}
