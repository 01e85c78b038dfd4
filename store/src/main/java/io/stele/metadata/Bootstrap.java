package io.stele.metadata;

import io.stele.files.WriteLeases;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.avro.RegistrationValue;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Prepares a cluster at its first start, and checks at every later start that root directory and
 * lock service belong together. The active master runs it. Each step is skipped if it was done
 * before, so it may stop at any point and be started again.
 */
public final class Bootstrap {
  private Bootstrap() {}

  /**
   * Steps 1 to 3: VERSION file, registration, root record.
   *
   * @throws io.stele.files.NotDurableException if a dead server's log could not be taken from it
   * @throws SteleException REFUSED if the directory is of a newer layout, belongs to another
   *     cluster, has lost its VERSION file, has data of which the lock service knows nothing, or is
   *     newer than the lock service
   */
  public static Layout begin(
      ProcessRuntime runtime,
      FileSystem fs,
      Path directory,
      LockService locks,
      TabletRecords records)
      throws IOException {
    requireVersionOrNothing(fs, directory, locks);
    Layout layout = Layout.openOrCreate(runtime, fs, directory);
    WriteLeases.in(fs, layout.root()); // Refused now, and not when the first server is fenced.
    register(fs, layout, locks);
    requireRootOrNoTables(fs, layout, locks);
    records.createRoot();
    Optional<TabletRecord> root = records.reader().readRoot();
    if (root.isPresent()) {
      new LockServiceCopy(runtime, fs, layout, locks).requireNewest(root.get());
    }
    return layout;
  }

  /** Step 4, once the root tablet is served: METADATA's first tablet. */
  public static void finish(TabletRecords records) throws IOException {
    records.createTable(TableId.METADATA, List.of());
  }

  /**
   * The cluster's root directory for a process that does not make it: a tablet server.
   *
   * @throws SteleException NOT_FOUND before the master's first start, REFUSED if lock service and
   *     directory do not belong together
   */
  public static Layout join(FileSystem fs, Path directory, LockService locks) throws IOException {
    Layout layout = Layout.open(fs, directory);
    WriteLeases.in(fs, layout.root());
    Optional<VersionedData> registered = locks.read(LockPaths.REGISTRATION);
    if (registered.isEmpty()) {
      throw SteleException.notFound(
          "the cluster is not registered in ZooKeeper: start its master, or correct"
              + " stele.cluster.name");
    }
    check(layout, registered.get());
    return layout;
  }

  /**
   * A VERSION file that is gone is not made anew: it would have another id, and what is there would
   * belong to nobody. Nor is one made where a registered cluster does not have its data.
   */
  private static void requireVersionOrNothing(FileSystem fs, Path directory, LockService locks)
      throws IOException {
    if (Layout.hasVersion(fs, directory)) {
      return;
    }
    Optional<VersionedData> node = locks.read(LockPaths.REGISTRATION);
    boolean hasRest = Layout.hasRest(fs, directory);
    if ((node.isEmpty() && !hasRest) || Layout.hasVersion(fs, directory)) {
      return; // A new cluster; or another master makes it now, and that file first.
    }
    Path root = fs.makeQualified(directory);
    Optional<RegistrationValue> registered =
        node.isEmpty() ? Optional.empty() : Optional.of(registration(node.get()));
    if (registered.isPresent() && !registered.get().getRoot().equals(root.toString())) {
      throw SteleException.refused(
          root
              + " has no VERSION file, and ZooKeeper says that this cluster has its data in "
              + registered.get().getRoot()
              + " (id "
              + registered.get().getCluster()
              + "): correct stele.root.dir or stele.cluster.name; nothing was changed");
    }
    if (!fs.exists(root) || fs.listStatus(root).length == 0) {
      throw SteleException.refused(
          root
              + " is empty, and ZooKeeper says that this cluster has its data there: see that"
              + " it is the right directory, and mounted; to begin anew, delete the cluster's node"
              + " in ZooKeeper. Nothing was changed");
    }
    Optional<String> id =
        registered.isPresent()
            ? registered.map(RegistrationValue::getCluster)
            : LockServiceCopy.clusterOf(fs, new Layout(root, "").lockService());
    throw SteleException.refused(
        new Path(root, "VERSION")
            + " is gone, but there are data beside it: put it back from the trash or from a copy of"
            + " the directory, or write it again: two lines, \"layout "
            + Layout.VERSION
            + "\" and \"cluster "
            + id.orElse("ID\", where ID is the cluster's id, which neither ZooKeeper nor a copy")
            + (id.isPresent() ? "\"" : " of its nodes has any more")
            + "; nothing was changed");
  }

  private static void register(FileSystem fs, Layout layout, LockService locks) throws IOException {
    Optional<VersionedData> registered = locks.read(LockPaths.REGISTRATION);
    if (registered.isEmpty()) {
      if (locks.read(LockPaths.ROOT).isEmpty() && layout.hasData(fs)) {
        throw SteleException.refused(
            layout.root()
                + " has data, but ZooKeeper does not know this cluster:"
                + " stele.zookeeper.quorum or stele.cluster.name is wrong, or ZooKeeper lost"
                + " its own data. Correct them, or run `stele restore-zookeeper`, or set"
                + " stele.root.dir to an empty directory");
      }
      RegistrationValue value =
          RegistrationValue.newBuilder()
              .setCluster(layout.cluster())
              .setLayout(Layout.VERSION)
              .setRoot(layout.root().toString())
              .build();
      try {
        locks.create(LockPaths.REGISTRATION, Avro.encode(value));
      } catch (SteleException e) {
        if (locks.read(LockPaths.REGISTRATION).isEmpty()) {
          throw e;
        } // Another master was faster: checked below.
      }
      registered = locks.read(LockPaths.REGISTRATION);
    }
    check(
        layout,
        registered.orElseThrow(
            () ->
                new IOException(
                    "the cluster's registration was deleted just after it was created")));
  }

  /** The root tablet is created before any table. An empty one would make all tables orphans. */
  private static void requireRootOrNoTables(FileSystem fs, Layout layout, LockService locks)
      throws IOException {
    if (locks.read(LockPaths.ROOT).isEmpty() && layout.hasTables(fs)) {
      throw SteleException.refused(
          layout.root()
              + " has tables, but ZooKeeper has lost the record of the root tablet:"
              + " run `stele restore-zookeeper`; nothing was changed");
    }
  }

  private static RegistrationValue registration(VersionedData node) throws CorruptionException {
    return Avro.decode(
        node.data(),
        RegistrationValue.class,
        "ZooKeeper node " + LockPaths.REGISTRATION,
        value -> value);
  }

  private static void check(Layout layout, VersionedData registered) throws CorruptionException {
    RegistrationValue value = registration(registered);
    if (!value.getCluster().equals(layout.cluster())) {
      throw SteleException.refused(
          "ZooKeeper says that this cluster has its data in "
              + value.getRoot()
              + " (id "
              + value.getCluster()
              + "), but "
              + layout.root()
              + " belongs to another cluster (id "
              + layout.cluster()
              + "): correct stele.root.dir or stele.cluster.name");
    }
  }
}
