package io.stele.tabletserver;

import io.stele.config.MemoryPlan;
import io.stele.config.TabletServerConfig;
import io.stele.log.CommitLog;
import io.stele.model.TabletKind;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.tablet.CompactionCounters;
import io.stele.tablet.OperationBudget;

/**
 * A server's resources for one kind of tablet: a commit log, memory, and threads.
 *
 * @param kind the kind
 * @param log where their operations are made durable
 * @param memtables the memory that their memtables may take together
 * @param operations the memory in which they may remember their clients' operations
 * @param compactions counts their compactions
 * @param threads for all work that may wait
 */
record KindResources(
    TabletKind kind,
    CommitLog log,
    MemtableBudget memtables,
    OperationBudget operations,
    CompactionCounters compactions,
    Threads threads) {
  private static final int OPERATIONS_SHARE_COMPACTED = 4;

  /**
   * Whether a tablet is of this kind, and a minor compaction, which may be made now, would free
   * much of the memory of its operations.
   */
  boolean hasManyOperations(HostedTablet hosted) {
    return hosted.kind() == kind
        && !TabletWork.restsFromMinorCompactions(hosted)
        && hosted
            .tablet()
            .needsCompactionOfOperations(operations.share() / OPERATIONS_SHARE_COMPACTED);
  }

  /**
   * Threads for the work on one kind of tablet.
   *
   * @param handlers for requests that may wait
   * @param loaders load and unload
   * @param minor make minor compactions
   * @param rewrites make merging and major compactions
   * @param splits split
   * @param jobs register files of jobs, which is to wait for HDFS
   */
  record Threads(
      Handlers handlers,
      WorkerPool loaders,
      WorkerPool minor,
      WorkerPool rewrites,
      WorkerPool splits,
      WorkerPool jobs) {
    /**
     * Threads for requests, separate for each sort of request, so that none waits behind slow ones
     * such as scans.
     *
     * @param reads for reads of one row
     * @param scans for all other reads
     * @param writes for writes, which wait for a row that is being changed, or for files to read
     */
    record Handlers(WorkerPool reads, WorkerPool scans, WorkerPool writes) {
      static Handlers of(ProcessRuntime runtime, TabletKind kind, int count) {
        return new Handlers(
            runtime.pool("read-" + kind, count),
            runtime.pool("scan-" + kind, Math.max(2, count / 2)),
            runtime.pool("write-" + kind, count));
      }

      void close() {
        reads.close();
        scans.close();
        writes.close();
      }
    }

    /** More would have each tablet away for longer, and take as long for all. */
    private static final int LOADERS = 4;

    private static final int JOBS = 8; // Each waits for a file to be opened.
    private static final int SPLITS = 1; // Not behind compactions that are held back.

    static Threads of(ProcessRuntime runtime, TabletKind kind, TabletServerConfig config) {
      return new Threads(
          Handlers.of(runtime, kind, config.handlers()),
          runtime.pool("loader-" + kind, LOADERS),
          runtime.pool("minor-" + kind, MemoryPlan.MINOR_COMPACTIONS),
          runtime.pool("compaction-" + kind, config.compactionThreads()),
          runtime.pool("split-" + kind, SPLITS),
          runtime.pool("job-" + kind, JOBS));
    }

    /** Ends them all. */
    void close() {
      handlers.close();
      loaders.close();
      minor.close();
      rewrites.close();
      splits.close();
      jobs.close();
    }
  }
}
