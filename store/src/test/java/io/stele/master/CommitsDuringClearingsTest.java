package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static io.stele.master.Answers.ended;
import static io.stele.master.Answers.running;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.master.ChangeRequest.Clear;
import io.stele.master.ChangeRequest.Drop;
import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A job commits before rows are cleared, or after: a change clears tablet after tablet, and what a
 * job writes must be gone from all of them or be there in all.
 */
class CommitsDuringClearingsTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final Clear ALL_ROWS = new Clear("users", RowRange.ALL);

  private final MasterFixture master = new MasterFixture();
  private final JobNodes nodes = new JobNodes(master.process, master.locks);

  /** Another master, which knows nothing of what this one did. */
  private TableChanges successor() {
    return new TableChanges(master.process, master.schemas, master.steps(), master.signal);
  }

  private void carryOn(TableChanges changes) throws Exception {
    changes.resume();
    for (int i = 0; i < 100 && changes.advance(table -> true); i++) {
      master.sleep(Duration.ofMillis(50));
    }
  }

  /** A tablet of two is served, and the other, which is returned, is not. */
  private TabletRecord halfAway() throws Exception {
    TableId table = master.table("users", Bytes.of("m"));
    master.start(A);
    master.watch.refreshWithLogs();
    List<TabletRecord> tablets = master.records.reader().readAll(table);
    master.records.loaded(master.records.assign(tablets.get(0), A));
    return tablets.get(1);
  }

  private String begin() throws IOException {
    return master.jobs.begin(
        JobNodes.newRequest(master.process),
        Duration.ofMinutes(5),
        Optional.empty(),
        JobOrigin.UNKNOWN,
        StoredJob.Kind.MAY_WRITE);
  }

  private void assertWaits(String job) {
    assertFails(Code.RETRY_LATER, () -> master.jobs.commit(job))
        .hasMessageContaining("waits until the rows of table users are deleted");
  }

  @Test
  void aJobWaitsWithItsCommitUntilTheRowsAreClearedInAllTabletsWhicheverMasterDoesIt()
      throws Exception {
    master.run(
        () -> {
          TabletRecord away = halfAway();
          String before = begin();
          String job = begin();
          master.jobs.commit(before);
          running(master.ask("clear", ALL_ROWS));
          carryOn(master.changes);
          assertThat(master.plane.requests).anyMatch(request -> request.startsWith("clear"));
          assertWaits(job);

          TableChanges next = successor();
          carryOn(next);
          assertWaits(job);
          assertThat(nodes.state(job)).isEqualTo(JobNodes.State.BEGUN);

          master.records.loaded(master.records.assign(away, A));
          carryOn(next);
          assertThat(ended(master.ask("clear", ALL_ROWS)).failure()).isEmpty();
          master.jobs.commit(job);
          assertThat(nodes.state(job)).isEqualTo(JobNodes.State.COMMITTED);
          assertThat(master.locks.children(LockPaths.CLEARINGS)).isEmpty();
        });
  }

  @Test
  void aCommitThatIsUnderWayWhenRowsBeginToBeClearedStartsAgain() throws Exception {
    master.run(
        () -> {
          halfAway();
          String job = begin();
          String path = LockPaths.job(job);
          int version = master.locks.read(path).orElseThrow().version();
          String node = master.locks.read(path).orElseThrow().data().toUtf8();
          master.locks.write(path, Bytes.of(node + " committing"), version);
          running(master.ask("clear", ALL_ROWS));
          assertThat(nodes.read(job).orElseThrow().commit()).isEqualTo(StoredJob.Commit.UNDER_WAY);
          carryOn(master.changes);
          assertThat(nodes.read(job).orElseThrow().commit()).isEqualTo(StoredJob.Commit.NOT_BEGUN);
          assertWaits(job);
        });
  }

  @Test
  void aClearingThatEndsWithoutBeingDoneHoldsNoCommitUp() throws Exception {
    master.run(
        () -> {
          halfAway();
          String one = begin();
          String another = begin();
          running(master.ask("clear", ALL_ROWS));
          carryOn(master.changes);
          assertWaits(one);
          for (int i = 0; i < 80; i++) {
            master.changes.advance(table -> true);
            master.sleep(Duration.ofSeconds(1));
          }
          assertThat(ended(master.ask("clear", ALL_ROWS)).failure()).isPresent();
          master.jobs.commit(one);

          running(master.ask("again", ALL_ROWS));
          carryOn(master.changes);
          assertWaits(another);
          running(master.ask("gone", new Drop("users"))); // It ends the clearing.
          master.jobs.commit(another);
        });
  }
}
