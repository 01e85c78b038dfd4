package io.stele.tablet;

import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.CheckAndMutate;
import io.stele.model.Codec;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TimeRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Random schemas, operations and queries over few rows, columns and timestamps, so that they meet.
 */
final class RandomData {
  private static final List<String> FAMILIES = List.of("a", "b", "bb");
  private static final List<Bytes> QUALIFIERS =
      List.of(Bytes.EMPTY, Bytes.of("q"), Bytes.of(new byte[] {'q', 0}), Bytes.of("r"));

  private final RandomGenerator random;
  private final int rowCount;
  private final boolean timely;
  private final int deletesPercent;
  private int values;

  RandomData(RandomGenerator random) {
    this.random = random;
    this.rowCount = 1 + random.nextInt(24);
    this.timely = random.nextBoolean();
    this.deletesPercent = 5 + random.nextInt(50);
  }

  TableSchema schema() {
    return regrouped(
        TableSchema.of(
            "model", FAMILIES.stream().map(name -> new ColumnFamily(name, policy(2))).toList()));
  }

  /** The same table with its families in other locality groups, kept in other ways. */
  TableSchema regrouped(TableSchema schema) {
    List<LocalityGroup> groups = new ArrayList<>();
    for (int i = random.nextInt(FAMILIES.size()); i >= 0; i--) {
      groups.add(
          new LocalityGroup(
              "g" + i,
              any(Codec.values()),
              1 << 10 << random.nextInt(4),
              any(Bloom.values()),
              random.nextInt(4) == 0,
              any(CachePriority.values())));
    }
    return new TableSchema(
        schema.name(),
        schema.families().stream()
            .map(family -> family.in(groups.get(random.nextInt(groups.size())).name()))
            .toList(),
        groups,
        schema.splitBytes(),
        schema.hsync());
  }

  private <T> T any(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private GcPolicy policy(int depth) {
    int count = 1 + random.nextInt(3);
    return policy(depth, count);
  }

  private GcPolicy policy(int depth, int count) {
    switch (random.nextInt(depth > 0 ? 8 : 4)) {
      case 0:
        return new GcPolicy.KeepAll();
      case 1, 2:
        return GcPolicy.maxVersions(count);
      case 3:
        return GcPolicy.maxAge(Duration.ofNanos(1000L * (1 + random.nextInt(200))));
      case 4, 5:
        return new GcPolicy.Union(List.of(policy(depth - 1, count), policy(depth - 1, count)));
      default:
        return new GcPolicy.Intersection(
            List.of(policy(depth - 1, count), policy(depth - 1, count)));
    }
  }

  Bytes row() {
    int number = random.nextInt(rowCount);
    return number % 5 == 4
        ? Bytes.of(new byte[] {'r', (byte) (number / 5), 0})
        : Bytes.of("r" + number);
  }

  Column column() {
    return new Column(family(), QUALIFIERS.get(random.nextInt(QUALIFIERS.size())));
  }

  private String family() {
    return FAMILIES.get(random.nextInt(FAMILIES.size()));
  }

  long timestamp(long now) {
    return timely ? Math.max(0, now - random.nextInt(150)) / 10 * 10 : random.nextInt(8);
  }

  TimeRange times(long now) {
    long a = timestamp(now);
    long b = timestamp(now);
    return switch (random.nextInt(4)) {
      case 0 -> new TimeRange(a, Long.MAX_VALUE);
      case 1 -> new TimeRange(0, a);
      default -> new TimeRange(Math.min(a, b), Math.max(a, b) + random.nextInt(2));
    };
  }

  private Bytes value() {
    int number = values++;
    return switch (random.nextInt(8)) {
      case 0 -> Bytes.EMPTY;
      case 1 -> Bytes.ofLong(number);
      case 2 -> Bytes.of(("v" + number).repeat(1 + random.nextInt(60)));
      default -> Bytes.of("v" + number);
    };
  }

  RowOperation operation(long now) {
    Bytes row = row();
    return switch (random.nextInt(10)) {
      case 0 ->
          new CheckAndMutate(row, filter(2, now), mutation(row, now, 0), mutation(row, now, 0));
      case 1, 2 -> {
        List<ReadModifyWrite.Rule> rules = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
          Column column = column();
          rules.add(
              random.nextBoolean()
                  ? new ReadModifyWrite.Increment(
                      column.family(), column.qualifier(), random.nextInt(5) - 2)
                  : new ReadModifyWrite.Append(
                      column.family(), column.qualifier(), Bytes.of("+" + values++)));
        }
        yield new ReadModifyWrite(row, rules);
      }
      default -> mutation(row, now, 1);
    };
  }

  Mutation mutation(Bytes row, long now, int editsMin) {
    Mutation.Builder mutation = Mutation.builder(row);
    int edits = editsMin + (random.nextInt(4) == 0 ? random.nextInt(4) : 0);
    for (int i = 0; i < edits; i++) {
      mutation.add(edit(now));
    }
    return mutation.build();
  }

  private Edit edit(long now) {
    Column column = column();
    if (random.nextInt(100) >= deletesPercent) {
      long timestamp = random.nextInt(3) == 0 ? Edit.SERVER_TIMESTAMP : timestamp(now);
      return new Edit.Put(column.family(), column.qualifier(), timestamp, value());
    }
    return switch (random.nextInt(10)) {
      case 0 -> new Edit.DeleteRow();
      case 1 -> new Edit.DeleteFamily(column.family());
      case 2 -> new Edit.DeleteColumn(column.family(), column.qualifier(), TimeRange.ALL);
      case 3, 4, 5 -> new Edit.DeleteColumn(column.family(), column.qualifier(), times(now));
      default -> new Edit.DeleteCell(column.family(), column.qualifier(), timestamp(now));
    };
  }

  RowQuery query(long now) {
    RowQuery query = RowQuery.ALL;
    for (int i = random.nextInt(3); i > 0; i--) {
      Bytes a = row();
      Bytes b = row();
      query =
          query.range(
              switch (random.nextInt(4)) {
                case 0 -> RowRange.single(a);
                case 1 -> new RowRange(a, Bytes.EMPTY);
                case 2 -> new RowRange(Bytes.EMPTY, b);
                default -> a.compareTo(b) <= 0 ? new RowRange(a, b) : new RowRange(b, a);
              });
    }
    List<Column> columns = new ArrayList<>();
    if (random.nextInt(3) == 0) {
      for (int i = random.nextInt(3); i >= 0; i--) {
        columns.add(column());
      }
    }
    List<String> families = random.nextInt(4) == 0 ? List.of(family()) : List.of();
    return new RowQuery(
        query.ranges(),
        families,
        columns,
        random.nextInt(3) == 0 ? 1 + random.nextInt(3) : Integer.MAX_VALUE,
        random.nextInt(4) == 0 ? times(now) : TimeRange.ALL,
        random.nextInt(4) == 0 ? 1 + random.nextInt(4) : Long.MAX_VALUE,
        random.nextInt(3) == 0 ? Optional.of(filter(2, now)) : Optional.empty());
  }

  Filter filter(int depth, long now) {
    Column column = column();
    return switch (random.nextInt(depth > 0 ? 20 : 16)) {
      case 0 -> new Filter.PassAll();
      case 1 -> new Filter.BlockAll();
      case 2 -> new Filter.RowKeyRegex("r[0-4].*");
      case 3 -> new Filter.RowSample(random.nextDouble());
      case 4 -> new Filter.FamilyRegex("b+");
      case 5 -> new Filter.QualifierRegex("q.?");
      case 6 -> new Filter.ColumnRange(column.family(), Bytes.EMPTY, Bytes.of("r"));
      case 7 -> new Filter.ColumnIs(column);
      case 8 -> new Filter.ValueRegex("v.*[13579]");
      case 9 -> new Filter.ValueRange(Bytes.of("v2"), Bytes.EMPTY);
      case 10 -> new Filter.TimestampRange(times(now));
      case 11 -> new Filter.CellsPerRowLimit(random.nextInt(4));
      case 12 -> new Filter.CellsPerRowOffset(random.nextInt(4));
      case 13 -> new Filter.CellsPerColumnLimit(random.nextInt(3));
      case 14 -> new Filter.StripValue();
      case 15 -> new Filter.Label("label");
      case 16, 17 -> Filter.chain(filter(depth - 1, now), filter(depth - 1, now));
      case 18 -> new Filter.Interleave(List.of(filter(depth - 1, now), filter(depth - 1, now)));
      default ->
          new Filter.Condition(
              filter(depth - 1, now), filter(depth - 1, now), filter(depth - 1, now));
    };
  }
}
