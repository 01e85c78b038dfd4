package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockPaths;
import io.stele.master.JobFixture.Job;
import io.stele.master.JobFixture.Pinning;
import io.stele.metadata.StoredJob;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** No job commits while tablets are pinned for another, but for who dies meanwhile. */
class PinningLeasesTest {
  private final JobFixture jobs = new JobFixture(Duration.ofSeconds(20));

  @Test
  void noJobCommitsWhileTabletsArePinned() throws Exception {
    jobs.run(
        () -> {
          Job pins = jobs.begin();
          Job alsoPins = jobs.begin();
          Job writes = jobs.begin();
          Pinning pinning = pins.beginsToPin();
          assertThat(pinning.begins()).isTrue(); // Its answer was lost.
          alsoPins.beginsToPin();
          writes.mustWaitToCommit();
          writes.renews();
          pins.renews();
          pinning.ends();
          pinning.ends();
          writes.mustWaitToCommit();
          alsoPins.ends();
          writes.commits();
          writes.assertCommitted();
          pins.beginsToPin();
          writes.commits(); // Again.
        });
  }

  @Test
  void aJobThatFinishesCountsAsCommittedAndWaitsForNoPinning() throws Exception {
    jobs.run(
        () -> {
          Job pins = jobs.begin();
          Job finishes = jobs.begin();
          Job ended = jobs.begin();
          pins.beginsToPin();
          finishes.finishes();
          finishes.assertCommitted();
          assertThat(pins.stored().isPinning()).isTrue();
          assertThatThrownBy(finishes::renews).hasMessageContaining("committed");
          finishes.ends();
          finishes.finishes();
          finishes.assertCommitted();
          ended.ends();
          ended.finishes();
          ended.assertGone();
        });
  }

  @Test
  void aCommitThatIsInProgressBeginsAgainWhenTabletsArePinned() throws Exception {
    jobs.run(
        () -> {
          Job pins = jobs.begin();
          Job writes = jobs.begin();
          // Its master stands still between its look and its last write.
          assertThat(write(writes, "20000 0 committing", writes.stored())).isTrue();
          StoredJob seen = writes.stored();
          Pinning pinning = pins.beginsToPin();
          assertThat(write(writes, "20000 0 committed", seen)).isFalse();
          writes.mustWaitToCommit();
          pinning.ends();
          writes.commits();
        });
  }

  /** Writes a job's node, unless it has changed since it was {@code seen}; returns whether so. */
  private boolean write(Job job, String content, StoredJob seen) throws Exception {
    return jobs.master
        .locks
        .write(LockPaths.job(job.name()), Bytes.of(content), seen.version())
        .isPresent();
  }

  @Test
  void whoDiesWhileHePinsHindersCommitsForSecondsOnlyAndCannotGoOn() throws Exception {
    jobs.run(
        () -> {
          Job dies = jobs.begin();
          Job lives = jobs.begin();
          Job writes = jobs.begin();
          Job afterwards = jobs.begin();
          Pinning dead = dies.beginsToPin();
          jobs.everySecond(
              14,
              () -> {
                lives.renews();
                afterwards.renews();
                writes.mustWaitToCommit();
              });
          jobs.pass(Duration.ofSeconds(2));
          writes.commits();
          assertFails(SteleException.Code.REFUSED, dead::ends);
          Pinning pinning = lives.beginsToPin();
          jobs.everySecond(
              20,
              () -> {
                afterwards.renews();
                pinning.renews();
                afterwards.mustWaitToCommit();
              });
          pinning.ends();
        });
  }

  @Test
  void whoRenewsAJobDoesNotKeepThePinningOfAnotherWhoDied() throws Exception {
    jobs.run(
        () -> {
          Job pins = jobs.begin();
          Job writes = jobs.begin();
          pins.beginsToPin();
          jobs.everySecond(17, pins::renews); // By a task, say.
          writes.commits();
        });
  }

  @Test
  void requestsOfAPinningThatAFrozenMasterServesLateChangeNothing() throws Exception {
    jobs.run(
        () -> {
          Job pins = jobs.begin();
          Job writes = jobs.begin();
          Pinning first = pins.beginsToPin();
          first.ends();
          JobLeases frozen = jobs.anotherMaster();
          assertThat(first.begins(frozen)).isFalse();
          assertThat(pins.stored().isPinning()).isFalse();
          Pinning second = pins.beginsToPin();
          first.ends(frozen);
          writes.mustWaitToCommit();
          second.ends();
          second.renews(frozen);
          writes.commits();
        });
  }

  @Test
  void timeInWhichNobodyLookedDoesNotCountForPinningsEither() throws Exception {
    jobs.run(
        () -> {
          Pinning pinning = jobs.begin().beginsToPin();
          jobs.pass(Duration.ofSeconds(5));
          jobs.passUnseen(Duration.ofMinutes(10)); // The lock service was away, say.
          jobs.pass(Duration.ofSeconds(5));
          pinning.renews();
          pinning.ends();
        });
  }
}
