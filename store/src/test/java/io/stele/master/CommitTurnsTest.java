package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.master.JobFixture.Job;
import io.stele.master.JobFixture.Pinning;
import io.stele.model.SteleException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Commits get their turn, however pinnings overlap. */
class CommitTurnsTest {
  private static final int PATIENCE_SECONDS = (int) CommitTurns.WAITS_AT_MOST.toSeconds();

  private final JobFixture jobs = new JobFixture(Duration.ofHours(1));

  /** Pinnings overlap for as long as a commit must wait for them; the last one is returned. */
  private Pinning overlap(Job writes) throws Exception {
    Pinning last = jobs.begin().beginsToPin();
    for (int i = 0; i < PATIENCE_SECONDS; i++) {
      writes.mustWaitToCommit();
      Pinning next = jobs.begin().beginsToPin();
      last.ends();
      last = next;
      jobs.passUnseen(Duration.ofSeconds(1));
    }
    writes.mustWaitToCommit();
    return last;
  }

  @Test
  void aCommitThatHasWaitedForAMinuteComesBeforeFurtherPinnings() throws Exception {
    jobs.run(
        () -> {
          Job writes = jobs.begin();
          Pinning last = overlap(writes);
          Job pins = jobs.begin();
          pins.nextPinning().mustWait();
          writes.mustWaitToCommit();
          // Its answer was lost: it must not wait for the commit that waits for it.
          assertThat(last.begins()).isTrue();
          last.ends();
          pins.nextPinning().mustWait();
          writes.commits();
          pins.beginsToPin();
        });
  }

  @Test
  void aJobThatIsOverIsToldSoThoughACommitComesFirst() throws Exception {
    jobs.run(
        () -> {
          overlap(jobs.begin());
          Job ended = jobs.begin();
          Pinning late = ended.nextPinning();
          ended.ends();
          assertFails(SteleException.Code.NOT_FOUND, late::begins);
        });
  }

  @Test
  void aCommitWhoseClientHasGivenUpHindersNobody() throws Exception {
    jobs.run(
        () -> {
          Job writes = jobs.begin();
          overlap(writes);
          Job pins = jobs.begin();
          jobs.passUnseen(CommitTurns.GIVEN_UP_AFTER);
          pins.nextPinning().mustWait();
          jobs.passUnseen(Duration.ofSeconds(1));
          pins.beginsToPin();
          writes.mustWaitToCommit(); // It waits anew.
          jobs.begin().beginsToPin();
        });
  }

  @Test
  void aJobThatWasEndedWhileItsCommitWaitedHindersNobody() throws Exception {
    jobs.run(
        () -> {
          Job byRequest = jobs.begin();
          overlap(byRequest);
          byRequest.ends();
          jobs.begin().beginsToPin();
          Job byAnother = jobs.begin();
          overlap(byAnother);
          jobs.nodes.end(byAnother.name());
          jobs.leases.checkLeases();
          jobs.begin().beginsToPin();
        });
  }
}
