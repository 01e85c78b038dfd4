package io.stele.sim;

import io.stele.config.MemoryPlan;
import io.stele.files.HdfsClientDefaults;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What the processes of a {@link MiniStele} share: a file system and a lock service. Each process
 * has its own view of them, so that it can die alone.
 */
public interface Site {
  /** The file system as a new process sees it. */
  FileSystem mount() throws IOException;

  /** A new process's session with the lock service. */
  LockService connect() throws IOException;

  /** The process that had {@code view} dies. */
  void kill(FileSystem view, RandomGenerator random);

  /** All in memory. */
  static Site inMemory() {
    return inMemory(new CrashableDisk(), new MemoryLockStore());
  }

  /** In memory that the caller has a hand on. */
  static Site inMemory(CrashableDisk disk, MemoryLockStore store) {
    return new Site() {
      @Override
      public FileSystem mount() {
        return disk.mount();
      }

      @Override
      public LockService connect() {
        return store.connect();
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        disk.kill((CrashableFileSystem) view, random);
      }
    };
  }

  /**
   * A Hadoop file system and ZooKeeper. Each process has a client of its own for both.
   *
   * @param conf Hadoop's
   * @param root on the file system meant
   * @param quorum of ZooKeeper: host:port, separated by commas
   */
  static Site of(
      Configuration conf, Path root, String quorum, String cluster, Duration sessionTimeout) {
    Configuration servers = new Configuration(conf); // As a tablet server has it.
    HdfsClientDefaults.writeInLargeSteps(servers, MemoryPlan.STREAM_BYTES_MOST);
    return new Site() {
      @Override
      public FileSystem mount() throws IOException {
        return FileSystem.newInstance(root.toUri(), servers);
      }

      @Override
      public LockService connect() throws IOException {
        return CuratorLockService.connect(SystemRuntime.INSTANCE, quorum, cluster, sessionTimeout);
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        // Left open, as a dead process leaves it: closing would complete its files.
      }
    };
  }
}
