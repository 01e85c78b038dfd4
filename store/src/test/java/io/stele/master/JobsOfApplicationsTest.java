package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Jobs;
import io.stele.master.JobFixture.Job;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Jobs that live as long as an application, or another job, does. */
class JobsOfApplicationsTest {
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final String APPLICATION = "application_1600000000000_0007";

  private final OneApplication yarn = new OneApplication();
  private final JobFixture jobs = new JobFixture(LEASE, yarn);

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

  @Test
  void aJobOfAnApplicationNeedsNoRenewalWhileThatWaitsOrRunsAndIsOverSoonAfterIt()
      throws Exception {
    jobs.run(
        () -> {
          Job job = jobs.beginFor(APPLICATION);
          jobs.pass(Duration.ofSeconds(15)); // It is not submitted yet.
          yarn.state = Applications.State.ALIVE;
          jobs.pass(Duration.ofHours(3));
          job.assertNotOver();
          assertThat(yarn.asked).isLessThan(3 * 3600 / 9);
          yarn.state = Applications.State.ENDED;
          jobs.pass(Duration.ofSeconds(12));
          job.assertOver();
        });
  }

  @Test
  void aCommittedJobIsRememberedForItsLeaseOrWhileItsApplicationRuns() throws Exception {
    jobs.run(
        () -> {
          Job alone = jobs.begin();
          Job job = jobs.beginFor(APPLICATION);
          yarn.state = Applications.State.ALIVE;
          alone.commits();
          job.finishes();
          jobs.pass(Duration.ofSeconds(15));
          assertThat(jobs.leases.forgettable()).isEmpty();
          jobs.pass(Duration.ofSeconds(15));
          assertThat(jobs.leases.forgettable()).containsOnlyKeys(alone.name());
          yarn.state = Applications.State.ENDED;
          jobs.pass(Duration.ofSeconds(12));
          assertThat(jobs.leases.forgettable()).containsOnlyKeys(alone.name(), job.name());
        });
  }

  @Test
  void aJobThatIsPartOfAnotherLivesAsLongAsThat() throws Exception {
    JobFixture ofJobs = new JobFixture(LEASE);
    ofJobs.run(
        () -> {
          Job ends = ofJobs.begin();
          Job commits = ofJobs.begin();
          Job pins = ofJobs.beginAsPartOf(ends);
          Job alsoPins = ofJobs.beginAsPartOf(commits);
          ofJobs.everySecond(
              60,
              () -> {
                ends.renews();
                commits.renews();
              });
          pins.assertNotOver();
          alsoPins.assertNotOver();
          ends.ends();
          commits.commits();
          ofJobs.pass(Duration.ofSeconds(1));
          pins.assertOver();
          alsoPins.assertOver();
        });
  }

  @Test
  void anApplicationThatHasNoNameYetIsKnownByItsTag() throws Exception {
    Set<String> asked = new TreeSet<>();
    Applications tagged =
        new Applications() {
          @Override
          public State state(String application) {
            asked.add(application);
            return asked.contains("ended") ? State.ENDED : State.ALIVE;
          }

          @Override
          public void close() {}
        };
    JobFixture ofTagged = new JobFixture(LEASE, tagged);
    ofTagged.run(
        () -> {
          Job job = ofTagged.beginFor(Jobs.tagged("stele-0a1"));
          ofTagged.pass(Duration.ofHours(1));
          job.assertNotOver();
          assertThat(asked).containsExactly("tag_stele-0a1");
          job.renews();
          asked.add("ended");
          ofTagged.pass(Duration.ofSeconds(12));
          job.assertOver();
          assertThatThrownBy(() -> ofTagged.beginFor(Jobs.tagged("no tag")))
              .isInstanceOf(SteleException.class);
        });
  }

  @Test
  void aJobOfAnApplicationThatNobodyKnowsOrCanAskForIsOverAfterItsLease() throws Exception {
    jobs.run(
        () -> {
          Job unknown = jobs.beginFor("application_1_0009");
          Job known = jobs.beginFor(APPLICATION);
          yarn.state = Applications.State.ALIVE;
          jobs.pass(Duration.ofSeconds(25));
          unknown.assertOver();
          known.assertNotOver();
          yarn.state = Applications.State.UNKNOWN; // It cannot be asked any more.
          jobs.pass(Duration.ofSeconds(15));
          known.assertNotOver();
          known.renews();
          assertThat(known.stored().application()).contains(APPLICATION);
          jobs.pass(Duration.ofSeconds(15));
          known.assertNotOver();
          jobs.pass(Duration.ofSeconds(20));
          known.assertOver();
        });
  }
}
