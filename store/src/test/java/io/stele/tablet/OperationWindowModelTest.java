package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.SteleException;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A window with little memory under clients that try again whatever they like, over servers whose
 * clocks have nothing to do with each other: nothing is applied twice, the bound holds, and clients
 * that do as they should are rarely refused.
 */
class OperationWindowModelTest {
  private static final Duration WINDOW = Duration.ofMinutes(10);
  private static final long BYTES_MAX = 20_000;
  private static final int STEPS = 3000;

  /** An operation of a client, and when it began, by right clocks. */
  private record Sent(OperationId id, Duration began) {}

  private final Set<OperationId> applied = new HashSet<>();
  private final List<Sent> sent = new ArrayList<>();
  private final Map<Long, Long> numbers = new LinkedHashMap<>();
  private final OperationBudget budget = new OperationBudget(BYTES_MAX);
  private Random random;
  private Duration now = Duration.ZERO;
  private ManualClocks server;
  private StoredWindow window;
  private int fresh;
  private int freshRefused;
  private int retriesKnown;
  private int retriesRefused;

  static LongStream seeds() {
    return Seeds.of(20);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void nothingIsAppliedTwiceAndTheBoundHolds(long seed) throws Exception {
    random = new Random(seed);
    window = new StoredWindow(WINDOW, budget, newServer());
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(20)) {
        case 0 -> window.minorCompact();
        case 1 -> reopen();
        case 2 -> compactBlocks();
        case 3 -> pass(Duration.ofSeconds(random.nextInt(3) == 0 ? random.nextInt(20_000) : 60));
        case 4, 5, 6, 7 -> again();
        default -> begin();
      }
      assertThat(budget.bytes()).isLessThan(2 * BYTES_MAX);
    }
    assertThat(freshRefused).as("refused of %s new operations", fresh).isLessThan(fresh / 3);
    assertThat(retriesKnown).isPositive();
    assertThat(retriesRefused).isPositive();
  }

  /** Those of a server that has just started: they have nothing to do with those of others. */
  private ManualClocks newServer() {
    server = new ManualClocks(random.nextLong() / 4, Instant.ofEpochSecond(random.nextInt()));
    return server;
  }

  private void reopen() throws Exception {
    window.close();
    assertThat(budget.bytes()).isZero();
    now = now.plusSeconds(random.nextInt(2000)); // Not by any server's clock.
    window.open(newServer());
  }

  private void compactBlocks() throws Exception {
    window.compactBlocks(window.blocks() == 0 ? 0 : 1 + random.nextInt(window.blocks()));
  }

  private void pass(Duration time) {
    now = now.plus(time);
    server.pass(time);
  }

  private void begin() {
    long client = random.nextInt(4) == 0 ? numbers.size() + 1 : 1 + random.nextInt(10);
    Sent next = new Sent(new OperationId(client, 0, numbers.merge(client, 1L, Long::sum)), now);
    sent.add(next);
    // Now and then an older one is still under way.
    long first = random.nextInt(5) == 0 ? Math.max(1, next.id.number() - 3) : next.id.number();
    fresh++;
    if (!apply(next, first)) {
      freshRefused++;
    }
  }

  private void again() {
    if (sent.isEmpty()) {
      return;
    }
    int recent = random.nextBoolean() ? Math.min(20, sent.size()) : sent.size();
    Sent one = sent.get(sent.size() - 1 - random.nextInt(recent));
    if (apply(one, one.id.number())) {
      retriesKnown++;
    } else {
      retriesRefused++;
    }
  }

  /** Returns false where it was refused. */
  private boolean apply(Sent one, long first) {
    Duration began =
        sent.stream()
            .filter(other -> other.id.clientHigh() == one.id.clientHigh())
            .filter(other -> other.id.number() >= first)
            .map(Sent::began)
            .min(Duration::compareTo)
            .orElseThrow();
    Bytes digest = Bytes.ofLong(one.id.number());
    try {
      OperationWindow.Begun begun =
          window
              .inMemory()
              .begin(
                  one.id,
                  new Outstanding(first, Optional.of(now.minus(began))),
                  digest,
                  new CompletableFuture<>());
      if (begun.known().isEmpty()) {
        assertThat(applied.add(one.id)).as("%s is applied once", one).isTrue();
        Bytes result = random.nextInt(3) == 0 ? Bytes.of(new byte[] {0}) : Bytes.EMPTY;
        window.apply(begun.operation(), result);
      } else {
        assertThat(applied).contains(one.id);
      }
      return true;
    } catch (SteleException e) {
      return false;
    }
  }
}
