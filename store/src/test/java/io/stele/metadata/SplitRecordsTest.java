package io.stele.metadata;

import static io.stele.metadata.RecordsFixture.TABLE;
import static io.stele.metadata.RecordsFixture.file;
import static io.stele.metadata.RecordsFixture.minor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.metadata.avro.TentativeValue;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.sim.NextVersion;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SplitRecordsTest {
  private static final ServerId ONE = new ServerId("one", 1, 1);
  private static final ServerId TWO = new ServerId("two", 2, 2);

  private final RecordsFixture fixture = new RecordsFixture();
  private final TabletRecords records = fixture.records;
  private final MemoryRows metadata = fixture.metadata;
  private final SplitRecords splits = fixture.splits;

  private List<TabletRecord> undamaged(RowRange rows, int enough) throws IOException {
    return records.reader().readUndamaged(rows, enough, damage -> {});
  }

  @Test
  void aTentativeRecordThatTheNextVersionLeftDoesNotKeepThisOneFromSplittingThere()
      throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    fixture.leaveTentative(parent, "m");
    Bytes row = MetadataKeys.row(TABLE, Bytes.of("m"));
    Bytes left = metadata.value(row, RecordCodec.TENTATIVE).orElseThrow();
    NextVersion.runs("server-1.1");
    Bytes next = NextVersion.written(left, new TentativeValue());
    NextVersion.runs("client-1");
    assertThat(next).isNotEqualTo(left);
    metadata.apply(Mutation.of(row).put(RecordCodec.SPLIT, Bytes.EMPTY, next));
    SplitResult split = fixture.split(parent, "m", 5);
    assertThat(records.reader().readAll(TABLE)).containsExactly(split.lower(), split.upper());
  }

  @Test
  void aSplitGivesTwoLoadedTabletsThatCoverTheParentsRows() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    parent = records.edit(parent, minor(file("a"), new Redo(4, 40), false));
    SplitResult split = fixture.split(parent, "m", 1);
    assertThat(records.reader().readAll(TABLE)).containsExactly(split.lower(), split.upper());
    assertThat(split.lower().extent()).isEqualTo(RowRange.of("", "m"));
    assertThat(split.upper().extent()).isEqualTo(RowRange.of("m", ""));
    assertThat(split.upper().assignment())
        .isEqualTo(new Assignment(Assignment.State.LOADED, Optional.of(ONE), 2));
    assertThat(split.lower().redo()).isEqualTo(new Redo(4, 40));
    TabletRecord old = parent;
    assertThatThrownBy(() -> records.release(old, "late"))
        .isInstanceOf(RecordChangedException.class);
  }

  @Test
  void whetherTheLastRecordOfARangeIsValidIsSeenInTheRowBehindIt() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    fixture.leaveTentative(parent, "c");
    RowRange toC =
        new RowRange(
            MetadataKeys.table(TABLE).start(), MetadataKeys.row(TABLE, Bytes.of("c")).successor());
    RowRange toM = new RowRange(toC.start(), MetadataKeys.row(TABLE, Bytes.of("m")).successor());
    SplitResult split = fixture.split(parent, "m", 1);
    assertThat(undamaged(toC, Integer.MAX_VALUE)).isEmpty();
    assertThat(undamaged(toM, Integer.MAX_VALUE)).containsExactly(split.lower());
    assertThat(undamaged(toM, 1)).containsExactly(split.lower());
  }

  /** The parent is split at the same row between the two reads that decide about a record. */
  @Test
  void whatAnEarlierSplitLeftIsNotTakenForTheChildOfALaterOne() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    fixture.leaveTentative(parent, "m");
    Bytes row = MetadataKeys.row(TABLE, Bytes.of("m"));
    metadata.afterScan(() -> fixture.split(parent, "m", 5));
    assertThat(records.reader().read(TABLE, row)).isEmpty();
    TabletRecord lower = records.reader().read(TABLE, row).orElseThrow();
    assertThat(lower.tentative()).isPresent();

    TabletRecord upper = records.reader().readAll(TABLE).get(1);
    assertThat(upper.below()).contains(lower.id());
    SplitResult again = fixture.split(upper, "t", 6);
    assertThat(again.lower().below()).contains(lower.id());
    assertThat(again.upper().below()).contains(again.lower().id());
    assertThat(records.reader().readAll(TABLE))
        .containsExactly(lower, again.lower(), again.upper());
  }

  @Test
  void aChildOfASplitByAnEarlierVersionCountsByItsEndAlone() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    SplitResult split = fixture.split(parent, "m", 5);
    Mutation.Builder row = Mutation.builder(split.upper().row());
    RecordCodec.putExtent(row, split.upper().toBuilder().below(Optional.empty()).build());
    metadata.apply(row.build());
    assertThat(records.reader().readAll(TABLE))
        .extracting(TabletRecord::id)
        .containsExactly(split.lower().id(), split.upper().id());
  }

  @Test
  void aTentativeRecordWithNothingBehindItDoesNotCount() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    fixture.leaveTentative(parent, "c");
    metadata.apply(Mutation.of(parent.row()).deleteRow());
    assertThat(records.reader().readAll(TABLE)).isEmpty();
    assertThat(undamaged(RowRange.ALL, Integer.MAX_VALUE)).isEmpty();
    assertThat(undamaged(MetadataKeys.table(TABLE), 5)).isEmpty();
  }

  @Test
  void aTentativeChildCountsFromTheMomentTheParentsRowChanges() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    SplitResult split = fixture.split(parent, "m", 1);
    // The same rows, had the server died before it made it plain.
    TabletRecord.Tentative tentative =
        new TabletRecord.Tentative(parent.id(), parent.assignment().epoch(), split.lower().id());
    metadata.apply(
        Mutation.of(split.lower().row()).put(RecordCodec.SPLIT, Bytes.EMPTY, tentative.value()));
    assertThat(records.reader().readAll(TABLE))
        .extracting(TabletRecord::id)
        .containsExactly(split.lower().id(), split.upper().id());
    assertThat(records.reader().find(TABLE, Bytes.of("c")).orElseThrow().id())
        .isEqualTo(split.lower().id());
    TabletRecord lower = records.reader().read(TABLE, split.lower().row()).orElseThrow();
    assertThat(lower.tentative()).contains(tentative);
    TabletRecord edited = records.edit(lower, minor(file("b"), new Redo(1, 1), false));
    assertThat(edited.tentative()).isEmpty();
    assertThat(records.reader().readAll(TABLE).get(0)).isEqualTo(edited);
  }

  @Test
  void aSplitNeverDoneIsIgnoredAndRemovedByTheNextOwner() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    fixture.leaveTentative(parent, "m");
    assertThat(records.reader().readAll(TABLE)).containsExactly(parent);
    assertThat(records.reader().find(TABLE, Bytes.of("c"))).contains(parent);
    assertThat(metadata.size()).isEqualTo(2);
    assertThat(splits.removeTentatives(parent)).as("its own epoch's").isZero();
    TabletRecord next = records.assign(records.release(parent, "fenced"), TWO);
    assertThat(splits.removeTentatives(next)).isEqualTo(1);
    assertThat(metadata.size()).isEqualTo(1);
  }

  @Test
  void aServerThatLostTheTabletCannotRemoveTheChildrenOfItsSuccessor() throws IOException {
    TabletRecord slow = records.assign(fixture.only(), ONE);
    TabletRecord next = records.loaded(records.assign(records.release(slow, "fenced"), TWO));
    fixture.leaveTentative(next, "m");
    assertThat(splits.removeTentatives(slow)).isZero();
    assertThat(metadata.size()).isEqualTo(2);
  }

  @Test
  void aSplitThatWasGivenUpCanBeDoneAgain() throws IOException {
    TabletRecord parent = records.loaded(records.assign(fixture.only(), ONE));
    fixture.leaveTentative(parent, "m");
    SplitResult split = fixture.split(parent, "m", 5);
    assertThat(records.reader().readAll(TABLE)).containsExactly(split.lower(), split.upper());
  }

  @Test
  void aTentativeRecordThatAZombieWritesLateDoesNotKeepTheOwnerFromSplittingThere()
      throws IOException {
    TabletRecord whole = records.loaded(records.assign(fixture.only(), ONE));
    SplitResult first = fixture.split(whole, "s", 1);
    TabletRecord zombie = first.lower();
    TabletRecord owner = records.assign(records.release(zombie, "fenced"), TWO);
    assertThat(splits.removeTentatives(owner)).isZero();
    TabletRecord loaded = records.loaded(owner);
    fixture.leaveTentative(whole, "m"); // Of another parent, even.
    SplitResult split = fixture.split(loaded, "m", 7);
    assertThat(records.reader().readAll(TABLE))
        .containsExactly(split.lower(), split.upper(), first.upper());
  }

  @Test
  void aServerThatLostTheTabletCannotSplitItWhereItsSuccessorDoes() throws IOException {
    TabletRecord slow = records.loaded(records.assign(fixture.only(), ONE));
    TabletRecord next = records.loaded(records.assign(records.release(slow, "fenced"), TWO));
    fixture.leaveTentative(next, "m");
    assertThatThrownBy(() -> fixture.split(slow, "m", 5))
        .isInstanceOf(RecordChangedException.class);
    assertThat(metadata.size()).isEqualTo(2);
  }

  @Test
  void splitsOfSplitsTileWhateverTentativeRecordsAreLeft() throws IOException {
    long seed = Seeds.one();
    Random choice = new Random(seed);
    fixture.only();
    for (int round = 0; round < 40; round++) {
      List<TabletRecord> all = records.reader().readAll(TABLE);
      assertThat(TabletRecordReader.tile(all)).as("seed %d", seed).isTrue();
      TabletRecord tablet = all.get(choice.nextInt(all.size()));
      Bytes at =
          Bytes.of("" + (char) ('a' + choice.nextInt(26)) + (char) ('a' + choice.nextInt(26)));
      if (!tablet.extent().contains(at) || tablet.extent().start().equals(at)) {
        continue;
      }
      TabletRecord owned =
          tablet.assignment().state() == Assignment.State.LOADED
              ? tablet
              : records.loaded(records.assign(tablet, ONE));
      if (choice.nextInt(3) == 0) {
        fixture.leaveTentative(owned, at.toUtf8());
        ServerId another = new ServerId("another", 1, round);
        TabletRecord next = records.assign(records.release(owned, "fenced"), another);
        splits.removeTentatives(next);
        records.loaded(next);
      } else {
        SplitResult split = fixture.split(owned, at.toUtf8(), choice.nextInt());
        if (choice.nextBoolean()) {
          TabletRecord.Tentative tentative =
              new TabletRecord.Tentative(
                  owned.id(), owned.assignment().epoch(), split.lower().id());
          metadata.apply(
              Mutation.of(split.lower().row())
                  .put(RecordCodec.SPLIT, Bytes.EMPTY, tentative.value()));
        }
      }
      for (TabletRecord record : records.reader().readAll(TABLE)) {
        assertThat(records.reader().find(TABLE, record.extent().start()))
            .as("seed %d", seed)
            .contains(record);
      }
    }
  }
}
