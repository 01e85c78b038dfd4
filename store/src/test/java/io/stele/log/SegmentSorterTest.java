package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SegmentSorterTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final int TABLETS = 5;
  private static final int RECORDS = 300;
  private static final int PART_BYTES = 20_000; // Several parts a segment.

  private final CrashableFileSystem fs = CrashableFileSystem.create();
  private final SegmentSorter sorter = new SegmentSorter(SystemRuntime.INSTANCE, fs, PART_BYTES);
  private Segment segment;

  @BeforeEach
  void writeASegment() throws Exception {
    LogDirectory.create(fs, DIRECTORY);
    long[] sequence = new long[TABLETS];
    Random random = new Random(1);
    try (CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {})) {
      for (int i = 0; i < RECORDS; i++) {
        int one = random.nextInt(TABLETS - 1);
        log.append(record(tablet(one), ++sequence[one], random.nextInt(2000))).get();
      }
    }
    segment =
        LogDirectory.segments(fs, DIRECTORY).stream()
            .filter(one -> one.lengthBytes() > PART_BYTES)
            .findFirst()
            .orElseThrow();
  }

  @Test
  void eachTabletsRecordsAreThoseOfTheSegmentInItsOrder() throws IOException {
    List<LogRecord> records = new ArrayList<>();
    Optional<SegmentLink> link;
    long ended;
    try (LogReader reader = LogReader.open(fs, segment.path())) {
      link = reader.link();
      for (Optional<LogRecord> one = reader.next(); one.isPresent(); one = reader.next()) {
        records.add(one.get());
      }
      ended = reader.position();
    }
    assertThat(records).hasSize(RECORDS);
    SortingSpace used = new SortingSpace();
    sorter.sort(segment, used);
    fs.delete(SortedFormat.path(segment), false);
    sorter.sort(segment, used);
    try (SortedFile sorted = SortedFile.open(fs, segment).orElseThrow()) {
      assertThat(sorted.link()).isEqualTo(link).isPresent();
      assertThat(sorted.ended()).isEqualTo(ended);
      for (int i = 0; i < TABLETS; i++) {
        TabletId tablet = tablet(i);
        List<LogRecord> own = records.stream().filter(one -> one.tablet().equals(tablet)).toList();
        assertThat(all(sorted.records(tablet))).isEqualTo(own);
      }
      assertThat(all(sorted.records(tablet(TABLETS - 1)))).as("has no records").isEmpty();
    }
  }

  @Test
  void itIsNotSortedTwiceAndLeavesNoDraft() throws IOException {
    sorter.sort(segment, new SortingSpace());
    long modified = fs.getFileStatus(SortedFormat.path(segment)).getModificationTime();
    sorter.sort(segment, new SortingSpace());
    assertThat(fs.getFileStatus(SortedFormat.path(segment)).getModificationTime())
        .isEqualTo(modified);
    assertThat(fs.listStatus(DIRECTORY))
        .filteredOn(file -> file.getPath().getName().contains(".sorted"))
        .hasSize(1);
  }

  @Test
  void theDirectoryOfALogThatIsNotNeededAnyMoreDoesNotComeBack() throws IOException {
    FaultInjector.Effect sweep =
        new FaultInjector.Effect.Delay(
            () -> {
              try {
                fs.delete(DIRECTORY, true);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    fs.disk().inject(FaultInjector.at(Operation.CREATE, any -> true, 1, sweep));
    assertThatThrownBy(() -> sorter.sort(segment, new SortingSpace()))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(fs.exists(DIRECTORY)).isFalse();
  }

  @Test
  void whatIsNotSortedOrCutOffIsNotThere() throws IOException {
    assertThat(SortedFile.open(fs, segment)).isEmpty();
    sorter.sort(segment, new SortingSpace());
    byte[] whole = bytes();
    Random random = new Random(2);
    for (int i = 0; i < 100; i++) {
      rewrite(java.util.Arrays.copyOf(whole, random.nextInt(whole.length)));
      assertThat(SortedFile.open(fs, segment)).isEmpty();
    }
  }

  @Test
  void aChangedByteIsFoundAtTheLatestWhenItsRecordIsRead() throws IOException {
    sorter.sort(segment, new SortingSpace());
    byte[] whole = bytes();
    Random random = new Random(3);
    for (int i = 0; i < 200; i++) {
      byte[] changed = whole.clone();
      changed[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
      rewrite(changed);
      assertThat(isWhole()).as("change %s", i).isFalse();
    }
    rewrite(whole);
    assertThat(isWhole()).isTrue();
  }

  @Test
  void theSortedFileOfAnotherSegmentOrServerIsRefused() throws IOException {
    sorter.sort(segment, new SortingSpace());
    byte[] whole = bytes();
    ServerId other = new ServerId("other", 2, 9);
    assertMisplaced(
        new Segment(TabletKind.USER, segment.number() + 7, segment.path(), 0),
        whole,
        "segment " + segment.number() + " of the user log of " + SERVER,
        "segment " + (segment.number() + 7) + " of the user log of " + SERVER);
    Path directory = new Path("crash:/recovery/" + other + "/copy.17");
    assertMisplaced(
        new Segment(TabletKind.USER, segment.number(), new Path(directory, "user-1.log"), 0),
        whole,
        "log of " + SERVER,
        "log of " + other);
  }

  private void assertMisplaced(Segment place, byte[] sorted, String holds, String lies)
      throws IOException {
    fs.mkdirs(place.path().getParent());
    LogRecords.rewrite(fs, SortedFormat.path(place), sorted);
    assertThatThrownBy(() -> SortedFile.open(fs, place))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("misplaced")
        .hasMessageContaining(holds)
        .hasMessageContaining(lies);
  }

  @Test
  void aSegmentInTheDirectoryOfAnotherServerIsRefused() throws IOException {
    ServerId other = new ServerId("other", 2, 9);
    Path directory = new Path("crash:/recovery/" + other);
    LogDirectory.create(fs, directory);
    Path file = new Path(directory, segment.path().getName());
    LogRecords.rewrite(fs, file, LogRecords.bytes(fs, segment.path()));
    Segment moved = new Segment(segment.kind(), segment.number(), file, segment.lengthBytes());
    assertThatThrownBy(() -> LogReader.open(fs, moved))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("misplaced")
        .hasMessageContaining("log of " + SERVER)
        .hasMessageContaining("log of " + other);
    assertThatThrownBy(() -> sorter.sort(moved, new SortingSpace()))
        .isInstanceOf(CorruptionException.class);
    assertThat(SegmentSummary.read(fs, segment)).isPresent();
    assertThat(SegmentSummary.read(fs, moved)).isEmpty();
    Path copies = new Path(DIRECTORY, "copy.12");
    LogDirectory.create(fs, copies);
    Path copied = new Path(copies, segment.path().getName());
    LogRecords.rewrite(fs, copied, LogRecords.bytes(fs, segment.path()));
    Segment copy = new Segment(segment.kind(), segment.number(), copied, segment.lengthBytes());
    try (LogReader reader = LogReader.open(fs, copy).orElseThrow()) {
      assertThat(reader.next()).isPresent();
    }
  }

  @Test
  void aDamagedSegmentIsNotSorted() throws IOException {
    byte[] bytes = LogRecords.bytes(fs, segment.path());
    bytes[bytes.length / 2] ^= 1;
    LogRecords.rewrite(fs, segment.path(), bytes);
    assertThatThrownBy(() -> sorter.sort(segment, new SortingSpace()))
        .isInstanceOf(CorruptionException.class);
    assertThat(SortedFile.open(fs, segment)).isEmpty();
    assertThat(fs.listStatus(DIRECTORY))
        .noneMatch(file -> file.getPath().getName().contains(".sorted"));
  }

  private boolean isWhole() throws IOException {
    Optional<SortedFile> sorted = SortedFile.open(fs, segment);
    if (sorted.isEmpty()) {
      return false;
    }
    try (SortedFile opened = sorted.get()) {
      long records = 0;
      for (int i = 0; i < TABLETS; i++) {
        records += all(opened.records(tablet(i))).size();
      }
      return records == RECORDS;
    } catch (CorruptionException e) {
      return false;
    }
  }

  private byte[] bytes() throws IOException {
    return LogRecords.bytes(fs, SortedFormat.path(segment));
  }

  private void rewrite(byte[] bytes) throws IOException {
    LogRecords.rewrite(fs, SortedFormat.path(segment), bytes);
  }
}
