package io.stele.tabletserver;

import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.ServerClock;
import io.stele.runtime.WorkerPool;
import io.stele.sim.MemoryLockStore;
import io.stele.sstable.BlockCache;
import io.stele.sstable.OpenSSTables;
import io.stele.tablet.CompactionCounters;
import io.stele.tablet.CompactionPace;
import io.stele.tablet.OperationBudget;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletOptions;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;

/**
 * What loads, splits and unloads users' tablets in a tablet server, without network, lock, threads
 * and schedule: for tests of tablets that come, go and split.
 */
public final class BareServer implements AutoCloseable {
  private static final int REPLAY_BYTES = 1 << 20;
  private static final long MEMTABLE_BYTES_MAX = 1L << 40;

  /**
   * What servers have in common.
   *
   * @param runtime clocks and threads
   * @param layout of the disk
   * @param records of tablets
   * @param schemas of tables
   */
  public record World(
      ProcessRuntime runtime, Layout layout, TabletRecords records, Schemas schemas) {}

  /**
   * How a server keeps its tablets.
   *
   * @param fs the disk as it sees it
   * @param cache for blocks
   * @param log options of its log
   * @param tablets options of its tablets
   */
  public record Storage(FileSystem fs, BlockCache cache, LogOptions log, TabletOptions tablets) {}

  /** Some work on a tablet. */
  public interface Work {
    /** Does it; whether there was anything to do. */
    boolean run() throws IOException;
  }

  private final CommitLog log;
  private final ServerContext context;
  private final TabletLoader loader;
  private final Splitter splitter;

  /** Starts a server of that name, whose log directory it makes. */
  public BareServer(World world, ServerId id, Storage storage) throws IOException {
    ProcessRuntime runtime = world.runtime();
    ServerLife life = new ServerLife(runtime, why -> {});
    LogDirectory.create(storage.fs(), world.layout().logs(id));
    log =
        CommitLog.open(
            runtime,
            new LogLocation(storage.fs(), world.layout().logs(id), id, TabletKind.USER),
            storage.log(),
            failure -> life.abort("the log has failed: " + failure));
    WorkerPool none = runtime.pool("none", 1);
    KindResources resources =
        new KindResources(
            TabletKind.USER,
            log,
            new MemtableBudget(runtime, MEMTABLE_BYTES_MAX),
            OperationBudget.unlimited(),
            new CompactionCounters(),
            new KindResources.Threads(
                new KindResources.Threads.Handlers(none, none, none),
                none,
                none,
                none,
                none,
                none));
    context =
        new ServerContext(
            runtime,
            id,
            life,
            world.records(),
            new HostedTablets(runtime),
            new ServerResources(resources, resources, none));
    loader =
        new TabletLoader(
            context,
            world.records().reader(),
            world.schemas(),
            new TabletStorage(
                ServerClock.trusting(runtime.wallClock()),
                storage.fs(),
                world.layout(),
                new OpenSSTables(runtime, storage.fs(), storage.cache()),
                CompactionPace.UNLIMITED,
                storage.tablets(),
                MemoryRoom.unlimited()),
            REPLAY_BYTES,
            new LockServiceCopy(
                runtime,
                storage.fs(),
                world.layout(),
                new MemoryLockStore().connect(Runnable::run)));
    splitter = new Splitter(context, loader, new NoNews());
  }

  /** Its commit log. */
  public CommitLog log() {
    return log;
  }

  /** Whether it has had to end. */
  public boolean isOver() {
    return context.life().isOver();
  }

  /** Loads a tablet that is assigned to it. */
  public Tablet load(TabletRecord assigned) throws IOException {
    loader.load(
        assigned.id(), assigned.row(), assigned.assignment().epoch(), context.runtime().nanoTime());
    return find(assigned.id()).orElseThrow();
  }

  /** A tablet that it serves. */
  public Optional<Tablet> find(TabletId id) {
    return context.tablets().find(id).map(HostedTablet::tablet);
  }

  /**
   * Splits a tablet when its compactions have ended.
   *
   * @param at the first row of the upper half; none: the row that halves it, if there is one
   */
  public void split(TabletId id, Optional<Bytes> at) throws IOException {
    HostedTablet hosted = context.tablets().find(id).orElseThrow();
    hosted.awaitRewrites();
    try {
      if (at.isPresent()) {
        splitter.split(hosted, at.get());
      } else {
        splitter.split(hosted);
      }
    } finally {
      hosted.rewrites().release(HostedTablet.REWRITES_MAX);
    }
  }

  /** Does the work of a minor compaction, unless the tablet is gone. */
  public boolean minor(TabletId id, Work work) throws IOException {
    Optional<HostedTablet> hosted = context.tablets().find(id);
    if (hosted.isEmpty()) {
      return false;
    }
    hosted.get().awaitMinor();
    try {
      return context.tablets().has(hosted.get()) && work.run();
    } finally {
      hosted.get().minor().release(1);
    }
  }

  /** Does the work of a merging or major compaction, unless the tablet is gone. */
  public boolean rewrite(TabletId id, Work work) throws IOException {
    Optional<HostedTablet> hosted = context.tablets().find(id);
    if (hosted.isEmpty()) {
      return false;
    }
    hosted.get().awaitRewrite();
    try {
      return context.tablets().has(hosted.get()) && work.run();
    } finally {
      hosted.get().rewrites().release(1);
    }
  }

  /** The names of the tablets that it serves. */
  public List<TabletId> tablets() {
    return context.tablets().all().stream().map(HostedTablet::id).toList();
  }

  @Override
  public void close() {
    context.life().end("closed");
    context.tablets().all().forEach(hosted -> hosted.tablet().close());
    log.close();
  }
}
