package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.junit.jupiter.api.Test;

/** Jobs that are kept, in virtual time. */
class JobRenewalTest {
  private static final String KEY = "some.lease";

  /** What is done with a cluster's jobs. */
  private interface Work {
    void run(SimulatedProcess client, Jobs jobs) throws Exception;
  }

  private static void run(Work work) throws Exception {
    Simulation simulation = new Simulation(0, 30_000_000);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    simulation.run(
        () -> {
          Configuration conf =
              HistoryPlan.of(0, Duration.ofSeconds(30), Histories.NAMES).configuration();
          SimulatedCluster cluster = new SimulatedCluster(simulation, conf);
          cluster.add(SimulatedCluster.Kind.MASTER);
          SimulatedProcess client = cluster.clientProcess();
          Stele stele = cluster.connect(client);
          Runnable test =
              () -> {
                try {
                  work.run(client, stele.jobs());
                } catch (Exception | AssertionError e) {
                  failure.complete(e);
                }
              };
          simulation.outside().await(client.start("test", test).ended());
        });
    assertThat(failure.getNow(null)).isNull();
  }

  @Test
  void aJobOfTheShortestLeaseLivesAsLongAsSomebodyKeepsIt() throws Exception {
    run(
        (client, jobs) -> {
          String job = jobs.begin(JobNodes.LEASE_MIN);
          try (JobRenewal renewal = jobs.keep(job)) {
            client.sleep(Duration.ofMinutes(2));
            renewal.check();
            assertThat(jobs.state(job)).isEqualTo(JobNodes.State.BEGUN);
          }
          client.sleep(Duration.ofSeconds(20));
          assertThat(jobs.state(job)).isEqualTo(JobNodes.State.GONE);
        });
  }

  /** Counts what is logged as an error. */
  private static final class Errors extends AppenderSkeleton {
    private final List<String> messages = new ArrayList<>();

    @Override
    protected void append(LoggingEvent event) {
      if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
        messages.add(event.getRenderedMessage());
      }
    }

    @Override
    public void close() {}

    @Override
    public boolean requiresLayout() {
      return false;
    }
  }

  private static List<String> errors(Work work) throws Exception {
    Errors errors = new Errors();
    Logger logger = Logger.getLogger(JobRenewal.class);
    logger.addAppender(errors);
    try {
      run(work);
    } finally {
      logger.removeAppender(errors);
    }
    return errors.messages;
  }

  /** How a job ends that somebody keeps. */
  private interface End {
    void end(Jobs jobs, String job) throws Exception;
  }

  /** A job that ends while it is kept; who keeps it is told {@code said}. */
  private static Work endsWhileItIsKept(End end, String said) {
    return (client, jobs) -> {
      String job = jobs.begin(Duration.ofMinutes(10));
      try (JobRenewal renewal = jobs.keep(job)) {
        client.sleep(Duration.ofSeconds(5));
        end.end(jobs, job);
        client.sleep(Duration.ofMinutes(1));
        assertThatThrownBy(renewal::check).hasMessageContaining(said);
      }
    };
  }

  @Test
  void whoKeepsAJobThatCommitsIsToldSoAndItIsNoError() throws Exception {
    Work commits = endsWhileItIsKept((jobs, job) -> jobs.commit(job, Map.of()), "has committed");
    assertThat(errors(commits)).isEmpty();
  }

  @Test
  void whoKeepsAJobThatIsEndedIsToldSoAsAnError() throws Exception {
    Work ends = endsWhileItIsKept(Jobs::end, "is over");
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
