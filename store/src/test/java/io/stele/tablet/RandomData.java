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
import java.util.stream.Stream;

/**
 * Random schemas, operations and queries over few rows, columns and timestamps, so that they meet.
 */
final class RandomData {
  private static final List<String> FAMILIES = List.of("a", "b", "bb");
  private static final List<Bytes> QUALIFIERS =
      List.of(
          Bytes.EMPTY,
          Bytes.of("q"),
          Bytes.of(new byte[] {'q', 0}),
          Bytes.of(new byte[] {'q', (byte) 0xff}),
          Bytes.of("r"));
  private static final List<String> ROW_PATTERNS =
      List.of("r[0-4].*", "r", "r..", "r\\xff.*", ".*1", "");
  private static final List<String> FAMILY_PATTERNS = List.of("b+", "b", "a|bb", "(?i)A", "");
  private static final List<String> QUALIFIER_PATTERNS =
      List.of("q.?", "q", ".*", "q\\xff", "[^q]*", "");
  private static final List<String> VALUE_PATTERNS =
      List.of("v.*[13579]", "v", ".*", "[^v].*", "v[0-9]+\n.*", ".*\\xff", "(?i)V.*", "");
  private static final List<Filter.Kind> PARTED =
      List.of(Filter.Kind.CHAIN, Filter.Kind.INTERLEAVE, Filter.Kind.CONDITION);
  private static final List<Filter.Kind> CHANGING =
      List.of(Filter.Kind.LABEL, Filter.Kind.STRIP_VALUE);
  private static final List<Filter.Kind> WHOLE =
      Stream.of(Filter.Kind.values()).filter(kind -> !PARTED.contains(kind)).toList();

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
    boolean apart = random.nextInt(4) == 0; // In more groups than compactions write at once.
    for (int i = apart ? FAMILIES.size() - 1 : random.nextInt(FAMILIES.size()); i >= 0; i--) {
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
            .map(
                family -> {
                  int group =
                      apart ? FAMILIES.indexOf(family.name()) : random.nextInt(groups.size());
                  return family.in(groups.get(group).name());
                })
            .toList(),
        groups,
        schema.splitBytes(),
        schema.hsync(),
        schema.readers());
  }

  /** The same table, some families of which count one version less than before. */
  TableSchema lowered(TableSchema schema) {
    TableSchema lowered = schema;
    for (ColumnFamily family : schema.families()) {
      if (random.nextBoolean()) {
        lowered =
            lowered.with(new ColumnFamily(family.name(), lowered(family.gc()), family.group()));
      }
    }
    return lowered;
  }

  private static GcPolicy lowered(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL, MAX_AGE -> policy;
      case MAX_VERSIONS ->
          GcPolicy.maxVersions(Math.max(1, ((GcPolicy.MaxVersions) policy).count() - 1));
      case UNION ->
          new GcPolicy.Union(
              ((GcPolicy.Union) policy).policies().stream().map(RandomData::lowered).toList());
      case INTERSECTION ->
          new GcPolicy.Intersection(
              ((GcPolicy.Intersection) policy)
                  .policies().stream().map(RandomData::lowered).toList());
    };
  }

  /** The same table without a family. */
  TableSchema without(TableSchema schema, String family) {
    return new TableSchema(
        schema.name(),
        schema.families().stream().filter(one -> !one.name().equals(family)).toList(),
        schema.groups(),
        schema.splitBytes(),
        schema.hsync(),
        schema.readers());
  }

  /** What a mutation does to the families of a schema; empty if nothing. */
  static Optional<Mutation> part(Mutation mutation, TableSchema schema) {
    List<Edit> edits =
        mutation.edits().stream()
            .filter(edit -> family(edit).map(name -> schema.family(name).isPresent()).orElse(true))
            .toList();
    return edits.isEmpty() ? Optional.empty() : Optional.of(new Mutation(mutation.row(), edits));
  }

  private static Optional<String> family(Edit edit) {
    if (edit instanceof Edit.Put put) {
      return Optional.of(put.family());
    } else if (edit instanceof Edit.DeleteCell cell) {
      return Optional.of(cell.family());
    } else if (edit instanceof Edit.DeleteColumn column) {
      return Optional.of(column.family());
    } else if (edit instanceof Edit.DeleteFamily whole) {
      return Optional.of(whole.family());
    }
    return Optional.empty();
  }

  private <T> T any(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private <T> T any(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  private GcPolicy policy(int depth) {
    int count = 1 + random.nextInt(3);
    return policy(depth, count);
  }

  private GcPolicy policy(int depth, int count) {
    switch (random.nextInt(depth > 0 ? 8 : 4)) {
      case 0:
        return GcPolicy.keepAll();
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
    return switch (number % 5) {
      case 4 -> Bytes.of(new byte[] {'r', (byte) (number / 5), 0});
      case 3 -> Bytes.of(new byte[] {'r', (byte) (0xff - number / 5)});
      default -> Bytes.of("r" + number);
    };
  }

  Column column() {
    return new Column(family(), any(QUALIFIERS));
  }

  private String family() {
    return any(FAMILIES);
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
      case 3 -> Bytes.of("v" + number + "\n").concat(Bytes.of(new byte[] {(byte) 0xff}));
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
      mutation.with(edit(now));
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

  /** A filter of any kind; those of several parts nest up to {@code depth} deep. */
  Filter filter(int depth, long now) {
    Filter.Kind kind =
        depth > 0 && random.nextBoolean()
            ? any(PARTED)
            : any(random.nextInt(4) == 0 ? CHANGING : WHOLE);
    return switch (kind) {
      case PASS_ALL -> new Filter.PassAll();
      case BLOCK_ALL -> new Filter.BlockAll();
      case ROW_KEY_REGEX -> new Filter.RowKeyRegex(any(ROW_PATTERNS));
      case ROW_SAMPLE -> new Filter.RowSample(random.nextDouble());
      case FAMILY_REGEX -> new Filter.FamilyRegex(any(FAMILY_PATTERNS));
      case QUALIFIER_REGEX -> new Filter.QualifierRegex(any(QUALIFIER_PATTERNS));
      case COLUMN_RANGE -> new Filter.ColumnRange(family(), any(QUALIFIERS), any(QUALIFIERS));
      case COLUMN_IS -> new Filter.ColumnIs(column());
      case VALUE_REGEX -> new Filter.ValueRegex(any(VALUE_PATTERNS));
      case VALUE_RANGE -> new Filter.ValueRange(valueWritten(), valueWritten());
      case VALUE_IS -> new Filter.ValueIs(valueWritten());
      case TIMESTAMP_RANGE -> new Filter.TimestampRange(times(now));
      case CELLS_PER_ROW_LIMIT -> new Filter.CellsPerRowLimit(random.nextInt(5));
      case CELLS_PER_ROW_OFFSET -> new Filter.CellsPerRowOffset(random.nextInt(5));
      case CELLS_PER_COLUMN_LIMIT -> new Filter.CellsPerColumnLimit(random.nextInt(3));
      case STRIP_VALUE -> new Filter.StripValue();
      case LABEL -> new Filter.Label("label" + random.nextInt(3));
      case CHAIN -> new Filter.Chain(filters(depth - 1, now));
      case INTERLEAVE -> new Filter.Interleave(filters(depth - 1, now));
      case CONDITION ->
          new Filter.Condition(
              filter(depth - 1, now), filter(depth - 1, now), filter(depth - 1, now));
    };
  }

  private List<Filter> filters(int depth, long now) {
    List<Filter> filters = new ArrayList<>();
    for (int i = random.nextInt(10) == 0 ? 0 : 2 + random.nextInt(2); i > 0; i--) {
      filters.add(filter(depth, now));
    }
    return filters;
  }

  /** A value that was written not long ago, or nearly so. */
  private Bytes valueWritten() {
    int number = Math.max(0, values - random.nextInt(40));
    return switch (random.nextInt(6)) {
      case 0 -> Bytes.EMPTY;
      case 1 -> Bytes.ofLong(number);
      default -> Bytes.of("v" + number);
    };
  }
}
