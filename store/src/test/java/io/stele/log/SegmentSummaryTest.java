package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.all;
import static io.stele.log.LogRecords.bytes;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.tablet;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the summaries of segments are for: replays that pass by, and damage that stays local,
 * whether segments are read for each tablet or once for all.
 */
@Timeout(60)
@ParameterizedClass
@ValueSource(ints = {0, 1 << 20})
class SegmentSummaryTest {
  private static final Path DIRECTORY = new Path("crash:/logs/" + SERVER);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);
  private static final Path GIVEN_UP = new Path("crash:/recovery/gone_1_1");
  private static final TabletId FIRST = tablet(1);
  private static final TabletId SECOND = tablet(2);

  @Parameter int memoryBytes;
  private final CrashableFileSystem fs = CrashableFileSystem.create();

  @BeforeEach
  void makeDirectory() throws IOException {
    LogDirectory.create(fs, DIRECTORY);
  }

  private CommitLog open() throws IOException {
    return CommitLog.open(
        SystemRuntime.INSTANCE,
        new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER),
        LogOptions.DEFAULT,
        failure -> {});
  }

  private static void append(CommitLog log, TabletId tablet, long from, long to) throws Exception {
    for (long i = from; i <= to; i++) {
      log.append(record(tablet, i, 1000)).get();
    }
  }

  /** What was appended before is in a segment that is full, what follows in another. */
  private static void fill(CommitLog log) throws Exception {
    log.awaitStandby();
    long segments = log.statistics().segments();
    log.roll();
    while (log.statistics().segments() == segments) {
      assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // By JUnit's time limit.
      Thread.onSpinWait();
    }
    log.awaitStandby();
  }

  private void fence() throws IOException {
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount()), DIRECTORY, FENCED);
  }

  private List<LogRecord> read(TabletId tablet, long above) throws IOException {
    return all(
        new FencedLogs(SystemRuntime.INSTANCE, fs, memoryBytes)
            .read(FENCED, tablet, above, SystemRuntime.INSTANCE.nanoTime()));
  }

  private static List<LogRecord> records(TabletId tablet, long from, long to) {
    List<LogRecord> records = new ArrayList<>();
    for (long i = from; i <= to; i++) {
      records.add(record(tablet, i, 1000));
    }
    return records;
  }

  /** Damages a record's body in the {@code nth} segment that has records. */
  private Segment damage(int nth, long record) throws IOException {
    int seen = 0;
    for (Segment segment : FencedLog.segments(fs, FENCED, TabletKind.USER)) {
      try (LogReader reader = LogReader.open(fs, segment.path())) {
        boolean used = reader.link().isPresent();
        if (used && ++seen == nth) {
          for (long i = 0; i <= record; i++) {
            assertThat(reader.next()).isPresent();
          }
          fs.disk().flipBits(segment.path(), (int) reader.position() - 1, 1);
          return segment;
        }
      }
    }
    throw new AssertionError("there is no segment " + nth + " with records");
  }

  @Test
  void aFullSegmentSaysWhichRecordsOfWhichTabletsItHas() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 5);
      append(log, SECOND, 7, 7);
      fill(log);
      append(log, FIRST, 6, 8);
      fence();
    }
    List<Segment> segments = FencedLog.segments(fs, FENCED, TabletKind.USER);
    assertThat(SegmentSummary.read(fs, segments.get(0)).orElseThrow().tablets())
        .isEqualTo(Map.of(FIRST, new SequenceRange(1, 5), SECOND, new SequenceRange(7, 7)));
    assertThat(SegmentSummary.read(fs, segments.get(1))).isEmpty(); // The server died with it.
    assertThat(read(FIRST, 0)).isEqualTo(records(FIRST, 1, 8));
  }

  @Test
  void aLogThatIsClosedLeavesASummaryOfItsLastSegmentToo() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 3, 4);
    }
    assertThat(
            SegmentSummary.read(fs, LogDirectory.segments(fs, DIRECTORY).get(0))
                .orElseThrow()
                .tablets())
        .isEqualTo(Map.of(FIRST, new SequenceRange(3, 4)));
  }

  @Test
  void aReplayPassesBySegmentsThatHaveNothingForIt() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 100);
      fill(log);
      append(log, FIRST, 101, 200);
      append(log, SECOND, 1, 1);
    }
    fence();
    long before = fs.disk().count(Operation.READ);
    assertThat(read(FIRST, 0)).isEqualTo(records(FIRST, 1, 200));
    long whole = fs.disk().count(Operation.READ) - before;
    assertThat(read(FIRST, 100)).isEqualTo(records(FIRST, 101, 200));
    damage(1, 50); // Not noticed: neither needs it.
    assertThat(read(SECOND, 0)).isEqualTo(records(SECOND, 1, 1));
    assertThat(read(FIRST, 100)).isEqualTo(records(FIRST, 101, 200));
    assertThat(read(FIRST, 200)).isEmpty();
    assertThat(whole).isPositive();
  }

  @Test
  void damageInAFullSegmentStopsOnlyTabletsThatLoseARecordByIt() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 4);
      append(log, SECOND, 1, 4);
      fill(log);
    }
    fence();
    Segment damaged = damage(1, 3); // The last of the first tablet.
    assertThat(read(SECOND, 0)).isEqualTo(records(SECOND, 1, 4));
    assertThat(read(FIRST, 4)).isEmpty();
    assertThatThrownBy(() -> read(FIRST, 0))
        .isInstanceOfSatisfying(
            CorruptionException.class,
            e -> assertThat(e.file()).isEqualTo(damaged.path().toString()))
        .hasMessageContaining("tablet " + FIRST)
        .hasMessageContaining("above 3");
  }

  @Test
  void damageWithoutASummaryStopsTabletsOfWhichNothingFollows() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 3);
      append(log, SECOND, 1, 3);
      fence(); // It has no time for a summary.
    }
    damage(1, 1); // The second record of the first tablet.
    assertThat(read(SECOND, 0)).isEqualTo(records(SECOND, 1, 3));
    // That one is missing is seen by its number.
    DistinctRecords distinct = new DistinctRecords(FIRST, 0);
    read(FIRST, 0).forEach(distinct::add);
    assertThatThrownBy(distinct::checkComplete).hasMessageContaining("lack 1 of the records");
    // Its files may hold that one.
    assertThat(read(FIRST, 2)).isEqualTo(records(FIRST, 3, 3));
    // Of a third nothing was seen: its records may all have been there.
    assertThatThrownBy(() -> read(tablet(3), 0))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("tablet " + tablet(3));
  }

  @Test
  void aDamagedHeaderOrFrameStopsNoTabletThatHasLaterRecords() throws Exception {
    try (CommitLog log = open()) {
      append(log, SECOND, 1, 3);
      fill(log);
      append(log, FIRST, 1, 3);
    }
    fence();
    Segment first = damage(1, 1);
    fs.disk().flipBits(first.path(), 9, 1); // In its header: nothing in it can be read.
    assertThat(read(FIRST, 0)).isEqualTo(records(FIRST, 1, 3));
    assertThatThrownBy(() -> read(SECOND, 0)).isInstanceOf(CorruptionException.class);
  }

  @Test
  void aDamagedFrameIsSkippedToTheNextSoundOne() throws Exception {
    long second;
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 3);
    }
    fence();
    Segment segment = FencedLog.segments(fs, FENCED, TabletKind.USER).get(0);
    try (LogReader reader = LogReader.open(fs, segment.path())) {
      assertThat(reader.next()).isPresent();
      second = reader.position();
    }
    fs.disk().flipBits(segment.path(), (int) second, 0x7f);
    assertThat(read(FIRST, 1)).isEqualTo(records(FIRST, 3, 3));
  }

  /** Three segments: the first has only the first tablet, the second both, the third the second. */
  private List<Segment> threeSegments() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 3);
      fill(log);
      append(log, FIRST, 4, 6);
      append(log, SECOND, 1, 3);
      fill(log);
      append(log, SECOND, 4, 6);
    }
    fence();
    List<Segment> used = new ArrayList<>();
    for (Segment segment : FencedLog.segments(fs, FENCED, TabletKind.USER)) {
      try (LogReader reader = LogReader.open(fs, segment.path())) {
        if (reader.link().isPresent()) {
          used.add(segment);
        }
      }
    }
    assertThat(used).hasSize(3);
    return used;
  }

  @Test
  void aSegmentThatIsGoneStopsOnlyTabletsThatHadRecordsInIt() throws Exception {
    List<Segment> segments = threeSegments();
    fs.delete(segments.get(1).path(), false);
    assertThat(read(tablet(3), 0)).isEmpty();
    assertThat(read(FIRST, 6)).isEmpty();
    assertThat(read(SECOND, 3)).isEqualTo(records(SECOND, 4, 6));
    assertThatThrownBy(() -> read(FIRST, 0))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(segments.get(1).path().toString())
        .hasMessageContaining("tablet " + FIRST)
        .hasMessageContaining("above 3");
    DistinctRecords distinct = new DistinctRecords(SECOND, 0);
    read(SECOND, 0).forEach(distinct::add);
    assertThatThrownBy(distinct::checkComplete).hasMessageContaining("lack 3 of the records");
  }

  @Test
  void theLastSegmentIfItIsGoneStopsEveryTabletAsNobodyKnowsWhoseRecordsItHad() throws Exception {
    List<Segment> segments = threeSegments();
    fs.delete(segments.get(2).path(), false);
    for (TabletId tablet : List.of(FIRST, SECOND, tablet(3))) {
      assertThatThrownBy(() -> read(tablet, 100)).isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void aSegmentThatIsShorterThanItWasIsReadAsFarAsItGoes() throws Exception {
    Segment second = threeSegments().get(1);
    byte[] bytes;
    try (FSDataInputStream in = fs.open(second.path())) {
      bytes = in.readAllBytes();
    }
    long end;
    try (LogReader reader = LogReader.open(fs, second.path())) {
      for (int i = 0; i < 3; i++) {
        reader.next();
      }
      end = reader.position();
    }
    try (FSDataOutputStream out = fs.create(second.path(), true)) {
      out.write(bytes, 0, (int) end + 5);
    }
    assertThat(read(FIRST, 0)).isEqualTo(records(FIRST, 1, 6));
    assertThat(read(SECOND, 3)).isEqualTo(records(SECOND, 4, 6));
    assertThatThrownBy(
            () -> {
              DistinctRecords distinct = new DistinctRecords(SECOND, 0);
              read(SECOND, 0).forEach(distinct::add);
              distinct.checkComplete();
            })
        .hasMessageContaining("lack 3");
  }

  /** As a tablet replays them. */
  private List<LogRecord> replay(TabletId tablet, long above) throws IOException {
    return replay(tablet, above, FENCED);
  }

  private List<LogRecord> replay(TabletId tablet, long above, Path... logs) throws IOException {
    DistinctRecords distinct = new DistinctRecords(tablet, above);
    List<LogRecord> records = new ArrayList<>();
    Losses losses = Losses.NONE;
    for (Path log : logs) {
      try (RecordSource source =
          new FencedLogs(SystemRuntime.INSTANCE, fs, memoryBytes)
              .read(log, tablet, above, SystemRuntime.INSTANCE.nanoTime())) {
        for (LogRecord record : all(source)) {
          if (distinct.add(record)) {
            records.add(record);
          }
        }
        losses = losses.and(source.losses());
      }
    }
    distinct.passOver(losses);
    distinct.checkComplete();
    return records;
  }

  private void giveUp(Path recovery) throws IOException {
    Path logs = new Path("crash:/logs/" + recovery.getName());
    LogRepair.giveUp(SystemRuntime.INSTANCE, fs, logs, recovery);
  }

  @Test
  void recordsOfALogThatWasGivenUpMayBeMissingBelowThoseThatFollow() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 11, 15);
    }
    fence();
    assertThatThrownBy(() -> replay(FIRST, 0)).hasMessageContaining("lack 10 of the records");
    giveUp(GIVEN_UP);
    assertThat(replay(FIRST, 0, GIVEN_UP, FENCED)).isEqualTo(records(FIRST, 11, 15));
    assertThat(replay(FIRST, 0, FENCED, GIVEN_UP)).isEqualTo(records(FIRST, 11, 15));
    assertThat(replay(FIRST, 12, GIVEN_UP, FENCED)).isEqualTo(records(FIRST, 13, 15));
    assertThat(LogRepair.check(fs, GIVEN_UP)).isEmpty();
  }

  @Test
  void damageOfALogIsNotPassedOverBecauseAnotherWasGivenUp() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 11, 13);
      fill(log);
      append(log, FIRST, 14, 15);
      append(log, SECOND, 6, 7);
    }
    fence();
    giveUp(GIVEN_UP);
    Segment damaged = damage(1, 0);
    assertThatThrownBy(() -> replay(FIRST, 0, GIVEN_UP, FENCED))
        .hasMessageContaining("lack record 11, ")
        .hasMessageContaining("stele log check");
    // It had none of this one's.
    assertThat(replay(SECOND, 0, GIVEN_UP, FENCED)).isEqualTo(records(SECOND, 6, 7));
    LogRepair.accept(fs, FENCED, damaged.path().getName());
    assertThat(replay(FIRST, 0, GIVEN_UP, FENCED)).isEqualTo(records(FIRST, 12, 15));
  }

  @Test
  void whatIsFoundElsewhereIsNotInDoubt() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 3);
      fence(); // It has no time for a summary.
    }
    giveUp(GIVEN_UP);
    fs.rename(FENCED, FENCED.suffix("_before"));
    fs.mkdirs(DIRECTORY);
    try (CommitLog log = open()) {
      append(log, FIRST, 4, 6);
      fence();
    }
    damage(1, 0); // For all that is known, it may be any up to the fourth.
    Path[] logs = {FENCED.suffix("_before"), GIVEN_UP, FENCED};
    assertThatThrownBy(() -> replay(FIRST, 0, logs)).hasMessageContaining("lack record 4, ");
    assertThat(replay(FIRST, 4, logs)).isEqualTo(records(FIRST, 5, 6));
  }

  @Test
  void aLogIsGivenUpInAFormatThatEarlierVersionsIgnore() throws Exception {
    giveUp(GIVEN_UP);
    assertThat(new String(bytes(fs, new Path(GIVEN_UP, "ACCEPTED.log")), UTF_8))
        .isEqualTo("stele accepted losses 1\n* -1\ncrc32c a4e6caac\n");
    assertThatThrownBy(() -> giveUp(GIVEN_UP)).hasMessageContaining("is there");
  }

  @Test
  void aLogThatCouldNotBeGivenUpIsStillGone() throws Exception {
    fs.disk()
        .inject(
            FaultInjector.always(Operation.WRITE, path -> true, new FaultInjector.Effect.Fail()));
    assertThatThrownBy(() -> giveUp(GIVEN_UP)).isInstanceOf(IOException.class);
    assertThat(fs.exists(GIVEN_UP)).isFalse();
    fs.disk().heal();
    giveUp(GIVEN_UP);
    assertThat(LogRepair.logs(fs, GIVEN_UP.getParent())).hasSize(1);
  }

  @Test
  void anAcceptedLossIsPassedOverAndNothingElse() throws Exception {
    List<Segment> segments = threeSegments();
    fs.delete(segments.get(1).path(), false);
    LogRepair.Damaged found = LogRepair.check(fs, FENCED).get(0);
    assertThat(found.segment()).isEqualTo(segments.get(1));
    assertThat(found.tablets().orElseThrow().tablets())
        .isEqualTo(Map.of(FIRST, new SequenceRange(4, 6), SECOND, new SequenceRange(1, 3)));
    assertThat(found.accepted()).isFalse();

    LogRepair.accept(fs, FENCED, segments.get(1).path().getName());
    assertThat(LogRepair.check(fs, FENCED)).singleElement().matches(LogRepair.Damaged::accepted);
    assertThat(replay(FIRST, 0)).isEqualTo(records(FIRST, 1, 3));
    assertThat(replay(SECOND, 0)).isEqualTo(records(SECOND, 4, 6));

    // Another one that is lost later was not meant.
    fs.delete(segments.get(0).path(), false);
    assertThatThrownBy(() -> replay(FIRST, 0))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(segments.get(0).path().toString());
    assertThat(replay(SECOND, 0)).isEqualTo(records(SECOND, 4, 6));
    assertThatThrownBy(() -> LogRepair.accept(fs, FENCED, segments.get(2).path().getName()))
        .hasMessageContaining("not damaged");
  }

  @Test
  void thatASegmentLostItsEndIsShownAndCanBeAcceptedThoughOnlyTheNextTells() throws Exception {
    checkCut(2, false);
  }

  @Test
  void thatASegmentLostEverythingIsShownAndCanBeAcceptedThoughOnlyTheNextTells() throws Exception {
    checkCut(0, false);
  }

  @Test
  void thatASegmentLostItsEndIsShownAndCanBeAcceptedThoughItIsDamagedBeforeToo() throws Exception {
    checkCut(2, true);
  }

  /**
   * Cuts the first segment.
   *
   * @param damaged whether its first record is damaged, too
   */
  private void checkCut(int recordsLeft, boolean damaged) throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 3);
      fill(log);
      append(log, FIRST, 4, 6);
    }
    Path cut = LogDirectory.segment(DIRECTORY, TabletKind.USER, 1);
    long end = 0;
    try (LogReader reader = LogReader.open(fs, cut)) {
      for (int i = 0; i < recordsLeft; i++) {
        reader.next();
        end = reader.position();
      }
    }
    fs.disk().truncate(cut, (int) end); // Before anybody has listed its length.
    fence();
    if (damaged) {
      damage(1, 0);
    }
    assertThatThrownBy(() -> replay(FIRST, 0))
        .hasMessageContaining("is not opened, so that no data is lost");
    LogRepair.Damaged found = LogRepair.damaged(fs, FENCED, cut.getName());
    assertThat(found.tablets().orElseThrow().tablets())
        .isEqualTo(Map.of(FIRST, new SequenceRange(1, 3)));
    assertThat(found.accepted()).isFalse();

    LogRepair.accept(fs, FENCED, cut.getName());
    assertThat(LogRepair.check(fs, FENCED)).singleElement().matches(LogRepair.Damaged::accepted);
    List<LogRecord> left = new ArrayList<>(records(FIRST, damaged ? 2 : 1, recordsLeft));
    left.addAll(records(FIRST, 4, 6));
    assertThat(replay(FIRST, 0)).isEqualTo(left);
  }

  @Test
  void acceptedDamageWithinASegmentCostsTheRecordThere() throws Exception {
    Path second = threeSegments().get(1).path();
    int later = 0;
    try (LogReader reader = LogReader.open(fs, second)) {
      for (int i = 0; i < 4; i++) {
        reader.next();
        later = (int) reader.position() - 1;
      }
    }
    Segment damaged = damage(2, 1); // The fifth record of the first tablet.
    assertThatThrownBy(() -> replay(FIRST, 0)).hasMessageContaining("lack 1 of the records");
    LogRepair.accept(fs, FENCED, damaged.path().getName());
    assertThat(replay(FIRST, 0))
        .extracting(LogRecord::sequence)
        .containsExactly(1L, 2L, 3L, 4L, 6L);
    assertThat(replay(SECOND, 0)).isEqualTo(records(SECOND, 1, 6));
    fs.disk().flipBits(second, later, 1); // The first of the second tablet: damaged since.
    assertThatThrownBy(() -> replay(SECOND, 0)).hasMessageContaining("lack 1 of the records");
    LogRepair.accept(fs, FENCED, damaged.path().getName());
    assertThat(replay(SECOND, 0)).isEqualTo(records(SECOND, 2, 6));
  }

  @Test
  void aSegmentThatTurnsUpAfterItsLossWasAcceptedIsNotRead() throws Exception {
    List<Segment> segments = threeSegments();
    Path aside = new Path("crash:/aside");
    fs.rename(segments.get(2).path(), aside);
    LogRepair.accept(fs, FENCED, segments.get(2).path().getName());
    assertThat(replay(SECOND, 0)).isEqualTo(records(SECOND, 1, 3));
    fs.rename(aside, segments.get(2).path());
    assertThat(replay(SECOND, 0)).isEqualTo(records(SECOND, 1, 3));
  }

  @Test
  void namedHoldersKeepSegments() throws Exception {
    try (CommitLog log = open()) {
      append(log, FIRST, 1, 2);
      assertThat(log.hold("replication", 1)).isEqualTo(1);
      fill(log);
      append(log, FIRST, 3, 3);
      log.release(FIRST, 2);
      assertThat(fs.exists(LogDirectory.segment(DIRECTORY, TabletKind.USER, 1))).isTrue();
      assertThat(log.holders()).isEqualTo(Map.of("replication", 1L));
      assertThat(log.hold("replication", 2)).isEqualTo(2);
      assertThat(fs.exists(LogDirectory.segment(DIRECTORY, TabletKind.USER, 1))).isFalse();
      log.unhold("replication");
      assertThat(log.hold("late", 1)).isGreaterThan(1);
    }
  }
}
