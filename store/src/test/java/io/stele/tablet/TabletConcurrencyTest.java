package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.LogOptions;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Cell;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.Durability;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Writers, readers, compactions, regroupings and splits at the same time, on a real commit log and
 * a small cache.
 *
 * <p>Every write puts one number into columns of several families, which are in files of different
 * locality groups, and increments a counter in each of them. So every row read must have one number
 * in all its columns; numbers of a row only grow, for its writer once it was told, and for every
 * reader; and what was read at a read point is read again at it. {@code -Dstele.seconds=N} has it
 * go on for longer.
 */
class TabletConcurrencyTest {
  private static final int ROWS = 40;
  private static final int WRITERS = 3;
  private static final int TABLETS_MAX = 4;
  private static final List<String> FAMILIES = List.of("a", "b", "c");
  private static final List<String> QUALIFIERS = List.of("1", "2");
  private static final Bytes COUNTER = Bytes.of("counter");
  private static final Bytes COUNT = Bytes.of("n");

  private final long seconds = Long.getLong("stele.seconds", 3);
  private final TabletHost host = new TabletHost();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong counted = new AtomicLong();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong repeated = new AtomicLong();
  private final Map<TabletHost.Stored, Tablet> served = new LinkedHashMap<>(); // Guarded by itself.
  private volatile List<Tablet> tablets = List.of();
  private volatile TableSchema schema = schema(new Random(1));
  private TabletHost.Server server;

  private static TableSchema schema(Random random) {
    List<LocalityGroup> groups = new ArrayList<>();
    for (int i = 0; i < FAMILIES.size(); i++) {
      groups.add(
          new LocalityGroup(
              "g" + i,
              Codec.values()[random.nextInt(Codec.values().length)],
              1 << 10,
              Bloom.values()[random.nextInt(Bloom.values().length)],
              random.nextInt(3) == 0,
              CachePriority.NORMAL));
    }
    int shift = random.nextInt(FAMILIES.size());
    boolean joined = random.nextInt(3) == 0;
    List<ColumnFamily> families = new ArrayList<>();
    for (int i = 0; i < FAMILIES.size(); i++) {
      int group = joined ? Math.min(1, i) : (i + shift) % FAMILIES.size();
      families.add(ColumnFamily.of(FAMILIES.get(i)).in("g" + group));
    }
    return TableSchema.of("busy", families, groups.toArray(LocalityGroup[]::new));
  }

  @Test
  void everyRowReadIsOneMutationWholeAndReadPointsNeverGoBack() throws Exception {
    host.logOptions = LogOptions.DEFAULT.withSegmentBytes(20_000);
    host.cacheBytes = 20_000;
    host.options =
        UntimedPages.options(
            1 << 20, Duration.ofHours(1), new TabletOptions.Merging(2, 4, 6), 4 << 20);
    server = host.start();
    TabletHost.Stored stored = host.add(TabletSpec.empty(id(1), 1, RowRange.ALL, schema));
    served.put(stored, server.take(stored));
    tablets = List.copyOf(served.values());
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<Boolean>> all = new ArrayList<>();
      for (int writer = 0; writer < WRITERS; writer++) {
        int number = writer;
        all.add(threads.submit(() -> write(number)));
      }
      all.add(threads.submit(reader(1)));
      all.add(threads.submit(reader(2)));
      all.add(threads.submit(maintenance(this::minorCompact)));
      all.add(threads.submit(maintenance(one -> server.rewrite(one.id(), one::mergingCompact))));
      all.add(
          threads.submit(
              maintenance(
                  one -> server.rewrite(one.id(), () -> one.collectGarbage(Duration.ZERO)))));
      all.add(threads.submit(this::change));
      TimeUnit.SECONDS.sleep(seconds); // How long it goes on, not what it waits for.
      over.set(true);
      for (Future<Boolean> one : all) {
        assertThat(one.get(120, TimeUnit.SECONDS)).isTrue();
      }
    } finally {
      over.set(true);
      threads.shutdownNow();
    }
    checkCounter();
    restart();
    checkCounter();
    assertThat(reads).hasPositiveValue();
    assertThat(repeated).hasPositiveValue();
    server.close();
  }

  private static TabletId id(int number) {
    return new TabletId(new TableId("t1"), String.format("%016x", number));
  }

  private void restart() throws IOException {
    server.close();
    server = host.start();
    for (TabletHost.Stored stored : served.keySet()) {
      served.put(stored, server.take(stored));
    }
    tablets = List.copyOf(served.values());
  }

  private void checkCounter() throws IOException {
    List<Cell> cells =
        tabletOf(COUNTER).read(ReadRequest.of(RowQuery.row(COUNTER))).rows().get(0).cells();
    assertThat(cells).hasSize(FAMILIES.size());
    assertThat(cells).allSatisfy(c -> assertThat(c.value().toLong()).isEqualTo(counted.get()));
  }

  private Tablet tabletOf(Bytes row) {
    return tablets.stream().filter(one -> one.extent().contains(row)).findFirst().orElseThrow();
  }

  private boolean write(int writer) throws Exception {
    Random random = new Random(writer);
    long[] numbers = new long[ROWS];
    for (long number = 1; !over.get(); number++) {
      OperationId id = new OperationId(writer, 1, number);
      if (number % 10 == 0) {
        List<ReadModifyWrite.Rule> rules = new ArrayList<>();
        FAMILIES.forEach(family -> rules.add(new ReadModifyWrite.Increment(family, COUNT, 1)));
        send(new ReadModifyWrite(COUNTER, rules), id);
        counted.incrementAndGet();
        continue;
      }
      int row = random.nextInt(ROWS / WRITERS) * WRITERS + writer;
      Bytes key = Bytes.of("row" + row);
      Mutation.Builder mutation = Mutation.builder(key);
      if (random.nextInt(20) == 0) {
        mutation.deleteRow();
      }
      Bytes value = Bytes.ofLong(++numbers[row]);
      for (String family : FAMILIES) {
        QUALIFIERS.forEach(qualifier -> mutation.put(family, Bytes.of(qualifier), value));
      }
      send(mutation.build(), id);
      if (random.nextInt(5) == 0) {
        Optional<List<Row>> own =
            attempt(() -> tabletOf(key).read(ReadRequest.of(RowQuery.row(key))).rows());
        own.ifPresent(rows -> assertThat(number(rows.get(0))).isEqualTo(numbers[row]));
      }
    }
    return true;
  }

  /** Sends until it is taken, under one id: by whichever tablet has the row then. */
  private void send(RowOperation operation, OperationId id) throws Exception {
    OperationRequest request =
        new OperationRequest(
            operation, Optional.of(id), Outstanding.from(id.number()), Durability.HFLUSH);
    while (attempt(() -> tabletOf(operation.row()).apply(request).get(60, TimeUnit.SECONDS))
        .isEmpty()) {
      Thread.yield();
    }
  }

  /**
   * What {@code call} gives; empty where the tablet is closed, or splits, and it is to be repeated.
   */
  private static <T> Optional<T> attempt(Callable<T> call) throws Exception {
    try {
      return Optional.of(call.call());
    } catch (ExecutionException | CompletionException e) {
      if (e.getCause() instanceof SteleException later) {
        return none(later);
      }
      throw e;
    } catch (SteleException e) {
      return none(e);
    }
  }

  private static <T> Optional<T> none(SteleException e) {
    if (e.code() == SteleException.Code.RETRY_LATER
        || e.getMessage().contains("cannot be read any more")) {
      return Optional.empty();
    }
    throw e;
  }

  /** The one number in all columns of a row. */
  private static long number(Row row) {
    Set<Bytes> numbers = row.cells().stream().map(Cell::value).collect(Collectors.toSet());
    assertThat(numbers).as(() -> "torn: " + row).hasSize(1);
    int columns = row.key().equals(COUNTER) ? FAMILIES.size() : FAMILIES.size() * QUALIFIERS.size();
    assertThat(row.cells()).as(() -> "torn: " + row).hasSize(columns);
    return numbers.iterator().next().toLong();
  }

  private Callable<Boolean> reader(long seed) {
    return () -> {
      Random random = new Random(seed);
      Map<Bytes, Long> last = new HashMap<>();
      Map<TabletId, Long> lastPoints = new HashMap<>();
      while (!over.get()) {
        Tablet tablet = tablets.get(random.nextInt(tablets.size()));
        RowQuery query =
            random.nextBoolean() ? RowQuery.ALL : RowQuery.row("row" + random.nextInt(ROWS));
        Optional<ReadResult> fresh = attempt(() -> tablet.read(ReadRequest.of(query)));
        if (fresh.isEmpty()) {
          continue;
        }
        assertThat(fresh.get().nextRow()).as("one page has all rows").isEmpty();
        long point = fresh.get().readPoint();
        assertThat(point).isGreaterThanOrEqualTo(lastPoints.getOrDefault(tablet.id(), 0L));
        lastPoints.put(tablet.id(), point);
        for (Row row : fresh.get().rows()) {
          long number = number(row);
          assertThat(number).isGreaterThanOrEqualTo(last.getOrDefault(row.key(), 0L));
          last.put(row.key(), number);
        }
        Optional<List<Row>> again = attempt(() -> pages(tablet, query, point, random.nextInt(400)));
        again.ifPresent(
            rows -> {
              assertThat(rows).isEqualTo(fresh.get().rows());
              repeated.incrementAndGet();
            });
        reads.incrementAndGet();
      }
      return true;
    };
  }

  private static List<Row> pages(Tablet tablet, RowQuery query, long point, int bytes)
      throws IOException {
    List<Row> rows = new ArrayList<>();
    RowQuery rest = query;
    while (true) {
      ReadResult page =
          tablet.read(new ReadRequest(rest, OptionalLong.of(point), false, 1 + bytes, false));
      rows.addAll(page.rows());
      if (page.nextRow().isEmpty()) {
        return rows;
      }
      rest = query.withRanges(List.of(new RowRange(page.nextRow().get(), Bytes.EMPTY)));
    }
  }

  /** A compaction of some kind. */
  private interface Compaction {
    boolean run(Tablet tablet) throws IOException;
  }

  private Callable<Boolean> maintenance(Compaction compaction) {
    return () -> {
      while (!over.get()) {
        for (Tablet tablet : tablets) {
          if (attempt(() -> compaction.run(tablet)).isEmpty()) {
            Thread.yield();
          }
        }
      }
      return true;
    };
  }

  private boolean minorCompact(Tablet tablet) throws IOException {
    return server.minor(tablet.id(), tablet::minorCompact);
  }

  /** Major compactions, now and then other locality groups, seldom a split. */
  private boolean change() throws Exception {
    Random random = new Random(7);
    while (!over.get()) {
      List<Tablet> now = tablets;
      Tablet tablet = now.get(random.nextInt(now.size()));
      int dice = random.nextInt(20);
      if (dice == 0 && now.size() < TABLETS_MAX) {
        split(tablet);
      } else if (dice < 5) {
        synchronized (served) {
          schema = schema(random);
          served.keySet().iterator().next().alter(schema);
          served.values().forEach(one -> one.alter(schema));
        }
      } else {
        attempt(() -> server.rewrite(tablet.id(), tablet::majorCompact));
      }
    }
    return true;
  }

  private void split(Tablet tablet) throws Exception {
    TabletHost.Stored stored = host.tablets.get(tablet.id());
    List<TabletHost.Stored> halves = server.split(stored, Optional.empty());
    if (halves.size() > 1) {
      synchronized (served) {
        served.remove(stored);
        halves.forEach(half -> served.put(half, server.find(half).orElseThrow()));
        served.values().forEach(half -> half.alter(schema));
        tablets = List.copyOf(served.values());
      }
    }
  }
}
