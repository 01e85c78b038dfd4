package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.OneCell;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Edit;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.model.TimeRange;
import io.stele.record.FormerCount;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * What compactions may drop: one row, two columns, few timestamps, many deletes, and compactions of
 * any neighbouring files at any time, and counts of versions made lower, against the plain model.
 * Thousands of short histories find what a long one with whole tablets rarely meets.
 */
class GarbageCollectionTest {
  private static final Bytes ROW = Bytes.of("row");
  private static final int HISTORIES = 16_000;
  private static final long DAY = Duration.ofDays(1).toSeconds() * 1_000_000;

  @Test
  void noAnswerDependsOnWhichFilesWereCompactedWhen() throws IOException {
    runAll(false);
  }

  /**
   * While the oldest file is left out, compactions may drop nothing for its age: the clock goes to
   * and fro here, and the ages of the policy are altered.
   */
  @Test
  void nothingThatACompactionOfSomeFilesDropsIsMissedWhenItIsYoungAgain() throws IOException {
    runAll(true);
  }

  @Test
  void aSupersededValueStaysGoneWhenTheAgeIsRaised() throws IOException {
    SchemaRules week = rules(7);
    List<Memtable> files = new ArrayList<>();
    for (int day = 0; day < 2; day++) {
      Memtable file = new Memtable();
      Mutation put =
          Mutation.builder(ROW)
              .with(new Edit.Put("f", Bytes.EMPTY, day * DAY, Bytes.of("day " + day)))
              .build();
      LoggedCells.encode(put, 1 + day, 0).addTo(file);
      files.add(0, file);
    }
    files.set(
        0,
        History.compacted(
            files.subList(0, 1),
            new VersionFilter(week, 17 * DAY / 2, VersionFilter.Past.UNSEEN, false)));
    assertThat(History.visible(files, rules(30), 17 * DAY / 2))
        .extracting(Cell::value)
        .containsExactly(Bytes.of("day 1"));
    assertThat(History.visible(files, week, 13 * DAY / 2)) // The clock was ahead, and went back.
        .extracting(Cell::value)
        .containsExactly(Bytes.of("day 1"));
  }

  /** One version, of at most so many days. */
  private static SchemaRules rules(int days) {
    GcPolicy policy =
        new GcPolicy.Union(
            List.of(GcPolicy.maxVersions(1), GcPolicy.maxAge(Duration.ofDays(days))));
    return new SchemaRules(TableSchema.of("gc", List.of(new ColumnFamily("f", policy))));
  }

  private static void runAll(boolean timeless) throws IOException {
    Long one = Long.getLong("stele.seed");
    long first = one != null ? one : 1;
    long last = one != null ? one : Integer.getInteger("stele.seeds", 1) * (long) HISTORIES;
    for (long seed = first; seed <= last; seed++) {
      try {
        new History(seed, timeless).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-Dstele.seed=" + seed, e);
      }
    }
  }

  /** One history: memtables stand for files, the newest first. */
  private static final class History {
    private final Random random;
    private TableSchema schema;
    private SchemaRules rules;
    private PlainModel model;
    private final List<Memtable> files = new ArrayList<>();
    private final Map<Memtable, Long> lastSequences = new IdentityHashMap<>(); // Of full ones.
    private final List<String> log = new ArrayList<>();
    private final List<FormerCount> former = new ArrayList<>();
    private final int timestamps;
    private final boolean timely;
    private final boolean timeless; // Time goes to and fro, and the oldest file is left alone.
    private final int deletesPercent;
    private long now = 1000;
    private long sequence;

    History(long seed, boolean timeless) {
      this.timeless = timeless;
      random = new Random(seed);
      int count = 1 + random.nextInt(3);
      schema = TableSchema.of("gc", List.of(new ColumnFamily("f", policy(count, 2))));
      rules = new SchemaRules(schema);
      model = new PlainModel(schema);
      timestamps = 2 + random.nextInt(6);
      timely = random.nextBoolean();
      deletesPercent = random.nextInt(70);
      files.add(new Memtable());
    }

    private GcPolicy policy(int count, int depth) {
      int dice = random.nextInt(depth > 0 ? 10 : 5);
      if (dice == 0) {
        return GcPolicy.keepAll();
      } else if (dice <= 3) {
        return GcPolicy.maxVersions(count);
      } else if (dice == 4) {
        return GcPolicy.maxAge(Duration.ofNanos(1000L * (1 + random.nextInt(30))));
      }
      List<GcPolicy> two = List.of(policy(count, depth - 1), policy(count, depth - 1));
      return dice <= 6 ? new GcPolicy.Union(two) : new GcPolicy.Intersection(two);
    }

    void run() throws IOException {
      log.add(schema.families().toString());
      int steps = 10 + random.nextInt(40);
      for (int i = 0; i < steps; i++) {
        now = timeless ? 990 + random.nextInt(60) : now + random.nextInt(3);
        int dice = random.nextInt(10);
        if (dice < 6) {
          apply();
        } else if (dice < 7) {
          lastSequences.put(files.get(0), sequence);
          files.add(0, new Memtable());
          log.add("new memtable");
        } else {
          compact();
        }
        if (timeless && random.nextInt(4) == 0) {
          alter(withOtherAges(schema.family("f").orElseThrow().gc()));
        }
        if (random.nextInt(15) == 0) {
          lowerCount();
        }
        assertThat(visible(files, rules, now))
            .as(() -> String.join("\n", log))
            .isEqualTo(model.row(ROW, now));
      }
    }

    private void apply() throws IOException {
      Mutation.Builder edits = Mutation.builder(ROW);
      for (int i = random.nextInt(5) == 0 ? 1 + random.nextInt(3) : 0; i >= 0; i--) {
        edits.with(edit());
      }
      Mutation mutation = edits.build();
      sequence++;
      log.add("#" + sequence + " at " + now + " " + mutation.edits());
      model.apply(mutation);
      LoggedCells.encode(mutation, sequence, 0).addTo(files.get(0));
    }

    private Edit edit() {
      Column column = random.nextInt(4) == 0 ? Column.of("f", "other") : Column.of("f", "");
      long timestamp = (timely ? now - now % 4 - timestamps : 990) + random.nextInt(timestamps);
      if (random.nextInt(100) >= deletesPercent) {
        return new Edit.Put(
            column.family(), column.qualifier(), timestamp, Bytes.of("v" + sequence));
      }
      return switch (random.nextInt(12)) {
        case 0 -> new Edit.DeleteRow();
        case 1 -> new Edit.DeleteFamily("f");
        case 2 -> new Edit.DeleteColumn("f", column.qualifier(), TimeRange.ALL);
        case 3, 4, 5 ->
            new Edit.DeleteColumn(
                "f",
                column.qualifier(),
                new TimeRange(
                    random.nextBoolean() ? 0 : timestamp, timestamp + random.nextInt(timestamps)));
        default -> new Edit.DeleteCell("f", column.qualifier(), timestamp);
      };
    }

    private void lowerCount() {
      GcPolicy policy = schema.family("f").orElseThrow().gc();
      GcPolicy lower = withLowerCount(policy);
      if (!lower.equals(policy)) {
        former.add(new FormerCount(policy.countedVersions(), sequence));
        alter(lower);
      }
    }

    private void alter(GcPolicy altered) {
      schema = TableSchema.of("gc", List.of(new ColumnFamily("f", altered)));
      log.add("alter to " + schema.families() + ", before: " + former);
      rules = new SchemaRules(schema, Map.of("f", former));
      PlainModel before = model;
      model = new PlainModel(schema);
      model.become(before);
    }

    private GcPolicy withLowerCount(GcPolicy policy) {
      return switch (policy.kind()) {
        case KEEP_ALL ->
            policy.equals(schema.family("f").orElseThrow().gc())
                ? GcPolicy.maxVersions(1 + random.nextInt(3))
                : policy;
        case MAX_AGE -> policy;
        case MAX_VERSIONS ->
            GcPolicy.maxVersions(Math.max(1, ((GcPolicy.MaxVersions) policy).count() - 1));
        case UNION ->
            new GcPolicy.Union(
                ((GcPolicy.Union) policy).policies().stream().map(this::withLowerCount).toList());
        case INTERSECTION ->
            new GcPolicy.Intersection(
                ((GcPolicy.Intersection) policy)
                    .policies().stream().map(this::withLowerCount).toList());
      };
    }

    private GcPolicy withOtherAges(GcPolicy policy) {
      return switch (policy.kind()) {
        case KEEP_ALL, MAX_VERSIONS -> policy;
        case MAX_AGE -> GcPolicy.maxAge(Duration.ofNanos(1000L * (1 + random.nextInt(60))));
        case UNION ->
            new GcPolicy.Union(
                ((GcPolicy.Union) policy).policies().stream().map(this::withOtherAges).toList());
        case INTERSECTION ->
            new GcPolicy.Intersection(
                ((GcPolicy.Intersection) policy)
                    .policies().stream().map(this::withOtherAges).toList());
      };
    }

    private void compact() throws IOException {
      int count = timeless ? files.size() - 1 : files.size();
      if (count == 0) {
        return;
      }
      int from = random.nextInt(count);
      int to = from + 1 + random.nextInt(count - from);
      List<Memtable> inputs = files.subList(from, to);
      boolean whole = to == files.size();
      log.add("compact " + from + " to " + to + " of " + files.size());
      long last = from == 0 ? sequence : lastSequences.get(files.get(from));
      VersionFilter filter =
          new VersionFilter(
              rules.at(last),
              now,
              whole ? VersionFilter.Past.WHOLE : VersionFilter.Past.UNSEEN,
              inputs.stream().anyMatch(Memtable::hasTombstones));
      Memtable output = compacted(inputs, filter);
      inputs.clear();
      files.add(from, output);
      lastSequences.put(output, last);
      if (from == 0) {
        files.add(0, new Memtable());
      }
    }

    static Memtable compacted(List<Memtable> inputs, VersionFilter filter) throws IOException {
      Memtable output = new Memtable();
      try (MergedCursor cells = merged(inputs)) {
        while (cells.next()) {
          switch (filter.judge(cells)) {
            case KEEP -> add(cells, cells.type(), output);
            case KEEP_AS_SURPLUS -> add(cells, CellType.SURPLUS, output);
            case DROP, DROP_COLUMN -> {}
          }
        }
      }
      return output;
    }

    private static void add(CellCursor cell, CellType type, Memtable to) {
      to.add(
          new OneCell(
              cell.key(),
              cell.keyLength(),
              cell.timestamp(),
              cell.sequence(),
              cell.ordinal(),
              type,
              cell.valueArray(),
              cell.valueOffset(),
              cell.valueLength()));
    }

    private static MergedCursor merged(List<Memtable> memtables) {
      return new MergedCursor(
          memtables.stream().map(memtable -> memtable.cursor(Long.MAX_VALUE)).toList(),
          Long.MAX_VALUE);
    }

    static List<Cell> visible(List<Memtable> files, SchemaRules rules, long now)
        throws IOException {
      try (VisibleCells cells =
          new VisibleCells(
              merged(files),
              new VersionFilter(rules, now, VersionFilter.Past.WHOLE, true),
              ColumnSelection.ALL,
              Integer.MAX_VALUE,
              TimeRange.ALL,
              MemoryClaim.NONE)) {
        return cells.seekRow(ROW) ? cells.takeRow() : List.of();
      }
    }
  }
}
