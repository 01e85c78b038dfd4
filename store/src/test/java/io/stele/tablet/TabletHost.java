package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockService;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogOptions;
import io.stele.log.WholeFence;
import io.stele.metadata.Assignment;
import io.stele.metadata.Layout;
import io.stele.metadata.MemoryRecords;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.MemoryLockStore;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.tabletserver.BareServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * A cluster for tests of tablets, without network, schedule and master: a disk, records, and one
 * server process after the other, each of which has the one before fenced and loads its tablets
 * under the next epoch. Servers load and split by the tablet server's own classes.
 */
final class TabletHost {
  static final Path ROOT = new Path("/stele");

  /** A tablet's place in METADATA. */
  final class Stored {
    private final TabletId id;

    private Stored(TabletId id) {
      this.id = id;
    }

    TabletId id() {
      return id;
    }

    /** Its record as it is now. */
    TabletRecord record() throws IOException {
      return records.reader().readAll(id.table()).stream()
          .filter(record -> record.id().equals(id))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("tablet " + id + " was split"));
    }

    /** Gives its table another schema. */
    void alter(TableSchema schema) {
      try {
        schemas.alter(schemas.table(id.table()).orElseThrow(), schema);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    /** Takes it away from whoever has it, as the master does. */
    TabletRecord release() throws IOException {
      return TabletHost.this.release(record());
    }
  }

  final CrashableDisk disk = new CrashableDisk();
  final AtomicLong nowMicros = new AtomicLong(1_000_000);
  final AtomicLong passedMicros = new AtomicLong();
  final Map<TabletId, Stored> tablets = new LinkedHashMap<>();
  TabletOptions options = UntimedPages.DEFAULT;
  LogOptions logOptions = LogOptions.DEFAULT.withRetries(4, Duration.ZERO);
  int cacheBytes = 8 << 10;
  int offHeapBytes = 4 << 10;
  private final ProcessRuntime runtime = new Clocked();
  private final LockService locks = new MemoryLockStore().connect();
  private final MemoryRecords metadata = new MemoryRecords(runtime, locks);
  private final TabletRecords records = metadata.records();
  private final Schemas schemas = new Schemas(runtime, locks);
  private final Layout layout = new Layout(ROOT, "test");
  private int servers;

  /** The real runtime on the test's wall clock, with names that are the same in every run. */
  private final class Clocked extends ForwardingRuntime {
    private final RandomGenerator names = new Random(1);

    @Override
    public long nanoTime() {
      return super.nanoTime() + passedMicros.get() * 1000;
    }

    @Override
    public InstantSource wallClock() {
      return () -> Instant.ofEpochSecond(0, nowMicros.get() * 1000);
    }

    @Override
    public RandomGenerator random() {
      return names;
    }
  }

  /** Adds the record of a new tablet, which is all of a new table. */
  Stored add(TabletSpec spec) {
    try {
      TableId id = schemas.nextId();
      assertThat(id).isEqualTo(spec.id().table());
      schemas.create(id, spec.schema(), List.of());
      StoredTable table = schemas.table(id).orElseThrow();
      schemas.advance(table, StoredTable.State.READY);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    metadata.put(metadata.fresh(spec.id(), spec.extent()));
    Stored stored = new Stored(spec.id());
    tablets.put(spec.id(), stored);
    return stored;
  }

  /** Takes all tablets of a table away from whoever has them. */
  void releaseAll(TableId table) throws IOException {
    for (TabletRecord record : records.reader().readAll(table)) {
      release(record);
    }
  }

  private TabletRecord release(TabletRecord record) throws IOException {
    return record.assignment().state() == Assignment.State.NONE
        ? record
        : records.release(record, "taken away");
  }

  /** Looks in METADATA what tablets there are, after a split. */
  private void find(TableId table) throws IOException {
    Map<TabletId, Stored> found = new LinkedHashMap<>();
    for (TabletRecord record : records.reader().readAll(table)) {
      Stored known = tablets.get(record.id());
      found.put(record.id(), known == null ? new Stored(record.id()) : known);
    }
    tablets.clear();
    tablets.putAll(found);
  }

  /** Starts a server process. */
  Server start() throws IOException {
    return new Server();
  }

  /** A process: it has the disk mounted, a log, and some tablets open. */
  final class Server implements AutoCloseable {
    final CrashableFileSystem fs = disk.mount();
    final ServerId id = new ServerId("host", 1, ++servers);
    final CommitLog log;
    private final BareServer server;

    private Server() throws IOException {
      fs.mkdirs(ROOT);
      server =
          new BareServer(
              new BareServer.World(runtime, layout, records, schemas),
              id,
              new BareServer.Storage(
                  fs, new CaffeineBlockCache(cacheBytes, offHeapBytes), logOptions, options));
      log = server.log();
    }

    /** Takes a tablet away from whoever had it, and loads it. */
    Tablet take(Stored stored) throws IOException {
      for (ServerId before : stored.record().logs()) {
        fence(fs, before);
      }
      return server.load(records.assign(stored.release(), id));
    }

    /** A tablet that it serves. */
    Optional<Tablet> find(Stored stored) {
      return server.find(stored.id());
    }

    /**
     * Splits a tablet.
     *
     * @param at the first row of the upper half; none: one that halves it, if there is one
     * @return what there is then in its place, in order: the tablet itself where it was not split,
     *     also where an exception told so
     */
    List<Stored> split(Stored stored, Optional<Bytes> at) throws IOException {
      RowRange extent = stored.record().extent();
      try {
        server.split(stored.id(), at);
      } finally {
        TabletHost.this.find(stored.id().table());
      }
      return within(extent);
    }

    /** Does a minor compaction, unless the tablet is gone. */
    boolean minor(TabletId tablet, BareServer.Work work) throws IOException {
      return server.minor(tablet, work);
    }

    /** Does a merging or major compaction, unless the tablet is gone. */
    boolean rewrite(TabletId tablet, BareServer.Work work) throws IOException {
      return server.rewrite(tablet, work);
    }

    /** How many segments the log has on disk. */
    int segments() throws IOException {
      return LogDirectory.segments(fs, layout.logs(id)).size();
    }

    @Override
    public void close() {
      server.close();
    }
  }

  /** The tablets in a range of rows, in order. */
  List<Stored> within(RowRange rows) throws IOException {
    List<Stored> within = new ArrayList<>();
    for (Stored stored : tablets.values()) {
      if (stored.record().extent().intersection(rows).isPresent()) {
        within.add(stored);
      }
    }
    return within;
  }

  /** Fences a server, as the master does. */
  void fence(CrashableFileSystem fs, ServerId server) throws IOException {
    ProcessRuntime sleepless =
        new ForwardingRuntime() {
          @Override
          public void sleep(Duration duration) {}
        };
    WholeFence.fence(WholeFence.of(sleepless, fs), layout.logs(server), layout.recovery(server));
  }

  /**
   * Deletes what no record names and no server can come to name, as the master's sweep does; then
   * there are the files that records name and no others.
   *
   * @param excused files of a present epoch that may be there although no record names them
   */
  void sweep(Set<String> excused) throws IOException {
    CrashableFileSystem fs = disk.mount();
    Set<String> named = new LinkedHashSet<>();
    Set<String> dropped = new LinkedHashSet<>();
    for (Stored stored : tablets.values()) {
      stored.record().files().forEach(file -> named.add(file.path()));
      dropped.addAll(stored.record().dropped().keySet());
    }
    Set<String> found = new LinkedHashSet<>();
    for (FileStatus table : list(fs, new Path(ROOT, "tables"))) {
      for (FileStatus tablet : list(fs, table.getPath())) {
        for (FileStatus file : list(fs, tablet.getPath())) {
          String path = file.getPath().toUri().getPath().substring("/stele/".length());
          boolean unneeded =
              dropped.contains(path) || excused.contains(path) || isOrphan(file.getPath());
          if (named.contains(path) || !unneeded) {
            found.add(path);
          } else {
            fs.delete(file.getPath(), false);
          }
        }
      }
    }
    assertThat(found).as("files on disk, and those that records name").isEqualTo(named);
  }

  /** Whether no server can come to name the file: its epoch is over, or its tablet was split. */
  private boolean isOrphan(Path file) throws IOException {
    TabletId tablet =
        new TabletId(
            new TableId(file.getParent().getParent().getName()), file.getParent().getName());
    Stored stored = tablets.get(tablet);
    long epoch = Long.parseLong(file.getName().replaceFirst("-.*", ""));
    return stored == null || epoch < stored.record().assignment().epoch();
  }

  private static List<FileStatus> list(CrashableFileSystem fs, Path directory) throws IOException {
    try {
      return List.of(fs.listStatus(directory));
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }
}
