package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.LogOwner;
import io.stele.log.LogRecord;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.Futures;
import io.stele.runtime.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class DeadLogsTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);
  private static final ServerId DEAD = new ServerId("dead", 1, 1);

  private final MasterFixture master = new MasterFixture();
  private final Map<ServerId, Lock> locks = new TreeMap<>(); // Of live servers.

  @Test
  void tabletsWaitUntilTheLiveServersHaveSortedTheLog() throws Exception {
    master.run(
        () -> {
          TableId table = deadServerWith(5);
          master.plane.sorts = false;
          master.loop.step();
          steps(10);
          assertThat(master.plane.requests)
              .anyMatch(request -> request.matches("sort \\[.*user-.*"));
          assertThat(records(table)).allMatch(record -> record.assignment().isTo(DEAD));
          master.plane.sorts = true;
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
          assertThat(master.sorting.isInProgress()).isFalse();
        });
  }

  /** Otherwise a step that planned just before would be the last for a second. */
  @Test
  void theLoopIsWokenWhenSomethingIsSorted() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.plane.sorts = false;
          steps(10);
          master.signal.await(Duration.ofHours(1)); // Whatever woke it before.
          long before = master.process.nanoTime();
          master.plane.sorts = true;
          master.sorting.advance(master.watch.live());
          master.signal.await(Duration.ofHours(1));
          assertThat(Duration.ofNanos(master.process.nanoTime() - before))
              .isLessThan(Duration.ofSeconds(1));
        });
  }

  @Test
  void theyDoNotWaitForeverForServersThatSortNothing() throws Exception {
    master.run(
        () -> {
          TableId table = deadServerWith(5);
          master.plane.sorts = false;
          master.loop.step();
          master.sleep(Duration.ofSeconds(25));
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void ifASorterDiesAnotherSortsItsSegments() throws Exception {
    master.run(
        () -> {
          TableId table = deadServerWith(5);
          master.plane.sorts = false;
          steps(10);
          assertThat(master.plane.sortedBy).as("they share the work").contains("a", "b");
          locks.get(A).release();
          steps(10);
          master.plane.sortedBy.clear(); // The loop may have begun a step before it knew.
          master.plane.sorts = true;
          master.stepUntilIdle();
          assertThat(master.plane.sortedBy).isNotEmpty().containsOnly("b");
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void whatAServerThatDoesNotAnswerWasToSortAnotherSorts() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.plane.sorts = false;
          steps(10);
          assertThat(master.plane.sortedBy).as("they share the work").contains("a", "b");
          master.plane.silent.add(A.host());
          master.plane.sorts = true;
          steps(10);
          assertThat(master.sorting.isInProgress(DEAD)).as("those of A are not sorted").isTrue();
          for (int i = 0; i < 12; i++) { // Not so long that sorting is given up.
            master.loop.step();
            master.sleep(Duration.ofSeconds(1));
          }
          assertThat(master.sorting.isInProgress(DEAD)).isFalse();
        });
  }

  @Test
  void aSegmentThatCannotBeReadAtOnceIsSortedAllTheSame() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.plane.sorts = false;
          steps(10);
          FileSystem failing =
              new FilterFileSystem(master.fs) {
                @Override
                public FSDataInputStream open(Path path, int bufferBytes) throws IOException {
                  if (path.getName().startsWith("user-1.")) {
                    throw new IOException("HDFS is busy");
                  }
                  return super.open(path, bufferBytes);
                }
              };
          Next next = over(failing);
          next.logs().take(DEAD, LogOwner.ENDED);
          assertThat(next.sorting().isInProgress(DEAD)).isTrue();
          master.plane.requests.clear();
          next.sorting().advance(master.watch.live());
          master.sleep(Duration.ofMillis(50));
          assertThat(asked()).anyMatch(request -> request.contains("user-1."));
        });
  }

  @Test
  void aSummaryThatCannotBeReadForLongIsNotWaitedFor() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.plane.sorts = false;
          steps(10);
          CompletableFuture<Void> answer = new CompletableFuture<>();
          Next next =
              over(
                  new FilterFileSystem(master.fs) {
                    @Override
                    public FSDataInputStream open(Path path, int bufferBytes) throws IOException {
                      if (path.getName().startsWith("user-1.")) {
                        Futures.await(master.process, answer, "opening " + path);
                      }
                      return super.open(path, bufferBytes);
                    }
                  });
          Task taking = startTaking(next.logs());
          master.sleep(Duration.ofSeconds(5));
          assertThat(taking.ended()).isDone();
          assertThat(next.sorting().isInProgress(DEAD)).isTrue();
          master.plane.requests.clear();
          next.sorting().advance(master.watch.live());
          master.sleep(Duration.ofMillis(50));
          assertThat(asked()).anyMatch(request -> request.contains("user-1."));
          answer.complete(null);
        });
  }

  @Test
  void whatIsFoundToBeClosedTooLateIsNotSorted() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          CompletableFuture<Void> answer = new CompletableFuture<>();
          AtomicInteger listings = new AtomicInteger();
          Next next =
              over(
                  new FilterFileSystem(master.fs) {
                    @Override
                    public FileStatus[] listStatus(Path path) throws IOException {
                      // The fence lists the directory first, then the search for closed segments.
                      if (path.getName().equals(DEAD.toString())
                          && listings.incrementAndGet() == 2) {
                        Futures.await(master.process, answer, "listing " + path);
                      }
                      return super.listStatus(path);
                    }
                  });
          Task taking = startTaking(next.logs());
          master.sleep(Duration.ofMinutes(2));
          assertThat(taking.ended()).isDone();
          while (next.sorting().isInProgress(DEAD)) {
            next.sorting().advance(master.watch.live());
            master.sleep(Duration.ofMillis(50));
          }
          answer.complete(null);
          master.sleep(Duration.ofSeconds(1));
          assertThat(next.sorting().isInProgress(DEAD)).isFalse();
        });
  }

  /** What another master knows. */
  private record Next(DeadLogs logs, LogSorting sorting) {}

  private Next over(FileSystem fs) {
    LogSorting sorting = new LogSorting(master.process, fs, master.servers, master.signal, 0);
    return new Next(new DeadLogs(master.process, fs, master.layout, 2, sorting), sorting);
  }

  private Task startTaking(DeadLogs logs) {
    return master.process.start(
        "take",
        () -> {
          try {
            logs.take(DEAD, LogOwner.ENDED);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Test
  void anotherMasterHasSortedOnlyWhatIsNotSortedYet() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.plane.sorts = false;
          steps(10);
          assertThat(master.sorting.isInProgress(DEAD)).isTrue();
          Next next = over(master.fs);
          assertThat(next.sorting().isInProgress()).as("nothing is stored").isFalse();
          next.logs().take(DEAD, LogOwner.ENDED);
          assertThat(next.sorting().isInProgress(DEAD)).isTrue();
          List<String> segments = asked();
          assertThat(segments).isNotEmpty();
          master.plane.requests.clear();
          next.sorting().advance(master.watch.live());
          master.sleep(Duration.ofMillis(50));
          assertThat(asked()).isEqualTo(segments);
        });
  }

  @Test
  void aFencedLogIsAskedForItsListOnce() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.stepUntilIdle();
          List<Path> asked = new ArrayList<>();
          FileSystem noting =
              new FilterFileSystem(master.fs) {
                @Override
                public FileStatus getFileStatus(Path path) throws IOException {
                  asked.add(path);
                  return super.getFileStatus(path);
                }
              };
          Next next = over(noting);
          assertThat(next.logs().unfinished(next.logs().renamed(), Set.of())).isEmpty();
          assertThat(asked).hasSize(1);
          assertThat(next.logs().unfinished(next.logs().renamed(), Set.of())).isEmpty();
          assertThat(asked).hasSize(1);
          assertThat(next.logs().unfinished(next.logs().renamed(), Set.of(DEAD)))
              .as("it has a lock")
              .containsExactly(DEAD);
        });
  }

  /** The segments that servers were asked to sort. */
  private List<String> asked() {
    return master.plane.requests.stream()
        .filter(request -> request.startsWith("sort "))
        .distinct()
        .toList();
  }

  @Test
  void aTabletDoesNotWaitForALogThatItDoesNotNeed() throws Exception {
    master.run(
        () -> {
          TableId table = deadServerWith(5);
          TableId other = master.table("other");
          master.plane.sorts = false;
          master.signal.rereadAllSoon();
          steps(10);
          assertThat(master.isServed(other)).isTrue();
          assertThat(master.isServed(table)).isFalse();
        });
  }

  @Test
  void theStagesOfARecoveryAddUp() throws Exception {
    master.run(
        () -> {
          deadServerWith(5);
          master.plane.sorts = false;
          steps(30);
          assertThat(master.recoveries.latest())
              .singleElement()
              .satisfies(
                  recovery -> {
                    assertThat(recovery.isOver()).isFalse();
                    assertThat(recovery.stages())
                        .containsOnlyKeys(Recoveries.Stage.LEASE, Recoveries.Stage.FENCE);
                  });
          master.sleep(Duration.ofSeconds(3));
          master.plane.sorts = true;
          master.stepUntilIdle();
          assertThat(master.recoveries.latest())
              .singleElement()
              .satisfies(
                  recovery -> {
                    assertThat(recovery.server()).isEqualTo(DEAD);
                    assertThat(recovery.tablets()).isEqualTo(2);
                    assertThat(recovery.isOver()).isTrue();
                    assertThat(recovery.stages()).containsOnlyKeys(Recoveries.Stage.values());
                    assertThat(recovery.stages().get(Recoveries.Stage.SORT))
                        .isGreaterThanOrEqualTo(Duration.ofSeconds(3));
                    assertThat(recovery.first().orElseThrow())
                        .isBetween(Duration.ofSeconds(3), recovery.took());
                  });
        });
  }

  private List<TabletRecord> records(TableId table) throws Exception {
    return master.records.reader().readAll(table);
  }

  private void steps(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      master.loop.step();
      master.sleep(Duration.ofMillis(50));
    }
  }

  /** A and B live; a table of two tablets was loaded by a dead server, which had a log. */
  private TableId deadServerWith(int records) throws Exception {
    master.bootstrap();
    for (ServerId server : List.of(A, B)) {
      locks.put(server, master.start(server));
    }
    master.stepUntilIdle();
    TableId table = master.table("users", Bytes.of("m"));
    for (TabletRecord record : master.records.reader().readAll(table)) {
      master.records.loaded(master.records.assign(record, DEAD));
    }
    LogDirectory.create(master.fs, master.layout.logs(DEAD));
    CommitLog log =
        CommitLog.open(
            master.process,
            new LogLocation(master.fs, master.layout.logs(DEAD), DEAD, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {});
    TabletId tablet = master.records.reader().readAll(table).get(0).id();
    for (int i = 1; i <= records; i++) {
      master.simulation.outside().await(log.append(record(tablet, i)));
    }
    master.signal.rereadAllSoon();
    return table;
  }

  private static LogRecord record(TabletId tablet, long sequence) {
    return new LogRecord(tablet, sequence, 0, Optional.empty(), Bytes.EMPTY);
  }
}
