package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.Pin;
import io.stele.record.PinnedTablet;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A family that was dropped is erased from a tablet, so that another may have its name. */
class ErasedFamilyTest {
  private static final TableSchema WITH =
      TableSchema.of("t", List.of(ColumnFamily.of("f"), ColumnFamily.of("g")));
  private static final TableSchema WITHOUT = TableSchema.of("t", List.of(ColumnFamily.of("g")));
  private static final String JOB = "job";

  private final TabletFixture fixture = fixture();

  private static TabletFixture fixture() {
    try {
      return new TabletFixture(WITH);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void alter(TableSchema schema) {
    fixture.tablet.alter(schema);
    fixture.manifest.alter(schema);
  }

  private void erase() throws IOException {
    try {
      fixture.tablet.pauseWrites();
      fixture.tablet.erase(Set.of("f"), ClearedRows.NONE.with(1, List.of(RowRange.ALL)));
    } finally {
      fixture.tablet.resumeWrites();
    }
  }

  private void dropEraseAndAdd() throws IOException {
    alter(WITHOUT);
    erase();
    alter(WITH);
  }

  private void putBoth(String row, String value) {
    fixture.put(row, "f", "q", 1, value);
    fixture.put(row, "g", "q", 1, value);
  }

  private List<String> pinned() throws IOException {
    return fixture.tablet.read(ReadRequest.of(RowQuery.ALL).atPin(JOB)).rows().stream()
        .map(TabletFixture::text)
        .toList();
  }

  private List<String> direct() throws IOException {
    TabletSpec record = fixture.manifest.record();
    Pin pin = record.pins().get(0);
    PinnedTablet tablet = PinnedTablet.of(record.id(), record.extent(), pin, record.files());
    List<String> rows = new ArrayList<>();
    OpenSSTables sstables =
        new OpenSSTables(SystemRuntime.INSTANCE, fixture.fs, NoBlockCache.INSTANCE);
    try (PinnedFiles files =
        PinnedFiles.open(sstables, TabletFixture.ROOT, tablet, RowQuery.ALL, 1 << 20, 1 << 20)) {
      for (var row = files.next(() -> {}); row.isPresent(); row = files.next(() -> {})) {
        rows.add(TabletFixture.text(row.get()));
      }
    }
    return rows;
  }

  @Test
  void aNewFamilyOfTheNameIsEmptyWhateverWasInFilesAndInMemory() throws IOException {
    putBoth("a", "old");
    fixture.tablet.minorCompact();
    putBoth("b", "old");
    dropEraseAndAdd();
    assertThat(fixture.rows()).containsExactly("a g:q@1=old", "b g:q@1=old");

    fixture.put("b", "f", "q", 1, "new");
    assertThat(fixture.rows()).containsExactly("a g:q@1=old", "b f:q@1=new g:q@1=old");
    fixture.tablet.minorCompact();
    assertThat(fixture.rows()).containsExactly("a g:q@1=old", "b f:q@1=new g:q@1=old");
    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).containsExactly("a g:q@1=old", "b f:q@1=new g:q@1=old");
    assertThat(fixture.manifest.record().files()).noneMatch(file -> file.hasErased());
  }

  /** The master reads in the record that it was done, and makes the new family, before we know. */
  @Test
  void aNewFamilyIsNotReadBeforeTheTabletKnowsThatTheOldOneIsErased() throws IOException {
    putBoth("a", "old");
    alter(WITHOUT);
    fixture.tablet.minorCompact();
    fixture.manifest.beforeAnswer(
        () -> {
          fixture.tablet.alter(WITH);
          assertThatThrownBy(fixture::rows).isInstanceOf(UnsettledException.class);
          CheckAndMutate look =
              CheckAndMutate.ifNone(
                  new Filter.ColumnIs(Column.of("f", "q")), Mutation.of("a").put("f", "q", "v"));
          assertThatThrownBy(fixture.apply(look)::join)
              .hasCauseInstanceOf(SteleException.class)
              .hasMessageContaining("try again");
        });
    erase();
    assertThat(fixture.rows()).containsExactly("a g:q@1=old");
  }

  @Test
  void aPageEndsInTheMiddleOfWhatWasErased() throws IOException {
    for (int i = 0; i < 120; i++) {
      Mutation.Builder old = Mutation.builder(Bytes.of(String.format("%03d", i)));
      for (int column = 0; column < 1000; column++) {
        old.with(new Edit.Put("f", Bytes.of("q" + column), 1, Bytes.EMPTY));
      }
      fixture.apply(old.build()).join();
    }
    fixture.put("999", "g", "q", 1, "last");
    fixture.tablet.minorCompact();
    dropEraseAndAdd();

    ReadResult first = fixture.tablet.read(ReadRequest.of(RowQuery.ALL));
    assertThat(first.rows()).isEmpty();
    Bytes next = first.nextRow().orElseThrow();
    ReadResult second =
        fixture.tablet.read(ReadRequest.of(RowQuery.ALL.range(RowRange.from(next))));
    assertThat(second.rows()).extracting(TabletFixture::text).containsExactly("999 g:q@1=last");
    fixture.tablet.pin(JOB);
    assertThat(direct()).containsExactly("999 g:q@1=last");
  }

  @Test
  void aFileOfWhichAllIsErasedIsNotRead() throws IOException {
    ColumnFamily alone = ColumnFamily.of("f").in("alone");
    TableSchema with =
        TableSchema.of("t", List.of(alone, ColumnFamily.of("g")), LocalityGroup.of("alone"));
    TabletFixture grouped = new TabletFixture(with);
    grouped.put("a", "f", "q", 1, "old");
    grouped.put("b", "g", "q", 1, "other");
    grouped.tablet.minorCompact();
    grouped.tablet.alter(WITHOUT);
    grouped.manifest.alter(WITHOUT);
    grouped.tablet.pauseWrites();
    grouped.tablet.erase(Set.of("f"), ClearedRows.NONE.with(1, List.of(RowRange.ALL)));
    grouped.tablet.resumeWrites();
    grouped.tablet.alter(with);
    grouped.manifest.alter(with);

    FileRef erased =
        grouped.manifest.record().files().stream()
            .filter(FileRef::hasErased)
            .findFirst()
            .orElseThrow();
    TabletFile file = TabletFile.open(grouped.environment(), erased, new SchemaRules(with));
    assertThat(file.meets(RowRange.ALL, ColumnSelection.ALL, TabletFile.UNPINNED)).isFalse();
    assertThat(file.meets(RowRange.ALL, ColumnSelection.ALL, 1))
        .as("for a pin before that")
        .isTrue();
    file.release();
    assertThat(grouped.rows()).containsExactly("b g:q@1=other");
  }

  @Test
  void aCrashBringsNothingBackFromTheLog() throws IOException {
    putBoth("a", "old");
    dropEraseAndAdd();
    fixture.put("a", "f", "q", 2, "new");
    fixture.reopen(fixture.log.crash(0));
    assertThat(fixture.rows()).containsExactly("a f:q@2=new g:q@1=old");
  }

  @Test
  void aPinSeesWhatItSawThroughTheTabletAndDirectlyUntilItEnds() throws IOException {
    putBoth("a", "old");
    fixture.tablet.pin(JOB);
    List<String> before = pinned();
    dropEraseAndAdd();
    assertThat(fixture.tablet.majorCompact()).as("the only file may not be rewritten").isFalse();
    putBoth("a", "new");
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(before).containsExactly("a f:q@1=old g:q@1=old");
    assertThat(pinned()).isEqualTo(before);
    assertThat(direct()).isEqualTo(before);

    fixture.reopen(List.of());
    fixture.tablet.mergingCompact();
    assertThat(pinned()).isEqualTo(before);
    fixture.tablet.unpin(JOB);
    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).containsExactly("a f:q@1=new g:q@1=new");
    assertThat(fixture.manifest.record().files()).noneMatch(file -> file.hasErased());
  }

  @Test
  void aPinOfTheNewFamilySeesNothingOfTheOld() throws IOException {
    putBoth("a", "old");
    dropEraseAndAdd();
    fixture.tablet.pin(JOB);
    assertThat(pinned()).containsExactly("a g:q@1=old");
    assertThat(direct()).containsExactly("a g:q@1=old");
  }

  @Test
  void childrenOfASplitHaveNothingOfIt() throws IOException {
    putBoth("a", "old");
    putBoth("z", "old");
    dropEraseAndAdd();
    for (RowRange half : List.of(RowRange.of("", "m"), RowRange.of("m", ""))) {
      TabletSpec child = fixture.tablet.describe().child(TabletFixture.ID, 2, half);
      Tablet opened = Tablet.open(child, fixture.environment(), List.of());
      assertThat(opened.read(ReadRequest.of(RowQuery.ALL)).rows())
          .hasSize(1)
          .allMatch(row -> row.cell("f", Bytes.of("q")).isEmpty());
      opened.close();
    }
  }

  @Test
  void aCompactionUnderWayBringsNothingBack() throws IOException {
    String large = "x".repeat(100_000);
    for (int i = 0; i < 6; i++) {
      putBoth("a" + i, large);
      fixture.tablet.minorCompact();
    }
    int[] asked = {0};
    fixture.pace =
        bytes -> {
          if (asked[0]++ == 0) {
            try {
              dropEraseAndAdd();
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          }
        };
    fixture.reopen(List.of());
    assertThatThrownBy(fixture.tablet::majorCompact).hasMessageContaining("is void");
    assertThat(fixture.rows()).hasSize(6).noneMatch(row -> row.contains("f:q"));
    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).hasSize(6).noneMatch(row -> row.contains("f:q"));
  }

  @Test
  void aFamilyThatTheSchemaHasIsNotErased() throws IOException {
    putBoth("a", "old");
    assertThatThrownBy(this::erase)
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
    assertThat(fixture.rows()).containsExactly("a f:q@1=old g:q@1=old");
    fixture.put("b", "f", "q", 1, "more");
  }

  @Test
  void aWriteThatAnEarlierSchemaAllowedIsNotAppliedUnderALaterOne() throws IOException {
    fixture.put("a", "g", "q", 1, "old");
    fixture.tablet.minorCompact();
    boolean[] met = {false};
    fixture.onTime = // Between the look at the schema and the place in the log.
        () -> {
          if (!met[0]) {
            met[0] = true;
            try {
              dropEraseAndAdd();
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          }
        };
    CheckAndMutate write =
        CheckAndMutate.ifNone(
            new Filter.ColumnIs(Column.of("f", "q")), Mutation.of("a").put("f", "q", "old"));
    var outcome = fixture.apply(write);
    assertThat(met[0]).isTrue();
    assertThatThrownBy(outcome::join).hasMessageContaining("schema of tablet");
    assertThat(fixture.rows()).containsExactly("a g:q@1=old");
    fixture.apply(write).join();
    assertThat(fixture.rows()).singleElement().asString().contains("f:q");
  }

  @Test
  void thatAWriteIsToBeTriedAgainIsToldWithoutWaitingForTheLog() {
    fixture.log.hold(true);
    var before = fixture.apply(Mutation.of("a").put("g", "q", "v"));
    fixture.onTime = () -> alter(WITHOUT);
    var outcome = fixture.apply(ReadModifyWrite.increment(Bytes.of("b"), "g", Bytes.of("n"), 1));
    assertThat(before).isNotDone();
    assertThat(outcome).isCompletedExceptionally();
    assertThatThrownBy(outcome::join).hasMessageContaining("schema of tablet");
    fixture.log.hold(false);
    assertThat(before).isCompleted();
  }

  @Test
  void aWriteGoesOnWhereTheSchemaIsToldAgain() throws IOException {
    fixture.onTime = () -> fixture.tablet.alter(WITH);
    CheckAndMutate write =
        CheckAndMutate.ifNone(
            new Filter.ColumnIs(Column.of("f", "q")), Mutation.of("a").put("f", "q", "v"));
    fixture.apply(write).join();
    assertThat(fixture.rows()).hasSize(1);
  }

  @Test
  void nothingToEraseTakesNoNumberAndIsRemembered() throws IOException {
    fixture.put("a", "g", "q", 1, "v");
    fixture.tablet.minorCompact();
    alter(WITHOUT);
    fixture.tablet.majorCompact();
    long before = fixture.tablet.readPoint();
    erase();
    assertThat(fixture.tablet.readPoint()).isEqualTo(before);
    fixture.put("a", "g", "q", 2, "w");
    assertThat(fixture.rows()).containsExactly("a g:q@2=w");
  }
}
