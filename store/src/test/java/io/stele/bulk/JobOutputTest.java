package io.stele.bulk;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.JobChange;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts, tasks and ApplicationMasters that get in each other's way. */
@Timeout(120)
class JobOutputTest extends JobOutputTestCase {
  private static final int ROUNDS = 20;

  @Test
  void ofTwoAttemptsOfATaskTheFirstToPublishCounts() throws IOException {
    finish("task-0-a", "first", "a", "z");
    finish("task-0-b", "second", "a", "z");
    assertThat(sstables()).isEqualTo(2);
    output.publish("task-0-a", "task-0");
    output.publish("task-0-b", "task-0");
    output.publish("task-0-a", "task-0"); // Its answer was lost.
    assertThat(output.isFinished("task-0-a")).as("published").isFalse();
    assertThat(output.isFinished("task-0-b")).isTrue();
    output.discard("task-0-a");
    output.discard("task-0-b");
    output.discard("task-0-b");
    assertThat(sstables()).isEqualTo(1);
    commit();
    assertThat(visible()).containsExactly("a first", "z first");
  }

  /** Its ApplicationMaster discards a task's attempt that it had told to publish, late. */
  @Test
  void anAttemptThatIsPublishedWhileItIsDiscardedIsThereWholeOrNotAtAll() throws IOException {
    for (int delete = 1; delete <= 3; delete++) {
      String text = "before delete " + delete;
      finish("task-0-a", text, "a" + delete, "z" + delete);
      Publishing files = new Publishing(delete);
      new JobOutput(jobs, job, files).discard("task-0-a");
      commit();
      assertThat(visible())
          .filteredOn(row -> row.endsWith(text))
          .as(text)
          .hasSize(files.published ? 2 : 0);
      begin();
    }
  }

  @Test
  void tasksThatANameNodeWhichIsBehindDoesNotShowYetAreCommitted() throws IOException {
    taskWrites("task-0", "one", "a");
    finish("task-1-a", "two", "b");
    Behind behind = new Behind(directory());
    output.publish("task-1-a", "task-1"); // By another process.
    new JobOutput(jobs, job, behind).commit(List.of(), Map.of());
    assertThat(visible()).containsExactly("a one", "b two");
  }

  @Test
  void anAttemptThatANameNodeWhichIsBehindDoesNotShowYetIsFinished() throws IOException {
    finish("task-0-a", "one", "a");
    Behind behind = new Behind(directory());
    finish("task-1-a", "two", "b"); // Over another connection.
    assertThat(new JobOutput(jobs, job, behind).isFinished("task-1-a")).isTrue();
    assertThat(new JobOutput(jobs, job, behind).isFinished("task-2-a")).isFalse();
  }

  @Test
  void whatHasFailedIsToldEvenIfTheJobCannotBeEndedThen() throws IOException {
    IOException failure = new IOException("no right to read");
    jobs.endAfter(failure, job);
    assertThat(failure.getSuppressed()).isEmpty();
    assertThat(jobs.state(job)).isEqualTo(JobNodes.State.GONE);
    Configuration hasty = MiniStele.quick(new Configuration(false));
    hasty.set(Keys.CLIENT_TIMEOUT.name(), "2s"); // So long it tries to end the job.
    try (Transport transport = new NetworkTransport(hasty, SystemRuntime.INSTANCE, "localhost")) {
      Stele closed = Stele.over(hasty, SystemRuntime.INSTANCE, cluster.locks(), transport);
      Jobs itsJobs = closed.jobs();
      closed.close();
      itsJobs.endAfter(failure, job);
    }
    assertThat(failure.getSuppressed()).hasSize(1);
  }

  /** Files of the store as a NameNode shows them that is behind, until it is asked to catch up. */
  private final class Behind extends FilterFileSystem {
    private final Path directory;
    private final FileStatus[] before;
    private boolean caughtUp;

    Behind(Path directory) throws IOException {
      super(files());
      this.directory = directory;
      this.before = super.listStatus(directory);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      if (!caughtUp
          && path.getParent().equals(directory)
          && Stream.of(before).noneMatch(one -> one.getPath().getName().equals(path.getName()))) {
        throw new FileNotFoundException(path + " is not there yet");
      }
      return super.getFileStatus(path);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return !caughtUp && path.toUri().getPath().equals(directory.toUri().getPath())
          ? before
          : super.listStatus(path);
    }

    @Override
    public void msync() {
      caughtUp = true;
    }
  }

  /** Files of the store; before one of its deletes an attempt is published. */
  private final class Publishing extends FilterFileSystem {
    private final int before;
    private int deletes;
    private boolean published;

    Publishing(int before) throws IOException {
      super(files());
      this.before = before;
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      if (++deletes == before) {
        try {
          output.publish("task-0-a", "task-0");
          published = true;
        } catch (IOException e) {
          published = false; // The list is gone.
        }
      }
      return super.delete(path, recursive);
    }
  }

  @Test
  void aJobThatCannotCommitMakesNoTablets() throws IOException {
    taskWrites("task-0", "one", "a");
    stele.admin().alterTable("web", schema -> schema.with(ColumnFamily.of("g")));
    stele.admin().alterTable("web", schema -> schema.without("f"));
    List<JobOutput.Cut> cuts = List.of(new JobOutput.Cut("web", table, Bytes.of("c")));
    assertFails(SteleException.Code.REFUSED, () -> output.commit(cuts, Map.of()))
        .hasMessageContaining("has family f, which table web does not have");
    assertThat(stele.table("web").tablets()).hasSize(2);
  }

  @Test
  void whatIsNotFinishedOrNotPublishedIsNotCommitted() throws IOException {
    taskWrites("task-0", "one", "a");
    finish("task-1-a", "two", "b");
    try (AttemptOutput killed = output.attempt("task-2-a", TERMS)) {
      killed.addTable("web", table, SCHEMA);
      killed.add("web", Mutation.of("c").put("f", "three", "three"));
    }
    commit();
    assertThat(visible()).containsExactly("a one");
    assertThatThrownBy(() -> output.publish("task-2-a", "task-2")).isInstanceOf(IOException.class);
  }

  /** One that had failed, which was tolerated, until an ApplicationMaster ran it again. */
  @Test
  void aTaskThatPublishesAfterACommitHasBegunIsLeftOutAndFails() throws IOException {
    taskWrites("task-0", "one", "a");
    Map<TableId, JobChange> changes = changes();
    jobs.register(job, changes); // Here its ApplicationMaster is killed.
    assertThat(visible()).isEmpty();
    finish("task-1-a", "two", "b");
    assertLeftOut("task-1-a", "task-1");
    finish("task-1-b", "two", "b");
    assertLeftOut("task-1-b", "task-1"); // As all its attempts, though one has published.
    finish("task-0-b", "again", "a");
    output.publish("task-0-b", "task-0"); // Nobody has told that it had succeeded.
    taskWrites("task-2", "nothing");
    assertThat(changes()).isEqualTo(changes);
    new JobOutput(jobs, job).commit(List.of(), Map.of()); // By the next.
    assertThat(visible()).containsExactly("a one");
    commit();
    assertThat(visible()).containsExactly("a one");
  }

  private void assertLeftOut(String attempt, String task) {
    assertFails(SteleException.Code.REFUSED, () -> output.publish(attempt, task))
        .hasMessageContaining("commits without what " + task + " has written")
        .hasMessageContaining("mapreduce.map.failures.maxpercent");
  }

  @Test
  void aTaskThatPublishesWhileTheListOfAllIsMadeIsInItOrFails() throws IOException {
    List<String> published = new ArrayList<>();
    for (int call = 1; call <= 6; call++) {
      String text = "before call " + call;
      taskWrites("task-0", "one", "a" + call);
      finish("task-1-a", text, "b" + call);
      new JobOutput(jobs, job, new PublishingLate(call, published)).commit(List.of(), Map.of());
      assertThat(visible()).contains("a" + call + " one");
      assertThat(visible().contains("b" + call + " " + text))
          .as(text)
          .isEqualTo(published.remove("task-1"));
      begin();
    }
  }

  /** Files of the store; before one of the calls of a commit another task is published. */
  private final class PublishingLate extends FilterFileSystem {
    private final int before;
    private final List<String> published;
    private int calls;

    PublishingLate(int before, List<String> published) throws IOException {
      super(files());
      this.before = before;
      this.published = published;
    }

    private void count() throws IOException {
      if (++calls == before) {
        try {
          output.publish("task-1-a", "task-1");
          published.add("task-1");
        } catch (SteleException | AccessControlException e) {
          assertThat(e.getMessage()).isNotEmpty(); // It is left out, or the job has committed.
        }
      }
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
      count();
      return super.rename(from, to);
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
      count();
      return super.mkdirs(path, permission);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      count();
      FileStatus[] listed = super.listStatus(path);
      count();
      return listed;
    }
  }

  @Test
  void ofTwoApplicationMastersThatCommitAtOnceBothSucceedAndTheJobIsThereOnce() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      String text = String.format("%02d", round);
      taskWrites("task-0", text, "a" + text, "z" + text);
      taskWrites("task-1", text, "b" + text);
      CyclicBarrier start = new CyclicBarrier(2);
      CompletableFuture<?> one = beginToCommit(start);
      CompletableFuture<?> other = beginToCommit(start);
      CompletableFuture.allOf(one, other).get();
      assertThat(visible()).hasSize(3 * (round + 1)).contains("a" + text + " " + text);
      begin();
    }
  }

  @Test
  void ofACommitAndAnAbortAtOnceOneWinsForGood() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      int before = visible().size();
      String text = String.format("%02d", round);
      taskWrites("task-0", text, "a" + text, "z" + text);
      CyclicBarrier start = new CyclicBarrier(2);
      CompletableFuture<Boolean> committed =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  start.await();
                  commit();
                  return true;
                } catch (Exception e) {
                  return false;
                }
              });
      start.await();
      output.abort();
      assertThat(visible()).hasSize(before + (committed.get() ? 2 : 0));
      begin();
    }
  }

  @Test
  void rowsAreReplacedWithTheFilesThatReplaceThem() throws IOException {
    stele.table("web").mutate(Mutation.of("b").put("f", "old", "x"));
    stele.table("web").mutate(Mutation.of("y").put("f", "kept", "x"));
    taskWrites("task-0", "new", "c");
    Map<TableId, List<RowRange>> replaced = Map.of(table, List.of(RowRange.of("a", "n")));
    jobs.register(job, output.changes(replaced));
    assertThat(visible()).containsExactly("b old", "y kept");
    output.commit(List.of(), replaced);
    assertThat(visible()).containsExactly("c new", "y kept");
    stele.table("web").mutate(Mutation.of("b").put("f", "later", "x"));
    output.commit(List.of(), replaced);
    assertThat(visible()).containsExactly("b later", "c new", "y kept");
  }

  @Test
  void anAbortedJobIsNeverVisible() throws IOException {
    taskWrites("task-0", "one", "a");
    jobs.register(job, changes());
    output.abort();
    assertThatThrownBy(this::commit).hasMessageContaining("is over");
    assertThat(visible()).isEmpty();
  }

  @Test
  void anOutputIsThatOfTheJobThatSetsItUpFirst() throws IOException {
    assertThatThrownBy(() -> output.requireSetUp("job_1")).hasMessageContaining("was not set up");
    output.setUp("job_1");
    output.setUp("job_1"); // By its next ApplicationMaster.
    output.requireSetUp("job_1");
    assertThatThrownBy(() -> output.setUp("job_2")).hasMessageContaining("is that of job job_1");
    assertThatThrownBy(() -> output.requireSetUp("job_2"))
        .hasMessageContaining("is that of job job_1");
    assertThat(output.isSetUpByAnother("job_1")).isFalse();
    assertThat(output.isSetUpByAnother("job_2")).isTrue();
    taskWrites("task-0", "one", "a");
    commit();
    output.setUp("job_1"); // It begins from scratch.
    assertThat(visible()).containsExactly("a one");
  }

  /** A task with little to write might not have heard of it. */
  @Test
  void anOutputThatIsOverAndSweptIsNotSetUp() throws IOException {
    output.setUp("job_1");
    output.abort();
    Path directory = directory();
    cluster.master().sweep();
    assertThat(files().exists(directory)).isFalse();
    finish("task-0-a", "one", "a");
    assertThatThrownBy(() -> output.requireSetUp("job_1")).hasMessageContaining("is over");
    assertThatThrownBy(() -> output.setUp("job_1")).hasMessageContaining("is over");
  }

  @Test
  void aJobOfNoTasksCommitsNothing() throws IOException {
    commit();
    assertThat(visible()).isEmpty();
  }
}
