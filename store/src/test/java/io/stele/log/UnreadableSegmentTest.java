package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.BlockMissingException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Segments of which HDFS has no sound replica, or none that can be reached. */
@Timeout(60)
@ParameterizedClass
@EnumSource(UnreadableSegmentTest.Cause.class)
class UnreadableSegmentTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);
  private static final TabletId FIRST = tablet(1);
  private static final TabletId SECOND = tablet(2);

  enum Cause {
    CORRUPT(path -> new ChecksumException("checksum error", 0)),
    MISSING(path -> new BlockMissingException(path.toString(), "could not obtain block", 0));

    private final Function<Path, IOException> failure;

    Cause(Function<Path, IOException> failure) {
      this.failure = failure;
    }
  }

  @Parameter Cause cause;
  private final CrashableFileSystem disk = CrashableFileSystem.create();
  private final Unreadable fs = new Unreadable(disk);
  private List<Segment> segments = List.of();

  /** Two segments with a summary: the first has only the first tablet, the second both. */
  @BeforeEach
  void writeSegments() throws Exception {
    LogDirectory.create(disk, DIRECTORY);
    try (CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(disk, DIRECTORY, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {})) {
      append(log, FIRST, 1, 3);
      log.awaitStandby();
      long before = log.statistics().segments();
      log.roll();
      LogTestCase.await(() -> log.statistics().segments() > before);
      append(log, FIRST, 4, 6);
      append(log, SECOND, 1, 3);
    }
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, disk.disk().mount()), DIRECTORY, FENCED);
    segments =
        LogDirectory.segments(disk, FENCED).stream()
            .filter(segment -> segment.lengthBytes() > 1000)
            .toList();
    assertThat(segments).hasSize(2);
  }

  private static void append(CommitLog log, TabletId tablet, long from, long to) throws Exception {
    for (LogRecord record : records(tablet, from, to)) {
      log.append(record).get();
    }
  }

  private static List<LogRecord> records(TabletId tablet, long from, long to) {
    List<LogRecord> records = new ArrayList<>();
    for (long i = from; i <= to; i++) {
      records.add(record(tablet, i, 1000));
    }
    return records;
  }

  private List<LogRecord> read(TabletId tablet) throws IOException {
    return all(
        new FencedLogs(SystemRuntime.INSTANCE, fs, 0)
            .read(FENCED, tablet, 0, SystemRuntime.INSTANCE.nanoTime()));
  }

  /** Nothing of a segment can be read any more. */
  private void lose(int segment) {
    lose(segment, 0, Long.MAX_VALUE);
  }

  /** Its records cannot be read any more, but its summary can, which is in another block. */
  private void loseRecords(int segment, long from) {
    lose(segment, from, segments.get(segment).lengthBytes() - 500);
  }

  private void lose(int segment, long from, long end) {
    Path path = segments.get(segment).path();
    fs.failing = Optional.of(path);
    fs.failure = Optional.of(cause.failure.apply(path));
    fs.from = from;
    fs.end = end;
  }

  @Test
  void aCheckGoesOnAndShowsItsReasonAndItsTabletsAndTheLossCanBeAccepted() throws Exception {
    disk.delete(segments.get(0).path(), false);
    loseRecords(1, 1500);
    List<LogRepair.Damaged> damaged = LogRepair.check(fs, FENCED);
    assertThat(damaged).hasSize(2);
    assertThat(damaged.get(1).segment()).isEqualTo(segments.get(1));
    assertThat(damaged.get(1).damage())
        .singleElement()
        .satisfies(
            damage ->
                assertThat(damage)
                    .hasMessageContaining(fs.failure.orElseThrow().toString())
                    .hasMessageContaining("passes if a DataNode"));
    assertThat(damaged.get(1).tablets().orElseThrow().tablets())
        .isEqualTo(Map.of(FIRST, new SequenceRange(4, 6), SECOND, new SequenceRange(1, 3)));
    for (Segment segment : segments) {
      LogRepair.accept(fs, FENCED, segment.path().getName());
    }
    assertThat(LogRepair.check(fs, FENCED)).hasSize(2).allMatch(LogRepair.Damaged::accepted);
    assertThat(read(SECOND)).isEmpty();
  }

  /** The last segment of a dead server: neither its summary nor a link tells its records. */
  @Test
  void afterALastSegmentIsAcceptedRecordsOfLaterLogsAreUsed() throws Exception {
    lose(1);
    LogRepair.accept(fs, FENCED, segments.get(1).path().getName());
    Losses losses;
    DistinctRecords first = new DistinctRecords(FIRST, 0);
    try (RecordSource source =
        new FencedLogs(SystemRuntime.INSTANCE, fs, 0)
            .read(FENCED, FIRST, 0, SystemRuntime.INSTANCE.nanoTime())) {
      for (Optional<LogRecord> one = source.next(); one.isPresent(); one = source.next()) {
        first.add(one.get());
      }
      losses = source.losses();
    }
    assertThat(losses.knownUpTo()).isEqualTo(3);
    first.add(record(FIRST, 9, 10)); // Of a server that had read what is lost now.
    first.passOver(losses);
    first.checkComplete();

    DistinctRecords lacking = new DistinctRecords(FIRST, 0);
    for (long found : List.of(1L, 3L, 9L)) {
      lacking.add(record(FIRST, found, 10));
    }
    lacking.passOver(losses);
    assertThatThrownBy(lacking::checkComplete)
        .as("record 2 was not in the lost segment")
        .hasMessageContaining("the first of them 2");
  }

  @Test
  void aSegmentWhoseSummaryCannotBeReadEitherIsShown() throws Exception {
    lose(1);
    assertThat(LogRepair.check(fs, FENCED))
        .singleElement()
        .satisfies(one -> assertThat(one.tablets()).isEmpty());
    assertThat(SegmentSummary.read(fs, segments.get(1))).isEmpty();
  }

  @Test
  void onlyTabletsWithRecordsThereAreNotReplayed() throws Exception {
    assumeThat(cause).isEqualTo(Cause.CORRUPT);
    lose(0);
    assertThat(read(SECOND)).isEqualTo(records(SECOND, 1, 3));
    assertThat(read(FIRST)).isEqualTo(records(FIRST, 4, 6)); // That some are missing is seen.
    lose(1);
    assertThatThrownBy(() -> read(SECOND))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("tablet " + SECOND);
    long header;
    try (LogReader reader = LogReader.open(disk, segments.get(1).path())) {
      header = reader.position();
    }
    for (long from : List.of(header, 1500L)) {
      loseRecords(1, from);
      assertThatThrownBy(() -> read(SECOND)).isInstanceOf(CorruptionException.class);
      assertThat(read(tablet(3))).isEmpty();
    }
  }

  /** Its tablets must not be quarantined while DataNodes are away. */
  @Test
  void aMissingBlockMayComeBackSoItIsNoDamageToAReplay() throws Exception {
    assumeThat(cause).isEqualTo(Cause.MISSING);
    lose(1);
    assertThatThrownBy(() -> read(SECOND)).isInstanceOf(BlockMissingException.class);
    loseRecords(1, 1500);
    assertThatThrownBy(() -> read(SECOND)).isInstanceOf(BlockMissingException.class);
    assertThat(read(tablet(3))).as("it has no records there").isEmpty();
    fs.failing = Optional.empty();
    assertThat(read(SECOND)).isEqualTo(records(SECOND, 1, 3));
  }

  @Test
  void whatConcernsAllOfHdfsIsNoDamage() {
    lose(1);
    fs.away = Optional.of(new ConnectException("connection refused"));
    assertThatThrownBy(() -> LogRepair.check(fs, FENCED)).isInstanceOf(ConnectException.class);
    fs.away = Optional.empty();
    fs.capacity = 0;
    assertThatThrownBy(() -> LogRepair.check(fs, FENCED))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(CorruptionException.class)
        .hasMessageContaining("no DataNode is alive");
  }

  @Test
  void anotherFailureToReadIsNoDamageToAReplay() {
    lose(1);
    fs.failure = Optional.of(new IOException("connection reset"));
    assertThatThrownBy(() -> read(SECOND))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(CorruptionException.class);
  }

  /** A file system in which some bytes of a file cannot be read. */
  private static final class Unreadable extends FilterFileSystem {
    private Optional<Path> failing = Optional.empty();
    private Optional<IOException> failure = Optional.empty();
    private Optional<IOException> away = Optional.empty(); // Once a read has failed.
    private boolean failed;
    private long from;
    private long end;
    private long capacity = 1;

    Unreadable(FileSystem under) {
      super(under);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      if (failed && away.isPresent()) {
        throw away.get();
      }
      return super.getFileStatus(path);
    }

    @Override
    public FsStatus getStatus(Path path) {
      return new FsStatus(capacity, 0, capacity);
    }

    @Override
    public FSDataInputStream open(Path file, int bufferBytes) throws IOException {
      FSDataInputStream in = super.open(file, bufferBytes);
      return failing.isPresent() && failing.get().getName().equals(file.getName())
          ? new FSDataInputStream(new Failing(in))
          : in;
    }

    private final class Failing extends ForwardingInput {
      Failing(FSDataInputStream in) {
        super(in);
      }

      /** How many of the bytes at {@code position} can be read. */
      private int readable(long position, int length) throws IOException {
        if (length > 0 && position >= from && position < end) {
          failed = true;
          throw failure.orElseThrow();
        }
        return position < from ? (int) Math.min(length, from - position) : length;
      }

      @Override
      public int read(long position, byte[] bytes, int offset, int length) throws IOException {
        return in.read(position, bytes, offset, readable(position, length));
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        return in.read(bytes, offset, readable(in.getPos(), length));
      }

      @Override
      public int read() throws IOException {
        readable(in.getPos(), 1);
        return in.read();
      }
    }
  }
}
