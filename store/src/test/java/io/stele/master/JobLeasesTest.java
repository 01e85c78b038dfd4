package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Jobs;
import io.stele.lock.LockPaths;
import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Jobs begin, are renewed, and end by request or by their lease. */
class JobLeasesTest {
  private static final Duration LEASE = Duration.ofSeconds(20);

  private static final String APPLICATION = "application_1600000000000_0007";

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

  private void lookFor(JobLeases leases, Duration time) throws Exception {
    for (long i = 0; i < time.toSeconds(); i++) {
      master.sleep(Duration.ofSeconds(1));
      leases.checkLeases();
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
          JobLeases next = new JobLeases(master.process, nodes, Applications.NONE);
          lookFor(next, Duration.ofSeconds(18));
          assertThat(isOver(job)).isFalse();
          next.renew(job);
          lookFor(master.jobs, Duration.ofSeconds(15));
          assertThat(isOver(job)).isFalse();
          StoredJob seen = nodes.read(job).orElseThrow();
          next.renew(job);
          assertThat(nodes.remove(job, seen)).isFalse();
          assertThat(isOver(job)).isFalse();
        });
  }

  private int beginPinning(String job) throws Exception {
    int id = nodes.read(job).orElseThrow().version();
    assertThat(master.jobs.beginPinning(job, id)).isTrue();
    return id;
  }

  private void waits(String job) {
    assertThatThrownBy(() -> master.jobs.commit(job))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
  }

  @Test
  void noJobCommitsWhileTabletsArePinned() throws Exception {
    master.run(
        () -> {
          String pins = begin();
          String alsoPins = begin();
          String writes = begin();
          int pinning = beginPinning(pins);
          assertThat(master.jobs.beginPinning(pins, pinning)).isTrue(); // Its answer was lost.
          beginPinning(alsoPins);
          waits(writes);
          master.jobs.renew(writes);
          master.jobs.renew(pins);
          master.jobs.endPinning(pins, pinning);
          master.jobs.endPinning(pins, pinning);
          waits(writes);
          master.jobs.end(alsoPins);
          master.jobs.commit(writes);
          assertThat(nodes.state(writes)).isEqualTo(JobNodes.State.COMMITTED);
          beginPinning(pins);
          master.jobs.commit(writes); // Again.
        });
  }

  @Test
  void aJobThatFinishesCountsAsCommittedAndWaitsForNoPinning() throws Exception {
    master.run(
        () -> {
          String pins = begin();
          String finishes = begin();
          String ended = begin();
          beginPinning(pins);
          master.jobs.finish(finishes);
          assertThat(nodes.state(finishes)).isEqualTo(JobNodes.State.COMMITTED);
          assertThat(nodes.read(pins).orElseThrow().isPinning()).isTrue();
          assertThatThrownBy(() -> master.jobs.renew(finishes)).hasMessageContaining("committed");
          master.jobs.end(finishes);
          master.jobs.finish(finishes);
          assertThat(nodes.state(finishes)).isEqualTo(JobNodes.State.COMMITTED);
          master.jobs.end(ended);
          master.jobs.finish(ended);
          assertThat(nodes.state(ended)).isEqualTo(JobNodes.State.GONE);
        });
  }

  @Test
  void aCommittedJobIsRememberedForItsLeaseOrWhileItsApplicationRuns() throws Exception {
    OneApplication yarn = new OneApplication();
    JobLeases leases = new JobLeases(master.process, nodes, yarn);
    master.run(
        () -> {
          String alone = begin();
          String job = beginFor(leases, APPLICATION);
          yarn.state = Applications.State.ALIVE;
          leases.commit(alone);
          leases.finish(job);
          lookFor(leases, Duration.ofSeconds(15));
          assertThat(leases.forgettable()).isEmpty();
          lookFor(leases, Duration.ofSeconds(15));
          assertThat(leases.forgettable()).containsOnlyKeys(alone);
          yarn.state = Applications.State.ENDED;
          lookFor(leases, Duration.ofSeconds(12));
          assertThat(leases.forgettable()).containsOnlyKeys(alone, job);
        });
  }

  @Test
  void aCommitThatIsInProgressBeginsAgainWhenTabletsArePinned() throws Exception {
    master.run(
        () -> {
          String pins = begin();
          String writes = begin();
          // Its master stands still between its look and its last write.
          StoredJob marked = nodes.read(writes).orElseThrow();
          master.locks.write(
              LockPaths.job(writes), Bytes.of("20000 0 committing"), marked.version());
          StoredJob seen = nodes.read(writes).orElseThrow();
          int pinning = beginPinning(pins);
          assertThat(
                  master.locks.write(
                      LockPaths.job(writes), Bytes.of("20000 0 committed"), seen.version()))
              .isEmpty();
          waits(writes);
          master.jobs.endPinning(pins, pinning);
          master.jobs.commit(writes);
        });
  }

  @Test
  void whoDiesWhileHePinsHindersCommitsForSecondsOnlyAndCannotGoOn() throws Exception {
    master.run(
        () -> {
          String dies = begin();
          String lives = begin();
          String writes = begin();
          String afterwards = begin();
          int dead = beginPinning(dies);
          for (int i = 0; i < 14; i++) {
            lookFor(master.jobs, Duration.ofSeconds(1));
            master.jobs.renew(lives);
            master.jobs.renew(afterwards);
            waits(writes);
          }
          lookFor(master.jobs, Duration.ofSeconds(2));
          master.jobs.commit(writes);
          assertThatThrownBy(() -> master.jobs.endPinning(dies, dead))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
          int pinning = beginPinning(lives);
          for (int i = 0; i < 20; i++) {
            lookFor(master.jobs, Duration.ofSeconds(1));
            master.jobs.renew(afterwards);
            master.jobs.renewPinning(lives, pinning);
            waits(afterwards);
          }
          master.jobs.endPinning(lives, pinning);
        });
  }

  @Test
  void whoRenewsAJobDoesNotKeepThePinningOfAnotherWhoDied() throws Exception {
    master.run(
        () -> {
          String pins = begin();
          String writes = begin();
          beginPinning(pins);
          for (int i = 0; i < 17; i++) {
            lookFor(master.jobs, Duration.ofSeconds(1));
            master.jobs.renew(pins); // By a task, say.
          }
          master.jobs.commit(writes);
        });
  }

  @Test
  void requestsOfAPinningThatAFrozenMasterServesLateChangeNothing() throws Exception {
    master.run(
        () -> {
          String pins = begin();
          String writes = begin();
          int first = beginPinning(pins);
          master.jobs.endPinning(pins, first);
          JobLeases frozen = new JobLeases(master.process, nodes, Applications.NONE);
          assertThat(frozen.beginPinning(pins, first)).isFalse();
          assertThat(nodes.read(pins).orElseThrow().isPinning()).isFalse();
          int second = beginPinning(pins);
          frozen.endPinning(pins, first);
          waits(writes);
          master.jobs.endPinning(pins, second);
          frozen.renewPinning(pins, second);
          master.jobs.commit(writes);
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
  void theShortestLeaseSurvivesAShortTimeInWhichNobodyLooked() throws Exception {
    master.run(
        () -> {
          String job =
              master.jobs.begin(
                  JobNodes.newRequest(master.process),
                  Duration.ofSeconds(5),
                  Optional.empty(),
                  JobOrigin.UNKNOWN,
                  StoredJob.Kind.MAY_WRITE);
          lookFor(master.jobs, Duration.ofSeconds(2));
          master.sleep(Duration.ofMillis(4500)); // The lock service was away, say.
          master.jobs.checkLeases();
          assertThat(isOver(job)).as("it could not be renewed").isFalse();
          lookFor(master.jobs, Duration.ofSeconds(5));
          assertThat(isOver(job)).isTrue();
        });
  }

  @Test
  void timeInWhichNobodyLookedDoesNotCountForPinningsEither() throws Exception {
    master.run(
        () -> {
          String pins = begin();
          int pinning = beginPinning(pins);
          lookFor(master.jobs, Duration.ofSeconds(5));
          master.sleep(Duration.ofMinutes(10)); // The lock service was away, say.
          lookFor(master.jobs, Duration.ofSeconds(5));
          master.jobs.renewPinning(pins, pinning);
          master.jobs.endPinning(pins, pinning);
        });
  }

  @Test
  void aRequestBeginsOneJobAndWhenThatIsOverNeverTheSame() throws Exception {
    master.run(
        () -> {
          String request = JobNodes.newRequest(master.process);
          String job =
              master.jobs.begin(
                  request, LEASE, Optional.empty(), JobOrigin.UNKNOWN, StoredJob.Kind.MAY_WRITE);
          assertThat(
                  master.jobs.begin(
                      request,
                      LEASE,
                      Optional.empty(),
                      JobOrigin.UNKNOWN,
                      StoredJob.Kind.MAY_WRITE))
              .isEqualTo(job);
          assertThat(nodes.names()).containsExactly(job);
          master.jobs.end(job);
          master.jobs.end(job);
          assertThat(nodes.names()).isEmpty();
          assertThat(
                  master.jobs.begin(
                      request,
                      LEASE,
                      Optional.empty(),
                      JobOrigin.UNKNOWN,
                      StoredJob.Kind.MAY_WRITE))
              .isNotEqualTo(job);
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

  /** A YARN with one application, in the state that a test gives it. */
  private static final class OneApplication implements Applications {
    private State state = State.UNKNOWN;
    private int asked;

    @Override
    public State state(String application) {
      asked++;
      return application.equals(APPLICATION) ? state : State.UNKNOWN;
    }

    @Override
    public void close() {}
  }

  private String beginFor(JobLeases leases, String application) throws Exception {
    String request = JobNodes.newRequest(master.process);
    return leases.begin(
        request, LEASE, Optional.of(application), JobOrigin.UNKNOWN, StoredJob.Kind.MAY_WRITE);
  }

  @Test
  void aJobOfAnApplicationNeedsNoRenewalWhileThatWaitsOrRunsAndIsOverSoonAfterIt()
      throws Exception {
    OneApplication yarn = new OneApplication();
    JobLeases leases = new JobLeases(master.process, nodes, yarn);
    master.run(
        () -> {
          String job = beginFor(leases, APPLICATION);
          lookFor(leases, Duration.ofSeconds(15)); // It is not submitted yet.
          yarn.state = Applications.State.ALIVE;
          lookFor(leases, Duration.ofHours(3));
          assertThat(isOver(job)).isFalse();
          assertThat(yarn.asked).isLessThan(3 * 3600 / 9);
          yarn.state = Applications.State.ENDED;
          lookFor(leases, Duration.ofSeconds(12));
          assertThat(isOver(job)).isTrue();
        });
  }

  @Test
  void aJobThatIsPartOfAnotherLivesAsLongAsThat() throws Exception {
    master.run(
        () -> {
          String ends = begin();
          String commits = begin();
          String pins = beginFor(master.jobs, JobNodes.JOB + ends);
          String alsoPins = beginFor(master.jobs, JobNodes.JOB + commits);
          for (int i = 0; i < 60; i++) {
            lookFor(master.jobs, Duration.ofSeconds(1));
            master.jobs.renew(ends);
            master.jobs.renew(commits);
          }
          assertThat(isOver(pins)).isFalse();
          assertThat(isOver(alsoPins)).isFalse();
          master.jobs.end(ends);
          master.jobs.commit(commits);
          lookFor(master.jobs, Duration.ofSeconds(1));
          assertThat(isOver(pins)).isTrue();
          assertThat(isOver(alsoPins)).isTrue();
        });
  }

  @Test
  void anApplicationThatHasNoNameYetIsKnownByItsTag() throws Exception {
    Set<String> asked = new TreeSet<>();
    Applications yarn =
        new Applications() {
          @Override
          public State state(String application) {
            asked.add(application);
            return asked.contains("ended") ? State.ENDED : State.ALIVE;
          }

          @Override
          public void close() {}
        };
    JobLeases leases = new JobLeases(master.process, nodes, yarn);
    master.run(
        () -> {
          String job = beginFor(leases, Jobs.tagged("stele-0a1"));
          lookFor(leases, Duration.ofHours(1));
          assertThat(isOver(job)).isFalse();
          assertThat(asked).containsExactly("tag_stele-0a1");
          leases.renew(job);
          asked.add("ended");
          lookFor(leases, Duration.ofSeconds(12));
          assertThat(isOver(job)).isTrue();
          assertThatThrownBy(() -> beginFor(leases, Jobs.tagged("no tag")))
              .isInstanceOf(SteleException.class);
        });
  }

  @Test
  void aJobOfAnApplicationThatNobodyKnowsOrCanAskForIsOverAfterItsLease() throws Exception {
    OneApplication yarn = new OneApplication();
    JobLeases leases = new JobLeases(master.process, nodes, yarn);
    master.run(
        () -> {
          String unknown = beginFor(leases, "application_1_0009");
          String known = beginFor(leases, APPLICATION);
          yarn.state = Applications.State.ALIVE;
          lookFor(leases, Duration.ofSeconds(25));
          assertThat(isOver(unknown)).isTrue();
          assertThat(isOver(known)).isFalse();
          yarn.state = Applications.State.UNKNOWN; // It cannot be asked any more.
          lookFor(leases, Duration.ofSeconds(15));
          assertThat(isOver(known)).isFalse();
          leases.renew(known);
          assertThat(nodes.read(known).orElseThrow().application()).contains(APPLICATION);
          lookFor(leases, Duration.ofSeconds(15));
          assertThat(isOver(known)).isFalse();
          lookFor(leases, Duration.ofSeconds(20));
          assertThat(isOver(known)).isTrue();
        });
  }

  @Test
  void leasesThatCannotBeKeptAreRefused() {
    String request = JobNodes.newRequest(master.process);
    for (Duration lease : new Duration[] {Duration.ofSeconds(-1), Duration.ofDays(400)}) {
      assertThatThrownBy(
              () ->
                  master.jobs.begin(
                      request,
                      lease,
                      Optional.empty(),
                      JobOrigin.UNKNOWN,
                      StoredJob.Kind.MAY_WRITE))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    }
  }
}
