package io.stele.client;

import io.stele.model.Amount;
import io.stele.model.SteleException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Whether tablet servers have room for a job that writes to live tables. A tablet remembers each
 * task of it that has written to it, until the job ends; a server for whose jobs that is too much
 * refuses operations, when much of the job's output is there already.
 *
 * <p>It is an estimate for the case that this job is the only one, and that no tablet is split
 * while it runs: both parts of one remember what it remembered. Internal: for output formats.
 */
public final class TaskRoom {
  /** What a tablet takes to remember a task of which all records are settled, roughly. */
  static final long TASK_BYTES = 300;

  /** A server keeps one in so many parts of the memory for others than jobs. */
  private static final int OTHERS_PART = 4;

  private TaskRoom() {}

  /**
   * A tablet server.
   *
   * @param tablets how many tablets it has of the tables that the job writes to
   * @param operationsBytes its memory for operations
   */
  record Server(String name, long tablets, long operationsBytes) {
    /** The memory that jobs may use. */
    long forJobs() {
      return operationsBytes - operationsBytes / OTHERS_PART;
    }
  }

  /**
   * What writes.
   *
   * @param tasks how many
   * @param tabletsMax to how many tablets one of them writes at most; {@link Long#MAX_VALUE}:
   *     perhaps to all
   * @param key what sets that in a job's configuration
   */
  public record Tasks(long tasks, long tabletsMax, String key) {}

  /**
   * Checks the room.
   *
   * @param servers those that have tablets of the tables
   * @throws SteleException REFUSED if a server has too little
   */
  static void check(List<Server> servers, Tasks job) {
    long tablets = servers.stream().mapToLong(Server::tablets).sum();
    if (tablets == 0) {
      return;
    }
    double part = Math.min(1, (double) job.tabletsMax() / tablets); // Of its tablets, each task.
    servers.stream()
        .filter(server -> bytes(server, job, part) > server.forJobs())
        .max(Comparator.comparingDouble(server -> bytes(server, job, part) / server.forJobs()))
        .ifPresent(
            server -> {
              throw refused(server, job, tablets, part);
            });
  }

  private static double bytes(Server server, Tasks job, double part) {
    return part * job.tasks() * server.tablets() * TASK_BYTES;
  }

  private static SteleException refused(Server server, Tasks job, long tablets, double part) {
    long fit = (long) (server.forJobs() / (part * server.tablets() * TASK_BYTES));
    return SteleException.refused(
        String.format(
            Locale.ROOT,
            "the job's %s may each write to %s. Each tablet remembers each task that has written to"
                + " it, in %d bytes, until the job ends: tablet server %s, with %s of these, would"
                + " need %s, and has %,d for jobs, three quarters of its stele.operations.bytes. So"
                + " it would refuse operations in the middle of the job. Run at most %s that write"
                + " (fewer reducers, or larger splits); or write files, with BulkOutputFormat; or"
                + " give the servers more (stele.operations.bytes); or, if each task writes to few"
                + " tablets, set %s to the highest number",
            Amount.of(job.tasks(), "task"),
            part < 1
                ? job.tabletsMax() + " of " + Amount.of(tablets, "tablet")
                : Amount.of(tablets, "tablet"),
            TASK_BYTES,
            server.name(),
            Amount.of(server.tablets(), "tablet"),
            Amount.of((long) bytes(server, job, part), "byte"),
            server.forJobs(),
            Amount.of(Math.max(1, fit), "task"),
            job.key()));
  }
}
