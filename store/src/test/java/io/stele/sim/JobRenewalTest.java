package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.junit.jupiter.api.Test;

/** Jobs that are kept, in virtual time. */
class JobRenewalTest {
  private static final String KEY = "some.lease";

  @Test
  void aJobOfTheShortestLeaseLivesAsLongAsSomebodyKeepsIt() throws Exception {
    ClusterFixture.run(
        fixture -> {
          Jobs jobs = fixture.jobs();
          String job = jobs.begin(JobNodes.LEASE_MIN);
          try (JobRenewal renewal = jobs.keep(job)) {
            fixture.process().sleep(Duration.ofMinutes(2));
            renewal.check();
            assertThat(jobs.state(job)).isEqualTo(JobNodes.State.BEGUN);
          }
          fixture.process().sleep(Duration.ofSeconds(20));
          assertThat(jobs.state(job)).isEqualTo(JobNodes.State.GONE);
        });
  }

  /** What is logged as an error. */
  private static List<String> errors(ClusterFixture.Scenario scenario) throws Exception {
    LoggedMessages errors = new LoggedMessages(Level.ERROR);
    Logger logger = Logger.getLogger(JobRenewal.class);
    logger.addAppender(errors);
    try {
      ClusterFixture.run(scenario);
    } finally {
      logger.removeAppender(errors);
    }
    return errors.all();
  }

  /** How a job ends that somebody keeps. */
  private interface End {
    void end(Jobs jobs, String job) throws Exception;
  }

  /** A job that ends while it is kept; who keeps it is told {@code said}. */
  private static ClusterFixture.Scenario endsWhileItIsKept(End end, String said) {
    return fixture -> {
      Jobs jobs = fixture.jobs();
      String job = jobs.begin(Duration.ofMinutes(10));
      try (JobRenewal renewal = jobs.keep(job)) {
        fixture.process().sleep(Duration.ofSeconds(5));
        end.end(jobs, job);
        fixture.process().sleep(Duration.ofMinutes(1));
        assertThatThrownBy(renewal::check).hasMessageContaining(said);
      }
    };
  }

  @Test
  void whoKeepsAJobThatCommitsIsToldSoAndItIsNoError() throws Exception {
    ClusterFixture.Scenario commits =
        endsWhileItIsKept((jobs, job) -> jobs.commit(job, Map.of()), "has committed");
    assertThat(errors(commits)).isEmpty();
  }

  @Test
  void whoKeepsAJobThatIsEndedIsToldSoAsAnError() throws Exception {
    ClusterFixture.Scenario ends = endsWhileItIsKept(Jobs::end, "is over");
    assertThat(errors(ends)).hasSize(1);
  }

  private static Duration lease(String text) {
    Configuration conf = new Configuration(false);
    conf.set(KEY, text);
    return Jobs.lease(conf, KEY, Duration.ofHours(1));
  }

  @Test
  void aLeaseIsATimeOrSecondsAndARefusalNamesItsKey() {
    assertThat(Jobs.lease(new Configuration(false), KEY, Duration.ofHours(1))).hasHours(1);
    assertThat(lease("90")).hasSeconds(90);
    assertThat(lease("2h")).hasHours(2);
    assertThat(lease("7500ms")).hasMillis(7500);
    for (String wrong : new String[] {"500ms", "4s", "0", "-1", "8d", "soon", ""}) {
      assertThatThrownBy(() -> lease(wrong))
          .as(wrong)
          .hasMessageContaining(KEY)
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    }
  }
}
