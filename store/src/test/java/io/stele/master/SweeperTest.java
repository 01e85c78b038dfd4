package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.log.WholeFence;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.runtime.IoRunnable;
import io.stele.sim.Simulation;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Test;

class SweeperTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId DEAD = new ServerId("dead", 1, 1);
  private static final ServerId UNNAMED = new ServerId("unnamed", 1, 1);
  private static final Duration GRACE = Duration.ofHours(1);

  private final MasterFixture master = new MasterFixture();
  private final Sweeper sweeper = sweeper(GRACE);
  private TableId table;
  private TabletRecord tablet;

  private Sweeper sweeper(Duration grace) {
    return sweeper(master.fs, grace);
  }

  private Sweeper sweeper(FileSystem fs, Duration grace) {
    return sweeper(master.schemas, fs, grace);
  }

  private Sweeper sweeper(Schemas schemas, FileSystem fs, Duration grace) {
    return new Sweeper(
        master.process,
        master.records,
        schemas,
        new Sweeper.Store(fs, master.layout, new ServerLocks(master.locks)),
        grace);
  }

  private void run(Simulation.Work work) throws Exception {
    master.run(
        () -> {
          createTable();
          work.run();
        });
  }

  private void fence(ServerId server) throws IOException {
    master.fs.mkdirs(master.layout.logs(server));
    WholeFence.fence(
        WholeFence.of(master.process, master.fs),
        master.layout.logs(server),
        master.layout.recovery(server));
  }

  private void createTable() throws Exception {
    master.bootstrap();
    table = master.table("users");
    TabletRecord created = master.records.reader().readAll(table).get(0);
    tablet = master.records.loaded(master.records.assign(created, A)); // Epoch 1.
  }

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

  @Test
  void aTableThatCannotBeSweptDoesNotHoldUpOthers() throws Exception {
    run(
        () -> {
          String stuck = file(0, 1);
          TableId other = master.table("others"); // Swept after the first.
          String orphan = create(Layout.file(new TabletId(other, "00000000000000ff"), 1, 1));
          AtomicBoolean broken = new AtomicBoolean(true);
          FileSystem fs =
              new FilterFileSystem(master.fs) {
                @Override
                public boolean delete(Path path, boolean recursive) throws IOException {
                  if (broken.get() && path.toUri().getPath().endsWith(stuck)) {
                    throw new IOException("for the test");
                  }
                  return super.delete(path, recursive);
                }
              };
          Sweeper failing = sweeper(fs, GRACE);
          assertThat(failing.sweep()).isZero();
          master.sleep(GRACE);
          assertThat(failing.sweep()).isEqualTo(1);
          assertThat(exists(orphan)).isFalse();
          assertThat(exists(stuck)).isTrue();
          broken.set(false);
          assertThat(failing.sweep()).isEqualTo(1); // Its grace period did not restart.
          assertThat(exists(stuck)).isFalse();
        });
  }

  /** The files; {@code stuck} cannot be deleted, as a snapshot may protect it. */
  private FileSystem without(Path stuck) {
    return new FilterFileSystem(master.fs) {
      @Override
      public boolean delete(Path path, boolean recursive) throws IOException {
        if (recursive && stuck.toUri().getPath().startsWith(path.toUri().getPath())
            || path.toUri().getPath().equals(stuck.toUri().getPath())) {
          throw new IOException("for the test");
        }
        return super.delete(path, recursive);
      }
    };
  }

  @Test
  void aFileThatCannotBeDeletedDoesNotHoldUpOthersOfItsTable() throws Exception {
    run(
        () -> {
          String stuck = file(1, 1);
          String dropped = file(1, 2);
          String orphan = file(0, 3);
          put(List.of(), Map.of(stuck, 0L, dropped, 0L));
          Sweeper hindered = sweeper(without(master.layout.resolve(stuck)), GRACE);
          hindered.sweep();
          master.sleep(GRACE);
          assertThat(hindered.sweep()).isEqualTo(2);
          assertThat(exists(dropped)).isFalse();
          assertThat(exists(orphan)).isFalse();
          assertThat(master.only(table).dropped()).containsOnlyKeys(stuck);
        });
  }

  @Test
  void gracePeriodsOfOthersEndThoughAFileCannotBeDeleted() throws Exception {
    run(
        () -> {
          file(0, 1);
          String orphan = file(0, 2);
          Sweeper hindered =
              sweeper(without(master.layout.resolve(Layout.file(tablet.id(), 0, 1))), GRACE);
          hindered.sweep();
          master.sleep(GRACE);
          assertThat(hindered.sweep()).isEqualTo(1);
          hindered.sweep(); // It is not there, and so it is forgotten.
          create(orphan);
          assertThat(hindered.sweep()).isZero();
          assertThat(exists(orphan)).isTrue();
        });
  }

  @Test
  void aFileOfADroppedTableThatCannotBeDeletedDoesNotHoldUpOthersOfIt() throws Exception {
    run(
        () -> {
          TableId gone = new TableId("t77");
          String stuck = create(Layout.file(new TabletId(gone, "00000000000000aa"), 1, 1));
          String other = create(Layout.file(new TabletId(gone, "00000000000000bb"), 1, 1));
          Sweeper hindered = sweeper(without(master.layout.resolve(stuck)), GRACE);
          assertThat(hindered.sweep()).isEqualTo(1);
          assertThat(exists(other)).isFalse();
          assertThat(hindered.sweep()).isZero();
          assertThat(master.fs.exists(directory(other))).isFalse();
          assertThat(sweeper.sweep()).isEqualTo(1);
          assertThat(master.fs.exists(master.layout.table(gone))).isFalse();
        });
  }

  @Test
  void aLogThatCannotBeDeletedDoesNotHoldUpOthers() throws Exception {
    run(
        () -> {
          fence(DEAD);
          fence(UNNAMED);
          assertThat(sweeper(without(master.layout.recovery(DEAD)), GRACE).sweep()).isEqualTo(1);
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isFalse();
        });
  }

  @Test
  void aRecordThatCannotBeWrittenDoesNotHoldUpOtherTablesAndLogs() throws Exception {
    run(
        () -> {
          String dropped = file(1, 1);
          put(List.of(), Map.of(dropped, 0L));
          TableId other = master.table("others"); // Swept after the first.
          String orphan = create(Layout.file(new TabletId(other, "00000000000000ff"), 1, 1));
          fence(UNNAMED);
          master.memory.before(
              update -> {
                throw SteleException.refused("for the test");
              });
          sweeper.sweep();
          assertThat(master.fs.exists(master.layout.recovery(UNNAMED))).isFalse();
          master.sleep(GRACE);
          sweeper.sweep();
          assertThat(exists(dropped)).isFalse();
          assertThat(exists(orphan)).isFalse();
        });
  }

  @Test
  void aRecordThatCannotBeWrittenDoesNotHoldUpThoseOfOtherTablets() throws Exception {
    run(
        () -> {
          TableId many = master.table("many", Bytes.of("m"));
          for (TabletRecord record : master.records.reader().readAll(many)) {
            put(record, List.of(), Map.of(create(Layout.file(record.id(), 1, 1)), 0L));
          }
          sweeper.sweep();
          master.sleep(GRACE);
          AtomicBoolean failed = new AtomicBoolean();
          master.memory.before(
              update -> {
                if (!failed.getAndSet(true)) {
                  throw SteleException.retryLater("for the test");
                }
              });
          assertThat(sweeper.sweep()).isEqualTo(2);
          assertThat(master.records.reader().readAll(many))
              .extracting(record -> record.dropped().size())
              .containsExactly(1, 0);
          sweeper.sweep();
          assertThat(master.records.reader().readAll(many))
              .allMatch(record -> record.dropped().isEmpty());
        });
  }

  /** A table of six tablets, each with a dropped file that may go. */
  private TableId tabletsWithDroppedFiles() throws Exception {
    Bytes[] splits = {Bytes.of("b"), Bytes.of("c"), Bytes.of("d"), Bytes.of("e"), Bytes.of("f")};
    TableId many = master.table("many", splits);
    for (TabletRecord record : master.records.reader().readAll(many)) {
      put(record, List.of(), Map.of(create(Layout.file(record.id(), 1, 1)), 0L));
    }
    sweeper.sweep();
    master.sleep(GRACE);
    return many;
  }

  @Test
  void howeverManyRecordsRefuseChangesOthersAreChanged() throws Exception {
    run(
        () -> {
          TableId many = tabletsWithDroppedFiles();
          AtomicInteger updates = new AtomicInteger();
          master.memory.before(
              update -> {
                if (updates.incrementAndGet() <= 4) {
                  throw SteleException.refused("for the test");
                }
              });
          sweeper.sweep();
          assertThat(master.records.reader().readAll(many))
              .extracting(record -> record.dropped().size())
              .containsExactly(1, 1, 1, 1, 0, 0);
        });
  }

  @Test
  void onlyAFewRecordsAreTriedWhileMetadataIsAway() throws Exception {
    run(
        () -> {
          TableId many = tabletsWithDroppedFiles();
          AtomicInteger updates = new AtomicInteger();
          master.memory.before(
              update -> {
                if (updates.incrementAndGet() != 3) { // The third finds it there.
                  throw SteleException.retryLater("for the test");
                }
              });
          sweeper.sweep();
          assertThat(updates).as("two, one that is made, and three").hasValue(6);
          updates.set(3);
          sweeper.sweep();
          assertThat(updates).as("three more").hasValue(6);
          assertThat(master.records.reader().readAll(many))
              .extracting(record -> record.dropped().size())
              .containsExactly(1, 1, 0, 1, 1, 1);
        });
  }

  @Test
  void aTableWhoseFilesCannotBeListedDoesNotHoldUpOthers() throws Exception {
    run(
        () -> {
          String hidden = file(0, 1);
          TableId other = master.table("others"); // Listed after the first.
          String orphan = create(Layout.file(new TabletId(other, "00000000000000ff"), 1, 1));
          Path directory = master.layout.resolve(hidden).getParent();
          AtomicBoolean allowed = new AtomicBoolean();
          FileSystem fs =
              new FilterFileSystem(master.fs) {
                @Override
                public FileStatus[] listStatus(Path path) throws IOException {
                  if (!allowed.get()
                      && path.toUri().getPath().equals(directory.toUri().getPath())) {
                    throw new AccessControlException("for the test");
                  }
                  return super.listStatus(path);
                }
              };
          Sweeper hindered = sweeper(fs, GRACE);
          assertThat(hindered.sweep()).isZero();
          master.sleep(GRACE);
          assertThat(hindered.sweep()).isEqualTo(1);
          assertThat(exists(orphan)).isFalse();
          assertThat(exists(hidden)).isTrue();
          allowed.set(true);
          assertThat(hindered.sweep()).isZero();
          master.sleep(GRACE);
          assertThat(hindered.sweep()).isEqualTo(1);
          assertThat(exists(hidden)).isFalse();
        });
  }

  @Test
  void aLogThatMayNotBeReadOrDeletedDoesNotHoldUpOthers() throws Exception {
    run(
        () -> {
          List<ServerId> dead = List.of(new ServerId("b", 1, 1), new ServerId("c", 1, 1));
          for (ServerId server : dead) {
            fence(server);
          }
          String hidden = master.layout.recovery(dead.get(0)).toUri().getPath();
          AtomicBoolean readable = new AtomicBoolean();
          FileSystem fs =
              new FilterFileSystem(master.fs) {
                @Override
                public FileStatus getFileStatus(Path path) throws IOException {
                  if (!readable.get() && path.toUri().getPath().startsWith(hidden)) {
                    throw new AccessControlException("for the test");
                  }
                  return super.getFileStatus(path);
                }

                @Override
                public boolean delete(Path path, boolean recursive) throws IOException {
                  if (path.toUri().getPath().startsWith(hidden)) {
                    throw new AccessControlException("for the test");
                  }
                  return super.delete(path, recursive);
                }
              };
          Sweeper hindered = sweeper(fs, GRACE);
          assertThat(hindered.sweep()).isEqualTo(1);
          assertThat(master.fs.exists(master.layout.recovery(dead.get(1)))).isFalse();
          fence(dead.get(1));
          readable.set(true);
          assertThat(hindered.sweep()).as("it may still not be deleted").isEqualTo(1);
          assertThat(master.fs.exists(master.layout.recovery(dead.get(1)))).isFalse();
          assertThat(master.fs.exists(master.layout.recovery(dead.get(0)))).isTrue();
        });
  }

  /** The grace passes for what no record needs now. */
  private void later() throws Exception {
    later(0);
  }

  /** Sweeps, and then the grace of what is swept next is over. */
  private void later(int deleted) throws Exception {
    assertThat(sweeper.sweep()).isEqualTo(deleted);
    master.sleep(GRACE);
  }

  private String file(long epoch, long number) throws IOException {
    return create(Layout.file(tablet.id(), epoch, number));
  }

  private String create(String path) throws IOException {
    Path file = master.layout.resolve(path);
    master.fs.create(file).close();
    master.fs.setTimes(file, 0, 0);
    return path;
  }

  private Path directory(String file) {
    return master.layout.resolve(file).getParent();
  }

  private boolean exists(String path) throws IOException {
    return master.fs.exists(master.layout.resolve(path));
  }

  private void put(List<String> files, Map<String, Long> dropped) {
    put(tablet, files, dropped);
  }

  private void putFiles(TabletRecord record, List<String> files) {
    put(record, files, Map.of());
  }

  private void put(TabletRecord record, List<String> files, Map<String, Long> dropped) {
    List<FileRef> refs =
        files.stream()
            .map(path -> FileRef.builder(path, 1, RowRange.ALL).sequences(1, 1).build())
            .toList();
    master.memory.put(record.toBuilder().files(refs).dropped(dropped).build());
  }
}
