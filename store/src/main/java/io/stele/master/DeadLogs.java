package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.log.FencedLog;
import io.stele.log.LogDirectories;
import io.stele.log.LogFence;
import io.stele.log.LogOwner;
import io.stele.metadata.Layout;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The log directories of tablet servers, and how a dead server's log is taken: it is fenced, and
 * then sorted ({@link LogSorting}). A log keeps its fence, whatever becomes of this master.
 *
 * <p>Safe for use by any number of threads.
 */
final class DeadLogs {
  private final FileSystem fs;
  private final Layout layout;
  private final LogFence fence;
  private final LogSorting sorting;

  /** Servers whose fenced logs are listed, which they stay: HDFS need not be asked again. */
  @GuardedBy("this")
  private final Set<ServerId> listed = new TreeSet<>();

  /**
   * The logs of a cluster.
   *
   * @param replicasMin how many replicas a copy of a segment must have
   * @param sorting of the logs that are taken
   */
  DeadLogs(
      ProcessRuntime runtime, FileSystem fs, Layout layout, int replicasMin, LogSorting sorting) {
    this.fs = fs;
    this.layout = layout;
    this.fence = new LogFence(runtime, fs, replicasMin);
    this.sorting = sorting;
  }

  /** The servers that have, or had until now, their own log directory. */
  Set<ServerId> owners() throws IOException {
    return LogDirectories.in(fs, layout.logs()).keySet();
  }

  /** The servers whose log directory was renamed. */
  Set<ServerId> renamed() throws IOException {
    return LogDirectories.in(fs, layout.recovery()).keySet();
  }

  /**
   * Those of the {@link #renamed} ones whose fence is not complete: not all of their segments may
   * be closed, or they are among the {@code live}, which have their locks.
   */
  Set<ServerId> unfinished(Set<ServerId> renamed, Set<ServerId> live) throws IOException {
    Set<ServerId> known = listedOf(renamed);
    Set<ServerId> unfinished = new TreeSet<>();
    for (ServerId server : renamed) {
      if (live.contains(server) || !(known.contains(server) || isListed(server))) {
        unfinished.add(server);
      }
    }
    return unfinished;
  }

  /** The servers whose logs are known to be listed, of {@code servers}, which have fenced logs. */
  private synchronized Set<ServerId> listedOf(Set<ServerId> servers) {
    listed.retainAll(servers);
    return new TreeSet<>(listed);
  }

  private boolean isListed(ServerId server) throws IOException {
    if (!FencedLog.isListed(fs, layout.recovery(server))) {
      return false;
    }
    synchronized (this) {
      listed.add(server);
    }
    return true;
  }

  /**
   * Takes the log of a server that no longer answers anything, and finds out what must be sorted.
   * None of its tablets may be assigned before this returns.
   *
   * @throws IOException if it failed: call it again
   */
  void take(ServerId server, LogOwner owner) throws IOException {
    Optional<Path> log = fence.rename(layout.logs(server), layout.recovery(server));
    if (log.isEmpty()) {
      return;
    }
    Runnable sortClosed = sorting.begin(server, log.get());
    fence.close(log.get(), owner, sortClosed);
    sorting.complete(server, log.get());
  }
}
