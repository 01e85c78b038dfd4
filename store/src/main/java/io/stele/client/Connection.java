package io.stele.client;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.metadata.Operations;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.wire.DataClient;
import io.stele.wire.DataPlane;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;

/**
 * What the tables of one {@link Stele} share: the transport, the lock service, what is known of
 * tablets, and the numbering of operations.
 *
 * <p>Safe for use by any number of threads.
 */
final class Connection implements AutoCloseable {
  private final Configuration conf;
  private final LockService locks;
  private final TabletAccess access;
  private final Tablets tablets;
  private final TabletRecords records;
  private final Schemas schemas;
  private final ThreadPoolExecutor schemaReader;
  private final RandomGenerator random;
  private final Duration timeout;
  private final List<Runnable> own;

  /**
   * A connection over what is given.
   *
   * @param conf checked already
   * @param own what is closed with this
   */
  Connection(
      Configuration conf,
      LockService locks,
      DataPlane plane,
      RandomGenerator random,
      List<Runnable> own) {
    this.conf = conf;
    this.locks = locks;
    this.random = random;
    this.own = own;
    this.timeout = Keys.CLIENT_TIMEOUT.in(conf);
    this.access = new TabletAccess(locks, plane, random);
    this.tablets = Tablets.of(access, plane);
    this.records = new TabletRecords(locks, access, timeout, InstantSource.system(), random);
    this.schemas = new Schemas(locks);
    this.schemaReader =
        new ThreadPoolExecutor(
            1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Connection::daemon);
    this.schemaReader.allowCoreThreadTimeOut(true);
  }

  static Connection open(Configuration conf) throws IOException {
    ClusterConfig cluster = ClusterConfig.of(conf);
    LockService locks =
        CuratorLockService.connect(
            cluster.zookeeperQuorum(), cluster.name(), cluster.sessionTimeout());
    DataClient plane = new DataClient(DataClient.Options.DEFAULT);
    return new Connection(
        new Configuration(conf),
        locks,
        plane,
        new SecureRandom(),
        List.of(plane::close, locks::close));
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "stele-schema-reader");
    thread.setDaemon(true);
    return thread;
  }

  Configuration conf() {
    return conf;
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

  Operations operations() {
    return access.operations();
  }

  RandomGenerator random() {
    return random;
  }

  Duration timeout() {
    return timeout;
  }

  long bufferBytes() {
    return Keys.CLIENT_BUFFER_BYTES.in(conf);
  }

  ExecutorService schemaReader() {
    return schemaReader;
  }

  Table table(String name) throws IOException {
    StoredTable stored = schemas.require(name);
    TableRef ref = new TableRef(stored.id(), name, timeout);
    SchemaCheck check =
        new SchemaCheck(
            stored.schema(), () -> schema(ref), schemaReader, Keys.VALUE_BYTES_MAX.in(conf));
    return new Table(this, ref, check);
  }

  private TableSchema schema(TableRef ref) throws IOException {
    return schemas
        .table(ref.id())
        .map(StoredTable::schema)
        .orElseThrow(
            () ->
                SteleException.notFound(
                    "table " + ref.name() + " is gone: it was dropped after it was opened"));
  }

  /** The tablets of a table as METADATA has them, their sizes as their servers say. */
  List<TabletInfo> tablets(TableRef ref) throws IOException {
    List<TabletRecord> all = records.readAll(ref.id());
    for (int i = 0; i < 10 && !TabletRecords.tile(all); i++) { // Read while a tablet was split.
      all = records.readAll(ref.id());
    }
    if (!TabletRecords.tile(all)) {
      throw SteleException.retryLater(
          "the tablets of table " + ref.name() + " change faster than they can be read: try later");
    }
    Set<ServerId> servers = new TreeSet<>();
    all.forEach(record -> record.location().ifPresent(at -> servers.add(at.server())));
    Map<TabletId, Long> sizes = new TabletSizes(conf, locks).of(servers);
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

  @Override
  public void close() {
    access.close();
    schemaReader.shutdownNow();
    own.forEach(Runnable::run);
  }
}
