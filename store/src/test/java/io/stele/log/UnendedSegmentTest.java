package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.stele.files.DurableFiles;
import io.stele.files.DurableFiles.Placement;
import io.stele.model.Durability;
import io.stele.model.TabletKind;
import io.stele.runtime.ForwardingRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.FaultInjector.Effect;
import io.stele.sim.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Segments that their server has not ended in order: their last records may be on too few nodes.
 */
@Timeout(60)
class UnendedSegmentTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);
  private static final int SLEEPS = 20;

  private final CrashableDisk disk = new CrashableDisk();
  private final CrashableFileSystem server = disk.mount();
  private final CrashableFileSystem master = disk.mount();
  private final Path file = LogDirectory.segment(DIRECTORY, TabletKind.USER, 1);

  @BeforeEach
  void create() throws IOException {
    LogDirectory.create(server, DIRECTORY);
  }

  private SegmentWriter writerOfOneRecord() throws IOException {
    SegmentHeader header = new SegmentHeader(TabletKind.USER, SERVER, 1);
    SegmentWriter writer =
        SegmentWriter.create(new DurableFiles(server), file, header, Placement.NEAR, 2);
    writer.append(SegmentLink.NONE);
    writer.append(new WaitingRecord(record(TABLET, 1, 10), Durability.HFLUSH, false));
    return writer;
  }

  /** Abandons a segment because it cannot be synced. */
  private static void abandonAfterSync(SegmentWriter writer) {
    Throwable failure = catchThrowable(() -> writer.flush(Durability.HSYNC));
    assertThat(failure).isInstanceOf(IOException.class);
    writer.abandon(failure);
  }

  private Optional<SegmentSummary> summary() throws IOException {
    long length = master.getFileStatus(file).getLen();
    return SegmentSummary.read(master, LogDirectory.segment(file, length).orElseThrow());
  }

  /** Time passes only in sleep, a minute at once. */
  private ForwardingRuntime sleeping(Runnable sleep) {
    return new ForwardingRuntime() {
      private Duration ahead = Duration.ZERO;

      @Override
      public long nanoTime() {
        return ahead.toNanos();
      }

      @Override
      public void sleep(Duration time) {
        ahead = ahead.plusMinutes(1);
        sleep.run();
      }
    };
  }

  @Test
  void whatWasOnItsWayIsReplayedOnceEnoughNodesHaveIt() throws Exception {
    SegmentWriter writer = writerOfOneRecord();
    disk.dataNodes(1);
    assertThatThrownBy(() -> writer.flush(Durability.HFLUSH))
        .hasMessageContaining("only 1 of the 2 replicas");
    disk.kill(server, new Random(1));

    int[] sleeps = new int[1];
    Runnable sleep =
        () -> {
          try {
            assertThat(FencedLog.isListed(master, FENCED)).isFalse();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          if (++sleeps[0] == SLEEPS) {
            disk.dataNodes(2);
          }
        };
    LogFence fence = new LogFence(sleeping(sleep), master, 2);
    fence.close(fence.rename(DIRECTORY, FENCED).orElseThrow(), LogOwner.UNKNOWN, () -> {});
    assertThat(sleeps[0]).isGreaterThanOrEqualTo(SLEEPS);
    assertThat(all(WholeLog.readFenced(master, FENCED, TabletKind.USER)))
        .containsExactly(record(TABLET, 1, 10));
    disk.powerLoss(new Random(2));
    assertThat(all(WholeLog.readFenced(disk.mount(), FENCED, TabletKind.USER)))
        .containsExactly(record(TABLET, 1, 10));
  }

  @Test
  void whatCannotBeReadIsListedAsItIs() throws Exception {
    SegmentWriter writer = writerOfOneRecord();
    writer.flush(Durability.HFLUSH);
    disk.kill(server, new Random(1));
    disk.inject(
        FaultInjector.always(
            Operation.READ, path -> path.getName().equals(file.getName()), new Effect.Fail()));
    LogFence fence = new LogFence(sleeping(() -> {}), master, 2);
    fence.close(fence.rename(DIRECTORY, FENCED).orElseThrow(), LogOwner.UNKNOWN, () -> {});
    disk.heal();
    assertThat(FencedLog.segments(master, FENCED, TabletKind.USER))
        .singleElement()
        .satisfies(one -> assertThat(one.path().getParent()).isEqualTo(FENCED));
  }

  @Test
  void aSummaryIsWrittenOnlyWhenTheRecordsAreOnEnoughNodes() throws Exception {
    SegmentWriter writer = writerOfOneRecord();
    disk.dataNodes(1);
    assertThatThrownBy(writer::appendSummary).hasMessageContaining("only 1 of the 2 replicas");
    assertThat(summary()).isEmpty();
    writer.close();
    assertThat(summary()).isEmpty();
    assertThat(disk.unsyncedBytes(file)).isZero();
  }

  @Test
  void aFileWhoseSummaryMayBeWrittenInPartStaysOpen() throws Exception {
    SegmentWriter writer = writerOfOneRecord();
    writer.appendSummary();
    disk.inject(FaultInjector.always(Operation.WRITE, path -> true, new Effect.Short(1000)));
    abandonAfterSync(writer);
    assertThat(disk.openForWriting()).contains(Path.getPathWithoutSchemeAndAuthority(file));
  }

  @Test
  void aSummaryThatMayNotBeOnDiskDoesNotEndTheFile() throws Exception {
    SegmentWriter writer = writerOfOneRecord();
    writer.appendSummary();
    assertThat(disk.unsyncedBytes(file)).isZero();
    disk.inject(FaultInjector.always(Operation.FLUSH, path -> true, new Effect.Fail()));
    abandonAfterSync(writer);
    assertThat(summary()).isEmpty();
    try (LogReader reader = LogReader.open(master, file)) {
      assertThat(reader.next()).contains(record(TABLET, 1, 10));
      assertThat(reader.next()).isEmpty();
      assertThat(reader.torn()).isTrue();
    }
  }
}
