package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Commits get their turn, however pinnings overlap. */
class CommitTurnsTest {
  private static final Duration LEASE = Duration.ofHours(1);
  private static final int PATIENCE_SECONDS = (int) CommitTurns.WAITS_AT_MOST.toSeconds();

  private final MasterFixture master = new MasterFixture();
  private final JobNodes nodes = new JobNodes(master.process, master.locks);

  private String begin() throws Exception {
    return master.jobs.begin(
        JobNodes.newRequest(master.process),
        LEASE,
        Optional.empty(),
        JobOrigin.UNKNOWN,
        StoredJob.Kind.MAY_WRITE);
  }

  private int version(String job) throws Exception {
    return nodes.read(job).orElseThrow().version();
  }

  /** A job for which tablets are being pinned. */
  private record Pinning(String job, int id) {}

  private Pinning pin() throws Exception {
    String job = begin();
    int id = version(job);
    assertThat(master.jobs.beginPinning(job, id)).isTrue();
    return new Pinning(job, id);
  }

  private static void mustWait(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
  }

  private void commitMustWait(String job) {
    mustWait(() -> master.jobs.commit(job));
  }

  private void pinningMustWait(String job) throws Exception {
    int id = version(job);
    mustWait(() -> master.jobs.beginPinning(job, id));
    assertThat(nodes.read(job).orElseThrow().isPinning()).isFalse();
  }

  /** Pinnings overlap for as long as a commit must wait for them; the last one is returned. */
  private Pinning overlap(String writes) throws Exception {
    Pinning last = pin();
    for (int i = 0; i < PATIENCE_SECONDS; i++) {
      commitMustWait(writes);
      Pinning next = pin();
      master.jobs.endPinning(last.job(), last.id());
      last = next;
      master.sleep(Duration.ofSeconds(1));
    }
    commitMustWait(writes);
    return last;
  }

  @Test
  void aCommitThatHasWaitedForAMinuteComesBeforeFurtherPinnings() throws Exception {
    master.run(
        () -> {
          String writes = begin();
          Pinning last = overlap(writes);
          String pins = begin();
          pinningMustWait(pins);
          commitMustWait(writes);
          // Its answer was lost: it must not wait for the commit that waits for it.
          assertThat(master.jobs.beginPinning(last.job(), last.id())).isTrue();
          master.jobs.endPinning(last.job(), last.id());
          pinningMustWait(pins);
          master.jobs.commit(writes);
          assertThat(master.jobs.beginPinning(pins, version(pins))).isTrue();
        });
  }

  @Test
  void aJobThatIsOverIsToldSoThoughACommitComesFirst() throws Exception {
    master.run(
        () -> {
          String writes = begin();
          overlap(writes);
          String ended = begin();
          int id = version(ended);
          master.jobs.end(ended);
          assertThatThrownBy(() -> master.jobs.beginPinning(ended, id))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.NOT_FOUND));
        });
  }

  @Test
  void aCommitWhoseClientHasGivenUpHindersNobody() throws Exception {
    master.run(
        () -> {
          String writes = begin();
          overlap(writes);
          String pins = begin();
          master.sleep(CommitTurns.GIVEN_UP_AFTER);
          pinningMustWait(pins);
          master.sleep(Duration.ofSeconds(1));
          assertThat(master.jobs.beginPinning(pins, version(pins))).isTrue();
          commitMustWait(writes); // It waits anew.
          pin();
        });
  }

  @Test
  void aJobThatWasEndedWhileItsCommitWaitedHindersNobody() throws Exception {
    master.run(
        () -> {
          String byRequest = begin();
          overlap(byRequest);
          master.jobs.end(byRequest);
          pin();
          String byAnother = begin();
          overlap(byAnother);
          nodes.end(byAnother);
          master.jobs.checkLeases();
          pin();
        });
  }
}
