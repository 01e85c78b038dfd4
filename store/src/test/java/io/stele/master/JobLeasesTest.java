package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.lock.VersionedData;
import io.stele.master.JobFixture.Job;
import io.stele.metadata.StoredJob;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Jobs begin, are renewed, and end by request or by their lease. */
class JobLeasesTest {
  private static final Duration LEASE = Duration.ofSeconds(20);

  private final JobFixture jobs = new JobFixture(LEASE);

  @Test
  void aJobThatNobodyRenewsIsOverAfterItsLease() throws Exception {
    jobs.run(
        () -> {
          Job job = jobs.begin();
          Job renewed = jobs.begin();
          jobs.pass(Duration.ofSeconds(15));
          job.assertNotOver();
          renewed.renews();
          jobs.pass(Duration.ofSeconds(10));
          job.assertOver();
          renewed.assertNotOver();
          jobs.pass(Duration.ofSeconds(15));
          renewed.assertOver();
          assertFails(SteleException.Code.NOT_FOUND, renewed::renews);
        });
  }

  @Test
  void aNewMasterWaitsForAWholeLeaseAndADeposedOneEndsNothingThatWasRenewedSince()
      throws Exception {
    jobs.run(
        () -> {
          Job job = jobs.begin();
          jobs.pass(Duration.ofSeconds(18));
          JobLeases next = jobs.anotherMaster();
          jobs.pass(next, Duration.ofSeconds(18));
          job.assertNotOver();
          next.renew(job.name());
          jobs.pass(Duration.ofSeconds(15));
          job.assertNotOver();
          StoredJob seen = job.stored();
          next.renew(job.name());
          assertThat(jobs.nodes.remove(job.name(), seen)).isFalse();
          job.assertNotOver();
        });
  }

  @Test
  void timeInWhichNobodyLookedDoesNotCount() throws Exception {
    jobs.run(
        () -> {
          Job job = jobs.begin();
          jobs.pass(Duration.ofSeconds(5));
          jobs.passUnseen(Duration.ofMinutes(10)); // The lock service was away, say.
          jobs.pass(Duration.ofSeconds(10));
          job.assertNotOver();
          jobs.pass(Duration.ofSeconds(10));
          job.assertOver();
        });
  }

  @Test
  void theShortestLeaseSurvivesAShortTimeInWhichNobodyLooked() throws Exception {
    jobs.run(
        () -> {
          Job job = jobs.begin(jobs.newRequest(), Duration.ofSeconds(5));
          jobs.pass(Duration.ofSeconds(2));
          jobs.passUnseen(Duration.ofMillis(4500)); // The lock service was away, say.
          jobs.leases.checkLeases();
          assertThat(job.isOver()).as("it could not be renewed").isFalse();
          jobs.pass(Duration.ofSeconds(5));
          job.assertOver();
        });
  }

  @Test
  void aJobThatRequiresWhatThisMasterDoesNotKnowHoldsUpNoCommitAndEnds() throws Exception {
    jobs.run(
        () -> {
          Job later = jobs.begin();
          later.beginsToPin();
          String node = LockPaths.job(later.name());
          VersionedData before = jobs.master.locks.read(node).orElseThrow();
          Bytes data = Bytes.of(before.data().toUtf8() + " requires=later-feature");
          jobs.master.locks.write(node, data, before.version());
          Job other = jobs.begin();
          other.mustWaitToCommit();
          jobs.pass(Duration.ofSeconds(17));
          other.commits();
          assertThat(jobs.master.locks.read(node).orElseThrow().data().toUtf8())
              .contains("interrupted")
              .endsWith(" requires=later-feature");
          jobs.pass(Duration.ofSeconds(25));
          later.assertOver();
        });
  }

  @Test
  void aRequestBeginsOneJobAndWhenThatIsOverNeverTheSame() throws Exception {
    jobs.run(
        () -> {
          String request = jobs.newRequest();
          Job job = jobs.begin(request, LEASE);
          assertThat(jobs.begin(request, LEASE).name()).isEqualTo(job.name());
          assertThat(jobs.nodes.names()).containsExactly(job.name());
          job.ends();
          job.ends();
          assertThat(jobs.nodes.names()).isEmpty();
          assertThat(jobs.begin(request, LEASE).name()).isNotEqualTo(job.name());
          job.assertOver();
        });
  }

  @Test
  void renewalsByManyAreWrittenOnce() throws Exception {
    jobs.run(
        () -> {
          Job job = jobs.begin();
          for (int i = 0; i < 100; i++) {
            job.renews();
          }
          assertThat(job.stored().renewals()).isEqualTo(1);
          jobs.passUnseen(Duration.ofSeconds(1));
          job.renews();
          assertThat(job.stored().renewals()).isEqualTo(2);
        });
  }

  @Test
  void leasesThatCannotBeKeptAreRefused() {
    String request = jobs.newRequest();
    for (Duration lease : new Duration[] {Duration.ofSeconds(-1), Duration.ofDays(400)}) {
      assertFails(SteleException.Code.REFUSED, () -> jobs.begin(request, lease));
    }
  }
}
