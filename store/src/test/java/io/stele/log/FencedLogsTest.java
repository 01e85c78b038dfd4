package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.bytes;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static io.stele.log.LogRecords.rewrite;
import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replays of a log some of whose segments are sorted, and some of the sorted files damaged. */
@Timeout(120)
class FencedLogsTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);
  private static final int TABLETS = 4;
  private static final int MEMORY_BYTES = 1 << 20;

  @Test
  void whateverIsSortedAndDamagedEachTabletGetsItsRecords() throws Exception {
    for (long seed : Seeds.of(20).toArray()) {
      Random random = new Random(seed);
      CrashableFileSystem fs = CrashableFileSystem.create();
      List<LogRecord> appended = writeAndFence(fs, random);
      SegmentSorter sorter = new SegmentSorter(SystemRuntime.INSTANCE, fs, 10_000);
      int sorted = 0;
      for (Segment segment : SegmentSorter.unsorted(fs, FENCED)) {
        if (random.nextInt(3) > 0) {
          sorter.sort(segment.path(), new SortingSpace());
          sorted++;
          if (random.nextInt(3) == 0) {
            damage(fs, SortedFormat.path(segment), random);
          }
        }
      }
      int memoryBytes = random.nextInt(60_000); // For none, some or all of the segments.
      FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, fs, memoryBytes);
      for (int i = 0; i < TABLETS; i++) {
        TabletId tablet = tablet(i);
        long above = random.nextInt(40);
        assertThat(replayedNow(logs, tablet, above))
            .as("tablet %s above %s, %s segments sorted, seed %s", tablet, above, sorted, seed)
            .isEqualTo(
                appended.stream()
                    .filter(one -> one.tablet().equals(tablet) && one.sequence() > above)
                    .toList());
      }
    }
  }

  @Test
  void sortedSegmentsAreNotReadThemselves() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, fs, 0);
    sortAndDamageSegments(fs);
    assertRecords(logs, appended);
  }

  @Test
  void segmentsSortedAfterOthersReadTheLogAreNotReadThemselves() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, fs, 0);
    TabletId without = tablet(TABLETS); // It has no records, so it need not wait for sorting.
    assertThat(replayedNow(logs, without, 0)).isEmpty();
    sortAndDamageSegments(fs);
    assertRecords(logs, appended);
  }

  @Test
  void segmentsAreReadThemselvesIfTheirSortedCopiesCannotBeOpened() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    sortAll(fs);
    LostCopies lost = new LostCopies(fs, 0);
    assertRecords(new FencedLogs(SystemRuntime.INSTANCE, lost, 0), appended);
    assertThat(lost.failures).isPositive();
  }

  @Test
  void segmentsAreReadThemselvesIfTheirSortedCopiesAreLostWhileTheyAreRead() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    sortAll(fs);
    LostCopies lost = new LostCopies(fs, 3); // After the index.
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, lost, 0);
    for (int i = 0; i < 3; i++) {
      assertRecords(logs, appended);
    }
    int copies = FencedLog.segments(fs, FENCED, TabletKind.USER).size();
    assertThat(lost.failures)
        .as("each fails once only, as HDFS takes seconds to fail")
        .isBetween(1, copies);
  }

  @Test
  void aSortedCopyThatDoesNotOpenHoldsNobodyUp() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    sortAll(fs);
    CountDownLatch silent = new CountDownLatch(1);
    FileSystem hanging =
        new FilterFileSystem(fs) {
          @Override
          public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
            if (file.getName().equals("user-1.sorted")) {
              try {
                silent.await();
              } catch (InterruptedException e) {
                throw Futures.interrupted(e, "opening " + file);
              }
            }
            return super.open(file, bufferBytes);
          }
        };
    ProcessRuntime impatient =
        new ForwardingRuntime() {
          @Override
          public boolean await(CompletableFuture<?> future, Duration timeout)
              throws InterruptedException {
            return super.await(future, Duration.ofMillis(1));
          }
        };
    try {
      assertRecords(new FencedLogs(impatient, hanging, 0), appended);
    } finally {
      silent.countDown();
    }
  }

  @Test
  void serversThatShareTheTabletsReadTheSortedLogOnceInAll() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1), 4000, 1000);
    sortAll(fs);
    long logBytes = logBytes(fs);
    CountedReads counted = new CountedReads(fs);
    int replayed = 0;
    for (int server = 0; server < 2; server++) {
      FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, counted, 0);
      for (int i = server; i < TABLETS; i += 2) {
        replayed += replayedNow(logs, tablet(i), 0).size();
      }
    }
    assertThat(replayed).isEqualTo(appended.size());
    assertThat((double) counted.bytes.get()).isBetween(0.8 * logBytes, 1.2 * logBytes);
  }

  @Test
  void aSmallLogThatIsNotSortedIsReadOnceForAllTablets() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    long logBytes = logBytes(fs);
    CountedReads counted = new CountedReads(fs);
    assertRecords(new FencedLogs(SystemRuntime.INSTANCE, counted, MEMORY_BYTES), appended);
    assertThat((double) counted.bytes.get()).isBetween(0.8 * logBytes, 1.2 * logBytes);
  }

  @Test
  void theMemoryOfALogIsGivenBackWhenItIsClosed() throws Exception {
    assertMemoryGivenBack(false);
  }

  @Test
  void theMemoryOfALogIsGivenBackThoughItsFilesCannotBeClosed() throws Exception {
    assertMemoryGivenBack(true);
  }

  private static void assertMemoryGivenBack(boolean failsOnClose) throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    Segment sorted = SegmentSorter.unsorted(fs, FENCED).get(0); // Its copy is kept open.
    new SegmentSorter(SystemRuntime.INSTANCE, fs, 10_000).sort(sorted.path(), new SortingSpace());
    CountedReads counted = new CountedReads(fs);
    int enoughForOne = (int) (2 * logBytes(fs));
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, counted, enoughForOne);
    assertRecords(logs, appended);
    long once = counted.bytes.getAndSet(0);
    counted.failsOnClose = failsOnClose;
    logs.closeUnused();
    counted.failsOnClose = false;
    assertThat(counted.closes).isPositive();
    assertRecords(logs, appended);
    assertThat(counted.bytes.get()).isEqualTo(once);
  }

  @Test
  void aSegmentForWhichThereIsNoMemoryIsReadItself() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    List<LogRecord> appended = writeAndFence(fs, new Random(1));
    CountedReads counted = new CountedReads(fs);
    assertRecords(new FencedLogs(SystemRuntime.INSTANCE, counted, 1000), appended);
    assertThat(counted.bytes.get()).isGreaterThan(2 * logBytes(fs));
  }

  @Test
  void acceptedLossesAreListedOnceForTabletsThatWereAskedForTogether() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    writeAndFence(fs, new Random(1));
    Listings listings = new Listings(fs);
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, listings, MEMORY_BYTES);
    long asked = SystemRuntime.INSTANCE.nanoTime();
    for (int i = 0; i < TABLETS; i++) {
      replayed(logs.read(FENCED, tablet(i), 0, asked), tablet(i), 0);
    }
    assertThat(listings.count).isEqualTo(1);
  }

  @Test
  void whatIsAcceptedLaterCountsForTabletsAskedForAfterThat() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    writeAndFence(fs, new Random(1));
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, fs, MEMORY_BYTES);
    TabletId tablet = tablet(0);
    Segment last =
        FencedLog.segments(fs, FENCED, TabletKind.USER).stream()
            .filter(segment -> segment.lengthBytes() > 1000)
            .reduce((one, next) -> next)
            .orElseThrow();
    fs.delete(last.path(), false);
    long before = SystemRuntime.INSTANCE.nanoTime();
    assertThatThrownBy(() -> replayed(logs.read(FENCED, tablet, 0, before), tablet, 0))
        .hasMessageContaining(last.path().toString());
    LogRepair.accept(fs, FENCED, last.path().getName());
    long after = SystemRuntime.INSTANCE.nanoTime();
    assertThat(replayed(logs.read(FENCED, tablet, 0, after), tablet, 0)).isNotEmpty();
  }

  /** A file system that counts the listings of directories. */
  private static final class Listings extends FilterFileSystem {
    private int count;

    Listings(FileSystem under) {
      super(under);
    }

    @Override
    public FileStatus[] listStatus(Path directory) throws IOException {
      count++;
      return super.listStatus(directory);
    }
  }

  private static long logBytes(FileSystem fs) throws IOException {
    return FencedLog.segments(fs, FENCED, TabletKind.USER).stream()
        .mapToLong(Segment::lengthBytes)
        .sum();
  }

  /** A file system that counts the bytes that are read. */
  private static final class CountedReads extends FilterFileSystem {
    private final AtomicLong bytes = new AtomicLong();
    private boolean failsOnClose;
    private int closes;

    CountedReads(FileSystem under) {
      super(under);
    }

    @Override
    public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
      return new FSDataInputStream(new Counted(super.open(file, bufferBytes)));
    }

    private final class Counted extends ForwardingInput {
      Counted(FSDataInputStream in) {
        super(in);
      }

      @Override
      public void close() throws IOException {
        super.close();
        closes++;
        if (failsOnClose) {
          throw new IOException("cannot be closed");
        }
      }

      private int counted(int read) {
        bytes.addAndGet(Math.max(0, read));
        return read;
      }

      @Override
      public int read(long position, byte[] to, int offset, int length) throws IOException {
        return counted(super.read(position, to, offset, length));
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        return counted(super.read(to, offset, length));
      }

      @Override
      public int read() throws IOException {
        int one = super.read();
        counted(one < 0 ? 0 : 1);
        return one;
      }
    }
  }

  /** A file system in which sorted copies, of one replica, are lost after some reads of each. */
  private static final class LostCopies extends FilterFileSystem {
    private final int readsLeft;
    private int failures;

    LostCopies(FileSystem under, int readsLeft) {
      super(under);
      this.readsLeft = readsLeft;
    }

    @Override
    public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
      FSDataInputStream in = super.open(file, bufferBytes);
      return file.getName().endsWith(".sorted") ? new FSDataInputStream(new Lost(in)) : in;
    }

    private final class Lost extends ForwardingInput {
      private int left = readsLeft;

      Lost(FSDataInputStream in) {
        super(in);
      }

      @Override
      public int read(long position, byte[] bytes, int offset, int length) throws IOException {
        if (left-- <= 0) {
          failures++;
          throw new IOException("could not obtain block");
        }
        return super.read(position, bytes, offset, length);
      }

      @Override
      public int read() throws IOException {
        throw new UnsupportedOperationException();
      }
    }
  }

  private static void sortAll(CrashableFileSystem fs) throws IOException {
    for (Segment segment : SegmentSorter.unsorted(fs, FENCED)) {
      new SegmentSorter(SystemRuntime.INSTANCE, fs, 10_000)
          .sort(segment.path(), new SortingSpace());
    }
  }

  /** Sorts all segments, and changes a byte in each, which whoever reads it finds. */
  private static void sortAndDamageSegments(CrashableFileSystem fs) throws IOException {
    for (Segment segment : SegmentSorter.unsorted(fs, FENCED)) {
      new SegmentSorter(SystemRuntime.INSTANCE, fs, 10_000)
          .sort(segment.path(), new SortingSpace());
      byte[] bytes = bytes(fs, segment.path());
      bytes[bytes.length / 2] ^= 1;
      rewrite(fs, segment.path(), bytes);
    }
  }

  /** The records that a tablet gets that is asked for just now. */
  private static List<LogRecord> replayedNow(FencedLogs logs, TabletId tablet, long above)
      throws IOException {
    return replayed(
        logs.read(FENCED, tablet, above, SystemRuntime.INSTANCE.nanoTime()), tablet, above);
  }

  private static void assertRecords(FencedLogs logs, List<LogRecord> appended) throws IOException {
    for (int i = 0; i < TABLETS; i++) {
      TabletId tablet = tablet(i);
      assertThat(replayedNow(logs, tablet, 0))
          .isEqualTo(appended.stream().filter(one -> one.tablet().equals(tablet)).toList());
    }
  }

  @Test
  void sortedSegmentsOfUsersTabletsAreNotTakenForThoseOfMetadata() throws Exception {
    CrashableFileSystem fs = CrashableFileSystem.create();
    write(fs, new Random(1), 200, 500);
    try (CommitLog system =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, DIRECTORY, SERVER, TabletKind.SYSTEM),
            LogOptions.DEFAULT,
            failure -> {})) {
      system.append(record(TabletId.ROOT, 1, 10)).get();
    }
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount()), DIRECTORY, FENCED);
    sortAll(fs);
    FencedLogs logs = new FencedLogs(SystemRuntime.INSTANCE, fs, 0);
    try (RecordSource users = logs.read(FENCED, tablet(0), 0, SystemRuntime.INSTANCE.nanoTime())) {
      assertThat(users.next()).isPresent(); // So that the first of the sorted ones is open.
      assertThat(replayedNow(logs, TabletId.ROOT, 0)).hasSize(1);
    }
  }

  private static List<LogRecord> writeAndFence(CrashableFileSystem fs, Random random)
      throws Exception {
    return writeAndFence(fs, random, 200, 500);
  }

  private static List<LogRecord> writeAndFence(
      CrashableFileSystem fs, Random random, int records, int bytesMax) throws Exception {
    List<LogRecord> appended = write(fs, random, records, bytesMax);
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount()), DIRECTORY, FENCED);
    return appended;
  }

  private static List<LogRecord> write(
      CrashableFileSystem fs, Random random, int records, int bytesMax) throws Exception {
    LogDirectory.create(fs, DIRECTORY);
    List<LogRecord> appended = new ArrayList<>();
    long[] sequence = new long[TABLETS];
    try (CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {})) {
      for (int i = 0; i < records; i++) {
        int one = random.nextInt(TABLETS);
        LogRecord record = record(tablet(one), ++sequence[one], random.nextInt(bytesMax));
        log.append(record).get();
        appended.add(record);
        if (random.nextInt(records / 5) == 0) {
          log.awaitStandby();
          log.roll();
        }
      }
    }
    return appended;
  }

  private static void damage(CrashableFileSystem fs, Path file, Random random) throws IOException {
    byte[] bytes = bytes(fs, file);
    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
    rewrite(fs, file, bytes);
  }
}
