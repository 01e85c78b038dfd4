package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Jobs begin, are renewed, and end by request or by their lease. */
class JobLeasesTest {
  private static final Duration LEASE = Duration.ofSeconds(20);

  private final MasterFixture master = new MasterFixture();
  private final JobNodes nodes = new JobNodes(master.process, master.locks);

  private String begin() throws Exception {
    return master.jobs.begin(JobNodes.newRequest(master.process), LEASE);
  }

  private void lookFor(JobLeases leases, Duration time) throws Exception {
    for (long i = 0; i < time.toSeconds(); i++) {
      master.sleep(Duration.ofSeconds(1));
      leases.look();
    }
  }

  private boolean isOver(String job) throws Exception {
    return nodes.read(job).isEmpty();
  }

  @Test
  void aJobThatNobodyRenewsIsOverAfterItsLease() throws Exception {
    master.run(
        () -> {
          String job = begin();
          String renewed = begin();
          lookFor(master.jobs, Duration.ofSeconds(15));
          assertThat(isOver(job)).isFalse();
          master.jobs.renew(renewed);
          lookFor(master.jobs, Duration.ofSeconds(10));
          assertThat(isOver(job)).isTrue();
          assertThat(isOver(renewed)).isFalse();
          lookFor(master.jobs, Duration.ofSeconds(15));
          assertThat(isOver(renewed)).isTrue();
          assertThatThrownBy(() -> master.jobs.renew(renewed))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.NOT_FOUND));
        });
  }

  @Test
  void aNewMasterWaitsForAWholeLeaseAndADeposedOneEndsNothingThatWasRenewedSince()
      throws Exception {
    master.run(
        () -> {
          String job = begin();
          lookFor(master.jobs, Duration.ofSeconds(18));
          JobLeases next = new JobLeases(master.process, nodes);
          lookFor(next, Duration.ofSeconds(18));
          assertThat(isOver(job)).isFalse();
          next.renew(job);
          lookFor(master.jobs, Duration.ofSeconds(15));
          assertThat(isOver(job)).isFalse();
          JobNodes.Job seen = nodes.read(job).orElseThrow();
          next.renew(job);
          assertThat(nodes.remove(job, seen)).isFalse();
          assertThat(isOver(job)).isFalse();
        });
  }

  @Test
  void timeInWhichNobodyLookedDoesNotCount() throws Exception {
    master.run(
        () -> {
          String job = begin();
          lookFor(master.jobs, Duration.ofSeconds(5));
          master.sleep(Duration.ofMinutes(10)); // The lock service was away, say.
          lookFor(master.jobs, Duration.ofSeconds(10));
          assertThat(isOver(job)).isFalse();
          lookFor(master.jobs, Duration.ofSeconds(10));
          assertThat(isOver(job)).isTrue();
        });
  }

  @Test
  void aRequestBeginsOneJobAndWhenThatIsOverNeverTheSame() throws Exception {
    master.run(
        () -> {
          String request = JobNodes.newRequest(master.process);
          String job = master.jobs.begin(request, LEASE);
          assertThat(master.jobs.begin(request, LEASE)).isEqualTo(job);
          assertThat(nodes.names()).containsExactly(job);
          master.jobs.end(job);
          master.jobs.end(job);
          assertThat(nodes.names()).isEmpty();
          assertThat(master.jobs.begin(request, LEASE)).isNotEqualTo(job);
          assertThat(isOver(job)).isTrue();
        });
  }

  @Test
  void renewalsByManyAreWrittenOnce() throws Exception {
    master.run(
        () -> {
          String job = begin();
          for (int i = 0; i < 100; i++) {
            master.jobs.renew(job);
          }
          assertThat(nodes.read(job).orElseThrow().renewals()).isEqualTo(1);
          master.sleep(Duration.ofSeconds(1));
          master.jobs.renew(job);
          assertThat(nodes.read(job).orElseThrow().renewals()).isEqualTo(2);
        });
  }

  @Test
  void leasesThatCannotBeKeptAreRefused() {
    String request = JobNodes.newRequest(master.process);
    for (Duration lease : new Duration[] {Duration.ofSeconds(-1), Duration.ofDays(400)}) {
      assertThatThrownBy(() -> master.jobs.begin(request, lease))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    }
  }
}
