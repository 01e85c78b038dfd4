package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the nodes of jobs say, and what they may say one day. */
class JobNodesTest {
  private static final String APPLICATION = "application_1600000000000_0007";

  private final MemoryLockService locks = new MemoryLockStore().connect();
  private final JobNodes jobs = new JobNodes(SystemRuntime.INSTANCE, locks);
  private String job;

  @BeforeEach
  void begin() throws Exception {
    String request = JobNodes.newRequest(SystemRuntime.INSTANCE);
    job = jobs.begin(request, Duration.ofSeconds(20), Optional.of(APPLICATION));
  }

  @AfterEach
  void close() {
    locks.close();
  }

  private void write(String data) throws Exception {
    int version = locks.read(LockPaths.job(job)).orElseThrow().version();
    assertThat(locks.write(LockPaths.job(job), Bytes.of(data), version)).isPresent();
  }

  private String data() throws Exception {
    return locks.read(LockPaths.job(job)).orElseThrow().data().toUtf8();
  }

  @Test
  void aJobThatRequiresWhatThisVersionDoesNotKnowIsReadAndNotChanged() throws Exception {
    String later = "20000 7 " + APPLICATION + " committed requires=pins,later-feature";
    write(later.replace(" committed", ""));
    StoredJob read = jobs.read(job).orElseThrow();
    assertThat(jobs.state(job)).isEqualTo(JobNodes.State.BEGUN);
    assertRefused(() -> jobs.commit(job));
    assertRefused(() -> jobs.finish(job));
    assertThat(jobs.read(job)).contains(read);
    assertThat(jobs.renew(job)).isTrue(); // Its program runs.
    assertThat(data()).isEqualTo("20000 8 " + APPLICATION + " requires=pins,later-feature");
    write(later);
    assertThat(jobs.state(job)).isEqualTo(JobNodes.State.COMMITTED);
    StoredJob committed = jobs.read(job).orElseThrow();
    assertRefused(() -> jobs.remove(job, committed));
    assertThat(data()).isEqualTo(later);
    write("20000 7 requires=pins");
    assertThat(jobs.renew(job)).isTrue();
    assertThat(data()).isEqualTo("20000 8 requires=pins");
  }

  @Test
  void aJobThatRequiresWhatThisVersionDoesNotKnowHoldsNoOtherUp() throws Exception {
    write("20000 7 committing requires=later-feature");
    String other =
        jobs.begin(
            JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofSeconds(20), Optional.empty());
    int id = jobs.read(other).orElseThrow().version();
    assertThat(jobs.beginPinning(other, id)).isEqualTo(JobNodes.Begun.YES);
    assertThat(data()).isEqualTo("20000 7 requires=later-feature");
    jobs.end(job);
    assertThat(jobs.state(job)).isEqualTo(JobNodes.State.GONE);
  }

  private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable change) {
    assertThatThrownBy(change)
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining("requires later-feature");
  }

  @Test
  void wordsOfLaterVersionsAreIgnored() throws Exception {
    write("20000 7 " + APPLICATION + " pinning 5 2 committing runs-max=10 shape=a=b");
    StoredJob read = jobs.read(job).orElseThrow();
    assertThat(read.lease()).isEqualTo(Duration.ofSeconds(20));
    assertThat(read.renewals()).isEqualTo(7);
    assertThat(read.application()).contains(APPLICATION);
    assertThat(read.pinning()).contains(new StoredJob.Pinning(5, 2, false));
    assertThat(read.commit()).isEqualTo(StoredJob.Commit.UNDER_WAY);
    write("20000 7 shape=round");
    assertThat(jobs.read(job).orElseThrow().application()).isEmpty();
    write("20000 7 committed shape=round");
    assertThat(jobs.state(job)).isEqualTo(JobNodes.State.COMMITTED);
  }

  @Test
  void wordsOfLaterVersionsStayWhenTheNodeIsChanged() throws Exception {
    write("20000 7 " + APPLICATION + " runs-max=10 shape=round");
    assertThat(jobs.renew(job)).isTrue();
    assertThat(data()).isEqualTo("20000 8 " + APPLICATION + " runs-max=10 shape=round");
    int id = jobs.read(job).orElseThrow().version();
    assertThat(jobs.beginPinning(job, id)).isEqualTo(JobNodes.Begun.YES);
    assertThat(data())
        .isEqualTo("20000 9 " + APPLICATION + " pinning " + id + " 0 runs-max=10 shape=round");
    assertThat(jobs.endPinning(job, id)).isTrue();
    assertThat(jobs.commit(job)).isTrue();
    assertThat(data()).isEqualTo("20000 10 " + APPLICATION + " committed runs-max=10 shape=round");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "20000",
        "20000 7 shape",
        "20000 7 shape=",
        "20000 7 =round",
        "20000 7 Shape=round",
        "20000 7 a=1  b=2",
        "20000 7 a=1 ",
        "20000 7 a=1 committed"
      })
  void otherDataIsDamage(String data) throws Exception {
    write(data);
    assertThatThrownBy(() -> jobs.read(job))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(LockPaths.job(job));
  }

  @Test
  void othersArePinnedAndCommitThoughANodeIsDamaged() throws Exception {
    write("20000 7 pinning");
    locks.create(LockPaths.JOBS + "/another-kind-of-name", Bytes.of("20000 7 pinning 5 2"));
    String other =
        jobs.begin(
            JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofSeconds(20), Optional.empty());
    int id = jobs.read(other).orElseThrow().version();
    assertThat(jobs.beginPinning(other, id)).isEqualTo(JobNodes.Begun.YES);
    assertThat(jobs.endPinning(other, id)).isTrue();
    assertThat(jobs.commit(other)).isTrue();
    assertThatThrownBy(() -> jobs.commit(job)).isInstanceOf(CorruptionException.class);
    assertThat(jobs.committed(List.of(job, other))).containsExactly(other);
    assertThat(jobs.stateOfOther(job)).isEqualTo(JobNodes.State.BEGUN);
    assertThat(jobs.names()).containsExactlyInAnyOrder(job, other);
    assertThat(data()).isEqualTo("20000 7 pinning");
  }
}
