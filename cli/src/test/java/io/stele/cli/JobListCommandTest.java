package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.metadata.JobNodes;
import io.stele.model.TableSchema;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stele job list} and {@code stele job end} against a cluster in this JVM. */
@Timeout(120)
class JobListCommandTest {
  private static final Duration LEASE = Duration.ofHours(1);

  @TempDir Path scratch;

  private CommandCluster commands;
  private Jobs jobs;

  @BeforeEach
  void start() throws Exception {
    commands = new CommandCluster(scratch);
    jobs = commands.cluster().client().jobs();
  }

  @AfterEach
  void stop() {
    if (commands != null) { // Else it did not start.
      commands.close();
    }
  }

  /** The words of each line. */
  private List<List<String>> listed() {
    Ran ran = commands.run("job", "list");
    assertThat(ran.exit()).as(ran.err()).isZero();
    return ran.out().lines().map(line -> List.of(line.split("  +"))).toList();
  }

  @Test
  void jobsAreListedWithWhatRunsThem() throws Exception {
    assertThat(commands.run("job", "list"))
        .isEqualTo(new Ran(ExitCode.DONE.number(), "There are no jobs.\n", ""));

    String plain = jobs.begin(Duration.ofSeconds(90));
    String tagged = jobs.begin(Duration.ofMinutes(10), Optional.of(Jobs.tagged("stele-1")));
    String part = jobs.begin(LEASE, Optional.of(JobNodes.JOB + tagged));
    String ofYarn = jobs.begin(LEASE, Optional.of("application_1_0001"));
    String committed = jobs.begin(LEASE);
    jobs.commit(committed, Map.of());
    jobs.renew(plain);
    assertThat(listed())
        .startsWith(List.of("JOB", "STATE", "LEASE", "RENEWED", "RUN BY"))
        .contains(
            List.of(plain, "begun", "90 s", "1", "-"),
            List.of(tagged, "begun", "10 min", "0", "tag stele-1"),
            List.of(part, "begun", "1 h", "0", "job " + tagged),
            List.of(ofYarn, "begun", "1 h", "0", "application_1_0001"))
        .anySatisfy(line -> assertThat(line).startsWith(committed, "committed"))
        .hasSize(6);
  }

  @Test
  void aJobIsEndedOnceThatIsConfirmedAndOnlyIfItHasNotCommitted() throws Exception {
    String left = jobs.begin(LEASE);
    assertThat(commands.run("job", "end", left))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.USAGE.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("ending job " + left, "--yes"));
    assertThat(jobs.state(left)).isEqualTo(JobNodes.State.BEGUN);

    assertThat(commands.run("job", "end", left, "--yes"))
        .satisfies(ran -> assertThat(ran.exit()).as(ran.err()).isZero())
        .satisfies(ran -> assertThat(ran.out()).startsWith("Job " + left + " is over."));
    assertThat(jobs.state(left)).isEqualTo(JobNodes.State.GONE);
    assertThat(commands.run("job", "end", left, "--yes"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("there is no job " + left));

    String committed = jobs.begin(LEASE);
    jobs.commit(committed, Map.of());
    assertThat(commands.run("job", "end", committed, "--yes"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.REFUSED.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("job " + committed + " has committed"));
    assertThat(jobs.state(committed)).isEqualTo(JobNodes.State.COMMITTED);
    assertThat(commands.run("job", "end", "nonsense", "--yes").exit())
        .isEqualTo(ExitCode.REFUSED.number());
  }

  @Test
  void theNameOfADroppedFamilyIsFreeOnceTheJobThatKeepsItIsEnded() throws Exception {
    Stele stele = commands.cluster().client();
    stele.admin().createTable(TableSchema.of("web", "f", "g"));
    String left = jobs.begin(LEASE);
    commands.run("table", "alter", "web", "--drop-family", "g", "--yes");
    Ran refused = commands.run("table", "alter", "web", "g");
    assertThat(refused.exit()).isEqualTo(ExitCode.RETRY_LATER.number());
    assertThat(refused.err()).contains("job " + left, "`stele job list`", "`stele job end JOB`");

    commands.run("job", "end", left, "--yes");
    Ran altered = commands.run("table", "alter", "web", "g");
    assertThat(altered.exit()).as(altered.err()).isZero();
  }
}
