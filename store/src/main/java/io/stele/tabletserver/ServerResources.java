package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.log.CommitLog;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.model.Durability;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.tablet.CompactionCounters;
import io.stele.tablet.OperationBudget;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The logs, memory and threads of a server, separate for each kind of tablet, as a server full of
 * user data must still be able to write METADATA, or its own minor compactions could never finish.
 * Immutable.
 */
final class ServerResources {
  private final KindResources user;
  private final KindResources system;
  // METADATA's tablets wait for the root tablet, which may be waiting to be loaded here.
  private final WorkerPool rootLoader;

  ServerResources(KindResources user, KindResources system, WorkerPool rootLoader) {
    this.user = user;
    this.system = system;
    this.rootLoader = rootLoader;
  }

  /**
   * Opens the logs, and makes the rest.
   *
   * @param directory for the logs; made by the caller
   * @param life ends when a log has failed for good
   */
  static ServerResources open(
      ProcessRuntime runtime,
      FileSystem fs,
      Path directory,
      ServerId id,
      TabletServerConfig config,
      ServerLife life)
      throws IOException {
    LogOptions options =
        LogOptions.DEFAULT
            .withSegmentBytes(config.logSegmentBytes())
            .withReplicasMin(config.logReplicasMin());
    CommitLog userLog =
        CommitLog.open(
            runtime,
            new LogLocation(fs, directory, id, TabletKind.USER),
            options,
            failure -> failed(life, "user", failure));
    CommitLog systemLog;
    try {
      systemLog =
          CommitLog.open(
              runtime,
              new LogLocation(fs, directory, id, TabletKind.SYSTEM),
              options.withDurability(Durability.HSYNC),
              failure -> failed(life, "system", failure));
    } catch (IOException | RuntimeException | Error e) {
      userLog.beginToClose();
      throw e;
    }
    return new ServerResources(
        new KindResources(
            TabletKind.USER,
            userLog,
            new MemtableBudget(runtime, config.memory().memtableBytes()),
            OperationBudget.compacted(config.memory().operationsBytes()),
            new CompactionCounters(),
            KindResources.Threads.of(runtime, TabletKind.USER, config)),
        new KindResources(
            TabletKind.SYSTEM,
            systemLog,
            new MemtableBudget(runtime, config.memory().systemMemtableBytes()),
            OperationBudget.compacted(config.memory().systemOperationsBytes()),
            new CompactionCounters(),
            KindResources.Threads.of(runtime, TabletKind.SYSTEM, config)),
        runtime.pool("loader-root", 1));
  }

  private static void failed(ServerLife life, String which, IOException failure) {
    life.abort("the log of its " + which + " tablets has failed: " + failure);
  }

  /** The resources of {@code tablet}'s kind. */
  KindResources of(TabletId tablet) {
    return of(TabletKind.of(tablet));
  }

  /** The resources of {@code kind}. */
  KindResources of(TabletKind kind) {
    return switch (kind) {
      case USER -> user;
      case SYSTEM -> system;
    };
  }

  /** The resources of each kind. */
  List<KindResources> all() {
    return List.of(user, system);
  }

  /** The threads that load and unload {@code tablet}. */
  WorkerPool loaders(TabletId tablet) {
    return tablet.equals(TabletId.ROOT) ? rootLoader : of(tablet).threads().loaders();
  }

  /** Writes what waits in the logs, and ends them. */
  void closeLogs() {
    all().forEach(kind -> kind.log().close());
  }

  /** Ends the logs of a server that could not start, without waiting: nothing is in them. */
  void giveUpLogs() {
    all().forEach(kind -> kind.log().beginToClose());
  }

  /** Ends the threads. */
  void closeThreads() {
    all().forEach(kind -> kind.threads().close());
    rootLoader.close();
  }
}
