package io.stele.tabletserver;

import io.stele.metadata.TableNames;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clears rows of tablets, or erases dropped families from all their rows, once for each change of
 * their table. The tablet's record says which rows are done; it is written together with the change
 * of the files.
 *
 * <p>It does so only if the change is in progress. Whether it is, is read while the tablet's writes
 * are paused. So what was written after the change ended stays, however late a request is carried
 * out.
 *
 * <p>Safe for use by any number of threads.
 */
final class RowClearing {
  private static final Logger LOG = LoggerFactory.getLogger(RowClearing.class);

  private final ProcessRuntime runtime;
  private final TableNames names;

  /** Makes changes that are in progress under {@code names}. */
  RowClearing(ProcessRuntime runtime, TableNames names) {
    this.runtime = runtime;
    this.names = names;
  }

  /** Which of {@code rows} the tablet has and for which the change is not made. */
  static List<RowRange> left(HostedTablet hosted, long change, RowRange rows) {
    Optional<RowRange> here = hosted.tablet().extent().intersection(rows);
    return here.isEmpty() ? List.of() : hosted.record().cleared().left(change, here.get());
  }

  /** Clears what is left; called with the tablet's permit of minor compactions. */
  void clear(HostedTablet hosted, long change, RowRange rows) throws IOException {
    for (RowRange range : left(hosted, change, rows)) {
      whilePaused(
          hosted,
          change,
          tablet -> {
            tablet.clear(range, hosted.record().cleared().with(change, List.of(range)));
            LOG.info("Rows {} of tablet {} are cleared", range, hosted.id());
          });
    }
  }

  /**
   * Erases families, unless that was done; called with the tablet's permit of minor compactions.
   */
  void erase(HostedTablet hosted, long change, Set<String> families) throws IOException {
    RowRange rows = hosted.tablet().extent();
    if (left(hosted, change, rows).isEmpty()) {
      return;
    }
    requireNoneWaits(hosted, families);
    whilePaused(
        hosted,
        change,
        tablet -> {
          tablet.erase(families, hosted.record().cleared().with(change, List.of(rows)));
          LOG.info("Families {} are erased from tablet {}", families, hosted.id());
        });
  }

  /** A job that commits later must find its family in all tablets or in none. */
  private static void requireNoneWaits(HostedTablet hosted, Set<String> families) {
    for (Pending one : hosted.tablet().pending()) {
      if (one instanceof PendingFile file
          && !Collections.disjoint(file.file().families(), families)) {
        throw SteleException.retryLater(
            "a file of job "
                + one.job()
                + " that has a dropped family out of "
                + families
                + " waits in tablet "
                + hosted.id()
                + " until the job is over");
      }
    }
  }

  /** Does {@code work} on the tablet while its writes are paused, unless the change has ended. */
  private void whilePaused(HostedTablet hosted, long change, IoConsumer<Tablet> work)
      throws IOException {
    PausedWrites.during(
        runtime,
        hosted.tablet(),
        tablet -> {
          if (isRunning(tablet, change)) {
            work.accept(tablet);
          } else {
            LOG.warn("Change {} ended before it was made in tablet {}", change, tablet.id());
          }
        });
  }

  private boolean isRunning(Tablet tablet, long change) throws IOException {
    return names.isRunning(tablet.schema().name(), change);
  }
}
