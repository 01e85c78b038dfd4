package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogFence;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.LogRecord;
import io.stele.log.RecordSource;
import io.stele.memtable.MemoryAccount;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.record.ManifestEdit;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.BlockCache;
import io.stele.sstable.CaffeineBlockCache;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * What master and tablet servers do for tablets, without either: keeps their records and the disk,
 * and has one server process after the other, each with a commit log of its own, fence the one
 * before, replay its log and open the tablets under the next epoch.
 */
final class TabletHost {
  static final Path ROOT = new Path("/stele");

  /** A tablet's record, and the logs that it names. */
  static final class Stored {
    final TestManifest manifest;
    private Set<ServerId> logs = new LinkedHashSet<>();

    Stored(TabletSpec spec) {
      manifest = new TestManifest(spec);
    }

    TabletId id() {
      return manifest.record().id();
    }
  }

  final CrashableDisk disk = new CrashableDisk();
  final AtomicLong nowMicros = new AtomicLong(1_000_000);
  final Map<TabletId, Stored> tablets = new LinkedHashMap<>();
  TabletOptions options = TabletOptions.DEFAULT;
  LogOptions logOptions = LogOptions.DEFAULT.withRetries(4, Duration.ZERO);
  int cacheBytes = 8 << 10;
  int offHeapBytes = 4 << 10;
  private int servers;

  /** Adds the record of a new tablet. */
  Stored add(TabletSpec spec) {
    Stored stored = new Stored(spec);
    tablets.put(spec.id(), stored);
    return stored;
  }

  /** Starts a server process. */
  Server start() throws IOException {
    return new Server();
  }

  /** A process: it has the disk mounted, a log, and some tablets open. */
  final class Server implements AutoCloseable {
    final CrashableFileSystem fs = disk.mount();
    final ServerId id = new ServerId("host", 1, ++servers);
    final Path directory = new Path(ROOT, "logs/" + id);
    final CommitLog log;
    private final BlockCache cache = new CaffeineBlockCache(cacheBytes, offHeapBytes);
    private final List<Tablet> open = new ArrayList<>();

    private Server() throws IOException {
      fs.mkdirs(ROOT);
      LogDirectory.create(fs, directory);
      log =
          CommitLog.open(
              SystemRuntime.INSTANCE,
              new LogLocation(fs, directory, id, TabletKind.USER),
              logOptions,
              failure -> {});
    }

    /** Takes a tablet away from whoever had it, and opens it. */
    Tablet take(Stored stored) throws IOException {
      stored.manifest.reassigned();
      List<LogRecord> replay = new ArrayList<>();
      for (ServerId before : stored.logs) {
        replay.addAll(fenced(fs, before, stored.id()));
      }
      synchronized (stored) {
        stored.logs.add(id);
      }
      return open(stored, replay);
    }

    /** Opens a tablet that has all it is in files, such as a part of one that was split. */
    Tablet adopt(Stored stored) throws IOException {
      stored.logs.add(id);
      return open(stored, List.of());
    }

    private Tablet open(Stored stored, List<LogRecord> replay) throws IOException {
      Manifest manifest = stored.manifest.ofPresentEpoch();
      Tablet tablet =
          Tablet.open(
              stored.manifest.record(),
              new TabletEnvironment(
                  ForwardingRuntime.withWallClock(
                      () -> Instant.ofEpochSecond(0, nowMicros.get() * 1000)),
                  fs,
                  ROOT,
                  cache,
                  MemoryAccount.NONE,
                  TabletLog.of(log, stored.id()),
                  edit -> commit(edit, manifest, stored),
                  CompactionPace.UNLIMITED,
                  options),
              replay);
      open.add(tablet);
      return tablet;
    }

    private void commit(ManifestEdit edit, Manifest manifest, Stored stored) throws IOException {
      manifest.commit(edit);
      if (edit.coversReplay()) {
        synchronized (stored) {
          stored.logs = new LinkedHashSet<>(Set.of(id));
        }
      }
    }

    /** How many segments the log has on disk. */
    int segments() throws IOException {
      return LogDirectory.segments(fs, directory).size();
    }

    @Override
    public void close() {
      open.forEach(Tablet::close);
      log.close();
    }
  }

  /** Fences a server, as the master does, and reads what it has logged for a tablet. */
  static List<LogRecord> fenced(CrashableFileSystem fs, ServerId server, TabletId tablet)
      throws IOException {
    Path directory = new Path(ROOT, "recovery/" + server);
    ProcessRuntime sleepless =
        new ForwardingRuntime() {
          @Override
          public void sleep(Duration duration) {}
        };
    new LogFence(sleepless, fs).fence(new Path(ROOT, "logs/" + server), directory);
    List<LogRecord> records = new ArrayList<>();
    try (RecordSource source = LogDirectory.read(fs, directory, TabletKind.USER).only(tablet)) {
      for (Optional<LogRecord> next = source.next(); next.isPresent(); next = source.next()) {
        records.add(next.get());
      }
    }
    return records;
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
      stored.manifest.record().files().forEach(file -> named.add(file.path()));
      dropped.addAll(stored.manifest.dropped());
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
  private boolean isOrphan(Path file) {
    TabletId tablet =
        new TabletId(
            new TableId(file.getParent().getParent().getName()), file.getParent().getName());
    Stored stored = tablets.get(tablet);
    long epoch = Long.parseLong(file.getName().replaceFirst("-.*", ""));
    return stored == null || epoch < stored.manifest.record().epoch();
  }

  private static List<FileStatus> list(CrashableFileSystem fs, Path directory) throws IOException {
    try {
      return List.of(fs.listStatus(directory));
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }
}
