package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.Assignment;
import io.stele.metadata.MergeRecords;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.Pin;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SplitterTest {
  private static final int ROWS = 100;

  private final TestServer.World world = new TestServer.World();

  private static String randomText(Random random) {
    byte[] bytes = new byte[3000];
    random.nextBytes(bytes);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private HostedTablet filled(TestServer server) throws Exception {
    HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
    Random random = new Random(1);
    for (int i = 0; i < ROWS; i++) {
      TestServer.put(hosted, String.format("row%03d", i), randomText(random));
    }
    hosted.tablet().minorCompact();
    return hosted;
  }

  @Test
  void theHalvesAreServedInTheParentsPlaceAndTileIt() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet parent = filled(server);
      TestServer.put(parent, "in the memtable", "value");
      server.splitter.split(parent);
      List<HostedTablet> halves = new ArrayList<>(server.context.tablets().all());
      assertThat(halves).hasSize(2).doesNotContain(parent);
      assertThat(TestServer.rows(halves.get(0)) + TestServer.rows(halves.get(1)))
          .isEqualTo(ROWS + 1);
      List<TabletRecord> records = server.records().reader().readAll(parent.id().table());
      assertThat(TabletRecordReader.tile(records)).isTrue();
      assertThat(records)
          .hasSize(2)
          .allMatch(record -> record.assignment().state() == Assignment.State.LOADED)
          .allMatch(record -> record.assignment().epoch() == parent.tablet().epoch() + 1);
      for (HostedTablet half : halves) {
        TestServer.put(half, half.tablet().extent().start() + "a", "value");
      }
    }
  }

  @Test
  void aPinIsReadInTheHalvesAndByTheServerThatTakesThemFromADeadOne() throws Exception {
    TestServer dead = new TestServer(world);
    HostedTablet parent = filled(dead);
    Pin pin = parent.tablet().pin("job");
    change(parent);
    dead.splitter.split(parent);
    List<HostedTablet> halves = List.copyOf(dead.context.tablets().all());
    for (HostedTablet half : halves) {
      change(half);
      half.tablet().majorCompact();
    }
    assertThat(pinnedRows(halves)).isEqualTo(ROWS);
    TableId table = parent.id().table();
    dead.dieAndBeFenced();
    try (TestServer next = new TestServer(world)) {
      List<HostedTablet> taken = new ArrayList<>();
      for (TabletRecord record : next.records().reader().readAll(table)) {
        taken.add(next.take(next.records().release(record, "fenced")));
      }
      for (HostedTablet half : taken) {
        assertThat(half.tablet().pins()).containsExactly(pin);
        change(half);
        half.tablet().minorCompact();
        half.tablet().majorCompact();
      }
      assertThat(pinnedRows(taken)).isEqualTo(ROWS);
    }
  }

  @Test
  void rowsThatWereClearedAreNotClearedAgainAfterASplitAMoveOrAMerge() throws Exception {
    RowRange rows = RowRange.of("row020", "row080");
    TestServer dead = new TestServer(world);
    HostedTablet parent = filled(dead);
    dead.beginChange("t", 7);
    dead.clearing.clear(parent, 7, rows);
    assertThat(TestServer.rows(parent)).isEqualTo(ROWS - 60);
    TestServer.put(parent, "row030", "later");
    dead.splitter.split(parent, Bytes.of("row050"));
    clearLate(dead, rows);
    TableId table = parent.id().table();
    dead.dieAndBeFenced();

    try (TestServer next = new TestServer(world)) {
      for (TabletRecord record : next.records().reader().readAll(table)) {
        next.take(next.records().release(record, "fenced"));
      }
      clearLate(next, rows);
      for (HostedTablet half : List.copyOf(next.context.tablets().all())) {
        next.lifecycle.unload(half, false);
      }
      List<TabletRecord> halves = next.records().reader().readAll(table);
      MergeRecords merges = new MergeRecords(next.records());
      TabletId id = TabletId.random(table, new Random(5));
      TabletRecord lower = merges.begin(halves.get(0), halves.get(1), id);
      HostedTablet merged = next.take(merges.finish(lower, halves.get(1)));
      clearLate(next, rows);
      assertThat(TestServer.rows(merged)).isEqualTo(ROWS - 60 + 1);

      next.endChange("t");
      next.beginChange("t", 8);
      next.clearing.clear(merged, 8, rows);
      assertThat(TestServer.rows(merged)).isEqualTo(ROWS - 60);
    }
  }

  /** Clears rows as requests ask for that come late; one row of them was written since. */
  private static void clearLate(TestServer server, RowRange rows) throws Exception {
    int left = 0;
    for (HostedTablet hosted : List.copyOf(server.context.tablets().all())) {
      server.clearing.clear(hosted, 7, rows);
      server.clearing.clear(hosted, 6, RowRange.ALL);
      left += TestServer.rows(hosted);
    }
    assertThat(left).isEqualTo(ROWS - 60 + 1);
  }

  /** Deletes all rows and puts one. */
  private static void change(HostedTablet hosted) throws Exception {
    for (Row row : hosted.tablet().read(ReadRequest.of(RowQuery.ALL)).rows()) {
      hosted
          .tablet()
          .apply(OperationRequest.of(Mutation.of(row.key()).deleteRow()))
          .get(30, TimeUnit.SECONDS);
    }
    TestServer.put(hosted, hosted.tablet().extent().start() + "new", "value");
  }

  private static int pinnedRows(List<HostedTablet> tablets) throws IOException {
    int rows = 0;
    for (HostedTablet hosted : tablets) {
      rows += hosted.tablet().read(ReadRequest.of(RowQuery.ALL).atPin("job")).rows().size();
    }
    return rows;
  }

  @Test
  void aSplitWhoseCompactionFailsLeavesTheTabletWhole() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet parent = filled(server);
      TestServer.put(parent, "more", "value");
      world.disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Fail()));
      assertThatThrownBy(() -> server.splitter.split(parent)).isInstanceOf(IOException.class);
      world.disk.heal();
      TestServer.put(parent, "more2", "value");
      assertThat(TestServer.rows(parent)).isEqualTo(ROWS + 2);
      server.splitter.split(parent);
      assertThat(server.context.tablets().count()).isEqualTo(2);
      assertThat(server.aborts).isEmpty();
    }
  }

  private static boolean isForHalfOfATablet() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("openHalf")));
  }

  @Test
  void aTabletWhoseHalvesCannotBeOpenedStaysWholeAndItsServerGoesOn() throws Exception {
    AtomicBoolean failing = new AtomicBoolean();
    ProcessRuntime runtime =
        new ForwardingRuntime() {
          @Override
          public Lock newLock() {
            if (failing.get() && isForHalfOfATablet()) {
              throw new IllegalStateException("a bug");
            }
            return super.newLock();
          }
        };
    try (TestServer server = new TestServer(world, runtime, new Configuration(false))) {
      HostedTablet parent = filled(server);
      failing.set(true);
      assertThatThrownBy(() -> server.splitter.split(parent)).hasMessage("a bug");
      failing.set(false);
      assertThat(server.aborts).isEmpty();
      TestServer.put(parent, "more", "value");
      assertThat(TestServer.rows(parent)).isEqualTo(ROWS + 1);
      server.splitter.split(parent);
      assertThat(server.context.tablets().count()).isEqualTo(2);
      assertThat(TabletRecordReader.tile(server.records().reader().readAll(parent.id().table())))
          .isTrue();
    }
  }

  @Test
  void aSplitThatCertainlyWasNotWrittenIsWrittenAgain() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet parent = filled(server);
      world.metadata.before(
          update -> {
            world.metadata.before(other -> {});
            throw new IOException("METADATA is away");
          });
      server.splitter.split(parent);
      assertThat(server.context.tablets().count()).isEqualTo(2);
      assertThat(TabletRecordReader.tile(server.records().reader().readAll(parent.id().table())))
          .isTrue();
    }
  }

  @Test
  void aSplitOfUnknownOutcomeEndsTheServer() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet parent = filled(server);
      world.metadata.after(
          update -> {
            throw SteleException.outcomeUnknown("no answer", new IOException());
          });
      assertThatThrownBy(() -> server.splitter.split(parent)).isInstanceOf(SteleException.class);
      assertThat(server.aborts).hasSize(1);
    }
  }

  @Test
  void onceTheSplitIsWrittenNoFileIsNeededToServeTheHalves() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet parent = filled(server);
      world.metadata.after(update -> world.disk.inject(TestServer.openingAnSSTableFails()));
      server.splitter.split(parent);
      world.disk.heal();
      assertThat(server.aborts).isEmpty();
      assertThat(server.context.tablets().count()).isEqualTo(2);
    }
  }

  @Test
  void aTabletOfOneRowIsNotTriedAgainUntilItsFilesChange() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
      TestServer.put(hosted, "row", "value");
      hosted.tablet().minorCompact();
      assertThat(hosted.maySplit()).isTrue();
      server.splitter.split(hosted);
      assertThat(server.context.tablets().all()).containsExactly(hosted);
      assertThat(hosted.maySplit()).isFalse();
      TestServer.put(hosted, "row2", "value");
      hosted.tablet().minorCompact();
      assertThat(hosted.maySplit()).isTrue();
    }
  }
}
