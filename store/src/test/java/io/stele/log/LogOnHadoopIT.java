package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.appended;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Durability;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.Task;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HdfsBlockLocation;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.viewfs.ConfigUtil;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNodeFaultInjector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commit log on HDFS and on the local file system. */
@Timeout(300)
class LogOnHadoopIT {
  private static final LogOptions OPTIONS =
      LogOptions.DEFAULT.withRetries(5, Duration.ofMillis(10));

  @TempDir static File scratch;
  private static MiniDFSCluster cluster;

  private final CompletableFuture<IOException> failure = new CompletableFuture<>();

  @BeforeAll
  static void start() throws IOException {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.getPath());
    conf.set("dfs.client.block.write.replace-datanode-on-failure.policy", "NEVER");
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(3).build();
    cluster.waitActive();
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.shutdown(true);
    }
  }

  /** A client of its own, as another process has. */
  private static FileSystem client() throws IOException {
    return FileSystem.newInstance(cluster.getURI(), cluster.getConfiguration(0));
  }

  /** A log whose second segment stands by, so that it makes none when a test begins to fence. */
  private CommitLog open(FileSystem fs, Path directory) throws Exception {
    LogDirectory.create(fs, directory);
    CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, directory, SERVER, TabletKind.USER),
            OPTIONS,
            failure::complete);
    log.awaitStandby();
    return log;
  }

  @Test
  void aZombieIsFencedAndWhatItHadAcknowledgedStays() throws Exception {
    Path logs = new Path("/zombie/logs/" + SERVER);
    Path recovery = new Path("/zombie/recovery/" + SERVER);
    try (FileSystem zombie = client();
        FileSystem master = client()) {
      CommitLog log = open(zombie, logs);
      List<LogRecord> acknowledged = appended(log, 20, 1000);
      assertThat(WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, master), logs, recovery))
          .contains(recovery);
      Path segment = new Path(recovery, "user-1.log");
      assertThat(((DistributedFileSystem) master).isFileClosed(segment)).isTrue();
      List<LogRecord> read = all(WholeLog.read(master, recovery, TabletKind.USER));
      assertThat(read).isEqualTo(acknowledged);

      assertThatThrownBy(() -> log.append(record(TABLET, 21, 1000)).get(120, TimeUnit.SECONDS))
          .cause()
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> // It may have found out already, when it made another segment to stand by.
              assertThat(e.code())
                      .isIn(SteleException.Code.OUTCOME_UNKNOWN, SteleException.Code.RETRY_LATER));
      assertThat(failure).isDone();
      assertThat(master.exists(logs)).isFalse();
      assertThat(all(WholeLog.read(master, recovery, TabletKind.USER))).isEqualTo(read);
      log.close();
    }
  }

  @Test
  void theOpenSegmentOfAnEndedProcessIsCopiedAndHasWhatWasAcknowledged() throws Exception {
    Path logs = new Path("/ended/logs/" + SERVER);
    Path recovery = new Path("/ended/recovery/" + SERVER);
    try (FileSystem server = client();
        FileSystem master = client()) {
      CommitLog log = open(server, logs);
      List<LogRecord> acknowledged = appended(log, 20, 10_000);
      LogFence fence = WholeFence.of(SystemRuntime.INSTANCE, master);
      fence.close(fence.rename(logs, recovery).orElseThrow(), LogOwner.ENDED, () -> {});
      // The writer here lives on: it may close the segment that stood by, which is listed then.
      Segment first = FencedLog.segments(master, recovery, TabletKind.USER).get(0);
      assertThat(first.path().getParent().getName()).startsWith("copy.");
      assertThat(all(WholeLog.readFenced(master, recovery, TabletKind.USER)))
          .isEqualTo(acknowledged);
      log.close();
    }
  }

  @Test
  void aZombieBehindAMountTableIsFencedToo() throws Exception {
    Configuration views = new Configuration(cluster.getConfiguration(0));
    ConfigUtil.addLink(
        views, "view", "/mounted", URI.create(cluster.getFileSystem().getUri() + "/view"));
    ConfigUtil.addLink(views, "view", "/other", URI.create(scratch.toURI().toString()));
    cluster.getFileSystem().mkdirs(new Path("/view"));
    Path logs = new Path("viewfs://view/mounted/logs/" + SERVER);
    Path recovery = new Path("viewfs://view/mounted/recovery/" + SERVER);
    try (FileSystem zombie = FileSystem.newInstance(logs.toUri(), views);
        FileSystem master = FileSystem.newInstance(logs.toUri(), views)) {
      CommitLog log = open(zombie, logs);
      log.append(record(TABLET, 1, 1000)).get();
      assertThat(WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, master), logs, recovery))
          .contains(recovery);
      try (FileSystem hdfs = client()) {
        assertThat(
                ((DistributedFileSystem) hdfs)
                    .isFileClosed(new Path("/view/recovery/" + SERVER + "/user-1.log")))
            .isTrue();
      }
      assertThatThrownBy(() -> log.append(record(TABLET, 2, 1000)).get(120, TimeUnit.SECONDS))
          .isNotNull();
      assertThat(all(WholeLog.readFenced(master, recovery, TabletKind.USER))).hasSize(1);
      log.close();
    }
  }

  @Test
  void aZombieThatWritesMeanwhileIsReadUpToItsLastAcknowledgement() throws Exception {
    Path logs = new Path("/busy/logs/" + SERVER);
    Path recovery = new Path("/busy/recovery/" + SERVER);
    try (FileSystem zombie = client();
        FileSystem master = client()) {
      CommitLog log = open(zombie, logs);
      List<CompletableFuture<Void>> outcomes = new ArrayList<>();
      Thread writer =
          new Thread(
              () -> {
                for (int i = 1; !failure.isDone() && i < 1_000_000; i++) {
                  CompletableFuture<Void> outcome = log.append(record(TABLET, i, 1000));
                  outcomes.add(outcome);
                  outcome.handle((done, failed) -> true).join();
                }
              });
      writer.start();
      while (log.statistics().records() < 10) {
        Thread.onSpinWait();
      }
      WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, master), logs, recovery);
      List<LogRecord> read = replayed(master, recovery);
      writer.join();
      log.close();
      long acknowledged = outcomes.stream().filter(o -> !o.isCompletedExceptionally()).count();
      assertThat(read).hasSizeGreaterThanOrEqualTo((int) acknowledged);
      for (int i = 0; i < read.size(); i++) {
        assertThat(read.get(i)).isEqualTo(record(TABLET, i + 1, 1000));
      }
    }
  }

  @Test
  void theLogGoesOnWhenADataNodeDies() throws Exception {
    Path logs = new Path("/datanode/logs/" + SERVER);
    try (FileSystem fs = client()) {
      CommitLog log = open(fs, logs);
      log.append(record(TABLET, 1, 1000)).get();
      MiniDFSCluster.DataNodeProperties stopped = cluster.stopDataNode(0);
      try {
        for (int i = 2; i <= 50; i++) {
          Durability durability = i % 10 == 0 ? Durability.HSYNC : Durability.HFLUSH;
          log.append(record(TABLET, i, 1000), durability, false).get();
        }
      } finally {
        cluster.restartDataNode(stopped);
        cluster.waitActive();
      }
      log.close();
      assertThat(replayed(fs, logs)).hasSize(50).last().isEqualTo(record(TABLET, 50, 1000));
    }
  }

  /** Keeps acknowledgements of one block's packets back, on every DataNode. */
  private static final class SlowBlock extends DataNodeFaultInjector {
    private final String block;
    private final CountDownLatch goOn = new CountDownLatch(1);

    SlowBlock(FileSystem fs, Path file) throws IOException {
      BlockLocation location = fs.getFileBlockLocations(file, 0, 1)[0];
      block = ((HdfsBlockLocation) location).getLocatedBlock().getBlock().getBlockName();
    }

    @Override
    public void delaySendingAckToUpstream(String upstream) {
      if (Thread.currentThread().getName().contains(block)) {
        try {
          goOn.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt(); // The block is being recovered.
        }
      }
    }
  }

  @Test
  void aSlowPipelineIsLeftForTheOneThatStandsBy() throws Exception {
    Path logs = new Path("/slow/logs/" + SERVER);
    DataNodeFaultInjector usual = DataNodeFaultInjector.get();
    try (FileSystem fs = client()) {
      CommitLog log = open(fs, logs);
      log.awaitStandby();
      log.append(record(TABLET, 1, 1000)).get();
      SlowBlock slow = new SlowBlock(fs, new Path(logs, "user-1.log"));
      try {
        DataNodeFaultInjector.set(slow);
        for (int i = 2; i <= 20; i++) {
          log.append(record(TABLET, i, 1000)).get();
        }
        assertThat(log.statistics().switchOvers()).isPositive();
        // Not always the second: one that begins on the same node as the first is dropped.
        Path next = LogDirectory.segments(fs, logs).get(1).path();
        assertThat(all(LogReader.open(fs, next))).first().isEqualTo(record(TABLET, 2, 1000));
      } finally {
        slow.goOn.countDown();
        DataNodeFaultInjector.set(usual);
      }
      log.awaitStandby(); // The slow one was ended, and another made.
      log.append(record(TABLET, 21, 1000), Durability.HSYNC, false).get();
      log.close();
      assertThat(replayed(fs, logs)).hasSize(21).last().isEqualTo(record(TABLET, 21, 1000));
      for (Task task : log.tasks()) {
        task.ended().join();
      }
    }
  }

  @Test
  void aZombieWhosePipelineIsSlowIsFencedInBothOfItsSegments() throws Exception {
    Path logs = new Path("/slowzombie/logs/" + SERVER);
    Path recovery = new Path("/slowzombie/recovery/" + SERVER);
    DataNodeFaultInjector usual = DataNodeFaultInjector.get();
    try (FileSystem zombie = client();
        FileSystem master = client()) {
      CommitLog log = open(zombie, logs);
      log.awaitStandby();
      log.append(record(TABLET, 1, 1000)).get();
      SlowBlock slow = new SlowBlock(zombie, new Path(logs, "user-1.log"));
      try {
        DataNodeFaultInjector.set(slow);
        log.append(record(TABLET, 2, 1000)).get(); // Through the second, while the first is slow.
        WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, master), logs, recovery);
        List<LogRecord> read = replayed(master, recovery);
        assertThat(read).containsExactly(record(TABLET, 1, 1000), record(TABLET, 2, 1000));
        assertThatThrownBy(() -> log.append(record(TABLET, 3, 1000)).get(120, TimeUnit.SECONDS))
            .cause()
            .isInstanceOfSatisfying(
                SteleException.class,
                e -> // It may have found out already, when it made another segment to stand by.
                assertThat(e.code())
                        .isIn(
                            SteleException.Code.OUTCOME_UNKNOWN, SteleException.Code.RETRY_LATER));
        assertThat(failure.get()).isNotNull();
        slow.goOn.countDown();
        log.close();
        assertThat(replayed(master, recovery)).isEqualTo(read);
      } finally {
        slow.goOn.countDown();
        DataNodeFaultInjector.set(usual);
      }
    }
  }

  @Test
  void theLocalFileSystemKeepsALogThroughBothOfItsFaces(@TempDir File directory) throws Exception {
    LocalFileSystem local = FileSystem.newInstanceLocal(new Configuration());
    Path logs = new Path(directory.toURI().toString(), "logs/" + SERVER);
    CommitLog log = open(local, logs);
    log.append(record(TABLET, 1, 1000)).get();
    // Visible to other processes before the file is closed, through either face.
    assertThat(all(WholeLog.read(local, logs, TabletKind.USER))).hasSize(1);
    assertThat(all(WholeLog.read(local.getRawFileSystem(), logs, TabletKind.USER))).hasSize(1);
    log.append(record(TABLET, 2, 1000), Durability.HSYNC, false).get();
    Path recovery = new Path(directory.toURI().toString(), "recovery/" + SERVER);
    assertThat(WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, local), logs, recovery))
        .contains(recovery);
    assertThat(all(WholeLog.read(local, recovery, TabletKind.USER))).hasSize(2);
    // No leases here: an open stream goes on, but no new segment can be begun.
    log.roll();
    assertThatThrownBy(() -> appendUntilFailure(log)).isInstanceOf(Exception.class);
    assertThat(failure.get(60, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
    assertThat(local.exists(logs)).isFalse();
    log.close();
    local.close();
  }

  private static void appendUntilFailure(CommitLog log) throws Exception {
    for (int i = 3; i < 100_000; i++) {
      log.append(record(TABLET, i, 1000)).get(60, TimeUnit.SECONDS);
    }
  }
}
