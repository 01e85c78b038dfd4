package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bloom;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.Durability;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.IoRunnable;
import io.stele.sim.Operation;
import io.stele.tablet.FaultySites.Call;
import io.stele.tablet.FaultySites.Fault;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;

/**
 * One scenario in the life of a tablet, in which one file-system call goes wrong; then the tablet
 * must be whole, here if it still serves, and in the next server.
 */
final class FaultRun {
  /** What is done while a call goes wrong. */
  enum Scenario {
    MINOR,
    MERGING,
    MAJOR,
    REGROUP,
    ROLL,
    OPEN,
    SPLIT,
    RANDOM
  }

  private static final int LOG_WRITERS = 2;
  private static final TableId TABLE = new TableId("t1");
  private static final TableSchema SCHEMA =
      TableSchema.of(
          "faulty",
          List.of(
              new ColumnFamily("a", GcPolicy.maxVersions(2)).in("g1"),
              new ColumnFamily("b", GcPolicy.keepAll()).in("g2"),
              new ColumnFamily("bb", GcPolicy.maxVersions(1)).in("g3")),
          new LocalityGroup("g1", Codec.NONE, 1 << 10, Bloom.ROW, false, CachePriority.NORMAL),
          new LocalityGroup("g2", Codec.GZIP, 1 << 10, Bloom.ROW_COLUMN, true, CachePriority.HIGH),
          new LocalityGroup("g3", Codec.SNAPPY, 2 << 10, Bloom.NONE, false, CachePriority.LOW));

  /** A tablet that is open, and its client. */
  private static final class Part {
    final TabletHost.Stored stored;
    final TabletClient client;
    Optional<Tablet> tablet = Optional.empty();

    Part(TabletHost.Stored stored, TabletClient client) {
      this.stored = stored;
      this.client = client;
    }
  }

  private final Scenario scenario;
  private final Random random;
  private final RandomData data;
  private final TableSchema schema;
  private final TabletHost host = new TabletHost();
  private volatile List<Part> parts;
  private volatile boolean sending;
  private TabletHost.Server server;
  private FaultySites sites = FaultySites.counting();

  /**
   * @param seed of the operations; and of the schema where the scenario is a random one
   */
  FaultRun(Scenario scenario, long seed, boolean randomSchema) {
    this.scenario = scenario;
    random = new Random(seed);
    data = new RandomData(random);
    schema = randomSchema ? data.schema() : SCHEMA;
    host.options =
        UntimedPages.options(
            1 << 20,
            TabletOptions.DEFAULT.operationsWindow(),
            new TabletOptions.Merging(3, 4, 6),
            4 << 20);
    host.logOptions = host.logOptions.withSegmentBytes(scenario == Scenario.ROLL ? 600 : 3000);
    TabletHost.Stored stored = host.add(TabletSpec.empty(id(1), 1, RowRange.ALL, schema));
    parts =
        List.of(
            new Part(
                stored,
                new TabletClient(1, host.nowMicros, Durability.HFLUSH, new PlainModel(schema), 0)));
  }

  private static TabletId id(int number) {
    return new TabletId(TABLE, String.format("%016x", number));
  }

  /** The calls that the scenario makes when nothing goes wrong. */
  List<Call> calls() throws Exception {
    prepare();
    host.disk.inject(sites);
    act();
    sites.end();
    check(Optional.empty());
    return sites.calls();
  }

  /** Runs with one call going wrong; tells which it was. */
  Optional<Call> run(FaultySites.Area area, int number, Fault fault) throws Exception {
    prepare();
    sites = FaultySites.at(area, number, fault, this::meanwhile);
    host.disk.inject(sites);
    if (fault == Fault.SLOW) {
      actSlowly(area);
    } else {
      act();
    }
    sites.end();
    check(sites.hit().map(hit -> fault));
    return sites.hit();
  }

  private void meanwhile(Fault fault, Path path) {
    try {
      switch (fault) {
        case LEASE_LOST -> host.disk.mount().recoverLease(path);
        case FENCED -> {
          host.fence(host.disk.mount(), server.id);
          host.releaseAll(TABLE);
        }
        case CRASH -> host.disk.crash(new Random(random.nextLong()));
        case FAILS, FAILS_AFTER, SHORT, NO_SPACE, SLOW -> {}
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Three layers of files and a memtable, all from random operations. */
  private void prepare() throws Exception {
    server = host.start();
    Part part = parts.get(0);
    part.tablet = Optional.of(server.take(part.stored));
    for (int i = 0; i < 3; i++) {
      operations(part, 12);
      part.tablet.orElseThrow().minorCompact();
    }
    operations(part, 8);
  }

  private void operations(Part part, int count) {
    sending = true;
    for (int i = 0; i < count; i++) {
      part.client.send(
          part.tablet.orElseThrow(), data.operation(host.nowMicros.get()), random.nextInt(4) == 0);
      part.client.awaitLast();
    }
    sending = false;
  }

  private void act() {
    Part part = parts.get(0);
    switch (scenario) {
      case MINOR, MERGING, MAJOR, REGROUP, ROLL, SPLIT -> act(scenario, part);
      case OPEN -> reopen(random.nextBoolean());
      case RANDOM -> {
        List<Scenario> some =
            List.of(
                Scenario.MINOR,
                Scenario.MINOR,
                Scenario.MERGING,
                Scenario.MAJOR,
                Scenario.REGROUP,
                Scenario.ROLL);
        for (int i = 0; i < 8; i++) {
          act(some.get(random.nextInt(some.size())), part);
          operations(part, random.nextInt(6));
        }
        act(Scenario.SPLIT, part);
      }
    }
    for (Part one : parts) {
      if (one.tablet.isPresent()) {
        operations(one, 3);
      }
    }
  }

  private void act(Scenario what, Part part) {
    Tablet tablet = part.tablet.orElseThrow();
    switch (what) {
      case MINOR -> {
        operations(part, 2);
        attempt(tablet::minorCompact);
      }
      case MERGING -> attempt(tablet::mergingCompact);
      case MAJOR -> attempt(tablet::majorCompact);
      case REGROUP -> {
        TableSchema regrouped = data.regrouped(tablet.schema());
        part.stored.alter(regrouped);
        tablet.alter(regrouped);
        attempt(tablet::minorCompact);
        attempt(
            () -> {
              while (tablet.mergingCompact()) {
                operations(part, 1);
              }
            });
      }
      case ROLL -> {
        operations(part, 10);
        server.log.roll();
        operations(part, 2);
        attempt(tablet::minorCompact);
        operations(part, 10);
        attempt(tablet::minorCompact);
      }
      case SPLIT -> attempt(() -> split(part));
      case OPEN, RANDOM -> throw new AssertionError(what);
    }
  }

  /**
   * What fails must say so by an IOException, or by a SteleException that does not blame a file.
   */
  private static void attempt(IoRunnable action) {
    try {
      action.run();
    } catch (CorruptionException e) {
      throw new AssertionError("nothing was damaged", e);
    } catch (IOException e) {
      assertThat(e).hasMessageNotContaining("damaged");
    } catch (SteleException e) {
      assertThat(e.code()).as("%s", e).isNotEqualTo(SteleException.Code.CORRUPTION);
    } catch (CompletionException e) { // Of writes that were waited for: the log has failed.
      assertThat(e).hasCauseInstanceOf(SteleException.class);
    }
  }

  /** The server ends, in order or not, and another opens the tablet. */
  private void reopen(boolean crash) {
    Part part = parts.get(0);
    if (crash) {
      host.disk.crash(new Random(random.nextLong()));
    }
    server.close();
    part.tablet = Optional.empty();
    attempt(
        () -> {
          server = host.start();
          part.tablet = Optional.of(server.take(part.stored));
        });
  }

  private void split(Part part) throws IOException {
    Tablet whole = part.tablet.orElseThrow();
    whole.minorCompact(); // Fails where the log has.
    checkAll(part); // The client of a half goes on from what the whole had.
    try {
      server.split(part.stored, Optional.empty());
    } finally {
      List<TabletHost.Stored> now = host.within(whole.extent());
      if (!now.contains(part.stored)) {
        List<Part> halves = new ArrayList<>();
        for (TabletHost.Stored stored : now) {
          Part half = new Part(stored, part.client.ofChild(2 + halves.size()));
          half.tablet = server.find(stored);
          halves.add(half);
        }
        parts = halves;
      }
    }
  }

  private static void checkAll(Part part) throws IOException {
    try {
      part.client.checkAll(part.tablet.orElseThrow());
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Acts in another thread; while its slow call blocks, reads go on, and writes unless to the log.
   */
  private void actSlowly(FaultySites.Area area) throws Exception {
    Part part = parts.get(0);
    CompletableFuture<Void> acting =
        CompletableFuture.runAsync(
            () -> {
              try {
                act();
              } finally {
                sites.reached().countDown();
              }
            },
            task -> new Thread(task, "acting").start());
    assertThat(sites.reached().await(60, TimeUnit.SECONDS)).isTrue();
    if (sites.hit().isPresent()
        && sites.hit().get().operation() != Operation.READ // Of a file that others wait for, maybe.
        && scenario != Scenario.OPEN
        && server.find(part.stored).isPresent()) { // Else it was split.
      part.tablet.orElseThrow().read(ReadRequest.of(RowQuery.ALL));
      if (area == FaultySites.Area.FILES && !sending) {
        // The other thread is in a compaction, so its client may be used here.
        part.client.checkQueued(part.tablet.orElseThrow(), RowQuery.ALL);
        if (scenario != Scenario.SPLIT && scenario != Scenario.RANDOM) {
          operations(part, 3);
          part.client.checkQueued(part.tablet.orElseThrow(), RowQuery.ALL);
        }
      }
    }
    sites.end();
    acting.get(60, TimeUnit.SECONDS);
  }

  private void check(Optional<Fault> fault) throws Exception {
    Set<String> excused = excused(fault);
    boolean alone = fault.isEmpty() || (fault.get() != Fault.CRASH && fault.get() != Fault.FENCED);
    boolean serves = true;
    for (Part part : parts) {
      part.client.await();
      if (part.tablet.isEmpty() || part.tablet.get().failure().isPresent()) {
        serves = false;
        boolean opening = scenario == Scenario.OPEN || host.tablets.size() > 1;
        assertThat(!alone || opening)
            .as("whether the tablet may have stopped: %s", part.tablet.flatMap(Tablet::failure))
            .isTrue();
      } else if (!fault.equals(Optional.of(Fault.CRASH))) {
        part.client.checkAll(part.tablet.get());
      }
    }
    if (serves && alone) {
      maintain();
      host.sweep(excused);
    }
    server.close();
    if (alone) {
      assertThat(server.fs.openReaders()).as("streams left open").isZero();
      assertThat(host.disk.openForWriting())
          .filteredOn(file -> !excused.contains(relative(file.toString())))
          .filteredOn(file -> file.getName().endsWith(".sst"))
          .isEmpty();
    }
    if (serves && alone) {
      assertThat(server.segments())
          .as("segments left, of which nobody needs any, but for those left by slow flushes")
          .isLessThanOrEqualTo((int) (LOG_WRITERS + server.log.statistics().switchOvers()));
    }
    server = host.start();
    for (Part part : parts) {
      part.tablet = Optional.of(server.take(part.stored));
      part.client.sendAgain(part.tablet.get());
    }
    maintain();
    host.sweep(Set.of());
    server.close();
  }

  /** Now nothing goes wrong any more: all maintenance succeeds. */
  private void maintain() throws Exception {
    for (Part part : parts) {
      Tablet tablet = part.tablet.orElseThrow();
      operations(part, 3);
      part.client.checkAll(tablet);
      tablet.mergingCompact();
      tablet.minorCompact();
      part.client.checkRows(tablet);
      tablet.majorCompact();
      part.client.checkRows(tablet);
      assertThat(tablet.statistics().files()).isLessThanOrEqualTo(tablet.schema().groups().size());
      assertThat(tablet.failure()).isEmpty();
    }
  }

  /** What may be on disk although nobody names it: where it is not known that it is there. */
  private Set<String> excused(Optional<Fault> fault) {
    Set<String> excused = new LinkedHashSet<>();
    if (fault.isPresent() && sites.hit().isPresent()) {
      Call hit = sites.hit().get();
      boolean unknown =
          hit.operation() == Operation.DELETE
              || (hit.operation() == Operation.CREATE && fault.get() == Fault.FAILS_AFTER);
      if (unknown) {
        excused.add(relative(hit.path()));
      }
    }
    return excused;
  }

  private static String relative(String path) {
    return path.substring("/stele/".length());
  }
}
