package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.LogOptions;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * One random history of operations and reads under several random sets of options (locality groups,
 * block sizes, codecs, Bloom filters, caches, memtable sizes, log segments) and schedules
 * (compactions, restarts, regroupings, splits at other moments): all answers are the same. A
 * history that fails is made smaller for as long as it still fails, and shown.
 */
final class MetamorphicRun {
  private static final TabletId ID = new TabletId(new TableId("t1"), "0000000000000001");
  private static final String NONE = "cannot be read any more";
  private static final int SETTINGS = 4;
  private static final int SHRINKING_TRIES = 400;

  /** A step of a history. */
  private sealed interface Step {
    /** An operation under an id. */
    record Apply(long atMicros, RowOperation operation, OperationId id) implements Step {}

    /**
     * The same operation again; one that was refused is not remembered, and may be applied now. So
     * it has a time of its own: two operations at one time get timestamps that depend on splits.
     */
    record Retry(long atMicros, Apply apply) implements Step {}

    /** A read as of now, in pages of a size that has no influence on what is read. */
    record Read(long atMicros, RowQuery query, long pageBytes) implements Step {}

    /** Takes a read point. */
    record Point(int name) implements Step {}

    /** A read at a point taken before; where it cannot be read any more there is no answer. */
    record ReadAt(long atMicros, int name, RowQuery query, long pageBytes) implements Step {}
  }

  /**
   * A step and its number in the whole history: what the schedule has follow it hangs on that, so
   * that it stays when steps before it are left out.
   */
  private record Numbered(int number, Step step) {
    @Override
    public String toString() {
      return number + " " + step;
    }
  }

  /** What may differ between runs of one history; everything that is random comes from the seed. */
  private record Setting(long seed, TableSchema schema) {}

  private final long seed;
  private final Random random;
  private final RandomData data;
  private final List<Setting> settings = new ArrayList<>();

  MetamorphicRun(long seed) {
    this.seed = seed;
    random = new Random(seed);
    data = new RandomData(random);
    TableSchema schema = data.schema();
    for (int i = 0; i < SETTINGS; i++) {
      settings.add(new Setting(random.nextLong(), data.regrouped(schema)));
    }
  }

  /** Runs a history of so many steps; returns how many operations were applied in all. */
  long run(int steps) {
    List<Numbered> history = history(steps);
    Optional<Throwable> failure = failure(history);
    if (failure.isPresent()) {
      keepSettingsThatFail(history);
      List<Numbered> small = shrunk(history);
      StringBuilder text = new StringBuilder("seed " + seed + ", " + small.size() + " steps:\n");
      small.forEach(step -> text.append("  ").append(step).append('\n'));
      settings.forEach(setting -> text.append("under ").append(setting).append('\n'));
      throw new AssertionError(text.toString(), failure(small).orElse(failure.get()));
    }
    return (long) settings.size()
        * history.stream().filter(one -> one.step() instanceof Step.Apply).count();
  }

  private List<Numbered> history(int steps) {
    List<Step> history = new ArrayList<>();
    List<Step.Apply> applied = new ArrayList<>();
    long now = 1_000_000;
    int points = 0;
    for (int i = 0; i < steps; i++) {
      now += 2 + random.nextInt(8);
      int dice = random.nextInt(100);
      long pageBytes = random.nextInt(3) == 0 ? 1 + random.nextInt(60) : 0;
      if (dice < 60) {
        OperationId id = new OperationId(1, 1, applied.size() + 1);
        Step.Apply apply = new Step.Apply(now, data.operation(now), id);
        applied.add(apply);
        history.add(apply);
      } else if (dice < 66 && !applied.isEmpty()) {
        history.add(new Step.Retry(now, applied.get(random.nextInt(applied.size()))));
      } else if (dice < 84) {
        history.add(new Step.Read(now, data.query(now), pageBytes));
      } else if (dice < 90 || points == 0) {
        history.add(new Step.Point(points++));
      } else {
        int point = Math.max(0, points - 1 - random.nextInt(4));
        history.add(new Step.ReadAt(now, point, data.query(now), pageBytes));
      }
    }
    history.add(new Step.Read(now + 10, RowQuery.ALL, 0));
    List<Numbered> numbered = new ArrayList<>();
    history.forEach(step -> numbered.add(new Numbered(numbered.size(), step)));
    return numbered;
  }

  /** What goes wrong with a history; empty where nothing does. */
  private Optional<Throwable> failure(List<Numbered> history) {
    List<Object> first = new ArrayList<>();
    try {
      for (Setting setting : settings) {
        List<Object> answers = new Life(setting).run(history);
        for (int i = 0; i < history.size(); i++) {
          if (first.size() <= i) {
            first.add(answers.get(i));
          } else if (first.get(i).equals(NONE)) {
            first.set(i, answers.get(i));
          } else if (!answers.get(i).equals(NONE)) {
            assertThat(answers.get(i))
                .as("answer to %s under %s", history.get(i), setting)
                .isEqualTo(first.get(i));
          }
        }
      }
      return Optional.empty();
    } catch (Exception | AssertionError e) {
      return Optional.of(e);
    }
  }

  /** Leaves out the settings without which it fails too: one is enough, or two are. */
  private void keepSettingsThatFail(List<Numbered> history) {
    List<Setting> all = List.copyOf(settings);
    for (int i = 0; i < all.size(); i++) {
      for (int j = i; j < all.size(); j++) {
        settings.clear();
        settings.addAll(i == j ? List.of(all.get(i)) : List.of(all.get(i), all.get(j)));
        if (failure(history).isPresent()) {
          return;
        }
      }
    }
    settings.clear();
    settings.addAll(all);
  }

  /** Leaves steps out, many at once first, for as long as what is left still fails. */
  private List<Numbered> shrunk(List<Numbered> history) {
    List<Numbered> left = new ArrayList<>(history);
    int tries = SHRINKING_TRIES;
    for (int size = left.size() / 2; size >= 1 && tries > 0; ) {
      boolean smaller = false;
      for (int from = 0; from < left.size() && tries-- > 0; ) {
        List<Numbered> fewer = new ArrayList<>(left.subList(0, from));
        fewer.addAll(left.subList(Math.min(left.size(), from + size), left.size()));
        if (failure(fewer).isPresent()) {
          left = fewer;
          smaller = true;
        } else {
          from += size;
        }
      }
      size = smaller && size == 1 ? 1 : size / 2;
    }
    return left;
  }

  /** One run of a history under one setting. */
  private final class Life {
    private final Setting setting;
    private final Random schedule;
    private final TabletHost host = new TabletHost();
    private final TableSchema schema;
    private final long memtableBytes;
    private final int busy;
    private final RandomData regrouping;
    private final Map<TabletHost.Stored, Tablet> tablets = new LinkedHashMap<>();
    private final Map<Integer, Map<TabletId, Long>> points = new HashMap<>();
    private TabletHost.Server server;

    Life(Setting setting) throws IOException {
      this.setting = setting;
      schedule = new Random(setting.seed());
      schema = setting.schema();
      regrouping = new RandomData(schedule);
      int least = 2 + schedule.nextInt(3);
      host.options =
          UntimedPages.options(
              1 << 20,
              TabletOptions.DEFAULT.operationsWindow(),
              new TabletOptions.Merging(
                  least, least + schedule.nextInt(4), 4 + schedule.nextInt(8)),
              schedule.nextBoolean() ? 4 << 20 : 1 + schedule.nextInt(300));
      host.logOptions =
          LogOptions.DEFAULT
              .withSegmentBytes(200 + schedule.nextInt(20_000))
              .withRetries(2, Duration.ZERO);
      host.cacheBytes = 1 << schedule.nextInt(20);
      host.offHeapBytes = schedule.nextBoolean() ? 0 : 1 << schedule.nextInt(20);
      memtableBytes = 1 << 9 << schedule.nextInt(8);
      busy = 1 + schedule.nextInt(40);
      server = host.start();
      TabletHost.Stored stored = host.add(TabletSpec.empty(ID, 1, RowRange.ALL, schema));
      tablets.put(stored, server.take(stored));
    }

    List<Object> run(List<Numbered> history) throws Exception {
      List<Object> answers = new ArrayList<>();
      try {
        for (Numbered one : history) {
          answers.add(answer(one.step()));
          schedule.setSeed(setting.seed() + 1_000_003L * one.number());
          maintain();
        }
        host.sweep(Set.of());
      } finally {
        server.close();
      }
      return answers;
    }

    private Object answer(Step step) throws Exception {
      if (step instanceof Step.Apply apply) {
        host.nowMicros.set(apply.atMicros());
        return apply(apply);
      } else if (step instanceof Step.Retry retry) {
        host.nowMicros.set(retry.atMicros());
        return apply(retry.apply());
      } else if (step instanceof Step.Read read) {
        host.nowMicros.set(read.atMicros());
        return read(read.query(), read.pageBytes(), Map.of());
      } else if (step instanceof Step.Point point) {
        Map<TabletId, Long> now = new HashMap<>();
        tablets.values().forEach(tablet -> now.put(tablet.id(), tablet.readPoint()));
        points.put(point.name(), now);
        return "point";
      }
      Step.ReadAt read = (Step.ReadAt) step;
      host.nowMicros.set(read.atMicros());
      Map<TabletId, Long> at = points.getOrDefault(read.name(), Map.of());
      for (Tablet tablet : tablets.values()) {
        Long point = at.get(tablet.id());
        if (point == null || point < tablet.oldestReadablePoint()) {
          return NONE;
        }
      }
      return read(read.query(), read.pageBytes(), at);
    }

    private Object apply(Step.Apply apply) throws Exception {
      OperationRequest request =
          new OperationRequest(
              apply.operation(), Optional.of(apply.id()), Outstanding.from(1), Durability.HFLUSH);
      Tablet tablet =
          tablets.values().stream()
              .filter(one -> one.extent().contains(apply.operation().row()))
              .findFirst()
              .orElseThrow();
      try {
        return tablet.apply(request).orTimeout(60, TimeUnit.SECONDS).join();
      } catch (CompletionException e) {
        if (e.getCause() instanceof SteleException refused
            && refused.code() == SteleException.Code.REFUSED) {
          return "refused";
        }
        throw e;
      }
    }

    /** Reads; a filter leaves of the rows what it says, whatever way they came. */
    private List<Row> read(RowQuery query, long pageBytes, Map<TabletId, Long> at)
        throws IOException {
      List<Row> rows = pages(query, pageBytes, at);
      if (query.filter().isPresent()) {
        RowQuery unfiltered =
            new RowQuery(
                query.ranges(),
                query.families(),
                query.columns(),
                query.versions(),
                query.times(),
                Long.MAX_VALUE,
                Optional.empty());
        assertThat(rows)
            .as("answer to %s", query)
            .isEqualTo(
                PlainQueries.filtered(
                    pages(unfiltered, pageBytes, at), query.filter().get(), query.rowLimit()));
      }
      return rows;
    }

    private List<Row> pages(RowQuery query, long pageBytes, Map<TabletId, Long> at)
        throws IOException {
      RowJoiner joined = new RowJoiner();
      long partBytes = pageBytes % 2 == 1 ? pageBytes : 0;
      List<Tablet> inOrder = new ArrayList<>(tablets.values());
      inOrder.sort(Comparator.comparing(tablet -> tablet.extent().start()));
      for (Tablet tablet : inOrder) {
        Optional<Bytes> from = Optional.of(tablet.extent().start());
        Optional<Bytes> position = Optional.empty();
        Long point = at.get(tablet.id());
        while (from.isPresent() && joined.whole() < query.rowLimit()) {
          Optional<RowQuery> rest = rest(query, from.get(), joined.whole());
          if (rest.isEmpty()) {
            break;
          }
          ReadRequest request =
              ReadRequest.of(rest.get()).pageOf(pageBytes).in(new RowParts(partBytes, position));
          ReadResult page = tablet.read(point == null ? request : request.at(point));
          assertThat(point == null || page.readPoint() == point).isTrue();
          point = page.readPoint();
          joined.add(page);
          from = page.nextRow();
          position = page.position();
        }
      }
      return joined.first(query.rowLimit());
    }

    private static Optional<RowQuery> rest(RowQuery query, Bytes from, int found) {
      RowRange range = new RowRange(from, Bytes.EMPTY);
      List<RowRange> ranges =
          query.ranges().isEmpty()
              ? List.of(range)
              : query.ranges().stream().flatMap(r -> r.intersection(range).stream()).toList();
      if (ranges.isEmpty()) {
        return Optional.empty();
      }
      RowQuery rest = query.withRanges(ranges);
      return Optional.of(
          query.rowLimit() == Long.MAX_VALUE ? rest : rest.limit(query.rowLimit() - found));
    }

    /** What the schedule has come between two steps. */
    private void maintain() throws Exception {
      for (TabletHost.Stored stored : List.copyOf(tablets.keySet())) {
        Tablet tablet = tablets.get(stored);
        if (tablet.statistics().memtableBytes() > memtableBytes) {
          tablet.minorCompact();
        }
        if (schedule.nextInt(100) >= busy) {
          continue;
        }
        switch (schedule.nextInt(24)) {
          case 0, 1, 2, 3, 4, 5 -> tablet.minorCompact();
          case 6, 7, 8, 9, 10, 11 -> tablet.mergingCompact();
          case 12, 13 -> tablet.majorCompact();
          case 14, 15, 16 ->
              tablet.collectGarbage(Duration.of(schedule.nextInt(3000), ChronoUnit.MICROS));
          case 17, 18 -> {
            TableSchema regrouped = regrouping.regrouped(schema);
            tablets.keySet().forEach(one -> one.alter(regrouped));
            tablets.values().forEach(one -> one.alter(regrouped));
          }
          case 19, 20, 21 -> {
            restart();
            return;
          }
          case 22 -> {
            split(stored);
            return;
          }
          default -> server.log.roll();
        }
      }
    }

    private void restart() throws IOException {
      if (schedule.nextBoolean()) {
        host.disk.crash(schedule);
      }
      server.close();
      server = host.start();
      for (TabletHost.Stored stored : tablets.keySet()) {
        tablets.put(stored, server.take(stored));
      }
      points.values().forEach(Map::clear);
    }

    private void split(TabletHost.Stored stored) throws IOException {
      if (tablets.size() > 3) {
        return;
      }
      List<TabletHost.Stored> halves = server.split(stored, Optional.empty());
      if (halves.size() > 1) {
        tablets.remove(stored);
        halves.forEach(half -> tablets.put(half, server.find(half).orElseThrow()));
      }
    }
  }
}
