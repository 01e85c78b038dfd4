package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.ByteWriter;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A row that comes in parts is as it was at one moment, whatever happens between two parts. */
final class RowInPartsTest {
  private static final long HOUR = 3600 * 1_000_000L;
  private static final long DAY = 24 * HOUR;

  private final TabletFixture fixture;

  RowInPartsTest() throws IOException {
    fixture = new TabletFixture(schema(3));
    fixture.nowMicros = 10 * DAY;
    Mutation row = Mutation.of("row");
    for (String family : List.of("old", "many")) {
      for (String qualifier : List.of("a", "b")) {
        for (long version = 1; version <= 3; version++) {
          row =
              row.put(family, Bytes.of(qualifier), fixture.nowMicros - version, Bytes.of("value"));
        }
      }
    }
    fixture.apply(row).join();
    fixture.put("row2", "old", "a", fixture.nowMicros - 1, "value");
  }

  private static TableSchema schema(int versions) {
    return TableSchema.of(
        "t",
        List.of(
            new ColumnFamily("old", GcPolicy.maxAge(Duration.ofHours(1))),
            new ColumnFamily("many", GcPolicy.maxVersions(versions))));
  }

  /** The first page, which ends after a cell of the row. */
  private ReadResult begin() throws IOException {
    ReadResult page = fixture.tablet.read(ReadRequest.of(RowQuery.ALL).in(RowParts.ofBytes(20)));
    assertThat(cells(page)).containsExactly("many:a -1");
    assertThat(page.restarted()).isFalse();
    return page;
  }

  private ReadResult goOn(ReadResult page) throws IOException {
    return goOn(page, page.position().orElseThrow());
  }

  private ReadResult goOn(ReadResult page, Bytes position) throws IOException {
    RowQuery rest = RowQuery.ALL.range(new RowRange(page.nextRow().orElseThrow(), Bytes.EMPTY));
    return fixture.tablet.read(
        ReadRequest.of(rest).at(page.readPoint()).in(new RowParts(1 << 20, Optional.of(position))));
  }

  private List<String> cells(ReadResult page) {
    return page.rows().stream()
        .filter(row -> row.key().equals(Bytes.of("row")))
        .flatMap(row -> row.cells().stream())
        .map(this::text)
        .toList();
  }

  private String text(Cell cell) {
    return cell.family() + ":" + cell.qualifier() + " " + (cell.timestampMicros() - 10 * DAY);
  }

  private void assertThatItGoesOn(ReadResult next) {
    assertThat(next.restarted()).isFalse();
    assertThat(cells(next))
        .containsExactly(
            "many:a -2",
            "many:a -3",
            "many:b -1",
            "many:b -2",
            "many:b -3",
            "old:a -1",
            "old:a -2",
            "old:a -3",
            "old:b -1",
            "old:b -2",
            "old:b -3");
  }

  @Test
  void cellsThatExpireMeanwhileAreStillPartOfTheRowButNotOfLaterOnes() throws Exception {
    ReadResult page = begin();
    fixture.nowMicros += 2 * HOUR;
    ReadResult next = goOn(page);
    assertThatItGoesOn(next);
    assertThat(next.rows()).hasSize(1);
  }

  @Test
  void theRowBeginsAgainWhereCellsWereDroppedForTheirAge() throws Exception {
    ReadResult page = begin();
    fixture.nowMicros += 2 * HOUR;
    fixture.tablet.minorCompact();
    ReadResult next = goOn(page);
    assertThat(next.restarted()).isTrue();
    assertThat(next.readPoint()).isEqualTo(page.readPoint());
    assertThat(cells(next)).hasSize(6).allMatch(cell -> cell.startsWith("many"));
  }

  @Test
  void theRowGoesOnWhereCellsWereDroppedThatItsFirstPartTookForOldToo() throws Exception {
    putAnOldCell();
    ReadResult page = begin();
    compact();
    assertThatItGoesOn(goOn(page));
  }

  @Test
  void aRowBegunAfterTheClockWentBackGoesOnUntilCellsAreDropped() throws Exception {
    putAnOldCell();
    compact();
    fixture.nowMicros -= HOUR / 2;
    putAnOldCell();
    ReadResult page = begin();
    assertThatItGoesOn(goOn(page));
    compact();
    ReadResult next = goOn(page);
    assertThat(next.restarted()).isTrue();
    assertThat(next.readPoint()).isEqualTo(page.readPoint());
  }

  private void putAnOldCell() {
    fixture.put("gone", "old", "a", fixture.nowMicros - 2 * HOUR, "value");
  }

  private void compact() throws IOException {
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(fixture.tablet.oldestReadablePoint()).isEqualTo(fixture.tablet.readPoint());
  }

  @Test
  void theRowBeginsAgainAfterAnAlterationThatChangesWhatIsSeenEvenIfItWasTakenBack()
      throws Exception {
    ReadResult page = begin();
    fixture.tablet.alter(schema(1));
    ReadResult altered = goOn(page);
    assertThat(altered.restarted()).isTrue();
    assertThat(cells(altered)).startsWith("many:a -1", "many:b -1", "old:a -1");
    fixture.tablet.alter(schema(3));
    assertThat(goOn(page).restarted()).isTrue();
  }

  @Test
  void theRowGoesOnAfterOtherAlterations() throws Exception {
    ReadResult page = begin();
    fixture.tablet.alter(schema(3).withSplitBytes(1 << 20));
    assertThatItGoesOn(goOn(page));
  }

  @Test
  void theRowBeginsAgainInATabletThatWasOpenedAgain() throws Exception {
    fixture.tablet.minorCompact();
    ReadResult page = begin();
    fixture.tablet.close();
    fixture.reopen(List.of());
    assertThat(goOn(page).restarted()).isTrue();
  }

  @Test
  void aPositionWithoutAMomentOrWithOneOfAnotherDayBeginsTheRowAgain() throws Exception {
    ReadResult page = begin();
    RowPosition position = RowPosition.decode(page.position().orElseThrow());
    assertThat(goOn(page, position.encode()).restarted()).isFalse();
    for (long clock : new long[] {0, 5 * DAY, 15 * DAY, Long.MAX_VALUE}) {
      Bytes other = with(position, clock);
      assertThat(goOn(page, other).restarted()).as("clock %d", clock).isTrue();
    }
    byte[] first =
        new ByteWriter(64)
            .writeByte(1)
            .writePrefixed(position.row())
            .writePrefixed(position.column())
            .writeVarlong(position.versions())
            .writePrefixed(position.filter())
            .toByteArray();
    assertThat(goOn(page, Bytes.wrap(first)).restarted()).isTrue();
    first[0] = 3;
    assertThatThrownBy(() -> goOn(page, Bytes.wrap(first)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("not one that a server returned");
  }

  private static Bytes with(RowPosition position, long clock) {
    RowMoment moment = position.moment().orElseThrow();
    RowMoment other =
        new RowMoment(
            moment.tablet(),
            moment.epoch(),
            moment.openedMicros(),
            moment.rules(),
            clock,
            moment.expiry());
    return new RowPosition(
            position.row(),
            position.column(),
            position.versions(),
            position.filter(),
            Optional.of(other))
        .encode();
  }

  @Test
  void aPinHasAMomentOfItsOwn() throws Exception {
    fixture.tablet.pin("job");
    ReadRequest first = ReadRequest.of(RowQuery.ALL).atPin("job").in(RowParts.ofBytes(20));
    ReadResult page = fixture.tablet.read(first);
    fixture.tablet.alter(schema(1));
    fixture.nowMicros += 2 * DAY;
    RowQuery rest = RowQuery.ALL.range(new RowRange(page.nextRow().orElseThrow(), Bytes.EMPTY));
    ReadResult next =
        fixture.tablet.read(
            ReadRequest.of(rest)
                .at(page.readPoint())
                .atPin("job")
                .in(new RowParts(1 << 20, page.position())));
    assertThatItGoesOn(next);
    assertThat(next.rows()).hasSize(2);
  }
}
