package io.stele.client;

import io.stele.config.MemoryPlan;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where and how jobs write: the cluster's files, the tablets of the tables that they write, the
 * clock, and the limits. Internal: for input and output formats. Safe for use by any number of
 * threads.
 */
public final class JobEnvironment {
  private static final Logger LOG = LoggerFactory.getLogger(JobEnvironment.class);

  /** How far a tablet server's clock may be from ZooKeeper's by default. */
  private static final long CLOCKS_APART_MICROS_MAX = 30_000_000;

  private final Connection connection;
  private final Admin admin;

  JobEnvironment(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  /**
   * The table that has a name now.
   *
   * @throws SteleException NOT_FOUND if there is none
   */
  public TableId tableId(String table) throws IOException {
    return admin.tableId(table);
  }

  /**
   * Splits the tablet of a table with {@code row} in it there, if it does not begin with it.
   *
   * @param table the table's name
   * @param id the table that is meant
   * @throws SteleException NOT_FOUND if that has another name now, or is gone; otherwise as {@link
   *     Admin#splitTablet}
   */
  public void split(String table, TableId id, Bytes row) throws IOException {
    if (!admin.tableId(table).equals(id)) {
      throw SteleException.notFound("table " + table + " is not the same as before");
    }
    admin.splitTablet(table, row);
  }

  /**
   * Begins to move tablets of a table so that each server gets its share, unless an operator has
   * turned balancing off. Does not wait until they are moved. The master forgets what it was asked
   * if it ends; the balancer does the rest then.
   *
   * @throws SteleException RETRY_LATER if the master could not be asked in time
   */
  public void spread(TableId table) throws IOException {
    TableSpread.begin(admin, table);
  }

  /** The file system with the cluster's files. */
  public FileSystem files() throws IOException {
    return connection.files();
  }

  /**
   * Checks that this configuration finds the cluster's files. A job that writes elsewhere would be
   * noticed only when it commits, and one that reads elsewhere would find nothing. Call it before a
   * job that reads or writes files begins.
   *
   * @throws SteleException REFUSED if its root directory is not the cluster's: usually Hadoop's
   *     configuration is not on the class path
   */
  public void requireFiles() throws IOException {
    requireFiles(status("asking where the cluster's files are"));
  }

  private void requireFiles(ClusterStatusResponseProto status) throws IOException {
    Layout found;
    try {
      found = Layout.open(files(), root());
    } catch (AccessControlException e) {
      LOG.debug("Cannot tell whether {} is the cluster's root directory", root(), e);
      return;
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.NOT_FOUND) {
        throw e;
      }
      throw new SteleException(SteleException.Code.REFUSED, notTheClusters(status), e);
    }
    // A master of an earlier version does not say.
    if (status.hasCluster() && !status.getCluster().equals(found.cluster())) {
      throw SteleException.refused(notTheClusters(status));
    }
  }

  private String notTheClusters(ClusterStatusResponseProto status) throws IOException {
    return "this job would read or write the cluster's files in "
        + root()
        + ", but they are "
        + (status.hasRoot() ? "in " + status.getRoot() : "elsewhere")
        + ": put Hadoop's configuration (core-site.xml, hdfs-site.xml) on the class path, which"
        + " sets fs.defaultFS ("
        + files().getUri()
        + " here), and set stele.root.dir as for the servers";
  }

  /** How many replicas must have what a job writes, as its configuration says. */
  public int replicasMin() {
    return connection.replicasMin();
  }

  /** The cluster's root directory. */
  public Path root() throws IOException {
    return connection.root();
  }

  /** The directory of a table's files, but for those that jobs have written. */
  public Path directory(TableId table) throws IOException {
    return new Path(root(), Layout.directory(table));
  }

  /** A name that nobody else has. */
  public String unique() {
    return JobNodes.newRequest(connection.runtime());
  }

  /**
   * What holds for a job that writes files from its submission on.
   *
   * @param timeMicros the wall clock of this machine, in microseconds since 1970
   * @param valueBytesMax the largest value of a cell, in bytes, that all tablet servers take
   */
  public record Submission(long timeMicros, long valueBytesMax) {}

  /**
   * Checks that a job that writes files may be submitted. Asks the master once.
   *
   * @throws SteleException REFUSED as {@link #requireFiles} says, and if the master's clock differs
   *     from this machine's by more than half a minute: cells of a wrong time would hide what is
   *     written later, or be hidden by what was written before
   */
  public Submission submission() throws IOException {
    long before = clockMicros();
    ClusterStatusResponseProto status = status("asking what holds for a job that writes files");
    requireClock(status, before, clockMicros());
    requireFiles(status);
    return new Submission(clockMicros(), valueBytesMax(status));
  }

  private static void requireClock(ClusterStatusResponseProto status, long before, long after) {
    if (status.hasNowMicros()) { // A master of an earlier version does not say.
      long there = status.getNowMicros();
      long ahead = Math.max(before - there, 0) - Math.max(there - after, 0);
      if (Math.abs(ahead) > CLOCKS_APART_MICROS_MAX) {
        throw SteleException.refused(
            "the clock of this host is "
                + Duration.of(Math.abs(ahead), ChronoUnit.MICROS).toSeconds()
                + " s "
                + (ahead > 0 ? "ahead of" : "behind")
                + " that of the master, "
                + status.getMaster()
                + ": correct the one that is wrong. What the job writes has the time of this"
                + " clock");
      }
    }
  }

  private long clockMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, connection.runtime().wallClock().instant());
  }

  private ClusterStatusResponseProto status(String what) throws IOException {
    return admin
        .calls()
        .ask(
            Effect.READ,
            what,
            master -> master.clusterStatus(null, EmptyProto.getDefaultInstance()));
  }

  private long valueBytesMax(ClusterStatusResponseProto status) {
    return status.getServersList().stream()
        .filter(ServerStatusProto::hasValueBytesMax)
        .mapToLong(ServerStatusProto::getValueBytesMax)
        .min()
        .orElse(Math.min(connection.valueBytesMax(), MemoryPlan.VALUE_BYTES_MOST));
  }

  /**
   * Checks that tablet servers have room to remember the tasks of a job that writes to live tables.
   * It can only be estimated; servers of an earlier version do not say what they have.
   *
   * @param tables that each of the tasks writes to
   * @throws SteleException REFUSED if a server has too little
   */
  public void requireRoomForTasks(Collection<TableId> tables, TaskRoom.Tasks tasks)
      throws IOException {
    Map<String, Long> tablets = new HashMap<>(); // By server.
    for (TableId table : tables) {
      for (TabletRecord record : connection.records().readAll(table)) {
        record.location().ifPresent(at -> tablets.merge(at.server().toString(), 1L, Long::sum));
      }
    }
    TaskRoom.check(
        status("asking what room there is for the tasks of a job").getServersList().stream()
            .filter(ServerStatusProto::hasOperationsBytes)
            .filter(server -> tablets.containsKey(server.getServerId()))
            .map(
                server ->
                    new TaskRoom.Server(
                        server.getServerId(),
                        tablets.getOrDefault(server.getServerId(), 0L),
                        server.getOperationsBytes()))
            .toList(),
        tasks);
  }

  /** Random numbers. */
  public RandomGenerator random() {
    return connection.runtime().random();
  }
}
