package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.PendingFile;
import io.stele.runtime.IoRunnable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class SweeperTest extends SweeperTestCase {
  @Test
  void filesOfEarlierEpochsThatNoRecordNamesGoAndOthersStay() throws Exception {
    run(
        () -> {
          String needed = file(0, 1);
          String orphan = file(0, 2);
          String beingWritten = file(1, 3);
          put(List.of(needed), Map.of());
          later();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(needed)).isTrue();
          assertThat(exists(orphan)).isFalse();
          assertThat(exists(beingWritten)).isTrue();
        });
  }

  @Test
  void aDroppedFileGoesAfterTheGraceAndIsForgotten() throws Exception {
    run(
        () -> {
          String dropped = file(1, 1);
          put(List.of(), Map.of(dropped, 0L)); // By the clock of another machine.
          assertThat(sweeper.sweep()).isZero();
          master.sleep(GRACE.minusNanos(1));
          assertThat(sweeper.sweep()).isZero();
          master.sleep(Duration.ofNanos(1));
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(dropped)).isFalse();
          assertThat(master.records.reader().readAll(table).get(0).dropped()).isEmpty();
        });
  }

  /** While the mark was read, it may have come to a tablet that had been read. */
  @Test
  void aFileOfAJobGoesOnlyIfItWasDroppedWhenTheMarkBeforeWasRead() throws Exception {
    run(
        () -> {
          String own = file(1, 1);
          String ofJob = create(PendingFile.directory("job") + "/task-0.sst");
          put(List.of(own), Map.of(ofJob, master.process.wallClock().millis()));
          Sweeper withoutGrace = sweeper(Duration.ZERO);
          assertThat(withoutGrace.sweep()).isZero();
          assertThat(exists(ofJob)).isTrue();
          assertThat(master.records.reader().readAll(table).get(0).dropped()).containsKey(ofJob);
          assertThat(withoutGrace.sweep()).isEqualTo(1);
          assertThat(exists(ofJob)).isFalse();
          assertThat(master.records.reader().readAll(table).get(0).dropped()).isEmpty();
        });
  }

  /** It may have come and been dropped between the listing of the files and the mark. */
  @Test
  void aFileDroppedSinceTheListingIsNotForgotten() throws Exception {
    run(
        () -> {
          String unlisted = Layout.file(tablet.id(), 1, 1);
          put(List.of(file(1, 2)), Map.of(unlisted, master.process.wallClock().millis()));
          later();
          assertThat(master.records.reader().readAll(table).get(0).dropped()).containsKey(unlisted);
          create(unlisted);
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(unlisted)).isFalse();
          assertThat(master.records.reader().readAll(table).get(0).dropped()).isEmpty();
        });
  }

  @Test
  void filesOfATabletThatWasSplitAwayGo() throws Exception {
    run(
        () -> {
          TabletId gone = new TabletId(table, "00000000000000ff");
          String orphan = create(Layout.file(gone, 1, 1));
          later();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(orphan)).isFalse();
        });
  }

  @Test
  void theEmptyDirectoryOfATabletThatIsNoneAnyMoreGoesAfterTheGrace() throws Exception {
    run(
        () -> {
          TabletId gone = new TabletId(table, "00000000000000ff");
          Path emptied = directory(create(Layout.file(gone, 1, 1)));
          Path own = directory(file(0, 1));
          later();
          assertThat(sweeper.sweep()).isEqualTo(2);
          assertThat(sweeper.sweep()).isZero();
          assertThat(master.fs.exists(emptied)).as("it has been empty for a moment").isTrue();
          master.sleep(GRACE);
          assertThat(sweeper.sweep()).isZero();
          assertThat(master.fs.exists(emptied)).isFalse();
          assertThat(master.fs.exists(own)).isTrue();
        });
  }

  /** By a server that has not heard that its tablet is gone. */
  @Test
  void aDirectoryIntoWhichAFileCameMeanwhileStays() throws Exception {
    run(
        () -> {
          TabletId gone = new TabletId(table, "00000000000000ff");
          String late = Layout.file(gone, 1, 1);
          Path directory = directory(late);
          master.fs.mkdirs(directory);
          AtomicBoolean writes = new AtomicBoolean();
          FileSystem fs =
              new FilterFileSystem(master.fs) {
                @Override
                public boolean delete(Path path, boolean recursive) throws IOException {
                  if (writes.getAndSet(false)) {
                    SweeperTest.this.create(late);
                  }
                  return super.delete(path, recursive);
                }
              };
          Sweeper other = sweeper(fs, GRACE);
          assertThat(other.sweep()).isZero();
          master.sleep(GRACE);
          writes.set(true);
          assertThat(other.sweep()).isZero();
          assertThat(writes).as("it was to be deleted").isFalse();
          assertThat(exists(late)).isTrue();
        });
  }

  @Test
  void theLogOfAFencedServerGoesWhenNoRecordNamesIt() throws Exception {
    run(
        () -> {
          fence(DEAD);
          fence(A); // Named by the tablet's record.
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isFalse();
          assertThat(master.fs.exists(master.layout.recovery(A))).isTrue();
        });
  }

  /** The server may be alive: a master may have renamed its log late, and ended. */
  @Test
  void aLogWhoseFenceIsNotCompleteStays() throws Exception {
    run(
        () -> {
          master.fs.mkdirs(master.layout.recovery(DEAD));
          assertThat(sweeper.sweep()).isZero();
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isTrue();
        });
  }

  @Test
  void aDamagedRecordKeepsAllFilesOfItsTableAndAllLogs() throws Exception {
    run(
        () -> {
          String orphan = file(0, 1);
          fence(DEAD);
          master.memory.damage(tablet.row());
          later();
          assertThat(sweeper.sweep()).isZero();
          assertThat(exists(orphan)).isTrue();
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isTrue();
        });
  }

  @Test
  void aDamagedSchemaKeepsAllLogs() throws Exception {
    run(
        () -> {
          master.locks.create(LockPaths.TABLES + "/t9", Bytes.of("rubbish"));
          fence(DEAD);
          assertThat(sweeper.sweep()).isZero();
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isTrue();
        });
  }

  @Test
  void aMarkThatDoesNotCoverTheTableIsVoid() throws Exception {
    run(
        () -> {
          String orphan = file(0, 1);
          master.memory.put(
              TabletRecord.builder(
                      tablet.id(), new RowRange(Bytes.of("m"), Bytes.EMPTY), tablet.row())
                  .stored(tablet.assignment(), tablet.state())
                  .logs(tablet.logs())
                  .redo(tablet.redo())
                  .tentative(tablet.tentative())
                  .build());
          later();
          assertThat(sweeper.sweep()).isZero();
          assertThat(exists(orphan)).isTrue();
        });
  }

  @Test
  void aFileThatAnotherTableNeedsStaysThoughItsOwnDroppedIt() throws Exception {
    run(
        () -> {
          String shared = file(1, 1);
          put(List.of(), Map.of(shared, 0L));
          TabletRecord clone = master.records.reader().readAll(master.table("clone")).get(0);
          putFiles(clone, List.of(shared));
          later();
          assertThat(sweeper.sweep()).isZero();
          assertThat(exists(shared)).isTrue();
          putFiles(clone, List.of());
          later();
          putFiles(clone, List.of(shared)); // Its grace begins anew.
          assertThat(sweeper.sweep()).isZero();
          putFiles(clone, List.of());
          later();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(shared)).isFalse();
        });
  }

  @Test
  void theFilesOfADroppedTableGoButForThoseThatAnotherNeeds() throws Exception {
    run(
        () -> {
          TableId gone = new TableId("t77");
          String shared = create(Layout.file(new TabletId(gone, "00000000000000aa"), 1, 1));
          String own = create(Layout.file(new TabletId(gone, "00000000000000aa"), 1, 2));
          putFiles(tablet, List.of(shared));
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(shared)).isTrue();
          assertThat(exists(own)).isFalse();
          putFiles(tablet, List.of());
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(master.fs.exists(master.layout.table(gone))).isFalse();
        });
  }

  @Test
  void filesOfATableWhoseNodeIsLostStayWhileItsRecordsAreThere() throws Exception {
    run(
        () -> {
          String needed = file(0, 1);
          put(List.of(needed), Map.of());
          fence(A); // Named by the tablet's record.
          master.loseNode(table);
          later();
          assertThat(sweeper.sweep()).isZero();
          assertThat(exists(needed)).isTrue();
          assertThat(master.fs.exists(master.layout.recovery(A))).isTrue();
        });
  }

  @Test
  void aDamagedRecordOfATableWhoseNodeIsLostDoesNotHoldUpOthers() throws Exception {
    run(
        () -> {
          TabletRecord lost = master.records.reader().readAll(master.table("lost")).get(0);
          String kept = create(Layout.file(lost.id(), 1, 1));
          master.loseNode(lost.id().table());
          master.memory.damage(lost.row());
          String orphan = file(0, 1);
          later();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(orphan)).isFalse();
          assertThat(exists(kept)).isTrue();
        });
  }

  /** Such as one into which only files of jobs were loaded. */
  @Test
  void logsAndFilesOfJobsStayForATableWhoseNodeIsLostAndThatHasNoDirectory() throws Exception {
    run(
        () -> {
          String ofJob = create(PendingFile.directory("job") + "/task-0.sst");
          TabletRecord lost = master.records.reader().readAll(master.table("lost")).get(0);
          lost = master.records.loaded(master.records.assign(lost, DEAD));
          putFiles(lost, List.of(ofJob));
          put(List.of(), Map.of(ofJob, 0L)); // The other table has dropped it.
          fence(DEAD);
          master.loseNode(lost.id().table());
          later();
          assertThat(sweeper.sweep()).isZero();
          assertThat(exists(ofJob)).isTrue();
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isTrue();
        });
  }

  /** Everything else goes: a drop may take long, while a server does not answer. */
  @Test
  void whatATableThatIsBeingCreatedOrDroppedMayNeedStays() throws Exception {
    run(
        () -> {
          String orphan = file(0, 1);
          TableId coming = master.schemas.nextId();
          master.schemas.create(coming, TableSchema.of("coming", "f"), List.of());
          String early = create(Layout.file(new TabletId(coming, "00000000000000a1"), 1, 1));
          TabletRecord going = master.records.reader().readAll(master.table("going")).get(0);
          going = master.records.loaded(master.records.assign(going, DEAD));
          String late = create(Layout.file(going.id(), 0, 1));
          StoredTable stored = master.schemas.table(going.id().table()).orElseThrow();
          master.schemas.advance(stored, StoredTable.State.DROPPING);
          fence(DEAD);
          fence(UNNAMED);
          later(1);
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isFalse();
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isTrue();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(orphan)).isFalse();
          assertThat(exists(early)).isTrue();
          assertThat(exists(late)).isTrue();
        });
  }

  @Test
  void aTableThatIsDroppedDuringTheMarkKeepsOnlyItsOwnFiles() throws Exception {
    run(
        () -> {
          String orphan = file(0, 1);
          TabletRecord going = master.only(master.table("going"));
          String late = create(Layout.file(going.id(), 0, 1));
          master.table("others");
          fence(UNNAMED);
          Sweeper during =
              sweeperDuring(
                  () -> {
                    StoredTable stored = master.schemas.table(going.id().table()).orElseThrow();
                    master.schemas.advance(stored, StoredTable.State.DROPPING);
                    master.records.delete(going);
                    master.loseNode(going.id().table());
                  });
          assertThat(during.sweep()).isEqualTo(2);
          assertThat(exists(orphan)).isFalse();
          assertThat(exists(late)).isTrue();
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isFalse();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(late)).isFalse();
        });
  }

  @Test
  void aTableThatIsCreatedDuringTheMarkKeepsOnlyWhatItNeeds() throws Exception {
    run(
        () -> {
          String orphan = file(0, 1);
          master.table("second");
          master.table("third");
          fence(DEAD);
          fence(UNNAMED);
          Sweeper during =
              sweeperDuring(
                  () -> {
                    TableId coming = master.schemas.nextId();
                    master.schemas.create(coming, TableSchema.of("coming", "f"), List.of());
                    master.records.createTable(coming, List.of());
                    master.records.assign(master.only(coming), DEAD);
                  });
          assertThat(during.sweep()).isEqualTo(2);
          assertThat(exists(orphan)).isFalse();
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isFalse();
          assertThat(master.fs.exists(master.layout.recovery(DEAD))).isTrue();
        });
  }

  /** Another master, which was deposed, may fence a server that is starting, and list its log. */
  @Test
  void theLogOfAServerThatHoldsItsLockStays() throws Exception {
    run(
        () -> {
          Lock lock = master.start(UNNAMED);
          fence(UNNAMED);
          assertThat(sweeper.sweep()).isZero();
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isTrue();
          lock.release();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isFalse();
        });
  }

  @Test
  void whatIsNoTablesDirectoryIsLeftAlone() throws Exception {
    run(
        () -> {
          Path other = new Path(master.layout.tables(), "Not_A_Table");
          master.fs.mkdirs(other);
          String orphan = file(0, 1);
          later();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(exists(orphan)).isFalse();
          assertThat(master.fs.exists(other)).isTrue();
        });
  }

  /** One without a grace, of which {@code event} comes when it has read two tables' nodes. */
  private Sweeper sweeperDuring(IoRunnable event) {
    AtomicInteger reads = new AtomicInteger();
    LockService watched =
        master.watched(
            method -> {
              if (method.equals("read") && reads.incrementAndGet() == 3) {
                event.run();
              }
            });
    return sweeper(new Schemas(master.process, watched), master.fs, Duration.ZERO);
  }

  private void putFiles(TabletRecord record, List<String> files) {
    put(record, files, Map.of());
  }
}
