package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Layout;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.io.IOException;
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

/** What cannot be swept does not hold up others. */
class HinderedSweepsTest extends SweeperTestCase {
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
          for (TabletRecord record : master.tablets(many)) {
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
          assertThat(master.tablets(many))
              .extracting(record -> record.dropped().size())
              .containsExactly(1, 0);
          sweeper.sweep();
          assertThat(master.tablets(many)).allMatch(record -> record.dropped().isEmpty());
        });
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
          assertThat(master.tablets(many))
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
          assertThat(master.tablets(many))
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

  /** A table of six tablets, each with a dropped file that may go. */
  private TableId tabletsWithDroppedFiles() throws Exception {
    Bytes[] splits = {Bytes.of("b"), Bytes.of("c"), Bytes.of("d"), Bytes.of("e"), Bytes.of("f")};
    TableId many = master.table("many", splits);
    for (TabletRecord record : master.tablets(many)) {
      put(record, List.of(), Map.of(create(Layout.file(record.id(), 1, 1)), 0L));
    }
    sweeper.sweep();
    master.sleep(GRACE);
    return many;
  }
}
