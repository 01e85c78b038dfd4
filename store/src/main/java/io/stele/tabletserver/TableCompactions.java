package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compactions of whole tables, by a request that is kept for clients of earlier versions alone:
 * those of this one request them tablet by tablet ({@link CompactionRequests}), and use this only
 * for servers of earlier versions. It can go when no such clients are left. Safe for use by any
 * number of threads; the caller's thread does the work.
 */
final class TableCompactions {
  private static final Logger LOG = LoggerFactory.getLogger(TableCompactions.class);

  private final HostedTablets tablets;

  /**
   * Compactions on a server.
   *
   * @param tablets that it has loaded
   */
  TableCompactions(HostedTablets tablets) {
    this.tablets = tablets;
  }

  /**
   * Rewrites all SSTables of a table's tablets on this server, one tablet at a time. Tablets that
   * leave or are split meanwhile are left out.
   */
  void compact(TableId table) throws IOException {
    for (HostedTablet hosted : tablets.all()) {
      if (hosted.id().table().equals(table)) {
        compact(hosted);
      }
    }
  }

  private void compact(HostedTablet hosted) throws IOException {
    boolean done = compactOnce(hosted);
    if (!done) { // The split for which it was ended may have failed.
      done = compactOnce(hosted);
    }
    if (!done) {
      LOG.info("Tablet {} is not compacted: it leaves this server or is split", hosted.id());
    }
  }

  /** False if the compaction was ended, or the tablet is no longer here. */
  private boolean compactOnce(HostedTablet hosted) throws IOException {
    hosted.awaitRewrite();
    try {
      if (!tablets.has(hosted)) {
        return false;
      }
      hosted.tablet().minorCompact();
      hosted.tablet().majorCompact();
      return true;
    } catch (SteleException e) {
      if (!hosted.tablet().areRewritesAborted()) {
        throw e;
      }
      return false;
    } finally {
      hosted.rewrites().release(1);
    }
  }
}
