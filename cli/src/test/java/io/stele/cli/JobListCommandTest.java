package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.metadata.JobNodes;
import io.stele.model.TableSchema;
import io.stele.model.TableUse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code stele job list} and {@code stele job end} against a cluster in this JVM. */
@Timeout(120)
class JobListCommandTest extends JobCommandFixture {
  private static final Duration LEASE = Duration.ofHours(1);

  /** The words of each line. */
  private List<List<String>> listed() {
    Ran ran = commands.run("job", "list");
    assertThat(ran.exit()).as(ran.err()).isZero();
    return ran.out().lines().map(line -> List.of(line.split("  +"))).toList();
  }

  /** What is left of a name. */
  private static String brief(String name) {
    return name.substring(0, 12);
  }

  @Test
  void jobsAreListedWithWhatTheyDoAndWhatRunsThem() throws Exception {
    assertThat(commands.run("job", "list"))
        .isEqualTo(new Ran(ExitCode.DONE.number(), "There are no jobs.\n", ""));

    String plain = jobs.begin(Duration.ofSeconds(90));
    String tagged =
        jobs.begin(
            Duration.ofMinutes(10),
            Optional.of(Jobs.tagged("stele-1")),
            List.of(
                new TableUse("links", TableUse.How.BULK),
                new TableUse("ranks", TableUse.How.BULK)));
    String part =
        jobs.begin(
            LEASE,
            Optional.of(JobNodes.JOB + tagged),
            List.of(new TableUse("web", TableUse.How.DIRECT)));
    String ofYarn = jobs.begin(LEASE, Optional.of("application_1_0001"));
    String committed = jobs.begin(LEASE);
    jobs.commit(committed, Map.of());
    jobs.renew(plain);
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    assertThat(listed())
        .startsWith(List.of("JOB", "STATE", "USES", "OWNER", "BEGUN", "LEASE", "RENEWED", "RUN BY"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith(brief(plain), "begun", "-", user)
                    .endsWith("90 s", "1", "-"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith(brief(tagged), "begun", "writes links, ranks (bulk)")
                    .endsWith("10 min", "0", "tag stele-1"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith(brief(part), "begun", "reads web (direct)")
                    .endsWith("1 h", "0", "job " + brief(tagged)))
        .anySatisfy(
            line ->
                assertThat(line).startsWith(brief(ofYarn), "begun").endsWith("application_1_0001"))
        .anySatisfy(line -> assertThat(line).startsWith(brief(committed), "committed"))
        .anySatisfy(line -> assertThat(line.get(4)).matches("20\\d\\d-\\d\\d-\\d\\dT[0-9:]{8}Z"))
        .hasSize(6);
    assertThat(commands.run("job", "list", "--full").out()).contains(plain, "job " + tagged);
  }

  @Test
  void aJobIsEndedByTheBeginningOfItsNameIfNoOtherBeginsSo() throws Exception {
    String ends = jobs.begin(LEASE);
    String stays = jobs.begin(LEASE);
    Ran ran = commands.run("job", "end", brief(ends), "--yes");
    assertThat(ran.exit()).as(ran.err()).isZero();
    assertThat(jobs.state(ends)).isEqualTo(JobNodes.State.GONE);
    assertThat(jobs.state(stays)).isEqualTo(JobNodes.State.BEGUN);

    List<String> names = List.of("abcdefghijklmnop", "abcdefghijklmxyz", "b");
    assertThat(JobNames.shortened("abcdefghijklmnop", names)).isEqualTo("abcdefghijklmn");
    assertThat(JobNames.shortened("b", names)).isEqualTo("b");
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
    assertThat(commands.run("job", "end", "nonsense", "--yes"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.NOT_FOUND.number()))
        .satisfies(ran -> assertThat(ran.err()).contains("no job nonsense", "`stele job list`"));
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
