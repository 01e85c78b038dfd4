package io.stele.metadata;

import static io.stele.metadata.RecordsFixture.TABLE;
import static io.stele.metadata.RecordsFixture.file;
import static io.stele.metadata.RecordsFixture.minor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.ErasedFiles;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.record.Pin;
import io.stele.runtime.ManualClocks;
import io.stele.sim.MemoryLockService;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TabletRecordsTest {
  private static final ServerId ONE = new ServerId("one", 1, 1);
  private static final ServerId TWO = new ServerId("two", 2, 2);

  private final RecordsFixture fixture = new RecordsFixture();
  private final TabletRecords records = fixture.records;
  private final MemoryLockService locks = fixture.locks;
  private final MemoryRows metadata = fixture.metadata;
  private final ManualClocks clocks = fixture.clocks;

  @Test
  void aNewTableIsCoveredByItsTabletsOnceHoweverOftenItIsCreated() throws IOException {
    List<Bytes> splitRows = List.of(Bytes.of("f"), Bytes.of("p"));
    records.createTable(TABLE, splitRows);
    List<TabletRecord> first = records.reader().readAll(TABLE);
    records.createTable(TABLE, splitRows);
    assertThat(records.reader().readAll(TABLE)).isEqualTo(first).hasSize(3);
    assertThat(TabletRecordReader.tile(first)).isTrue();
    assertThat(first)
        .extracting(TabletRecord::extent)
        .containsExactly(RowRange.of("", "f"), RowRange.of("f", "p"), RowRange.of("p", ""));
  }

  @Test
  void aRecordIsReadWithoutThoseOfItsNeighbours() throws IOException {
    records.createTable(TABLE, List.of(Bytes.of("b"), Bytes.of("c"), Bytes.of("d")));
    for (TabletRecord one : records.reader().readAll(TABLE)) {
      records.assign(one, ONE); // Before that, whether it counts depends on its neighbour.
    }
    TabletRecord first = records.reader().readAll(TABLE).get(0);
    int before = metadata.read();

    assertThat(records.reader().read(TABLE, first.row())).contains(first);
    assertThat(records.reader().find(TABLE, Bytes.of("a"))).contains(first);
    assertThat(records.reader().readFrom(TABLE, Bytes.EMPTY, 2)).hasSize(2);

    assertThat(metadata.read() - before).as("rows read").isEqualTo(1 + 1 + 2);
  }

  @Test
  void theRecordsOverARangeAreThoseOfTheTabletsWithItsRows() throws IOException {
    List<Bytes> splits =
        IntStream.rangeClosed(1, 999).mapToObj(i -> Bytes.of(String.format("%03d", i))).toList();
    records.createTable(TABLE, splits); // Several pages.
    List<TabletRecord> all = records.reader().readAll(TABLE);
    assertThat(records.reader().readOver(TABLE, RowRange.ALL)).isEqualTo(all).hasSize(1000);
    assertThat(records.reader().readOver(TABLE, RowRange.of("500", "")))
        .isEqualTo(all.subList(500, 1000));
    assertThat(records.reader().readOver(TABLE, RowRange.of("", "500")))
        .isEqualTo(all.subList(0, 500));
    assertThat(records.reader().readOver(TABLE, RowRange.of("3", "4000")))
        .isEqualTo(all.subList(299, 401));
    assertThat(records.reader().readOver(TABLE, RowRange.of("256", "512"))).hasSize(256);
    assertThat(records.reader().readOver(TABLE, RowRange.single(Bytes.of("7005")))).hasSize(1);
  }

  @Test
  void anAssignmentGoesRoundAndEveryStepIsReadBackAsItWasWritten() throws IOException {
    TabletRecord none = fixture.only();
    TabletRecord assigned = records.assign(none, ONE);
    assertThat(assigned.assignment())
        .isEqualTo(new Assignment(Assignment.State.ASSIGNED, Optional.of(ONE), 1));
    assertThat(assigned.logs()).containsExactly(ONE);
    assertThat(fixture.only()).isEqualTo(assigned);
    TabletRecord loaded = records.loaded(assigned);
    assertThat(fixture.only()).isEqualTo(loaded);
    TabletRecord edited = records.edit(loaded, minor(file("a"), new Redo(7, 70), false));
    assertThat(fixture.only()).isEqualTo(edited);
    TabletRecord released = records.unloaded(edited, "unloaded");
    assertThat(released.logs()).isEmpty();
    assertThat(fixture.only()).isEqualTo(released);
    TabletRecord again = records.assign(released, TWO);
    assertThat(again.assignment().epoch()).isEqualTo(2);
    assertThat(again.logs()).containsExactly(TWO);
    assertThat(fixture.only()).isEqualTo(again);
  }

  @Test
  void aServerThatNeverLoadedTheTabletLeavesNoLogToReplay() throws IOException {
    TabletRecord first = records.loaded(records.assign(fixture.only(), ONE));
    TabletRecord second = records.assign(records.release(first, "fenced"), TWO);
    assertThat(second.logs()).containsExactly(ONE, TWO);
    TabletRecord released = records.release(second, "fenced");
    assertThat(released.logs()).containsExactly(ONE);
    assertThat(fixture.only()).isEqualTo(released);
  }

  @Test
  void oneWriteTakesATabletFromAFencedServerToAnother() throws IOException {
    TabletRecord first = records.loaded(records.assign(fixture.only(), ONE));
    TabletRecord second = records.reassign(first, TWO);
    assertThat(second.assignment())
        .isEqualTo(new Assignment(Assignment.State.ASSIGNED, Optional.of(TWO), 2));
    assertThat(second.logs()).containsExactly(ONE, TWO);
    assertThat(fixture.only()).isEqualTo(second);
    ServerId three = new ServerId("three", 3, 3);
    TabletRecord third = records.reassign(second, three);
    assertThat(third.logs()).as("TWO never loaded it").containsExactly(ONE, three);
    assertThat(fixture.only()).isEqualTo(third);
    assertThatThrownBy(() -> records.reassign(first, TWO))
        .isInstanceOf(RecordChangedException.class);
  }

  @Test
  void aTabletIsNotAssignedToAServerWhoseLogMayHaveRecordsOfIt() throws IOException {
    TabletRecord first = records.loaded(records.assign(fixture.only(), ONE));
    assertThatThrownBy(() -> records.reassign(first, ONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be assigned to it");
    TabletRecord released = records.release(first, "fenced");
    assertThatThrownBy(() -> records.assign(released, ONE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(fixture.only()).isEqualTo(released);
  }

  @Test
  void aRecordOfTheNextVersionIsReadWithoutWhatItAdded() throws IOException {
    TabletRecord before = records.loaded(records.assign(fixture.only(), ONE));
    metadata.apply(Mutation.of(before.row()).put("assignment", "new", "whatever"));
    metadata.apply(Mutation.of(before.row()).put("redo", "more", "whatever"));
    metadata.apply(Mutation.of(before.row()).put("invented", "", "whatever"));
    assertThat(fixture.only()).isEqualTo(before);
  }

  @Test
  void aRecordThatRequiresAnUnknownFeatureIsLeftAlone() throws IOException {
    TabletRecord before = fixture.only();
    metadata.apply(Mutation.of(before.row()).put("assignment", "requires", "shadow-files"));
    assertThatThrownBy(() -> records.reader().readAll(TABLE))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("shadow-files")
        .hasMessageContaining("upgrade");
    assertThat(records.reader().readUndamaged(TABLE, damage -> {})).isEmpty();
  }

  @Test
  void columnsThatALaterVersionAddedStayWhenThisOneChangesTheRecord() throws IOException {
    TabletRecord before = fixture.only();
    List<Column> added =
        List.of(
            Column.of("extent", "next"),
            Column.of("assignment", "next"),
            Column.of("redo", "next"));
    for (Column column : added) {
      metadata.apply(
          Mutation.of(before.row()).put(column.family(), column.qualifier(), Bytes.of("kept")));
    }
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    records.unloaded(loaded, "unloaded");
    assertThat(added)
        .allSatisfy(
            column -> assertThat(metadata.value(before.row(), column)).contains(Bytes.of("kept")));
  }

  @Test
  void whyATabletCouldNotBeLoadedStandsInItsRecordUntilItIs() throws IOException {
    LoadTrouble trouble = new LoadTrouble("its file is damaged", ONE, 7000, 4, true);
    TabletRecord left = records.notLoaded(records.assign(fixture.only(), ONE), trouble);
    assertThat(left.assignment().state()).isEqualTo(Assignment.State.NONE);
    assertThat(left.logs()).isEmpty();
    assertThat(left.isQuarantined()).isTrue();
    assertThat(fixture.only()).isEqualTo(left);
    TabletRecord released = records.releaseFromQuarantine(left);
    assertThat(fixture.only()).isEqualTo(released);
    assertThat(released.trouble()).isEmpty();
    TabletRecord again =
        records.notLoaded(
            records.assign(released, TWO), new LoadTrouble("again", TWO, 8000, 1, false));
    TabletRecord assigned = records.assign(again, ONE);
    assertThat(assigned.trouble()).as("until it is loaded").isEqualTo(again.trouble());
    assertThat(fixture.only()).isEqualTo(assigned);
    TabletRecord loaded = records.loaded(assigned);
    assertThat(loaded.trouble()).isEmpty();
    assertThat(fixture.only()).isEqualTo(loaded);
  }

  @Test
  void onlyWhoHasTheTabletCanChangeItsRecord() throws IOException {
    TabletRecord first = records.loaded(records.assign(fixture.only(), ONE));
    records.assign(records.release(first, "fenced"), TWO);
    TabletRecord now = fixture.only();
    assertThatThrownBy(() -> records.release(first, "late"))
        .isInstanceOf(RecordChangedException.class);
    assertThatThrownBy(() -> records.edit(first, minor(file("a"), Redo.START, true)))
        .isInstanceOf(RecordChangedException.class);
    assertThatThrownBy(() -> fixture.split(first, "m", 1))
        .isInstanceOf(RecordChangedException.class);
    assertThat(fixture.only()).isEqualTo(now);
  }

  @Test
  void aMinorCompactionThatCoversTheReplayDropsTheLogsOfEarlierServers() throws IOException {
    TabletRecord first = records.loaded(records.assign(fixture.only(), ONE));
    TabletRecord second = records.loaded(records.assign(records.release(first, "fenced"), TWO));
    TabletRecord compacted = records.edit(second, minor(file("a"), new Redo(9, 90), true));
    assertThat(compacted.logs()).containsExactly(TWO);
    assertThat(fixture.only()).isEqualTo(compacted);
  }

  @Test
  void filesThatACompactionReplacesAreRecordedAsDroppedUntilForgotten() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    TabletRecord one = records.edit(loaded, minor(file("a"), new Redo(1, 1), false));
    TabletRecord two =
        records.edit(
            one,
            ManifestEdit.builder("merging compaction")
                .add(List.of(file("b")))
                .remove(List.of(file("a")))
                .reach(1, 1)
                .build());
    assertThat(two.files()).extracting(FileRef::path).containsExactly("b");
    assertThat(two.dropped()).containsEntry("a", 5000L);
    assertThat(fixture.only()).isEqualTo(two);
    assertThat(records.forgetDropped(two, List.of("a")).dropped()).isEmpty();
    assertThat(fixture.only().dropped()).isEmpty();
  }

  @Test
  void aRecordHasBoundedlyManyDroppedFilesAndForgetsThemSomeAtATime() throws IOException {
    TabletRecord record = records.loaded(records.assign(fixture.only(), ONE));
    for (int i = 0; i < TabletRecords.DROPPED_MAX + 10; i++) {
      record = records.edit(record, minor(file("a" + i), new Redo(1, 1), false));
      record =
          records.edit(
              record,
              ManifestEdit.builder("merging compaction")
                  .remove(List.of(file("a" + i)))
                  .reach(1, 1)
                  .build());
    }
    assertThat(record.dropped()).hasSize(TabletRecords.DROPPED_MAX);
    assertThat(fixture.only()).isEqualTo(record);
    TabletRecord forgotten = records.forgetDropped(record, record.dropped().keySet());
    assertThat(forgotten.dropped()).isEmpty();
    assertThat(fixture.only().dropped()).isEmpty();
    assertThat(fixture.metadata.editsMost()).isLessThan(1000);
  }

  @Test
  void pinsAreKeptByCompactionsMovesAndSplitsUntilTheyAreTakenAway() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    Pin second = new Pin("job2", 7, 70, TableSchema.of("t", "f"));
    Pin first = new Pin("job1", 9, 90, TableSchema.of("t", "f", "g"));
    TabletRecord pinned =
        records.edit(
            records.edit(loaded, edit("pins").pin(second).build()),
            edit("pins").pin(first).build());
    assertThat(pinned.pins()).containsExactly(first, second);
    assertThat(fixture.only()).isEqualTo(pinned);

    TabletRecord compacted = records.edit(pinned, minor(file("a"), new Redo(9, 90), false));
    TabletRecord moved = records.loaded(records.assign(records.release(compacted, "moved"), TWO));
    SplitResult split = fixture.split(moved, "m", 1);
    assertThat(split.lower().pins()).containsExactly(first, second);
    assertThat(split.upper().pins()).containsExactly(first, second);
    assertThat(records.reader().readAll(TABLE)).containsExactly(split.lower(), split.upper());

    TabletRecord one = records.edit(split.upper(), edit("pins").unpin("job1").build());
    assertThat(one.pins()).containsExactly(second);
    assertThat(required(one)).contains("pins");
    TabletRecord none = records.edit(one, edit("pins").unpin("job2").build());
    assertThat(none.pins()).isEmpty();
    assertThat(required(none)).isEmpty();
    assertThat(records.reader().readAll(TABLE)).containsExactly(split.lower(), none);
  }

  @Test
  void filesOfAJobWaitThroughMovesAndSplitsEachHalfWithItsRowsUntilTheJobIsResolved()
      throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    PendingFile both = waiting("job1", "both-0", RowRange.of("a", "z"));
    PendingFile low = waiting("job1", "low-0", RowRange.of("a", "c"));
    PendingFile other = waiting("job2", "other-0", RowRange.of("x", "z"));
    TabletRecord registered =
        records.edit(loaded, edit("bulk").pending(List.of(both, low, other)).build());
    assertThat(fixture.only()).isEqualTo(registered);
    assertThat(registered.files()).isEmpty();
    assertThat(required(registered)).contains("bulk");

    TabletRecord moved = records.loaded(records.assign(records.release(registered, "moved"), TWO));
    SplitResult split = fixture.split(moved, "m", 1);
    assertThat(split.lower().pending())
        .containsExactly(both.clipped(RowRange.of("", "m")), low.clipped(RowRange.of("", "m")));
    assertThat(split.upper().pending()).containsExactly(both.clipped(RowRange.of("m", "")), other);
    assertThat(records.reader().readAll(TABLE)).containsExactly(split.lower(), split.upper());

    FileRef taken = both.clipped(RowRange.of("m", "")).file();
    TabletRecord one =
        records.edit(split.upper(), edit("bulk").add(List.of(taken)).resolve("job1").build());
    assertThat(one.pending()).containsExactly(other);
    TabletRecord none = records.edit(one, edit("bulk").resolve("job2").build());
    assertThat(none.pending()).isEmpty();
    assertThat(required(none)).as("as long as it has the file").contains("bulk");
    ManifestEdit rewritten = edit("merged").remove(List.of(taken)).build();
    assertThat(required(records.edit(none, rewritten))).isEmpty();
  }

  @Test
  void rowsThatAJobReplacesWaitThroughSplitsAndTheRecordRequiresThatThisIsKnown()
      throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    PendingReplacement all = new PendingReplacement("job1", RowRange.ALL);
    PendingReplacement low = new PendingReplacement("job2", RowRange.of("", "c"));
    PendingReplacement next = new PendingReplacement("job2", RowRange.of("d", "f"));
    TabletRecord registered =
        records.edit(loaded, edit("bulk").pending(List.of(all, low, next)).build());
    assertThat(fixture.only()).isEqualTo(registered);
    assertThat(required(registered)).contains("bulk replaces");

    SplitResult split = fixture.split(registered, "e", 1);
    assertThat(split.lower().pending())
        .containsExactly(
            all.clipped(RowRange.of("", "e")), low, next.clipped(RowRange.of("", "e")));
    assertThat(split.upper().pending())
        .containsExactly(all.clipped(RowRange.of("e", "")), next.clipped(RowRange.of("e", "f")));
    List<TabletRecord> read = records.reader().readAll(TABLE);
    assertThat(read.get(0).pending()).hasSameElementsAs(split.lower().pending());
    assertThat(read.get(1).pending()).hasSameElementsAs(split.upper().pending());

    TabletRecord one = records.edit(split.upper(), edit("bulk").resolve("job1").build());
    assertThat(one.pending()).containsExactly(next.clipped(RowRange.of("e", "f")));
    TabletRecord none = records.edit(one, edit("bulk").resolve("job2").build());
    assertThat(records.reader().readAll(TABLE).get(1)).isEqualTo(none);
    assertThat(required(none)).isEmpty();
  }

  @Test
  void whatWasErasedFromAFileStaysErasedThroughSplitsAndTheRecordRequiresThatThisIsKnown()
      throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    FileRef before =
        FileRef.builder("tables/t1/x/1-1.sst", 100, RowRange.ALL)
            .sequences(1, 4)
            .families(List.of("f", "g"))
            .build();
    TabletRecord had = records.edit(loaded, edit("minor").add(List.of(before)).build());
    assertThat(required(had)).isEmpty();
    FileRef after = ErasedFiles.of(List.of(before), List.of("f"), 4).added().get(0);
    assertThat(after.erased()).isEqualTo(Map.of("f", 5L));
    TabletRecord erased =
        records.edit(had, edit("erased").remove(List.of(before)).add(List.of(after)).build());
    assertThat(erased.dropped()).isEmpty();
    assertThat(fixture.only()).isEqualTo(erased);
    assertThat(fixture.only().files()).containsExactly(after);
    assertThat(required(erased)).contains("erased");

    SplitResult split = fixture.split(erased, "m", 1);
    assertThat(split.upper().files())
        .containsExactly(after.clipped(split.upper().extent()))
        .allMatch(file -> file.erased().equals(after.erased()));
    TabletRecord rewritten =
        records.edit(split.upper(), edit("merged").remove(split.upper().files()).build());
    assertThat(required(rewritten)).isEmpty();
    assertThat(required(split.lower())).contains("erased");
  }

  @Test
  void whatWasClearedStaysClearedThroughMovesAndSplitsEachHalfWithItsRows() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), ONE));
    ClearedRows done = ClearedRows.NONE.with(7, List.of(RowRange.of("b", "k")));
    TabletRecord cleared = records.edit(loaded, edit("cleared").clear(done).build());
    assertThat(fixture.only()).isEqualTo(cleared);
    assertThat(cleared.cleared()).isEqualTo(done);
    TabletRecord moved = records.loaded(records.assign(records.release(cleared, "moved"), TWO));
    moved = records.edit(moved, minor(file("a"), new Redo(20, 90), false));

    SplitResult split = fixture.split(moved, "g", 1);
    SplitResult again = fixture.split(split.upper(), "p", 2);
    assertThat(records.reader().readAll(TABLE))
        .containsExactly(split.lower(), again.lower(), again.upper())
        .extracting(record -> record.cleared().of(7))
        .containsExactly(List.of(RowRange.of("b", "g")), List.of(RowRange.of("g", "k")), List.of());
    assertThat(records.reader().readAll(TABLE).get(2).cleared().left(6, RowRange.ALL))
        .as("of an earlier change, though nothing of this one is in its rows")
        .isEmpty();
  }

  private static PendingFile waiting(String job, String name, RowRange rows) {
    String path = "bulk/" + job + "/" + name + ".sst";
    return new PendingFile(job, FileRef.builder(path, 100, rows).families(List.of("f")).build());
  }

  private static ManifestEdit.Builder edit(String reason) {
    return ManifestEdit.builder(reason).reach(9, 90);
  }

  /** What the record requires of those that read it. */
  private Optional<String> required(TabletRecord record) {
    return metadata.value(record.row(), RecordCodec.REQUIRES).map(Bytes::toUtf8);
  }

  @Test
  void theRootTabletsRecordLivesInTheLockServiceAndSurvivesLostAnswers() throws IOException {
    records.createRoot();
    records.createRoot();
    TabletRecord root = records.reader().readRoot().orElseThrow();
    assertThat(root.id()).isEqualTo(TabletId.ROOT);
    locks.loseNextAnswer(true);
    TabletRecord assigned = records.assign(root, ONE);
    assertThat(records.reader().readRoot()).contains(assigned);
    locks.loseNextAnswer(false);
    TabletRecord loaded = records.loaded(assigned);
    assertThat(records.reader().readRoot()).contains(loaded);
    assertThatThrownBy(() -> records.loaded(assigned)).isInstanceOf(RecordChangedException.class);
  }

  @Test
  void aChangeOfTheRootTabletsRecordWaitsForALockServiceThatGoesAwayInTheMiddle()
      throws IOException {
    records.createRoot();
    TabletRecord root = records.reader().readRoot().orElseThrow();
    AtomicInteger readsWhileAway = new AtomicInteger();
    LockService goesAway =
        (LockService)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockService.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("read") && readsWhileAway.get() > 0) {
                    if (readsWhileAway.incrementAndGet() == 3) {
                      locks.reconnect();
                    }
                  }
                  if (method.getName().equals("write")) {
                    locks.loseNextAnswer(true);
                  }
                  try {
                    return method.invoke(locks, arguments);
                  } catch (InvocationTargetException e) {
                    if (e.getCause() instanceof SteleException) {
                      locks.disconnect();
                      readsWhileAway.set(1);
                    }
                    throw e.getCause();
                  }
                });
    RootRecordRows rows = new RootRecordRows(clocks, goesAway, Duration.ofMinutes(1));
    TabletRecords others = new TabletRecords(clocks, rows, new MemoryRows(), metadata);
    TabletRecord assigned = others.assign(root, ONE);
    assertThat(records.reader().readRoot()).contains(assigned);
    assertThat(readsWhileAway).hasValue(3);
  }
}
