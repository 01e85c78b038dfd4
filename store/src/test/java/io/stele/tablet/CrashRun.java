package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.LogOptions;
import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Several lives of one tablet on a disk that crashes, with random schema, options and budgets: in
 * each a client sends operations through a real commit log, while the tablet is compacted and
 * altered, until the process dies at a random file operation, or the tablet is given to another
 * server and its old one goes on as a zombie. The next server fences the log, opens the tablet, and
 * the client sends everything again that it has no answer to, under the same ids.
 *
 * <p>Half of the runs have threads of their own for compactions. The others send operations in the
 * midst of compactions, from the file operations of these, and are nearly deterministic.
 */
final class CrashRun {
  private static final TabletId ID = new TabletId(new TableId("t1"), "00000000000000aa");
  private static final int COMPACTION_THREADS = 3;

  private final Random random;
  private final RandomData data;
  private final TabletHost host = new TabletHost();
  private final TabletHost.Stored stored;
  private final Durability durability;
  private final TabletClient client;
  private final boolean threaded;
  private final long memtableBytes;
  private TableSchema schema;
  private long zombieNumber = 1;

  CrashRun(long seed) {
    random = new Random(seed);
    threaded = random.nextBoolean();
    data = new RandomData(random);
    schema = data.schema();
    durability = random.nextBoolean() ? Durability.HFLUSH : Durability.HSYNC;
    int least = 2 + random.nextInt(2);
    host.options =
        UntimedPages.options(
            1 << 20,
            TabletOptions.DEFAULT.operationsWindow(),
            new TabletOptions.Merging(least, least + random.nextInt(3), 4 + random.nextInt(6)),
            TabletOptions.DEFAULT.page().bytesMax());
    host.logOptions =
        LogOptions.DEFAULT
            .withSegmentBytes(200 + random.nextInt(random.nextBoolean() ? 600 : 3000))
            .withDurability(durability)
            .withRetries(2, Duration.ZERO);
    host.cacheBytes = 1 << 10 << random.nextInt(6);
    host.offHeapBytes = random.nextBoolean() ? 0 : 1 << 10 << random.nextInt(6);
    memtableBytes = 1 << 10 << random.nextInt(4);
    stored = host.add(TabletSpec.empty(ID, 1, RowRange.ALL, schema));
    client = new TabletClient(1, host.nowMicros, durability, new PlainModel(schema), 0);
  }

  /** Runs so many lives and returns how many operations the client sent. */
  long run(int count) throws Exception {
    List<Life> zombies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      host.disk.heal();
      Life life = new Life(zombies);
      boolean moves = random.nextInt(3) == 0;
      if (moves) {
        life.work(random.nextInt(150));
        zombies.add(life);
      } else {
        if (random.nextBoolean()) {
          life.dieAt(1 + random.nextInt(random.nextBoolean() ? 60 : 600));
        } else {
          // Soon after segments of the log have gone: is all that they held in files?
          life.dieAfterDeletion(1 + random.nextInt(5));
        }
        life.work(Integer.MAX_VALUE);
        life.end();
        zombies.forEach(Life::end);
        zombies.clear();
      }
    }
    host.disk.heal();
    Life last = new Life(zombies);
    last.end();
    zombies.forEach(Life::end);
    return client.operations();
  }

  /** One server that has the tablet. */
  private final class Life {
    private final TabletHost.Server server;
    private final Tablet tablet;
    private final List<CompletableFuture<Void>> threads = new ArrayList<>();
    private volatile boolean over;

    Life(List<Life> zombies) throws Exception {
      server = host.start();
      tablet = server.take(stored);
      for (Life zombie : zombies) {
        zombie.client().await();
      }
      client.sendAgain(tablet);
      for (Life zombie : zombies) {
        zombie.haunt();
      }
      client.checkRows(tablet);
      host.sweep(Set.of());
      client.checkRows(tablet);
    }

    private TabletClient client() {
      return client;
    }

    /** From the so-many-th file operation on all processes are dead. */
    void dieAt(int operation) {
      AtomicLong left = new AtomicLong(operation);
      Runnable death = death();
      host.disk.inject(
          (asked, path) -> {
            if (left.decrementAndGet() == 0) {
              death.run();
            }
            return Optional.empty();
          });
    }

    /** All processes die a few file operations after so many segments of the log were deleted. */
    void dieAfterDeletion(int segments) {
      AtomicLong left = new AtomicLong(segments);
      AtomicLong soon = new AtomicLong(Long.MAX_VALUE);
      int more = 1 + random.nextInt(12);
      Runnable death = death();
      host.disk.inject(
          (asked, path) -> {
            boolean deleted = asked == Operation.DELETE && path.getName().endsWith(".log");
            if (deleted && left.decrementAndGet() == 0) {
              soon.set(more);
            } else if (soon.decrementAndGet() == 0) {
              death.run();
            }
            return Optional.empty();
          });
    }

    private Runnable death() {
      boolean power = durability == Durability.HSYNC && random.nextBoolean();
      Random cut = new Random(random.nextLong());
      return () -> {
        if (power) {
          host.disk.powerLoss(cut);
        } else {
          host.disk.crash(cut);
        }
      };
    }

    /** Takes operations until the tablet fails, or there were so many steps. */
    void work(int steps) throws Exception {
      AtomicInteger interjections = new AtomicInteger();
      if (threaded) {
        thread(tablet::minorCompact);
        for (int i = 1; i < COMPACTION_THREADS; i++) {
          thread(() -> tablet.mergingCompact() || tablet.collectGarbage(Duration.ZERO));
        }
      } else {
        interject(interjections);
      }
      for (int i = 0; i < steps && tablet.failure().isEmpty(); i++) {
        try {
          step(interjections);
        } catch (IOException | SteleException e) {
          // Dying. The next operation that is sent finds that the log is gone.
          client.send(tablet, next(), false);
          client.await();
        }
      }
      over = true;
      for (CompletableFuture<Void> thread : threads) {
        thread.get(60, TimeUnit.SECONDS);
      }
      client.await();
    }

    private void step(AtomicInteger interjections) throws IOException {
      interjections.set(random.nextInt(12));
      int dice = random.nextInt(200);
      if (dice < 180) {
        client.send(tablet, next(), random.nextInt(3) == 0);
        if (!threaded && tablet.statistics().memtableBytes() > memtableBytes) {
          tablet.minorCompact();
        }
      } else if (dice < 188) {
        tablet.minorCompact();
      } else if (dice < 192) {
        tablet.mergingCompact();
      } else if (dice < 194) {
        tablet.majorCompact();
      } else if (dice < 196) {
        tablet.collectGarbage(Duration.of(random.nextInt(2000), ChronoUnit.MICROS));
      } else if (dice < 198) {
        tablet.read(ReadRequest.of(RowQuery.ALL));
      } else {
        schema = data.regrouped(schema);
        stored.alter(schema);
        tablet.alter(schema);
      }
    }

    /** Sends operations from the midst of compactions. */
    private void interject(AtomicInteger left) {
      FaultInjector injector =
          (asked, path) -> {
            boolean within =
                path.getName().endsWith(".sst")
                    && (asked == Operation.CREATE
                        || asked == Operation.FLUSH
                        || asked == Operation.OPEN);
            if (within && !over && left.getAndDecrement() > 0 && random.nextBoolean()) {
              client.send(tablet, next(), false);
              if (random.nextBoolean()) {
                client.awaitLast(); // So that it is in a segment, and segments are begun meanwhile.
              }
            }
            return Optional.empty();
          };
      host.disk.inject(injector);
    }

    private void thread(Callable<Boolean> compaction) {
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                while (!over && tablet.failure().isEmpty()) {
                  try {
                    if (!compaction.call()) {
                      Thread.yield();
                    }
                  } catch (IOException | SteleException e) {
                    // Dying, or taken away: then the log fails too.
                    Thread.yield();
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                }
              },
              task -> {
                Thread thread = new Thread(task, "compaction");
                thread.setDaemon(true);
                thread.start();
              }));
    }

    /** What a server may try that does not know yet that the tablet is another's. */
    void haunt() throws Exception {
      List<CompletableFuture<OperationResult>> futures = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        RowOperation operation =
            Mutation.of(data.row()).put("a", "haunted", "by operation " + zombieNumber);
        futures.add(
            tablet.apply(
                OperationRequest.of(operation, new OperationId(666, 1, zombieNumber++), 0)));
        try {
          switch (random.nextInt(4)) {
            case 0 -> tablet.minorCompact();
            case 1 -> tablet.mergingCompact();
            case 2 -> tablet.majorCompact();
            default -> server.log.roll();
          }
        } catch (IOException | SteleException e) {
          assertThat(e).hasMessageNotContaining("is damaged");
        }
      }
      for (CompletableFuture<OperationResult> future : futures) {
        assertThat(future.handle((done, failure) -> failure).get(20, TimeUnit.SECONDS))
            .as("what a zombie says to a write")
            .isInstanceOf(SteleException.class);
      }
    }

    void end() {
      server.close();
    }
  }

  private RowOperation next() {
    return data.operation(host.nowMicros.get());
  }
}
