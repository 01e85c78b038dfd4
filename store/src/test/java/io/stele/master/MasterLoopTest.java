package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.metadata.Assignment;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.sim.Cores;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The loop of a master assigns tablets, those of METADATA first, to servers that live and answer.
 */
@ExtendWith(Cores.One.class)
class MasterLoopTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);
  private static final ServerId C = new ServerId("c", 1, 1);

  private final MasterFixture master = new MasterFixture();

  @Test
  void aNewClusterComesUpFromTheRootTabletToTheTables() throws Exception {
    master.run(
        () -> {
          master.records.createRoot();
          master.start(A);
          master.stepUntilIdle();
          assertThat(master.plane.requests).containsExactly("load root", "load meta");
          TableId table = master.table("users", Bytes.of("m"));
          master.rereadUntilIdle();
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aNewMasterAssignsMetadataBeforeItReadsWhatThereIsOfTables() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          master.sleep(Duration.ofMillis(1)); // What is watched is told.
          MasterLoop loop = master.loop(master.watched(MasterLoopTest::refuseLists));
          loop.step();
          assertThat(master.root().assignment().isTo(A)).isTrue();
          assertThatThrownBy(loop::step).hasMessage("planted");
        });
  }

  /** The lock service does not tell now which tables there are. */
  private static void refuseLists(String method) throws IOException {
    if (method.equals("children")) {
      throw new IOException("planted");
    }
  }

  @Test
  void tabletsOfADeadServerMoveOnceItIsFenced() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          TableId table = master.table("users", Bytes.of("m"));
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
          master.start(B);
          master.locks.create(LockPaths.suspect(A), Bytes.EMPTY);
          lock.release();
          master.loop.step();
          master.sleep(MasterFixture.LEASE);
          master.loop.step();
          assertThat(master.root().assignment().isTo(A)).isTrue();
          master.sleep(MasterFixture.LEASE);
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
          assertThat(master.tablets(table))
              .allMatch(record -> record.assignment().isTo(B))
              .allMatch(record -> record.logs().contains(A));
          assertThat(master.recoveries.latest())
              .singleElement()
              .satisfies(one -> assertThat(one.detection()).as("A had reported").isPresent());
        });
  }

  @Test
  void aFencedServerIsForgottenOnceItsLogIsGone() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          TableId table = master.table("users");
          master.stepUntilIdle();
          master.start(B);
          lock.release();
          master.stepUntilIdle();
          afterRefresh();
          assertThat(master.watch.fences().fenced()).containsExactly(A);
          master.fs.delete(master.layout.recovery(A), true); // As a sweep does.
          afterRefresh();
          assertThat(master.watch.fences().fenced()).isEmpty();
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aFencedServerThatRecordsNameIsNotForgotten() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          TableId table = master.table("users");
          master.stepUntilIdle();
          lock.release();
          master.stepUntilIdle();
          master.fs.delete(master.layout.recovery(A), true);
          afterRefresh();
          assertThat(master.watch.fences().fenced()).containsExactly(A);
          master.start(B);
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
          afterRefresh();
          assertThat(master.watch.fences().fenced()).isEmpty();
        });
  }

  /** The loop looks again for servers of which it was told nothing. */
  private void afterRefresh() throws Exception {
    master.sleep(Duration.ofSeconds(11));
    master.stepUntilIdle();
  }

  @Test
  void aTabletWhoseAssignmentFailsUnexpectedlyKeepsNoOtherWaiting() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TableId table = master.table("users", Bytes.of("g"), Bytes.of("m"), Bytes.of("t"));
          Bytes failing = MetadataKeys.row(table, Bytes.of("m"));
          master.memory.before(
              update -> {
                if (update.row().equals(failing)) {
                  throw new IllegalStateException("planted");
                }
              });
          master.start(A);
          master.stepUntilIdle();
          assertThat(master.tablets(table))
              .hasSize(4)
              .allMatch(one -> one.row().equals(failing) != one.assignment().isTo(A));

          master.memory.before(update -> {});
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aServerThatHoldsItsLockAndDoesNotAnswerKeepsNoTabletWaiting() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(B);
          master.stepUntilIdle();
          master.start(A);
          master.plane.silent.add(A.host());
          TableId first = master.table("first");
          master.signal.rereadAllSoon();
          master.loop.step();
          assertThat(master.only(first).assignment().isTo(A)).as("the lightest").isTrue();
          master.stepFor(Duration.ofSeconds(60), Duration.ofSeconds(1));
          assertThat(master.isServed(first)).isTrue();
          assertThat(master.only(first).assignment().isTo(B)).isTrue();
          assertThat(master.parts.silent().takers(master.loop.view().live())).containsExactly(B);
          for (String name : List.of("second", "third", "fourth")) {
            TableId table = master.table(name);
            master.rereadUntilIdle();
            assertThat(master.isServed(table)).as(name).isTrue();
          }
          master.plane.silent.clear();
          master.stepFor(Duration.ofSeconds(10), Duration.ofSeconds(1));
          TableId last = master.table("last");
          master.rereadUntilIdle();
          assertThat(master.only(last).assignment().isTo(A)).as("it answers again").isTrue();
          assertThat(master.parts.silent().takers(master.loop.view().live())).containsExactly(A, B);
        });
  }

  @Test
  void metadataIsNotGivenToAServerThatHasJustFallenSilent() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lost = master.start(C);
          master.stepUntilIdle();
          master.start(A);
          master.start(B);
          master.loop.step();
          master.plane.silent.add(A.host());
          master.stepFor(Duration.ofSeconds(7), Duration.ofSeconds(1));
          lost.release();
          master.stepUntilIdle();
          assertThat(master.root().assignment().isTo(B)).as("A comes first").isTrue();
          assertThat(master.only(TableId.METADATA).assignment().isTo(B)).isTrue();
          TableId table = master.table("users");
          master.signal.rereadAllSoon();
          master.loop.step();
          assertThat(master.only(table).assignment().isTo(A)).as("not known to be silent").isTrue();
        });
  }

  @Test
  void aTabletOfMetadataThatIsNotServedStopsOnlyTheTabletsWhoseRecordsAreInIt() throws Exception {
    master.run(
        () -> {
          Bytes middle = MetadataKeys.row(new TableId("t1"), Bytes.EMPTY).successor();
          master.bootstrap(middle);
          Lock lock = master.start(A);
          master.stepUntilIdle();
          TabletRecord upper = master.tablets(TableId.METADATA).get(1);
          // Its server dies and is not fenced yet, while another takes over the rest.
          TabletRecord released = master.records.unloaded(upper, "test");
          ServerId dead = new ServerId("dead", 1, 1);
          master.locks.create(LockPaths.suspect(dead), Bytes.EMPTY);
          master.records.loaded(master.records.assign(released, dead));
          TableId lower = master.table("lower");
          TableId higher = master.table("upper");
          assertThat(lower).isEqualTo(new TableId("t1"));
          master.signal.rereadAllSoon();
          master.stepFor(Duration.ofMillis(250), Duration.ofMillis(50));
          master.loop.step();
          assertThat(master.isServed(lower)).isTrue();
          assertThat(master.isServed(higher)).isFalse();
          master.sleep(MasterFixture.LEASE.multipliedBy(2));
          master.stepUntilIdle();
          assertThat(master.isServed(higher)).isTrue();
          assertThat(lock.isHeld()).isTrue();
        });
  }

  @Test
  void aPartOfMetadataThatDoesNotAnswerStopsOnlyTheTabletsWhoseRecordsAreInIt() throws Exception {
    master.run(
        () -> {
          Bytes middle = MetadataKeys.row(new TableId("t1"), Bytes.EMPTY).successor();
          master.bootstrap(middle);
          master.start(A);
          master.stepUntilIdle();
          TableId lower = master.table("lower");
          TableId upper = master.table("upper");
          master.loop.step();
          master.memory.setAway(Optional.of(new RowRange(middle, Bytes.EMPTY)));
          master.signal.rereadAllSoon();
          master.stepFor(Duration.ofMillis(250), Duration.ofMillis(50));
          master.memory.setAway(Optional.empty());
          assertThat(master.tablets(lower))
              .allMatch(record -> record.assignment().state() == Assignment.State.LOADED);
          master.stepUntilIdle();
          assertThat(master.isServed(lower)).isTrue();
          assertThat(master.isServed(upper)).isTrue();
        });
  }

  @Test
  void whatAServerHadOfMetadataIsNotTriedAnyMoreOnceTheServerIsLost() throws Exception {
    master.run(
        () -> {
          List<Bytes> splits = List.of("t1", "t2", "t3", "t4").stream().map(Bytes::of).toList();
          master.bootstrap(splits.toArray(Bytes[]::new));
          Lock lock = master.start(A);
          master.start(B);
          master.stepUntilIdle();
          int[] tries = new int[1];
          master.memory.setAway(Optional.of(RowRange.ALL));
          master.memory.whenAway(
              () -> {
                if (++tries[0] == 1) {
                  lock.release();
                  master.watch.locksChanged();
                }
              });
          master.signal.rereadAllSoon();
          assertThat(master.loop.step()).as("looks again soon").isTrue();
          assertThat(tries[0]).isEqualTo(1);
        });
  }

  @Test
  void aDamagedRecordStopsOnlyItsOwnTablet() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId damaged = master.table("damaged");
          TableId whole = master.table("whole");
          master.memory.damage(MasterFixture.lastRow(damaged));
          master.stepUntilIdle();
          assertThat(master.isServed(whole)).isTrue();
        });
  }

  @Test
  void aLostRequestForLoadingIsMadeAgain() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          master.stepUntilIdle();
          TableId table = master.table("users");
          TabletRecord tablet = master.only(table);
          master.records.assign(tablet, A); // By a master that ended before it could ask.
          master.rereadUntilIdle();
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void theLoopSurvivesAFailureAndEndsWhenStopped() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          master.locks.disconnect();
          var task = master.startLoop();
          master.sleep(Duration.ofSeconds(5));
          master.locks.reconnect();
          master.sleep(Duration.ofSeconds(5));
          assertThat(master.isServed(TableId.METADATA)).isTrue();
          master.stopLoop(task);
        });
  }

  @Test
  void aServerThatDoesNotHaveWhatItsRecordSaysLosesItsLockAndTheTabletIsServedAgain()
      throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId table = master.table("users");
          var task = master.startLoop();
          master.sleep(Duration.ofSeconds(30));
          assertThat(master.locks.read(LockPaths.server(A))).as("while all is well").isPresent();
          TabletRecord tablet = master.only(table);
          master.plane.lost.add(tablet.id());
          master.sleep(Duration.ofSeconds(3));
          master.start(B);
          master.sleep(Duration.ofSeconds(15));
          assertThat(master.locks.read(LockPaths.server(A))).isEmpty();
          master.plane.lost.clear();
          master.sleep(MasterFixture.LEASE.multipliedBy(2));
          assertThat(master.tablets(table)).allMatch(record -> record.assignment().isTo(B));
          master.stopLoop(task);
        });
  }

  @Test
  void aTabletThatWasGivenUpSinceItsRecordWasReadCostsNobodyItsLock() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId table = master.table("users");
          var task = master.startLoop();
          master.sleep(Duration.ofSeconds(15));
          master.records.unloaded(master.only(table), "drained");
          master.sleep(Duration.ofSeconds(30));
          assertThat(master.locks.read(LockPaths.server(A))).isPresent();
          assertThat(master.isServed(table)).isTrue();
          master.stopLoop(task);
        });
  }
}
