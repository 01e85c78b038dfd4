package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A read goes on at a position whose cell nobody sees, and which a compaction has dropped
 * meanwhile: it must return what follows, and nothing else.
 */
final class GonePositionsTest {
  private static final int SEEDS = 60;
  private static final List<String> FAMILIES = List.of("f", "g", "ff", "gfg");

  /**
   * A place where a page may end: a column, or what was deleted of a family.
   *
   * @param column as positions name it
   */
  private record Place(String row, String family, String qualifier, Bytes column) {}

  @Test
  void whatFollowsIsReturned() throws Exception {
    for (long seed : Seeds.of(SEEDS).toArray()) {
      check(seed, false);
      check(seed, true);
    }
  }

  private static void check(long seed, boolean pinned) throws Exception {
    Random random = new Random(seed);
    TabletFixture fixture = new TabletFixture(schema(random));
    List<Place> places = write(fixture, random);
    if (pinned) {
      fixture.tablet.pin("job");
    }
    ReadResult whole = fixture.tablet.read(pinned(ReadRequest.of(RowQuery.ALL), pinned));
    List<Row> rows = whole.rows();
    if (rows.isEmpty()) {
      return;
    }
    RowQuery query = RowQuery.ALL;
    ReadResult part =
        fixture.tablet.read(pinned(ReadRequest.of(query), pinned).in(RowParts.ofBytes(1)));
    Optional<RowMoment> moment =
        part.position().flatMap(position -> RowPosition.decode(position).moment());
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    for (Place place : places) {
      RowPosition position =
          new RowPosition(Bytes.of(place.row), place.column, 0, Bytes.EMPTY, moment);
      RowQuery rest = query.range(new RowRange(position.row(), Bytes.EMPTY));
      ReadResult next =
          fixture.tablet.read(
              pinned(ReadRequest.of(rest), pinned)
                  .at(whole.readPoint())
                  .in(new RowParts(1 << 20, Optional.of(position.encode()))));
      if (next.restarted()) {
        assertThat(moment).as("only without a moment").isEmpty();
        continue;
      }
      assertThat(texts(next.rows()))
          .as("seed %d, pinned %s, from %s", seed, pinned, place)
          .isEqualTo(texts(from(rows, place)));
    }
  }

  private static ReadRequest pinned(ReadRequest request, boolean pinned) {
    return pinned ? request.atPin("job") : request;
  }

  private static TableSchema schema(Random random) {
    return TableSchema.of(
        "t",
        FAMILIES.stream()
            .map(
                family ->
                    new ColumnFamily(
                        family,
                        random.nextBoolean() ? GcPolicy.maxVersions(1) : GcPolicy.keepAll()))
            .toList());
  }

  /** Random puts and deletes; returns the places of their cells. */
  private static List<Place> write(TabletFixture fixture, Random random) throws IOException {
    List<Place> places = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      String row = text(random, 1 + random.nextInt(6));
      String family = FAMILIES.get(random.nextInt(FAMILIES.size()));
      String qualifier = text(random, random.nextInt(4));
      Mutation change = Mutation.of(row);
      switch (random.nextInt(6)) {
        case 0 -> change = change.deleteRow();
        case 1 -> {
          change = change.deleteFamily(family);
          places.add(
              new Place(row, family, "", after(row, ColumnKey.ofFamily(Bytes.of(row), family))));
        }
        case 2 -> change = change.deleteColumn(family, qualifier);
        default -> change = change.put(family, qualifier, "v" + i);
      }
      fixture.nowMicros++;
      fixture.apply(change).join();
      byte[] key = ColumnKey.of(Bytes.of(row), family, Bytes.of(qualifier));
      places.add(new Place(row, family, qualifier, after(row, key)));
      if (random.nextInt(10) == 0) {
        fixture.tablet.minorCompact();
      }
    }
    return places;
  }

  private static Bytes after(String row, byte[] key) {
    int rowEnd = ColumnKey.ofRow(Bytes.of(row)).length;
    return Bytes.of(key, rowEnd, key.length - rowEnd);
  }

  private static String text(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) ('a' + random.nextInt(2)));
    }
    return text.toString();
  }

  /** The cells at {@code place} or after it, by the order of rows, families and qualifiers. */
  private static List<Row> from(List<Row> rows, Place place) {
    List<Row> left = new ArrayList<>();
    for (Row row : rows) {
      int order = row.key().compareTo(Bytes.of(place.row));
      List<Cell> cells =
          order > 0
              ? row.cells()
              : order < 0
                  ? List.of()
                  : row.cells().stream().filter(cell -> isAtOrAfter(cell, place)).toList();
      if (!cells.isEmpty()) {
        left.add(new Row(row.key(), cells));
      }
    }
    return left;
  }

  private static boolean isAtOrAfter(Cell cell, Place place) {
    int order = cell.family().compareTo(place.family);
    return order != 0 ? order > 0 : cell.qualifier().toString().compareTo(place.qualifier) >= 0;
  }

  private static List<String> texts(List<Row> rows) {
    return rows.stream().map(TabletFixture::text).toList();
  }
}
