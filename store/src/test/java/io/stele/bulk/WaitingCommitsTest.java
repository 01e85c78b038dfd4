package io.stele.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.Site;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commits that a tablet, or the pinning of another job, keeps waiting. */
@Timeout(120)
class WaitingCommitsTest extends JobOutputTestCase {
  /** The cluster is another one, whose clients wait no longer than this for any answer. */
  private LockService restart(String timeout) throws IOException {
    cluster.close();
    Configuration conf = new Configuration(false);
    conf.set(Keys.CLIENT_TIMEOUT.name(), timeout);
    Site site = Site.inMemory();
    start(conf, site);
    return site.connect();
  }

  /** The first file that the job commits. */
  private Path firstFile() throws IOException {
    return new Path(jobs.environment().root(), changes().get(table).files().get(0).path());
  }

  private CompletableFuture<Void> beginToCommit() {
    return beginToCommit(new CyclicBarrier(1));
  }

  private static void assertWaits(CompletableFuture<Void> commit, int seconds) {
    assertThatThrownBy(() -> commit.get(seconds, TimeUnit.SECONDS))
        .isInstanceOf(TimeoutException.class);
  }

  @Test
  void aCommitThatATabletCannotTakePartInSaysWhy() throws IOException {
    restart("2s");
    taskWrites("task-0", "one", "a");
    Path file = firstFile();
    assertThat(files().delete(file, false)).isTrue();
    assertThatThrownBy(() -> jobs.register(job, changes()))
        .hasMessageContaining("its server says")
        .hasMessageContaining(file.getName());
  }

  /** Hours of work may have gone before it. */
  @Test
  void aCommitWaitsForATabletForLongerThanForAnAnswer() throws Exception {
    restart("1s");
    taskWrites("task-0", "one", "a");
    Path file = firstFile();
    Path aside = file.suffix("-aside");
    assertThat(files().rename(file, aside)).isTrue();
    CompletableFuture<Void> commit = beginToCommit();
    assertWaits(commit, 3);
    assertThat(files().rename(aside, file)).isTrue();
    commit.get();
    assertThat(visible()).containsExactly("a one");
  }

  @Test
  void aCommitThatWaitsForATabletEndsWithItsJob() throws Exception {
    restart("1s");
    taskWrites("task-0", "one", "a");
    Path file = firstFile();
    assertThat(files().delete(file, false)).isTrue();
    CompletableFuture<Void> commit = beginToCommit();
    assertWaits(commit, 2);
    output.abort();
    assertThatThrownBy(commit::get).hasStackTraceContaining("is over");
  }

  @Test
  void aCommitOutlastsThePinningOfAnotherJob() throws Exception {
    try (LockService locks = restart("1s")) {
      String pinned = jobs.begin(Duration.ofMinutes(10));
      JobNodes nodes = new JobNodes(SystemRuntime.INSTANCE, locks);
      int pinning = nodes.read(pinned).orElseThrow().version();
      nodes.beginPinning(pinned, pinning);
      taskWrites("task-0", "one", "a");
      CompletableFuture<Void> commit = beginToCommit();
      assertWaits(commit, 3);
      nodes.endPinning(pinned, pinning);
      commit.get();
      assertThat(visible()).containsExactly("a one");
    }
  }
}
