package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.ClusterJob.Runner;
import io.stele.client.Jobs;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.yarn.JobApplications.Found;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code stele job kill} against a cluster in this JVM and a YARN that is made up. */
@Timeout(120)
class JobKillTest extends JobCommandFixture {
  private static final Duration LEASE = Duration.ofHours(1);
  private static final Duration WAIT = Duration.ofSeconds(1);
  private static final String ID = "application_1_0001";

  /** What YARN knows, by the name or the tag of an application. */
  private final Map<String, Found> yarn = new HashMap<>();

  private final List<String> killed = new ArrayList<>();
  private final List<String> said = new ArrayList<>();

  private void run(String name) {
    Found running = new Found(ID, "RUNNING", true);
    yarn.put(ID, running);
    yarn.put(name, running);
  }

  private List<Found> find(Runner runner) {
    return Optional.ofNullable(yarn.get(runner.name())).stream().toList();
  }

  private void killInYarn(String id) {
    killed.add(id);
    yarn.replaceAll((name, found) -> new Found(found.id(), "KILLED", false));
  }

  private List<String> kill(String job) throws IOException {
    said.clear();
    new JobKill(commands.cluster().client(), this::find, this::killInYarn, said::add)
        .run(job, WAIT);
    return said;
  }

  private void assertRefused(String job, SteleException.Code code, String... words) {
    assertThatThrownBy(() -> kill(job))
        .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContainingAll(words);
    assertThat(killed).isEmpty();
  }

  @Test
  void theApplicationIsKilledAndAllItsJobsEndWithIt() throws Exception {
    run("stele-1");
    String writes = jobs.begin(LEASE, Optional.of(Jobs.tagged("stele-1")));
    String reads = jobs.begin(LEASE, Optional.of(JobNodes.JOB + writes));
    String other = jobs.begin(LEASE, Optional.of("application_1_0002"));
    assertThat(kill(reads.substring(0, 12)))
        .contains(
            "Told YARN to kill " + ID + ".",
            "Job " + writes + " is over.",
            "Job " + reads + " is over.")
        .hasSize(3);
    assertThat(killed).containsExactly(ID);
    assertThat(jobs.state(writes)).isEqualTo(JobNodes.State.GONE);
    assertThat(jobs.state(reads)).isEqualTo(JobNodes.State.GONE);
    assertThat(jobs.state(other)).isEqualTo(JobNodes.State.BEGUN);

    assertThat(kill(reads)).containsExactly("Job " + reads + " is over already.");
    assertThat(kill("job_1_0001"))
        .containsExactly(ID + " has ended already (KILLED). The cluster keeps nothing for it.");
    assertThat(killed).containsExactly(ID);
  }

  @Test
  void aJobIsFoundByItsNameInMapReduceToo() throws Exception {
    run("stele-1");
    String writes = jobs.begin(LEASE, Optional.of(Jobs.tagged("stele-1")));
    assertThat(kill("job_1_0001"))
        .containsExactly("Told YARN to kill " + ID + ".", "Job " + writes + " is over.");
  }

  @Test
  void aJobWhoseApplicationHasEndedIsEndedAlone() throws Exception {
    yarn.put(ID, new Found(ID, "FAILED", false));
    String left = jobs.begin(LEASE, Optional.of(ID));
    assertThat(kill(left))
        .containsExactly(ID + " has ended already (FAILED).", "Job " + left + " is over.");
    assertThat(killed).isEmpty();
  }

  @Test
  void whatCannotBeKilledIsRefused() throws Exception {
    assertRefused("abc", SteleException.Code.NOT_FOUND, "there is no job abc", "job list");
    assertRefused("job_7_0001", SteleException.Code.NOT_FOUND, "no application application_7_0001");
    String alone = jobs.begin(LEASE);
    assertRefused(
        alone, SteleException.Code.REFUSED, "nothing is known of what runs it", "job end");
    String untold = jobs.begin(LEASE, Optional.of(Jobs.tagged("stele-2")));
    assertRefused(untold, SteleException.Code.REFUSED, "YARN knows no application", "stele-2");
    run("other");
    assertRefused(ID, SteleException.Code.REFUSED, ID + " runs no job of this cluster");
    String committed = jobs.begin(LEASE, Optional.of(ID));
    jobs.commit(committed, Map.of());
    assertRefused(committed, SteleException.Code.REFUSED, "has committed", "its output");
    assertThat(jobs.state(alone)).isEqualTo(JobNodes.State.BEGUN);
  }
}
