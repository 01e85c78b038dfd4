package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.appendedInEvenSegments;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.stele.files.DurableFiles;
import io.stele.model.Durability;
import io.stele.model.TabletKind;
import io.stele.runtime.ManualRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The log of a process that was seen to end, on a file system that closes no file for an hour. */
@Timeout(60)
class EndedWriterTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);
  private static final Duration CLOSED_AFTER = Duration.ofHours(1);
  private static final Duration SHORTAGE = Duration.ofHours(2);
  private static final LogOptions SMALL = LogOptions.DEFAULT.withSegmentBytes(1000);

  private final CrashableDisk disk = new CrashableDisk();
  private final CrashableFileSystem server = disk.mount();
  private final ManualRuntime runtime = new ManualRuntime();
  private final SlowToClose master = new SlowToClose(disk.mount());
  private List<LogRecord> acknowledged = List.of();
  private CommitLog log;

  /** A file system that closes files of dead writers only after an hour. */
  private final class SlowToClose extends FilterFileSystem implements LeaseRecoverable {
    private final CrashableFileSystem under;
    private final Set<Path> opened = new TreeSet<>();
    private boolean hidesLastBlocks;
    private Optional<String> closedAtOnce = Optional.empty();

    SlowToClose(CrashableFileSystem under) {
      super(under);
      this.under = under;
    }

    @Override
    public FileSystem getRawFileSystem() {
      return this;
    }

    @Override
    public boolean recoverLease(Path file) throws IOException {
      return isLate() || isClosedAtOnce(file) ? under.recoverLease(file) : isFileClosed(file);
    }

    private boolean isClosedAtOnce(Path file) {
      return closedAtOnce.filter(file.getName()::equals).isPresent();
    }

    @Override
    public boolean isFileClosed(Path file) throws IOException {
      return isLate() || isClosedAtOnce(file)
          ? under.isFileClosed(file)
          : !disk.openForWriting().contains(plain(file));
    }

    private boolean isLate() {
      return runtime.nanoTime() >= CLOSED_AFTER.toNanos();
    }

    @Override
    public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
      opened.add(plain(file));
      FSDataInputStream in = super.open(file, bufferBytes);
      if (hidesLastBlocks && disk.openForWriting().contains(plain(file))) {
        in.close();
        return new FSDataInputStream(new Empty());
      }
      return in;
    }

    private static Path plain(Path file) {
      return Path.getPathWithoutSchemeAndAuthority(file);
    }
  }

  /** What HDFS shows of a file if no DataNode has its only block. */
  private static final class Empty extends FilterInputStream
      implements Seekable, PositionedReadable {
    Empty() {
      super(InputStream.nullInputStream());
    }

    @Override
    public void seek(long position) {}

    @Override
    public long getPos() {
      return 0;
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }

    @Override
    public int read(long position, byte[] bytes, int offset, int length) {
      return -1;
    }

    @Override
    public void readFully(long position, byte[] bytes, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void readFully(long position, byte[] bytes) {
      throw new UnsupportedOperationException();
    }
  }

  @BeforeEach
  void write() throws Exception {
    LogDirectory.create(server, DIRECTORY);
    log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(server, DIRECTORY, SERVER, TabletKind.USER),
            SMALL,
            failure -> {});
    acknowledged = appendedInEvenSegments(log, 15, 100);
    disk.kill(server, new Random(1));
  }

  @AfterEach
  void closeLog() {
    log.close();
  }

  private Path fence(boolean ended) throws IOException {
    LogFence fence = WholeFence.of(runtime, master);
    Path fenced = fence.rename(DIRECTORY, FENCED).orElseThrow();
    fence.close(fenced, ended ? LogOwner.ENDED : LogOwner.UNKNOWN, () -> {});
    return fenced;
  }

  private List<LogRecord> read() throws IOException {
    return all(WholeLog.readFenced(master, FENCED, TabletKind.USER));
  }

  private List<Segment> listed() throws IOException {
    return FencedLog.segments(master, FENCED, TabletKind.USER);
  }

  @Test
  void itsOpenSegmentIsCopiedAndNobodyWaits() throws Exception {
    fence(true);
    assertThat(runtime.nanoTime()).isZero();
    assertThat(read()).isEqualTo(acknowledged);
    Segment last = listed().get(listed().size() - 1);
    assertThat(last.path().getParent().getParent().getName()).isEqualTo(FENCED.getName());
    assertThat(disk.openForWriting()).isNotEmpty();
  }

  @Test
  void segmentsOfAProcessThatMayLiveAreClosedFirst() throws Exception {
    fence(false);
    assertThat(runtime.nanoTime()).isGreaterThanOrEqualTo(CLOSED_AFTER.toNanos());
    assertThat(read()).isEqualTo(acknowledged);
    assertThat(disk.openForWriting()).isEmpty();
    assertThat(listed().get(0).path().getParent()).isEqualTo(FENCED); // It was ended in order.
    Segment last = listed().get(listed().size() - 1);
    assertThat(last.path().getParent().getName()).startsWith("copy.");
  }

  /** A process that may live, and has no lease from some time on. */
  private LogOwner withoutLeaseFrom(Duration time) {
    return new LogOwner() {
      @Override
      public boolean hasEnded() {
        return false;
      }

      @Override
      public boolean isWithoutLease() {
        return runtime.nanoTime() >= time.toNanos();
      }
    };
  }

  private void fence(LogOwner owner) throws IOException {
    LogFence fence = WholeFence.of(runtime, master);
    fence.close(fence.rename(DIRECTORY, FENCED).orElseThrow(), owner, () -> {});
  }

  @Test
  void anOpenSegmentOfAProcessWithoutLeaseIsCopiedIfHdfsDoesNotCloseIt() throws Exception {
    fence(withoutLeaseFrom(Duration.ZERO));
    assertThat(Duration.ofNanos(runtime.nanoTime()))
        .isBetween(Duration.ofSeconds(6), Duration.ofSeconds(8));
    assertThat(read()).isEqualTo(acknowledged);
    assertThat(disk.openForWriting()).isNotEmpty();
  }

  @Test
  void anOpenSegmentIsCopiedBesideOneThatHdfsHasClosed() throws Exception {
    assertThat(disk.openForWriting()).hasSize(2);
    master.closedAtOnce = Optional.of(disk.openForWriting().get(0).getName());
    fence(withoutLeaseFrom(Duration.ZERO));
    assertThat(Duration.ofNanos(runtime.nanoTime())).isLessThan(Duration.ofSeconds(8));
    assertThat(read()).isEqualTo(acknowledged);
    assertThat(disk.openForWriting()).hasSize(1);
  }

  @Test
  void anOpenSegmentIsNotCopiedWhileTheProcessMayHaveALease() throws Exception {
    Duration over = Duration.ofMinutes(10);
    fence(withoutLeaseFrom(over));
    assertThat(Duration.ofNanos(runtime.nanoTime()))
        .isBetween(over, over.plus(Duration.ofSeconds(2)));
    assertThat(read()).isEqualTo(acknowledged);
  }

  @Test
  void aCopyOfAnOpenSegmentIsTriedAgain() throws Exception {
    master.hidesLastBlocks = true;
    runtime.after(Duration.ofMinutes(5), () -> master.hidesLastBlocks = false);
    fence(withoutLeaseFrom(Duration.ZERO));
    assertThat(Duration.ofNanos(runtime.nanoTime()))
        .isBetween(Duration.ofMinutes(5), Duration.ofMinutes(6));
    assertThat(read()).isEqualTo(acknowledged);
  }

  @Test
  void whatIsNotClosedIsNotReadToFindOutWhatCanBeSorted() throws Exception {
    Path fenced = WholeFence.of(runtime, master).rename(DIRECTORY, FENCED).orElseThrow();
    master.opened.clear();
    assertThat(SegmentSorter.closed(master, fenced))
        .extracting(segment -> Path.getPathWithoutSchemeAndAuthority(segment.path()))
        .isNotEmpty()
        .doesNotContainAnyElementsOf(disk.openForWriting());
    assertThat(master.opened).isEmpty();
  }

  @Test
  void aSegmentWhoseLastBlockCannotBeSeenIsClosedFirst() throws Exception {
    master.hidesLastBlocks = true;
    fence(true);
    assertThat(runtime.nanoTime()).isGreaterThanOrEqualTo(CLOSED_AFTER.toNanos());
    assertThat(read()).isEqualTo(acknowledged);
  }

  /** So many DataNodes live, and all again after two hours. */
  private void aShortage(int dataNodes) {
    disk.dataNodes(dataNodes);
    runtime.after(SHORTAGE, () -> disk.dataNodes(3));
  }

  @Test
  void aCopyWaitsUntilEnoughNodesCanHaveIt() throws Exception {
    aShortage(1);
    fence(true);
    assertThat(runtime.nanoTime()).isGreaterThanOrEqualTo(SHORTAGE.toNanos());
    assertThat(read()).isEqualTo(acknowledged);
    assertThat(listed()).anyMatch(one -> one.path().getParent().getName().startsWith("copy."));
  }

  @Test
  void aCopyNeedsAsManyReplicasAsAreConfigured() throws Exception {
    aShortage(2);
    LogFence fence = new LogFence(runtime, master, 3);
    fence.rename(DIRECTORY, FENCED);
    fence.close(FENCED, LogOwner.ENDED, () -> {});
    assertThat(runtime.nanoTime()).isGreaterThanOrEqualTo(SHORTAGE.toNanos());
    assertThat(read()).isEqualTo(acknowledged);
  }

  @Test
  void aSegmentOfWhichNothingWasWrittenIsNotMissed() throws Exception {
    Path logs = new Path("crash:/logs/other");
    CrashableFileSystem other = disk.mount();
    LogDirectory.create(other, logs);
    SegmentLink link = SegmentLink.NONE;
    for (int number = 1; number <= 3; number++) {
      SegmentWriter writer = segment(other, logs, number);
      long header = writer.position();
      if (number != 2) { // Its first write hung, so the next one has its records.
        writer.append(link);
        writer.append(new WaitingRecord(record(TABLET, number, 100), Durability.HFLUSH, false));
        writer.flush(Durability.HFLUSH);
      }
      link =
          new SegmentLink(number, number == 2 ? header : writer.position(), SegmentSummary.EMPTY);
    }
    disk.kill(other, new Random(1));
    Path fenced = new Path("crash:/recovery/other");
    LogFence fence = WholeFence.of(runtime, master);
    fence.rename(logs, fenced);
    fence.close(fenced, LogOwner.ENDED, () -> {});
    assertThat(all(WholeLog.readFenced(master, fenced, TabletKind.USER)))
        .isEqualTo(List.of(record(TABLET, 1, 100), record(TABLET, 3, 100)));
  }

  private static SegmentWriter segment(CrashableFileSystem fs, Path logs, int number)
      throws IOException {
    return SegmentWriter.create(
        new DurableFiles(fs),
        LogDirectory.segment(logs, TabletKind.USER, number),
        new SegmentHeader(TabletKind.USER, SERVER, number),
        DurableFiles.Placement.ANYWHERE,
        LogOptions.DEFAULT.replicasMin());
  }

  @Test
  void theCopyIsSortedLikeAnySegment() throws Exception {
    fence(true);
    List<Segment> unsorted = SegmentSorter.unsorted(master, FENCED);
    assertThat(unsorted).isEqualTo(listed());
    SegmentSorter sorter = new SegmentSorter(SystemRuntime.INSTANCE, master, 10_000);
    for (Segment segment : unsorted) {
      sorter.sort(new Path(FENCED, FencedLog.name(FENCED, segment)), new SortingSpace());
    }
    assertThat(SegmentSorter.unsorted(master, FENCED)).isEmpty();
    for (Segment segment : listed()) {
      disk.flipBits(segment.path(), (int) segment.lengthBytes() / 2, 1); // Not read any more.
    }
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, master, 0);
    assertThat(all(logs.read(FENCED, TABLET, 0, SystemRuntime.INSTANCE.nanoTime())))
        .isEqualTo(acknowledged);
  }

  @Test
  void aCopyThatIsGoneIsMissingAndASegmentThatIsNotListedIsNot() throws Exception {
    fence(true);
    Segment copy =
        listed().stream()
            .filter(segment -> !segment.path().getParent().equals(FENCED))
            .findFirst()
            .orElseThrow();
    assertThat(LogRepair.changedFiles(master, FENCED)).isEmpty();
    master.delete(new Path(FENCED, copy.path().getName()), false); // What the copy is of.
    assertThat(LogRepair.changedFiles(master, FENCED)).isEmpty();
    master.delete(copy.path(), false);
    assertThat(LogRepair.changedFiles(master, FENCED))
        .singleElement()
        .satisfies(damage -> assertThat(damage.file()).isEqualTo(copy.path().toString()));
  }

  @Test
  void ofTwoMastersThatFenceItOneIsBelieved() throws Exception {
    LogFence other = WholeFence.of(SystemRuntime.INSTANCE, disk.mount());
    boolean[] fenced = new boolean[1];
    WholeFence.of(runtime, master).rename(DIRECTORY, FENCED);
    List<Segment> first = new ArrayList<>();
    WholeFence.of(runtime, master)
        .close(
            FENCED,
            new LogOwner() {
              @Override
              public boolean hasEnded() {
                if (!fenced[0]) {
                  fenced[0] = true;
                  closeAndRemember(other, first);
                }
                return true;
              }

              @Override
              public boolean isWithoutLease() {
                return true;
              }
            },
            () -> {});
    assertThat(first).isNotEmpty();
    assertThat(listed()).isEqualTo(first);
    assertThat(read()).isEqualTo(acknowledged);
  }

  private void closeAndRemember(LogFence other, List<Segment> listed) {
    try {
      other.close(FENCED, LogOwner.ENDED, () -> {});
      listed.addAll(listed());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aCopyThatIsGoneIsMissed() throws Exception {
    fence(true);
    Segment last = listed().get(listed().size() - 1);
    disk.mount().delete(last.path().getParent(), true);
    assertThat(SegmentSorter.unsorted(master, FENCED)).isNotEmpty().doesNotContain(last);
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, master, 0);
    assertThat(
            catchThrowable(
                () -> all(logs.read(FENCED, TABLET, 0, SystemRuntime.INSTANCE.nanoTime()))))
        .hasMessageContaining(last.path().getName());
  }
}
