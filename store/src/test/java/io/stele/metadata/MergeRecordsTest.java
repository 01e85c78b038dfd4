package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.PendingFile;
import io.stele.record.Pin;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MergeRecordsTest {
  private static final TableId TABLE = new TableId("t1");
  private static final ServerId ONE = new ServerId("one", 1, 1);
  private static final ServerId TWO = new ServerId("two", 2, 2);
  private static final TabletId MERGED = new TabletId(TABLE, "00000000000000aa");

  private final RecordsFixture fixture = new RecordsFixture();
  private final MemoryRows metadata = fixture.metadata;
  private final TabletRecords records = fixture.records;
  private final SplitRecords splits = fixture.splits;
  private final MergeRecords merges = new MergeRecords(records);

  @BeforeEach
  void threeTablets() throws IOException {
    records.createTable(TABLE, List.of(Bytes.of("h"), Bytes.of("p")));
  }

  private TabletRecord tablet(int index) throws IOException {
    return records.reader().readAll(TABLE).get(index);
  }

  private static FileRef file(String path, RowRange rows, long to, long micros) {
    return FileRef.builder(path, 10, rows)
        .sequences(1, to)
        .families(List.of("f"))
        .collectedMicros(3)
        .operationsMicros(micros)
        .build();
  }

  /** A tablet that was served and has a file, unloaded. */
  private TabletRecord used(int index, String path, long to, long micros) throws IOException {
    TabletRecord loaded = records.loaded(records.assign(tablet(index), ONE));
    FileRef file = file(path, loaded.extent(), to, micros);
    TabletRecord edited =
        records.edit(
            loaded,
            ManifestEdit.builder("minor compaction")
                .add(List.of(file))
                .reach(to, to)
                .coversReplay(true)
                .build());
    return records.unloaded(edited, "unloaded");
  }

  @Test
  void twoNeighboursBecomeOneWithTheFilesOfBothAndNumbersAboveBoth() throws IOException {
    TabletRecord lower = used(0, "a", 7, 100);
    TabletRecord upper = used(1, "b", 4, 250);
    TabletRecord marked = merges.begin(lower, upper, MERGED);
    assertThat(records.reader().readAll(TABLE))
        .as("both are valid")
        .hasSize(3)
        .startsWith(marked, upper);
    assertThat(metadata.value(lower.row(), RecordCodec.REQUIRES)).contains(Bytes.of("merges"));

    TabletRecord merged = merges.finish(marked, upper);
    assertThat(records.reader().readAll(TABLE)).hasSize(2).startsWith(merged);
    assertThat(metadata.size()).isEqualTo(2);
    assertThat(merged.id()).isEqualTo(MERGED);
    assertThat(merged.extent()).isEqualTo(RowRange.of("", "p"));
    assertThat(merged.redo()).isEqualTo(new Redo(7, 7));
    assertThat(merged.assignment().state()).isEqualTo(Assignment.State.NONE);
    assertThat(merged.assignment().epoch())
        .isGreaterThan(Math.max(marked.assignment().epoch(), upper.assignment().epoch()));
    assertThat(merged.files()).extracting(FileRef::path).containsExactlyInAnyOrder("a", "b");
    assertThat(merged.files()).extracting(FileRef::operationsMicros).containsOnly(250L);
    assertThat(merged.files()).allMatch(FileRef::merged);
    assertThat(records.reader().find(TABLE, Bytes.of("c"))).contains(merged);
    TabletRecord served = records.loaded(records.assign(merged, TWO));
    assertThat(tablet(0)).isEqualTo(served);
  }

  @Test
  void theTabletBelowIsStillTheOneThatTheLastSplitThereMade() throws IOException {
    TabletRecord first = records.loaded(records.assign(tablet(0), ONE));
    SplitResult split = fixture.split(first, "d", 1);
    TabletRecord upper = records.unloaded(split.upper(), "unloaded");
    TabletRecord next = used(2, "b", 4, 250);
    TabletRecord merged = merges.finish(merges.begin(upper, next, MERGED), next);
    assertThat(merged.below()).contains(split.lower().id());
    assertThat(records.reader().readAll(TABLE)).startsWith(split.lower(), merged);
    TabletRecord lower = records.unloaded(split.lower(), "unloaded");
    TabletId id = new TabletId(TABLE, "00000000000000cc");
    TabletRecord whole = merges.finish(merges.begin(lower, merged, id), merged);
    assertThat(whole.below()).isEmpty();
    assertThat(tablet(0)).isEqualTo(whole);
  }

  /** A tablet of which rows were cleared, unloaded. */
  private TabletRecord cleared(int index, long change, RowRange... rows) throws IOException {
    TabletRecord loaded = records.loaded(records.assign(tablet(index), ONE));
    ClearedRows done = ClearedRows.NONE.with(change, List.of(rows));
    ManifestEdit edit = ManifestEdit.builder("cleared").reach(1, 1).clear(done).build();
    return records.unloaded(records.edit(loaded, edit), "unloaded");
  }

  @Test
  void whatWasClearedOfEitherForTheLaterChangeStaysCleared() throws IOException {
    TabletRecord low = cleared(0, 5, RowRange.of("c", "h"));
    TabletRecord middle = cleared(1, 5, RowRange.of("h", "k"), RowRange.of("m", "p"));
    TabletRecord one = merges.finish(merges.begin(low, middle, MERGED), middle);
    assertThat(tablet(0)).isEqualTo(one);
    assertThat(one.cleared().of(5)).containsExactly(RowRange.of("c", "k"), RowRange.of("m", "p"));

    TabletRecord top = cleared(1, 4, RowRange.of("p", ""));
    TabletId id = new TabletId(TABLE, "00000000000000cc");
    TabletRecord all = merges.finish(merges.begin(one, top, id), top);
    assertThat(tablet(0)).isEqualTo(all);
    assertThat(all.cleared()).isEqualTo(one.cleared());
    assertThat(all.cleared().left(4, RowRange.ALL)).as("that change has ended").isEmpty();
  }

  @Test
  void aFileThatBothHaveStaysAFileOfBothPartsUntilOneCompactionDropsIt() throws IOException {
    TabletRecord whole = records.loaded(records.assign(tablet(0), ONE));
    whole =
        records.edit(
            whole,
            ManifestEdit.builder("minor compaction")
                .add(List.of(file("a", whole.extent(), 5, 9)))
                .reach(5, 5)
                .coversReplay(true)
                .build());
    Bytes at = Bytes.of("d");
    SplitResult split =
        splits.split(
            whole,
            at,
            new Child(new TabletId(TABLE, "00000000000000b1"), List.of(half(whole, "", "d"))),
            new Child(new TabletId(TABLE, "00000000000000b2"), List.of(half(whole, "d", "h"))));
    TabletRecord lower = records.unloaded(split.lower(), "unloaded");
    TabletRecord upper = records.unloaded(split.upper(), "unloaded");
    TabletRecord merged = merges.finish(merges.begin(lower, upper, MERGED), upper);
    assertThat(tablet(0)).isEqualTo(merged);
    assertThat(merged.files())
        .extracting(FileRef::bounds)
        .containsExactlyInAnyOrder(RowRange.of("", "d"), RowRange.of("d", "h"));
    TabletRecord loaded = records.loaded(records.assign(merged, TWO));
    TabletRecord compacted =
        records.edit(
            loaded,
            ManifestEdit.builder("major compaction")
                .add(List.of(file("c", merged.extent(), 5, 9)))
                .remove(merged.files())
                .reach(5, 5)
                .build());
    assertThat(compacted.files()).extracting(FileRef::path).containsExactly("c");
    assertThat(tablet(0)).isEqualTo(compacted);
    assertThat(metadata.value(merged.row(), RecordCodec.REQUIRES)).isEmpty();
  }

  @Test
  void aFileThatBothTookUnderOtherNumbersIsDroppedWithTheLastPartOfIt() throws IOException {
    TabletRecord lower = used(0, "bulk/job/a", 7, 0);
    TabletRecord upper = used(1, "bulk/job/a", 4, 0);
    TabletRecord merged = merges.finish(merges.begin(lower, upper, MERGED), upper);
    TabletRecord loaded = records.loaded(records.assign(merged, TWO));
    FileRef first = loaded.files().get(0);
    FileRef second = loaded.files().get(1);
    TabletRecord one = records.edit(loaded, without(first));
    assertThat(one.files()).containsExactly(second);
    assertThat(one.dropped()).isEmpty();
    assertThat(tablet(0)).isEqualTo(one);
    TabletRecord none = records.edit(one, without(second));
    assertThat(none.files()).isEmpty();
    assertThat(none.dropped()).containsOnlyKeys("bulk/job/a");
    assertThat(tablet(0)).isEqualTo(none);
  }

  private static ManifestEdit without(FileRef file) {
    return ManifestEdit.builder("major compaction").remove(List.of(file)).reach(7, 7).build();
  }

  private static FileRef half(TabletRecord whole, String start, String end) {
    return whole.files().get(0).clipped(RowRange.of(start, end));
  }

  @Test
  void aTabletThatIsMarkedCannotBeAssignedUntilTheMergeIsGivenUpForGood() throws IOException {
    TabletRecord lower = used(0, "a", 7, 0);
    TabletRecord upper = used(1, "b", 4, 0);
    TabletRecord marked = merges.begin(lower, upper, MERGED);
    assertThatThrownBy(() -> records.assign(marked, TWO)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> records.assign(lower, TWO)).isInstanceOf(RecordChangedException.class);
    assertThatThrownBy(() -> merges.giveUp(marked))
        .as("as long as it can be made")
        .isInstanceOf(RecordChangedException.class);

    TabletRecord assigned = records.assign(upper, TWO);
    TabletRecord plain = merges.giveUp(marked).orElseThrow();
    assertThat(plain.isMerging()).isFalse();
    assertThat(records.reader().readAll(TABLE)).hasSize(3).startsWith(plain, assigned);
    records.loaded(records.assign(plain, TWO));
    // The first master, late.
    assertThatThrownBy(() -> merges.finish(marked, upper))
        .isInstanceOf(RecordChangedException.class);
    records.unloaded(records.loaded(assigned), "unloaded");
    assertThatThrownBy(() -> merges.finish(marked, upper))
        .isInstanceOf(RecordChangedException.class);
    assertThat(records.reader().readAll(TABLE)).hasSize(3);
  }

  @Test
  void whatIsLeftOfTheLowerRecordDoesNotCountAndGoesWhenTheMergedTabletIsLoaded()
      throws IOException {
    TabletRecord lower = used(0, "a", 7, 0);
    TabletRecord upper = used(1, "b", 4, 0);
    TabletRecord marked = merges.begin(lower, upper, MERGED);
    TabletRecord merged = merges.finish(marked, upper);
    // As if the master had died before it removed it.
    metadata.apply(RecordCodec.putAll(marked, "left").build());
    assertThat(records.reader().readAll(TABLE)).hasSize(2).startsWith(merged);
    assertThat(records.reader().find(TABLE, Bytes.of("c"))).contains(merged);
    TabletRecord assigned = records.assign(merged, TWO);
    assertThat(splits.removeTentatives(assigned)).isEqualTo(1);
    assertThat(metadata.size()).isEqualTo(2);
    metadata.apply(RecordCodec.putAll(marked, "left").build());
    assertThat(merges.giveUp(marked)).isEmpty();
    assertThat(metadata.size()).isEqualTo(2);
  }

  /** It may seem valid: it was read before the record after it was written. */
  @Test
  void theRecordOfASplitThatWasNotMadeRemovesNoMarkedRecord() throws IOException {
    TabletRecord lower = used(0, "a", 7, 0);
    TabletRecord upper = used(1, "b", 4, 0);
    TabletRecord marked = merges.begin(lower, upper, MERGED);
    TabletRecord split =
        TabletRecord.builder(upper.id(), RowRange.of("k", "p"), upper.row())
            .assignment(records.assign(upper, TWO).assignment())
            .build();
    metadata.apply(RecordCodec.putAll(split, "as if it was split").build());
    RowRange rows = RowRange.of("", "k");
    TabletRecord late =
        TabletRecord.builder(MERGED, rows, MetadataKeys.row(TABLE, rows.end()))
            .assignment(lower.assignment())
            .build()
            .withTentative(new TabletRecord.Tentative(lower.id(), 1, MERGED));
    metadata.apply(RecordCodec.putAll(late, "late").build());
    assertThat(records.reader().find(TABLE, Bytes.of("h")).map(TabletRecord::id)).contains(MERGED);
    assertThatThrownBy(() -> merges.giveUp(marked)).isInstanceOf(RecordChangedException.class);
    assertThat(metadata.size()).as("the marked one is there").isEqualTo(4);
  }

  @Test
  void recordsOfTheNewTableThatADeposedMasterWritesLateDoNotCountAfterAMerge() throws IOException {
    TabletRecord lower = used(0, "a", 7, 0);
    TabletRecord upper = used(1, "b", 4, 0);
    TabletRecord merged = merges.finish(merges.begin(lower, upper, MERGED), upper);
    records.createTable(TABLE, List.of(Bytes.of("h"), Bytes.of("p")));
    assertThat(metadata.size()).isEqualTo(3);
    assertThat(records.reader().readAll(TABLE)).hasSize(2).startsWith(merged);
    assertThat(records.reader().find(TABLE, Bytes.of("c"))).contains(merged);
    TabletRecord loaded = records.loaded(records.assign(merged, TWO));
    assertThat(splits.removeTentatives(loaded)).isEqualTo(1);
    assertThat(records.reader().readAll(TABLE)).hasSize(2).startsWith(loaded);
  }

  @Test
  void whatOneOfThemDroppedIsDroppedByTheMergedTabletToo() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(tablet(0), ONE));
    FileRef file = file("a", loaded.extent(), 3, 0);
    TabletRecord one =
        records.edit(
            loaded,
            ManifestEdit.builder("minor compaction")
                .add(List.of(file))
                .reach(3, 3)
                .coversReplay(true)
                .build());
    TabletRecord two =
        records.edit(
            one,
            ManifestEdit.builder("major compaction")
                .remove(List.of(file))
                .reach(3, 3)
                .coversReplay(true)
                .build());
    TabletRecord lower = records.unloaded(two, "unloaded");
    TabletRecord upper = tablet(1);
    TabletRecord merged = merges.finish(merges.begin(lower, upper, MERGED), upper);
    assertThat(merged.dropped()).isEqualTo(Map.of("a", 5000L));
    assertThat(tablet(0)).isEqualTo(merged);
  }

  @Test
  void tabletsThatAreServedPinnedInTroubleOrNamedByALogAreNotMerged() throws IOException {
    TabletRecord upper = tablet(1);
    TabletRecord loaded = records.loaded(records.assign(tablet(0), ONE));
    refused(loaded, upper);
    TabletRecord fenced = records.release(loaded, "fenced");
    refused(fenced, upper);
    TabletRecord again = records.loaded(records.assign(fenced, TWO));
    Pin pin = new Pin("job", 0, 1, TableSchema.of("t", "f"));
    TabletRecord pinned =
        records.edit(again, ManifestEdit.builder("pinned").coversReplay(true).pin(pin).build());
    TabletRecord free = records.unloaded(pinned, "unloaded");
    assertThat(MergeRecords.isFree(free)).isTrue();
    assertThat(MergeRecords.obstacle(free, upper)).get().asString().contains("pinned by job");
    refused(free, upper);
    refused(tablet(1), tablet(0));
    refused(tablet(0), tablet(2));
    TabletRecord troubled =
        records.notLoaded(
            records.assign(tablet(1), ONE), new LoadTrouble("damaged", ONE, 7000, 4, true));
    assertThat(MergeRecords.obstacle(troubled, tablet(2))).get().asString().contains("damaged");
    refused(troubled, tablet(2));
  }

  @Test
  void tabletsWithFilesThatWaitForAJobAreNotMerged() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(tablet(0), ONE));
    FileRef file =
        FileRef.builder("bulk/job/0-0.sst", 10, loaded.extent()).families(List.of("f")).build();
    TabletRecord waiting =
        records.edit(
            loaded,
            ManifestEdit.builder("files wait for a job")
                .coversReplay(true)
                .pending(List.of(new PendingFile("job", file)))
                .build());
    TabletRecord free = records.unloaded(waiting, "unloaded");
    assertThat(MergeRecords.obstacle(free, tablet(1))).get().asString().contains("of job job");
    refused(free, tablet(1));
  }

  private void refused(TabletRecord lower, TabletRecord upper) {
    assertThatThrownBy(() -> merges.begin(lower, upper, MERGED))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aMergeIsAnEventOfItsRow() throws IOException {
    TabletRecord lower = used(0, "a", 7, 0);
    TabletRecord upper = used(1, "b", 4, 0);
    merges.finish(merges.begin(lower, upper, MERGED), upper);
    assertThat(metadata.scan(RowRange.single(upper.row()), 1).get(0).cells())
        .anyMatch(
            cell ->
                cell.family().equals(RecordCodec.EVENTS)
                    && cell.value().toUtf8().contains("merged from " + lower.id()));
  }

  @Test
  void theMergedTabletOfAllIsTheWholeTable() throws IOException {
    TabletRecord first = merges.finish(merges.begin(tablet(0), tablet(1), MERGED), tablet(1));
    TabletId all = new TabletId(TABLE, "00000000000000ab");
    TabletRecord last = tablet(1);
    TabletRecord whole = merges.finish(merges.begin(first, last, all), last);
    assertThat(records.reader().readAll(TABLE)).containsExactly(whole);
    assertThat(whole.extent()).isEqualTo(RowRange.ALL);
    assertThat(TabletRecordReader.tile(records.reader().readAll(TABLE))).isTrue();
  }
}
