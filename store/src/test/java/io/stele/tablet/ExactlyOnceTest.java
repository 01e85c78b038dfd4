package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Increments under ids, tried again through crashes, moves, compactions, regroupings and splits:
 * within the window each is applied once and answered as the first time; of a client that was
 * silent for longer they are refused.
 */
class ExactlyOnceTest {
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final long WINDOW_MICROS = TimeUnit.MICROSECONDS.convert(WINDOW);
  private static final int STEPS = 120;
  private static final String OLD = "older than the window";

  private record Done(OperationRequest request, long begunMicros, OperationResult result) {}

  private final TabletHost host = new TabletHost();
  private final Map<TabletHost.Stored, Tablet> tablets = new LinkedHashMap<>();
  private final List<Done> done = new ArrayList<>();
  private final Map<Bytes, Long> counts = new LinkedHashMap<>();
  private Random random;
  private RandomData data;
  private TableSchema schema;
  private TabletHost.Server server;
  private long nextNumber = 1;
  private int client = 1;
  private int forgotten;

  private static final TabletId ID = new TabletId(new TableId("t1"), "0000000000000001");

  static LongStream seeds() {
    return Seeds.of(8);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void whatIsTriedAgainCountsOnceWithinTheWindowAndIsRefusedAfterIt(long seed) throws Exception {
    random = new Random(seed);
    data = new RandomData(random);
    schema = data.regrouped(TableSchema.of("once", "a", "b", "bb"));
    host.options =
        UntimedPages.options(1 << 20, WINDOW, new TabletOptions.Merging(2, 3, 5), 4 << 20);
    host.logOptions = host.logOptions.withSegmentBytes(300 + random.nextInt(2000));
    server = host.start();
    TabletHost.Stored first = host.add(TabletSpec.empty(ID, 1, RowRange.ALL, schema));
    tablets.put(first, server.take(first));
    for (int i = 0; i < STEPS; i++) {
      if (random.nextInt(3) > 0) {
        increment();
      } else {
        maintain();
      }
      if (!done.isEmpty() && random.nextBoolean()) {
        again(done.get(random.nextInt(done.size())));
      }
      if (random.nextInt(40) == 0) {
        expire();
      }
    }
    for (Done one : done) {
      again(one);
    }
    restart(true);
    for (Done one : done) {
      again(one);
    }
    for (int i = 0; i < 20 && forgotten == 0; i++) {
      increment();
      expire();
    }
    assertThat(forgotten).as("operations that were refused as too old").isPositive();
    server.close();
  }

  private void increment() throws Exception {
    host.nowMicros.addAndGet(10);
    Bytes row = Bytes.of("row" + random.nextInt(20));
    String family = List.of("a", "b", "bb").get(random.nextInt(3));
    OperationRequest request =
        new OperationRequest(
            ReadModifyWrite.increment(row, family, Bytes.of("n"), 1),
            Optional.of(new OperationId(client, 1, nextNumber++)),
            Outstanding.from(1),
            Durability.HFLUSH);
    done.add(new Done(request, host.passedMicros.get(), apply(request)));
    counts.merge(row.concat(Bytes.of(" " + family)), 1L, Long::sum);
  }

  private OperationResult apply(OperationRequest request) throws Exception {
    Bytes row = request.operation().row();
    return tabletOf(row).apply(request).get(20, TimeUnit.SECONDS);
  }

  private Tablet tabletOf(Bytes row) {
    return tablets.values().stream()
        .filter(one -> one.extent().contains(row))
        .findFirst()
        .orElseThrow();
  }

  private void again(Done one) throws Exception {
    OperationRequest first = one.request();
    long micros = host.passedMicros.get() - one.begunMicros();
    Duration age = Duration.ofMinutes(1).plus(micros, ChronoUnit.MICROS);
    OperationRequest request =
        new OperationRequest(
            first.operation(),
            first.id(),
            new Outstanding(1, Optional.of(age)),
            first.log().durability());
    assertThat(apply(request)).isEqualTo(one.result());
  }

  private void checkCounts() throws IOException {
    Map<Bytes, Long> found = new LinkedHashMap<>();
    for (Tablet tablet : tablets.values()) {
      tablet.read(ReadRequest.of(RowQuery.ALL)).rows().stream()
          .flatMap(row -> row.cells().stream().map(cell -> Map.entry(row.key(), cell)))
          .forEach(entry -> found.put(key(entry), entry.getValue().value().toLong()));
    }
    assertThat(found).isEqualTo(counts);
  }

  private static Bytes key(Map.Entry<Bytes, Cell> cell) {
    return cell.getKey().concat(Bytes.of(" " + cell.getValue().family()));
  }

  /** The client is silent, for nearly the window or for longer. */
  private void expire() throws Exception {
    boolean within = random.nextBoolean();
    host.passedMicros.addAndGet(within ? WINDOW_MICROS / 2 : windows() * WINDOW_MICROS + 1);
    host.nowMicros.addAndGet(random.nextLong(-24 * WINDOW_MICROS, 24 * WINDOW_MICROS));
    for (Tablet tablet : List.copyOf(tablets.values())) {
      tablet.minorCompact();
      tablet.majorCompact(); // Who is forgotten is so with a compaction.
    }
    if (random.nextBoolean()) {
      restart(random.nextBoolean());
    }
    for (Done one : done) {
      if (within || !isForgotten(one)) {
        again(one);
      }
    }
    checkCounts();
    // Another client goes on: that this one has tried again is not in the log, so that after the
    // next restart its silence counts from its last operation that was applied.
    done.clear();
    client++;
    nextNumber = 1;
  }

  /** One after which the tablet is reduced, or so many that it forgets the client altogether. */
  private int windows() {
    return random.nextBoolean() ? 1 : 20;
  }

  /** Whether a tablet refuses what it has forgotten; it forgets when it is compacted. */
  private boolean isForgotten(Done one) throws Exception {
    try {
      again(one);
      return false;
    } catch (ExecutionException e) {
      assertThat(e).hasMessageContaining(OLD);
      forgotten++;
      return true;
    }
  }

  private void maintain() throws Exception {
    TabletHost.Stored stored = List.copyOf(tablets.keySet()).get(random.nextInt(tablets.size()));
    Tablet tablet = tablets.get(stored);
    switch (random.nextInt(9)) {
      case 0, 1 -> tablet.minorCompact();
      case 2 -> tablet.mergingCompact();
      case 3 -> tablet.majorCompact();
      case 4 -> {
        schema = data.regrouped(schema);
        tablets.keySet().forEach(one -> one.alter(schema));
        tablets.values().forEach(one -> one.alter(schema));
      }
      case 5 -> split(stored);
      case 6, 7 -> restart(random.nextBoolean());
      default -> tablet.collectGarbage(Duration.ZERO);
    }
    checkCounts();
  }

  private void restart(boolean crash) throws IOException {
    if (crash) {
      host.disk.crash(random);
    }
    server.close();
    server = host.start();
    for (TabletHost.Stored stored : tablets.keySet()) {
      tablets.put(stored, server.take(stored));
    }
  }

  private void split(TabletHost.Stored stored) throws IOException {
    Bytes row = Bytes.of("row" + random.nextInt(20));
    RowRange extent = stored.record().extent();
    if (!extent.contains(row) || row.equals(extent.start()) || tablets.size() > 4) {
      return;
    }
    tablets.remove(stored);
    for (TabletHost.Stored half : server.split(stored, Optional.of(row))) {
      tablets.put(half, server.find(half).orElseThrow());
    }
  }
}
