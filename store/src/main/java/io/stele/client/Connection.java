package io.stele.client;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletEvents;
import io.stele.metadata.TabletLocation;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.FreshRead;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SharedResources;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.ValuesInUse;
import io.stele.wire.ControlPlane;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What the tables of one {@link Stele} share: the transport, the lock service, the known tablet
 * locations, and what sends mutations.
 *
 * <p>Safe for use by any number of threads.
 */
final class Connection implements AutoCloseable {
  private static final String NOBODY_CALLS = "localhost"; // A client is not reached by others.

  /**
   * One session for each cluster, however many connections there are. ZooKeeper limits sessions by
   * host ({@code maxClientCnxns}), and a job has many tasks on each host, each of which may read
   * and write tables. Clients hold no locks, so they can share a session. To open and to close one
   * takes ZooKeeper's client a tenth of a second each, and programs often open one connection after
   * another, so a session outlives the last for a while.
   */
  private static final SharedResources<ClusterConfig, LockService> SESSIONS =
      new SharedResources<>(SystemRuntime.INSTANCE, Duration.ofSeconds(1));

  /**
   * The batcher of a table that nobody writes to any more is dropped. A later one has other names
   * for operations, so none of the former may still be on its way.
   */
  private static final Duration BATCHER_UNUSED_MAX = Duration.ofHours(1);

  private final Configuration conf;
  private final Waiting waiting;
  private final ProcessRuntime runtime;
  private final LockService locks;
  private final Transport transport;
  private final TabletAccess access;
  private final Tablets tablets;
  private final TabletRecordReader records;
  private final Schemas schemas;
  private final JobNodes jobNodes;
  private final LockReads lockReads;
  private final AsyncWrites asyncWrites = new AsyncWrites();
  private final ValuesInUse<TableId, Batcher> batchers;
  private final Duration timeout;
  private final Optional<FileSystem> files;
  private final List<Runnable> own;

  /**
   * A connection over what is given.
   *
   * @param conf checked already
   * @param files the file system with the cluster's root directory; empty: the one that {@code
   *     conf} names
   * @param own the parts that are closed with this
   */
  Connection(
      Configuration conf,
      Waiting waiting,
      LockService locks,
      Transport transport,
      Optional<FileSystem> files,
      List<Runnable> own) {
    this.files = files;
    this.conf = conf;
    this.waiting = waiting;
    this.runtime = waiting.runtime();
    this.locks = locks;
    this.transport = transport;
    this.own = own;
    this.timeout = Keys.CLIENT_TIMEOUT.in(conf);
    this.access = new TabletAccess(runtime, locks, transport.dataPlane(), Keys.LEASE.in(conf));
    this.tablets = Tablets.of(access);
    this.batchers =
        new ValuesInUse<>(
            runtime, BATCHER_UNUSED_MAX, id -> new Batcher(runtime, tablets, id), Batcher::isIdle);
    this.records = new TabletRecords(runtime, locks, access, timeout).reader();
    this.schemas = new Schemas(runtime, locks);
    this.jobNodes = new JobNodes(runtime, locks);
    this.lockReads = new LockReads(runtime);
  }

  static Connection open(
      Configuration conf, Optional<Runnable> whileWaiting, Optional<Consumer<String>> teller)
      throws IOException {
    ClusterConfig cluster = ClusterConfig.of(conf);
    Configuration own = new Configuration(conf);
    ProcessRuntime runtime = SystemRuntime.INSTANCE;
    SharedResources.Share<LockService> session =
        SESSIONS.share(cluster, () -> CuratorLockService.connect(runtime, cluster));
    Transport transport;
    try {
      transport = new NetworkTransport(own, runtime, NOBODY_CALLS);
    } catch (RuntimeException | Error e) {
      session.close();
      throw e;
    }
    return new Connection(
        own,
        new Waiting(
            runtime,
            whileWaiting,
            teller.map(LongWaits::toPerson).orElseGet(() -> LongWaits.toLog(runtime))),
        session.resource(),
        transport,
        Optional.empty(),
        List.of(transport::close, session::close));
  }

  ProcessRuntime runtime() {
    return runtime;
  }

  Waiting waiting() {
    return waiting;
  }

  ControlPlane controlPlane() {
    return transport.controlPlane();
  }

  LockService locks() {
    return locks;
  }

  Tablets tablets() {
    return tablets;
  }

  Schemas schemas() {
    return schemas;
  }

  TabletRecordReader records() {
    return records;
  }

  /** The jobs, as the lock service has them. */
  JobNodes jobNodes() {
    return jobNodes;
  }

  /**
   * Rows of a table, divided where its tablets meet now. Reads METADATA once, from first to last.
   */
  List<RowRanges> dividedByTablet(TableId table, RowRanges rows) throws IOException {
    TreeSet<Bytes> starts = new TreeSet<>();
    records.readOver(table, rows.span()).forEach(record -> starts.add(record.extent().start()));
    return rows.dividedAt(starts);
  }

  /** The file system with the cluster's files; nothing else is read from it. */
  FileSystem files() throws IOException {
    return files.isPresent() ? files.get() : new Path(Keys.ROOT_DIR.in(conf)).getFileSystem(conf);
  }

  /** How many replicas must have what is written before it counts. */
  int replicasMin() {
    return Keys.LOG_REPLICAS_MIN.in(conf);
  }

  /** The cluster's root directory. */
  Path root() throws IOException {
    return files().makeQualified(new Path(Keys.ROOT_DIR.in(conf)));
  }

  /** Reads from the lock service, for no longer than an operation may take. */
  <T> T readLocks(String what, IoCallable<T> read) throws IOException {
    return waiting.await(lockReads.readAsync(what, Deadline.after(runtime, timeout), read), what);
  }

  LockReads lockReads() {
    return lockReads;
  }

  /** The bound on writes that their callers do not wait for. */
  AsyncWrites asyncWrites() {
    return asyncWrites;
  }

  Duration timeout() {
    return timeout;
  }

  long bufferBytes() {
    return Keys.CLIENT_BUFFER_BYTES.in(conf);
  }

  /** What sends the mutations of a table. */
  Batcher batcher(TableRef table) {
    return batchers.get(table.id());
  }

  Table table(String name) throws IOException {
    StoredTable stored = readLocks("looking up table " + name, () -> schemas.require(name));
    TableRef ref = new TableRef(waiting, stored.id(), name, timeout);
    FreshRead<TableSchema> schema = new FreshRead<>(runtime, () -> schema(ref));
    SchemaCheck check =
        new SchemaCheck(
            stored.schema(), deadline -> readSchema(name, schema, deadline), valueBytesMax());
    return new Table(this, ref, check);
  }

  private CompletableFuture<TableSchema> readSchema(
      String table, FreshRead<TableSchema> schema, Deadline deadline) {
    long begun = runtime.nanoTime();
    return lockReads.readAsync(
        "reading the schema of table " + table, deadline, () -> schema.since(begun));
  }

  /** If no limit is set, only the servers know theirs. */
  long valueBytesMax() {
    long set = Keys.VALUE_BYTES_MAX.in(conf);
    return set > 0 ? set : Long.MAX_VALUE;
  }

  private TableSchema schema(TableRef ref) throws IOException {
    return schemas
        .table(ref.id())
        .map(StoredTable::schema)
        .orElseThrow(
            () ->
                SteleException.notFound(
                    "table "
                        + ref.name()
                        + " does not exist any more: it was dropped after it was opened"));
  }

  /**
   * The tablet with {@code row}, as this client knows it, or else, once it is served, as METADATA
   * has it.
   *
   * @param what for messages
   */
  TabletLocation locate(TableId table, Bytes row, String what) throws IOException {
    return Futures.await(
        runtime, access.locator().locate(table, row, Deadline.after(runtime, timeout)), what);
  }

  /** The tablet was not there: the next lookup asks METADATA. */
  void forget(TabletLocation location) {
    access.locator().forget(location);
  }

  /** As {@link #locate}, as METADATA has it now. */
  TabletLocation locateAgain(TableId table, Bytes row, String what) throws IOException {
    access.locator().forget(table);
    return locate(table, row, what);
  }

  /** What happened to tablets. */
  TabletEvents events() {
    return new TabletEvents(runtime, locks, access, timeout);
  }

  /** The tablets of a table as METADATA has them, their sizes as their servers say. */
  List<TabletInfo> tablets(TableRef ref) throws IOException {
    List<TabletRecord> all = tabletRecords(ref.id(), ref.name());
    Set<ServerId> servers = new TreeSet<>();
    all.forEach(record -> record.location().ifPresent(at -> servers.add(at.server())));
    Map<TabletId, Long> sizes = new TabletSizes(this).of(servers);
    return all.stream()
        .map(
            record ->
                new TabletInfo(
                    record.id(),
                    record.extent(),
                    record.location().map(TabletLocation::server),
                    sizes.getOrDefault(record.id(), record.fileBytes()),
                    record.files().size()))
        .toList();
  }

  /**
   * The records of a table's tablets, which cover all its rows.
   *
   * @param name of the table, for people
   * @throws SteleException RETRY_LATER if they change faster than they can be read
   */
  List<TabletRecord> tabletRecords(TableId table, String name) throws IOException {
    List<TabletRecord> all = records.readAll(table);
    // They were read while a tablet was split.
    for (int i = 0; i < 10 && !TabletRecordReader.tile(all); i++) {
      all = records.readAll(table);
    }
    if (!TabletRecordReader.tile(all)) {
      throw SteleException.retryLater(
          "the tablets of table " + name + " split faster than they can be read: try again later");
    }
    return all;
  }

  @Override
  public void close() {
    access.close();
    lockReads.close();
    own.forEach(Runnable::run);
  }
}
