package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.TabletKind;
import io.stele.runtime.Futures;
import io.stele.runtime.ManualRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.Task;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A fence of a log that HDFS does not close at first. */
@Timeout(60)
class LogFenceTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);

  private final CrashableFileSystem fs = CrashableFileSystem.create();
  private final ManualRuntime runtime = new ManualRuntime();

  private Duration now() {
    return Duration.ofNanos(runtime.nanoTime());
  }

  /** Files are closed by calls from some time on; earlier ones do nothing for good. */
  private class LateRecovery extends FilterFileSystem implements LeaseRecoverable {
    private final Duration from;
    private final Map<Path, List<Duration>> calls = new TreeMap<>();
    private final Set<Path> closed = new TreeSet<>();

    LateRecovery(FileSystem under, Duration from) {
      super(under);
      this.from = from;
    }

    @Override
    public FileSystem getRawFileSystem() {
      return this;
    }

    void lose(Path path) {
      try {
        assertThat(fs.delete(path, true)).isTrue();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public boolean recoverLease(Path file) throws IOException {
      calls.computeIfAbsent(file, any -> new ArrayList<>()).add(now());
      if (now().compareTo(from) >= 0) {
        closed.add(file);
      }
      return isFileClosed(file);
    }

    @Override
    public boolean isFileClosed(Path file) throws IOException {
      fs.getFileStatus(file); // It must be there.
      return closed.contains(file);
    }
  }

  @BeforeEach
  void write() throws Exception {
    LogDirectory.create(fs, DIRECTORY);
    CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {});
    log.append(record(TABLET, 1, 100)).get();
    log.close();
  }

  @Test
  void aSegmentThatGoesWhileItIsClosedIsMissed() throws Exception {
    LateRecovery hdfs = new LateRecovery(fs, Duration.ofMinutes(1));
    LogFence fence = WholeFence.of(runtime, hdfs);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    Path segment = new Path(fenced, "user-1.log");
    assertThat(fs.exists(segment)).isTrue();
    fence.close(fenced, LogOwner.UNKNOWN, () -> hdfs.lose(segment));
    assertThatThrownBy(() -> all(WholeLog.readFenced(fs, fenced, TabletKind.USER)))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("user-1.log")
        .hasMessageContaining("it was there when its server was fenced");
  }

  @Test
  void aLogThatAnotherMasterHasDeletedIsNotListed() throws Exception {
    LateRecovery hdfs = new LateRecovery(fs, Duration.ofMinutes(1));
    LogFence fence = WholeFence.of(runtime, hdfs);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    assertThatThrownBy(() -> fence.close(fenced, LogOwner.UNKNOWN, () -> hdfs.lose(fenced)))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(fs.exists(fenced)).isFalse();
    assertThat(fence.rename(DIRECTORY, FENCED)).isEmpty();
  }

  @Test
  void hdfsIsAskedToCloseSegmentsBeforeAnythingElseIsDone() throws Exception {
    LateRecovery hdfs = new LateRecovery(fs, Duration.ofMinutes(1));
    LogFence fence = WholeFence.of(runtime, hdfs);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    AtomicInteger asked = new AtomicInteger();
    fence.close(fenced, LogOwner.UNKNOWN, () -> asked.set(hdfs.calls.size()));
    assertThat(asked.get()).isPositive().isEqualTo(hdfs.calls.size());
  }

  @Test
  void aSegmentThatHdfsNeverClosesIsGivenUpWhenAnOperatorAllowsIt() throws Exception {
    LateRecovery hdfs = new LateRecovery(fs, Duration.ofDays(1));
    LogFence fence = WholeFence.of(runtime, hdfs);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    assertThat(LogRepair.logs(hdfs, FENCED.getParent())).containsExactly(FENCED);
    LogRepair.Damaged open = LogRepair.damaged(hdfs, fenced, "user-1.log");
    assertThat(open.open()).isTrue();
    assertThat(open.accepted()).isFalse();

    fence.close(fenced, LogOwner.UNKNOWN, () -> accept(hdfs, fenced));

    assertThat(now()).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(3));
    assertThat(LogRepair.damaged(hdfs, fenced, "user-1.log").accepted()).isTrue();
  }

  @Test
  void aSegmentThatHdfsClosesIsReadThoughItsLossWasAllowed() throws Exception {
    LateRecovery hdfs = new LateRecovery(fs, Duration.ofSeconds(3));
    LogFence fence = WholeFence.of(runtime, hdfs);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    fence.close(fenced, LogOwner.UNKNOWN, () -> accept(hdfs, fenced));
    assertThat(LogRepair.check(hdfs, fenced)).isEmpty();
    assertThat(all(WholeLog.readFenced(fs, fenced, TabletKind.USER))).hasSize(1);
  }

  @Test
  void aSegmentThatCannotBeReadForLongHoldsUpNothingElse() throws Exception {
    byte[] bytes = LogRecords.bytes(fs, new Path(DIRECTORY, "user-1.log"));
    LogRecords.rewrite(fs, new Path(DIRECTORY, "user-2.log"), bytes);
    LogRecords.rewrite(fs, new Path(DIRECTORY, "user-3.log"), bytes);
    Simulation simulation = new Simulation(1, 1_000_000);
    SimulatedProcess master = simulation.process("master");
    CompletableFuture<Void> answer = new CompletableFuture<>();
    LateRecovery hdfs =
        new LateRecovery(fs, Duration.ofDays(1)) {
          @Override
          public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
            if (file.getName().equals("user-1.log")) {
              Futures.await(master, answer, "opening " + file);
            }
            return super.open(file, bufferBytes);
          }
        };
    LogFence fence = WholeFence.of(master, hdfs);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    Path open = new Path(fenced, "user-3.log");
    hdfs.closed.add(new Path(fenced, "user-1.log"));
    AtomicBoolean ended = new AtomicBoolean();
    simulation.run(
        () -> {
          Task closing = master.start("fence", () -> close(fence, fenced, ended));
          simulation.outside().sleep(Duration.ofSeconds(2));
          hdfs.closed.add(new Path(fenced, "user-2.log"));
          simulation.outside().sleep(Duration.ofSeconds(10));
          assertThat(hdfs.calls.get(open)).hasSize(2);
          assertThat(copies(fenced)).containsExactly("user-2.log");

          ended.set(true);
          simulation.outside().sleep(Duration.ofSeconds(2));
          assertThat(copies(fenced)).containsExactly("user-2.log", "user-3.log");
          assertThat(closing.ended()).isNotDone();

          answer.complete(null);
          simulation.outside().await(closing.ended());
          assertThat(FencedLog.isListed(fs, fenced)).isTrue();
        });
  }

  private record MayHaveEnded(AtomicBoolean ended) implements LogOwner {
    @Override
    public boolean hasEnded() {
      return ended.get();
    }

    @Override
    public boolean isWithoutLease() {
      return false;
    }
  }

  private static void close(LogFence fence, Path fenced, AtomicBoolean ended) {
    try {
      fence.close(fenced, new MayHaveEnded(ended), () -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The names of the segments that are copied. */
  private Set<String> copies(Path fenced) throws IOException {
    Set<String> names = new TreeSet<>();
    for (FileStatus directory : fs.listStatus(fenced)) {
      if (directory.isDirectory()) {
        for (FileStatus copy : fs.listStatus(directory.getPath())) {
          names.add(copy.getPath().getName());
        }
      }
    }
    return names;
  }

  private static void accept(FileSystem hdfs, Path fenced) {
    try {
      LogRepair.accept(hdfs, fenced, "user-1.log");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aSegmentThatHdfsCannotCloseForALongTimeIsAskedForAgainAndAgain() throws Exception {
    Duration repaired = Duration.ofMinutes(30);
    LateRecovery hdfs = new LateRecovery(fs, repaired);
    assertThat(WholeFence.fence(WholeFence.of(runtime, hdfs), DIRECTORY, FENCED)).contains(FENCED);
    assertThat(now().minus(repaired)).isBetween(Duration.ZERO, Duration.ofSeconds(130));
    assertThat(hdfs.calls).isNotEmpty();
    for (List<Duration> calls : hdfs.calls.values()) {
      for (int i = 2; i < calls.size(); i++) {
        Duration wait = calls.get(i).minus(calls.get(i - 1));
        // A recovery that goes well is not started over.
        assertThat(wait).as("until call %d", i).isGreaterThanOrEqualTo(Duration.ofSeconds(60));
      }
    }
  }
}
