package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tablets that split and move, with little memory, to which thousands of clients write once or
 * twice, and one client all the time. Answers are lost, and requests arrive late. Nothing is
 * applied twice, the one client is never told to wait, and new ones not for long.
 */
class ManyClientsModelTest {
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final long BYTES_MAX = 150_000;
  private static final int STEPS = 8000;
  private static final int ROWS = 1 << 10;
  private static final int TABLETS_MAX = 6;
  private static final long STEADY = -1;

  /** How long requests are on their way at most. */
  private static final Duration LATE_MAX = Duration.ofMinutes(5).minusSeconds(5);

  /** A client waits no longer than this for new ones to be served. */
  private static final Duration FULL_MAX = OperationRoom.SILENT_LEAST.plusMinutes(1);

  /** An operation on a row, and when it began, by right clocks. */
  private record Sent(OperationId id, int row, Duration began) {}

  /** A request for it that is on its way, as it was when it was sent. */
  private record OnItsWay(Sent sent, Duration age, Duration arrives) {}

  /** A tablet of the rows from one on and below another, which a server has. */
  private final class Served {
    final int from;
    final int to;
    ManualClocks clocks;
    StoredWindow window;

    Served(int from, int to) throws Exception {
      this.from = from;
      this.to = to;
      this.clocks = clocks();
      this.window = new StoredWindow(WINDOW, budget, clocks);
    }

    /** A child, after the minor compaction and the end of its parent. */
    Served(Served parent, int from, int to) throws Exception {
      this.from = from;
      this.to = to;
      this.clocks = clocks();
      this.window = parent.window.copy(clocks);
    }

    /** After a crash, or a move: then there was a minor compaction before. */
    void open() throws Exception {
      window.close();
      clocks = clocks();
      window.open(clocks);
    }
  }

  private final OperationBudget budget = OperationBudget.compacted(BYTES_MAX);
  private final List<Served> tablets = new ArrayList<>();
  private final Set<OperationId> applied = new HashSet<>();
  private final List<Sent> unanswered = new ArrayList<>();
  private final List<OnItsWay> late = new ArrayList<>();
  private Random random;
  private Duration now = Duration.ZERO;
  private Duration lastNewServed = Duration.ZERO;
  private long steadyNumber;
  private long clients;
  private int newServed;
  private int newRefused;
  private int forgotten;

  static LongStream seeds() {
    return Seeds.of(10);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void nothingIsAppliedTwiceAndTheSteadyClientNeverWaits(long seed) throws Exception {
    random = new Random(seed);
    tablets.add(new Served(0, ROWS));
    steady(0);
    for (int step = 0; step < STEPS; step++) {
      pass(Duration.ofMillis(random.nextInt(2000)));
      switch (random.nextInt(60)) {
        case 0 -> any().window.minorCompact();
        case 1 -> compactBlocks(any().window);
        case 2 -> any().open();
        case 3 -> split();
        case 4, 5, 6, 7, 8, 9, 10, 11 -> again();
        case 12, 13, 14, 15, 16, 17, 18, 19 -> steady(random.nextInt(ROWS));
        default -> newClient();
      }
      arrive();
      compactWhereNeeded();
      assertThat(budget.bytes()).isLessThan(2 * BYTES_MAX);
      assertThat(now.minus(lastNewServed)).as("since a new client was served").isLessThan(FULL_MAX);
    }
    assertThat(tablets).hasSize(TABLETS_MAX);
    assertThat(newServed).isGreaterThan(STEPS / 10);
    assertThat(newRefused).isPositive();
    assertThat(forgotten).as("retries of forgotten clients").isPositive();
  }

  private Served any() {
    return tablets.get(random.nextInt(tablets.size()));
  }

  private Served of(int row) {
    return tablets.stream().filter(one -> one.from <= row && row < one.to).findFirst().get();
  }

  private ManualClocks clocks() {
    return new ManualClocks(random.nextLong() / 4, Instant.ofEpochSecond(random.nextInt()));
  }

  private void pass(Duration time) {
    now = now.plus(time);
    tablets.forEach(tablet -> tablet.clocks.pass(time));
  }

  private static void compactBlocks(StoredWindow window) throws Exception {
    window.compactBlocks(window.blocks());
  }

  private void split() throws Exception {
    Served parent = any();
    if (tablets.size() == TABLETS_MAX) {
      return;
    }
    parent.window.minorCompact();
    int middle = (parent.from + parent.to) / 2;
    parent.window.close();
    tablets.remove(parent);
    tablets.add(new Served(parent, parent.from, middle));
    tablets.add(new Served(parent, middle, parent.to));
  }

  /** As a server does. */
  private void compactWhereNeeded() {
    if (budget.isTight()) {
      tablets.stream()
          .map(tablet -> tablet.window)
          .filter(window -> window.inMemory().needsCompaction(budget.share() / 4))
          .forEach(StoredWindow::minorCompact);
    }
  }

  private void newClient() {
    Sent sent = new Sent(new OperationId(++clients, 0, 1), random.nextInt(ROWS), now);
    Optional<Code> failure = send(sent, Duration.ZERO);
    if (failure.isEmpty()) {
      newServed++;
      lastNewServed = now;
    } else {
      assertThat(failure).as("why a new client is not served").contains(Code.RETRY_LATER);
      newRefused++;
    }
    boolean answered = failure.isEmpty() && random.nextInt(4) > 0;
    if (!answered) {
      unanswered.add(sent);
    }
  }

  /** A client that got no answer tries again. */
  private void again() {
    if (unanswered.isEmpty()) {
      return;
    }
    Sent sent = unanswered.remove(random.nextInt(unanswered.size()));
    Duration age = now.minus(sent.began);
    if (random.nextInt(3) == 0) {
      sendSlowly(sent, age);
      return;
    }
    Optional<Code> failure = send(sent, age);
    if (failure.filter(Code.REFUSED::equals).isPresent()) {
      forgotten++;
    } else if (failure.isPresent() || random.nextInt(4) == 0) {
      unanswered.add(sent);
    }
  }

  private void sendSlowly(Sent sent, Duration age) {
    late.add(new OnItsWay(sent, age, now.plusMillis(random.nextInt((int) LATE_MAX.toMillis()))));
  }

  /** Requests arrive that were sent before; they say no more than they did then. */
  private void arrive() {
    List<OnItsWay> due = late.stream().filter(one -> one.arrives.compareTo(now) <= 0).toList();
    late.removeAll(due);
    due.forEach(one -> send(one.sent, one.age));
  }

  private void steady(int row) {
    Sent sent = new Sent(new OperationId(STEADY, 0, ++steadyNumber), row, now);
    assertThat(send(sent, Duration.ZERO)).as("why the steady client must wait").isEmpty();
    if (random.nextInt(4) == 0) {
      sendSlowly(sent, Duration.ZERO);
    }
  }

  /** Returns why it was not applied, if so. */
  private Optional<Code> send(Sent sent, Duration age) {
    StoredWindow window = of(sent.row).window;
    try {
      OperationWindow.Begun begun =
          window
              .inMemory()
              .begin(
                  sent.id,
                  new Outstanding(sent.id.number(), Optional.of(age)),
                  Bytes.ofLong(sent.row),
                  new CompletableFuture<>());
      if (begun.known().isEmpty()) {
        assertThat(applied.add(sent.id)).as("%s is applied once, at %s", sent, now).isTrue();
        window.apply(begun.operation(), Bytes.EMPTY);
      } else {
        assertThat(applied).contains(sent.id);
      }
      return Optional.empty();
    } catch (SteleException e) {
      return Optional.of(e.code());
    }
  }
}
