package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.LogRecord;
import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.GcPolicy;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TimeRange;
import io.stele.record.FileRef;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class TabletTest {
  private static final TableSchema SCHEMA =
      TableSchema.of("t", "f", "g").with(new ColumnFamily("all", GcPolicy.keepAll()));

  private final TabletFixture fixture = new TabletFixture(SCHEMA);

  TabletTest() throws IOException {}

  @Test
  void aPageWhoseTimeHasPassedEndsAndTheNextGoesOnAfterIt() throws Exception {
    fixture.options =
        TabletOptions.DEFAULT.withPage(new TabletOptions.Page(1 << 20, Duration.ZERO));
    fixture.reopen(List.of());
    for (String row : List.of("a", "b", "c", "d", "e")) {
      fixture.put(row, "f", "q", 1, row);
    }
    List<Bytes> rows = new ArrayList<>();
    RowRange rest = RowRange.ALL;
    while (true) {
      ReadResult page = fixture.tablet.read(ReadRequest.of(RowQuery.ALL.range(rest)));
      assertThat(page.rows()).hasSizeBetween(1, 2);
      page.rows().forEach(row -> rows.add(row.key()));
      if (page.nextRow().isEmpty()) {
        break;
      }
      rest = new RowRange(page.nextRow().get(), Bytes.EMPTY);
    }
    assertThat(rows)
        .containsExactly(Bytes.of("a"), Bytes.of("b"), Bytes.of("c"), Bytes.of("d"), Bytes.of("e"));
  }

  @Test
  void aPageEndsAtTheLimitHoweverMuchIsAsked() throws Exception {
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "f"));
    String value = "v".repeat(1 << 20);
    for (int i = 10; i < 40; i++) {
      fixture.apply(Mutation.of("row" + i).put("f", "q", value)).join();
    }
    ReadResult page = fixture.tablet.read(ReadRequest.of(RowQuery.ALL).pageOf(Long.MAX_VALUE));
    assertThat(page.rows()).hasSize((int) (Limits.PAGE_BYTES_MAX >> 20));
    assertThat(page.nextRow()).contains(Bytes.of("row26"));
  }

  @Test
  void aDeleteHidesWhatCameBeforeItAndNothingAfterWhateverItsTimestamp() throws IOException {
    fixture.put("r", "all", "q", 100, "before");
    fixture.apply(Mutation.of("r").deleteRow()).join();
    fixture.put("r", "all", "q", 50, "after, of an older time");
    assertThat(fixture.rows()).containsExactly("r all:q@50=after, of an older time");
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).containsExactly("r all:q@50=after, of an older time");
  }

  @Test
  void aVersionPushedOutStaysGoneWhenWhatPushedItOutIsDeleted() throws IOException {
    fixture.put("r", "f", "q", 1, "old");
    fixture.tablet.minorCompact();
    fixture.put("r", "f", "q", 2, "new");
    fixture.apply(Mutation.of("r").deleteCell("f", Bytes.of("q"), 2)).join();
    assertThat(fixture.rows()).isEmpty();
    fixture.tablet.minorCompact();
    assertThat(fixture.rows()).isEmpty();
    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).isEmpty();
  }

  @Test
  void aTombstoneIsKeptUntilACompactionSeesAllThatItMayCover() throws IOException {
    fixture.put("r", "all", "q", 1, "old");
    fixture.tablet.minorCompact();
    fixture.apply(Mutation.of("r").deleteColumn("all", Bytes.of("q"), TimeRange.ALL)).join();
    fixture.tablet.minorCompact();
    assertThat(fixture.rows()).isEmpty();
    assertThat(fixture.tablet.statistics().files()).isEqualTo(2);
    fixture.tablet.majorCompact();
    assertThat(fixture.tablet.statistics().files()).isZero();
  }

  @Test
  void serverTimestampsNeverGoBackWhenTheClockDoesNorOnAMove() throws IOException {
    fixture.apply(Mutation.of("r").put("all", "q", "1")).join();
    fixture.nowMicros = 500;
    fixture.apply(Mutation.of("r").put("all", "q", "2")).join();
    assertThat(fixture.rows()).containsExactly("r all:q@1000001=2 all:q@1000000=1");
    fixture.tablet.minorCompact();
    fixture.tablet.close();
    fixture.reopen(List.of());
    fixture.apply(Mutation.of("r").put("all", "q", "3")).join();
    assertThat(fixture.rows()).containsExactly("r all:q@1000002=3 all:q@1000001=2 all:q@1000000=1");
    List<LogRecord> replay = fixture.log.crash(0);
    fixture.tablet.close();
    fixture.reopen(replay);
    fixture.apply(Mutation.of("r").put("f", "q", "4")).join();
    assertThat(fixture.rows().get(0)).endsWith(" f:q@1000003=4");
  }

  @Test
  void anIncrementOfAVersionFromTheFutureIsTheNewestVersion() throws IOException {
    fixture.apply(Mutation.of("r").put("all", Bytes.of("n"), 9_000_000, Bytes.ofLong(5))).join();
    OperationResult result =
        fixture.apply(ReadModifyWrite.increment(Bytes.of("r"), "all", Bytes.of("n"), 2)).join();
    assertThat(result.row().orElseThrow().value("all", "n")).contains(Bytes.ofLong(7));
    assertThat(fixture.tablet.read(ReadRequest.of(RowQuery.ALL)).rows().get(0).value("all", "n"))
        .contains(Bytes.ofLong(7));
  }

  @Test
  void wrongInputIsRefusedAndChangesNothing() throws IOException {
    fixture.options = UntimedPages.DEFAULT.withValueBytesMax(10);
    fixture.reopen(List.of());
    refused(Mutation.of("r").put("f", "q", "fine").put("nope", "q", "x"), "has no family \"nope\"");
    refused(Mutation.of("r").put("f", "q", "12345678901"), "has 11 bytes: the limit is 10");
    refused(Mutation.of("r"), "has no edits");
    refused(Mutation.of("r").deleteFamily("nope"), "has no family \"nope\"");
    refused(ReadModifyWrite.increment(Bytes.of("r"), "nope", Bytes.EMPTY, 1), "has no family");
    refused(
        CheckAndMutate.ifAny(new Filter.ValueRegex("("), Mutation.of("r").put("f", "q", "x")),
        "is not a regular expression");
    fixture.put("r", "f", "q", 1, "123456789");
    refused(
        ReadModifyWrite.append(Bytes.of("r"), "f", Bytes.of("q"), Bytes.of("xx")),
        "would make a value of 11 bytes");
    refused(
        ReadModifyWrite.increment(Bytes.of("r"), "f", Bytes.of("q"), 1),
        "has 9 bytes and cannot be incremented");
    assertThat(fixture.rows()).containsExactly("r f:q@1=123456789");
    assertThat(fixture.tablet.readPoint()).isEqualTo(1);
    assertThatThrownBy(() -> fixture.tablet.read(ReadRequest.of(RowQuery.ALL.family("nope"))))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("table t has no family \"nope\": it has all, f, g");
  }

  @Test
  void whatNoReaderOfTheLogTakesIsRefusedAndChangesNothing() throws IOException {
    fixture.log.recordBytesMax = 1000;
    refused(
        Mutation.of("r").put("f", "q", "v".repeat(900)), "bytes in the commit log: the limit is");
    assertThat(fixture.rows()).isEmpty();
    fixture.put("r", "f", "q", 1, "v".repeat(700)); // The tablet goes on, and has lost no number.
    assertThat(fixture.tablet.readPoint()).isEqualTo(1);
    assertThat(fixture.log.crash(0)).hasSize(1);
  }

  @Test
  void aChangeWhoseAnswerNoFrameCanHoldIsRefusedBeforeItIsApplied() throws IOException {
    Bytes half = Bytes.wrap(new byte[61 << 20]);
    Bytes row = Bytes.of("r");
    for (String qualifier : List.of("a", "b")) {
      fixture.apply(Mutation.of("r").put("f", Bytes.of(qualifier), 1, half)).join();
    }
    long before = fixture.tablet.readPoint();
    Bytes more = Bytes.of("x");
    refused(
        new ReadModifyWrite(
            row,
            List.of(
                new ReadModifyWrite.Append("f", Bytes.of("a"), more),
                new ReadModifyWrite.Append("f", Bytes.of("b"), more))),
        "nothing was changed");
    assertThat(fixture.tablet.readPoint()).isEqualTo(before);
    assertThat(fixture.apply(ReadModifyWrite.append(row, "f", Bytes.of("a"), more)).join().row())
        .isPresent();
  }

  private void refused(RowOperation operation, String why) {
    assertThatThrownBy(() -> fixture.apply(operation).join())
        .hasCauseInstanceOf(SteleException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aRowOfAnotherTabletIsRefusedSoThatItIsLocatedAgain() throws IOException {
    TabletFixture part = new TabletFixture(SCHEMA, RowRange.of("b", "d"));
    assertThatThrownBy(() -> part.apply(Mutation.of("d").put("f", "q", "x")).join())
        .hasCauseInstanceOf(RowOutOfRangeException.class)
        .hasMessageContaining("has the rows [b, d) and not \"d\"");
    part.put("b", "f", "q", 1, "x");
    assertThat(part.tablet.read(ReadRequest.of(RowQuery.row("d"))).rows()).isEmpty();
  }

  @Test
  void whatIsNotDurableIsNotVisibleButConditionsSeeIt() throws IOException {
    fixture.log.hold(true);
    CompletableFuture<OperationResult> first = fixture.apply(Mutation.of("r").put("f", "q", "1"));
    CompletableFuture<OperationResult> second =
        fixture.apply(
            CheckAndMutate.ifNone(new Filter.PassAll(), Mutation.of("r").put("f", "q", "2")));
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();
    assertThat(fixture.rows()).isEmpty();
    fixture.log.flush(1);
    assertThat(first).isDone();
    assertThat(second.join().matched()).isTrue(); // There was a cell, so nothing was put.
    assertThat(fixture.rows()).containsExactly("r f:q@1000000=1");
  }

  @Test
  void anAppendAsksForTheRoomOfTheValueThatItGrows() throws IOException {
    Bytes row = Bytes.of("r");
    RowOperation append = ReadModifyWrite.append(row, "f", Bytes.of("q"), Bytes.of("more"));
    fixture.apply(Mutation.of("r").put("f", "q", "12345")).join();
    AtomicLong asked = new AtomicLong();
    fixture.tablet.apply(OperationRequest.of(append).within(asked::addAndGet)).join();
    assertThat(asked).hasValue(5);
    SteleException full = SteleException.retryLater("there is no room");
    CompletableFuture<OperationResult> refused =
        fixture.tablet.apply(
            OperationRequest.of(append)
                .within(
                    bytes -> {
                      throw full;
                    }));
    assertThatThrownBy(refused::join).hasCause(full);
    assertThat(fixture.rows()).singleElement().asString().endsWith("=12345more");
  }

  @Test
  void aRetryJoinsItsUnfinishedOriginal() {
    OperationId id = new OperationId(1, 2, 1);
    RowOperation increment = ReadModifyWrite.increment(Bytes.of("r"), "f", Bytes.EMPTY, 1);
    fixture.log.hold(true);
    CompletableFuture<OperationResult> first =
        fixture.tablet.apply(OperationRequest.of(increment, id, 1));
    CompletableFuture<OperationResult> again =
        fixture.tablet.apply(
            new OperationRequest(
                increment, Optional.of(id), Outstanding.from(1), Durability.HSYNC));
    assertThat(again).isNotDone(); // Durability is no part of what an operation is.
    fixture.log.hold(false);
    assertThat(again.join()).isEqualTo(first.join());
    assertThat(again.join().row().orElseThrow().value("f", "")).contains(Bytes.ofLong(1));
  }

  @Test
  void aClientSilentForLongerThanTheWindowIsRefusedNotAppliedTwice() throws IOException {
    OperationId id = new OperationId(1, 2, 7);
    RowOperation increment = ReadModifyWrite.increment(Bytes.of("r"), "f", Bytes.EMPTY, 1);
    fixture.tablet.apply(OperationRequest.of(increment, id, 1)).join();
    fixture.passed = Duration.ofHours(2);
    fixture.tablet.minorCompact();
    fixture.tablet.close();
    fixture.reopen(List.of());
    assertThatThrownBy(() -> fixture.tablet.apply(OperationRequest.of(increment, id, 1)).join())
        .hasMessageContaining("older than the window");
    fixture.tablet.apply(OperationRequest.of(increment, new OperationId(1, 2, 8), 8)).join();
  }

  /** A log that answers nothing by itself. */
  private static final class SilentLog implements TabletLog {
    private final List<CompletableFuture<Void>> appended = new ArrayList<>();

    @Override
    public CompletableFuture<Void> append(LogRecord record, LogNeed need) {
      appended.add(new CompletableFuture<>());
      return appended.get(appended.size() - 1);
    }

    @Override
    public void release(long sequence) {}
  }

  @Test
  void anOperationIsNotRefusedBecauseOfOneThatMayNeverHaveBeen() {
    SilentLog log = new SilentLog();
    Tablet tablet = open(log);
    CompletableFuture<OperationResult> text =
        tablet.apply(OperationRequest.of(Mutation.of("a").put("f", "q", "no number")));
    CompletableFuture<OperationResult> refused =
        tablet.apply(
            OperationRequest.of(ReadModifyWrite.increment(Bytes.of("a"), "f", Bytes.of("q"), 1)));
    assertThat(refused).isNotDone();
    log.appended.get(0).completeExceptionally(new IOException("disk gone"));
    assertThat(text).isCompletedExceptionally();
    assertThatThrownBy(refused::join)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
  }

  @Test
  void aMutationThatTheSchemaRefusesIsRefusedAtOnceHoweverMuchIsQueued() {
    SilentLog log = new SilentLog();
    Tablet tablet = open(log);
    CompletableFuture<OperationResult> queued =
        tablet.apply(OperationRequest.of(Mutation.of("a").put("f", "q", "v")));
    CompletableFuture<OperationResult> refused =
        tablet.apply(OperationRequest.of(Mutation.of("a").put("nope", "q", "v")));
    assertThat(queued).isNotDone();
    assertThat(refused).isCompletedExceptionally(); // So the next one of its row is held back.
  }

  @Test
  void anOperationThatHangsInAReadDoesNotHoldUpThoseOfItsRowForEver() throws Exception {
    fixture.put("r", "f", "q", 1, "v");
    fixture.tablet.minorCompact();
    fixture.reopen(List.of()); // Nothing is in caches.
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    fixture
        .fs
        .disk()
        .inject(
            FaultInjector.at(
                Operation.READ,
                path -> true,
                1,
                new FaultInjector.Effect.Delay(
                    () -> {
                      reading.countDown();
                      try {
                        goOn.await();
                      } catch (InterruptedException e) {
                        throw new AssertionError(e);
                      }
                    })));
    RowOperation append = ReadModifyWrite.append(Bytes.of("r"), "f", Bytes.of("q"), Bytes.of("w"));
    CompletableFuture<OperationResult> hangs =
        CompletableFuture.supplyAsync(() -> fixture.apply(append)).thenCompose(one -> one);
    reading.await();
    assertThatThrownBy(() -> fixture.apply(Mutation.of("r").put("f", "q", "x")).join())
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
    goOn.countDown();
    hangs.join();
    assertThat(fixture.rows()).singleElement().asString().contains("=vw");
  }

  @Test
  void whenTheLogFailsOutcomesInFlightAreUnknownAndTheTabletStops() {
    SilentLog log = new SilentLog();
    List<CompletableFuture<Void>> appended = log.appended;
    Tablet tablet = open(log);
    CompletableFuture<OperationResult> first =
        tablet.apply(OperationRequest.of(Mutation.of("a").put("f", "q", "1")));
    CompletableFuture<OperationResult> second =
        tablet.apply(OperationRequest.of(Mutation.of("b").put("f", "q", "2")));
    appended.get(0).completeExceptionally(new IOException("disk gone"));
    for (CompletableFuture<OperationResult> one : List.of(first, second)) {
      assertThatThrownBy(one::join)
          .cause()
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
    }
    assertThat(tablet.failure()).isPresent();
    assertThatThrownBy(
            () -> tablet.apply(OperationRequest.of(Mutation.of("c").put("f", "q", "3"))).join())
        .hasMessageContaining("must be loaded again (disk gone)");
    assertThatThrownBy(() -> tablet.read(ReadRequest.of(RowQuery.ALL)))
        .isInstanceOf(SteleException.class);
    assertThatThrownBy(tablet::minorCompact).isInstanceOf(SteleException.class);
  }

  private Tablet open(TabletLog log) {
    try {
      return Tablet.open(
          fixture.manifest.reassigned(),
          new TabletEnvironment(
              SystemRuntime.INSTANCE,
              ServerClock.trusting(SystemRuntime.INSTANCE.wallClock()),
              fixture.fs,
              TabletFixture.ROOT,
              new OpenSSTables(SystemRuntime.INSTANCE, fixture.fs, NoBlockCache.INSTANCE),
              MemoryAccount.NONE,
              OperationBudget.unlimited(),
              log,
              fixture.manifest,
              CompactionPace.UNLIMITED,
              UntimedPages.DEFAULT,
              MemoryRoom.unlimited(),
              new CompactionCounters()),
          List.of());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aLogThatLacksARecordIsFoundAndTheTabletIsNotOpened() throws IOException {
    for (int i = 0; i < 5; i++) {
      fixture.put("r" + i, "f", "q", i, "v");
    }
    List<LogRecord> records = new ArrayList<>(fixture.log.crash(0));
    records.remove(2);
    assertThatThrownBy(() -> fixture.reopen(records))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("lack 1 of the records 1 to 5, the first of them 3");
  }

  @Test
  void damageIsNamedAndNeverCompactedAway() throws IOException {
    for (int file = 0; file < 2; file++) {
      for (int i = 0; i < 50; i++) {
        fixture.put("r" + i, "f", "q", file, "value " + i);
      }
      fixture.tablet.minorCompact();
    }
    Path damaged = new Path(TabletFixture.ROOT, fixture.manifest.record().files().get(0).path());
    fixture.fs.disk().flipBits(damaged, 100, 0x10);
    List<FileRef> before = fixture.manifest.record().files();
    fixture.tablet.close();
    fixture.reopen(List.of());
    assertThatThrownBy(fixture.tablet::majorCompact)
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(damaged.getName());
    assertThatThrownBy(fixture::rows).isInstanceOf(CorruptionException.class);
    assertThatThrownBy(
            () ->
                fixture
                    .apply(ReadModifyWrite.append(Bytes.of("r1"), "f", Bytes.of("q"), Bytes.EMPTY))
                    .join())
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.CORRUPTION));
    assertThat(fixture.manifest.record().files()).isEqualTo(before);
    assertThat(fixture.tablet.failure()).isEmpty();
    assertThat(fixture.fs.listStatus(damaged.getParent())).hasSize(2);
  }

  @Test
  void aCompactionWhoseCommitFailsLeavesNoFileAndMayBeTriedAgain() throws IOException {
    fixture.put("r", "f", "q", 1, "v");
    fixture.manifest.next(TestManifest.Mood.FAILS);
    assertThatThrownBy(fixture.tablet::minorCompact).hasMessageContaining("METADATA is away");
    Path directory = new Path(TabletFixture.ROOT, "tables/t1/00000000000000aa");
    assertThat(fixture.fs.listStatus(directory)).isEmpty();
    assertThat(fixture.rows()).containsExactly("r f:q@1=v");
    fixture.put("r", "f", "q", 2, "w");
    assertThat(fixture.tablet.minorCompact()).isTrue();
    assertThat(fixture.tablet.minorCompact()).isFalse();
    assertThat(fixture.rows()).containsExactly("r f:q@2=w");
    assertThat(fixture.fs.listStatus(directory)).hasSize(1);
  }

  @Test
  void aCommitOfUnknownOutcomeStopsTheTablet() throws IOException {
    fixture.put("r", "f", "q", 1, "v");
    fixture.manifest.next(TestManifest.Mood.UNKNOWN_DONE);
    assertThatThrownBy(fixture.tablet::minorCompact).isInstanceOf(SteleException.class);
    assertThat(fixture.tablet.failure()).isPresent();
    List<LogRecord> replay = fixture.log.crash(0);
    fixture.reopen(replay);
    assertThat(fixture.rows()).containsExactly("r f:q@1=v");
    assertThat(fixture.tablet.replayedRecords()).isZero();
  }

  @Test
  void aReadOfOneRowGoesOnAtAnOldReadPointAsLongAsNothingItNeedsWasDropped() throws IOException {
    fixture.put("r", "f", "q", 1, "v");
    long point = fixture.tablet.readPoint();
    fixture.put("r", "f", "q", 2, "w");
    ReadRequest old = ReadRequest.of(RowQuery.row("r")).at(point);
    assertThat(fixture.tablet.read(old).rows().get(0).value("f", "q")).contains(Bytes.of("v"));
    fixture.tablet.minorCompact(); // Drops the old version.
    assertThat(fixture.tablet.oldestReadablePoint()).isEqualTo(2);
    ReadResult fresh = fixture.tablet.read(old);
    assertThat(fresh.readPoint()).isEqualTo(2);
    assertThat(fresh.rows().get(0).value("f", "q")).contains(Bytes.of("w"));
  }

  @Test
  void aSplitRowHalvesTheDataAndChildrenShareItsFiles() throws IOException {
    TabletFixture small = new TabletFixture(SCHEMA.withBlockBytes(1 << 10));
    for (int i = 0; i < 500; i++) {
      small.put("r%03d".formatted(i), "f", "q", 1, "some value " + i);
    }
    small.tablet.pauseWrites().join();
    assertThatThrownBy(() -> small.apply(Mutation.of("r").put("f", "q", "x")).join())
        .hasMessageContaining("accepts no writes");
    small.tablet.minorCompact();
    Bytes row = small.tablet.splitRow().orElseThrow();
    assertThat(row).isBetween(Bytes.of("r200"), Bytes.of("r300"));
    TabletSpec whole = small.tablet.describe();
    TabletSpec lower = whole.child(TabletFixture.ID, 2, new RowRange(Bytes.EMPTY, row));
    TabletSpec upper = whole.child(TabletFixture.ID, 2, new RowRange(row, Bytes.EMPTY));
    assertThat(lower.files().get(0).path()).isEqualTo(upper.files().get(0).path());
    assertThat(lower.redoPoint()).isEqualTo(500);
    List<RowSample> samples = small.tablet.sampleRows(8, MemoryClaim.NONE);
    assertThat(samples)
        .hasSizeBetween(5, 9)
        .isSortedAccordingTo(Comparator.comparing(RowSample::offsetBytes));
    assertThat(samples.get(samples.size() - 1).row()).isEqualTo(Bytes.EMPTY); // The tablet's end.
  }
}
