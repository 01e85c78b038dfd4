package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.stele.bulk.AttemptOutput;
import io.stele.bulk.JobOutput;
import io.stele.client.ClusterJob.Runner;
import io.stele.client.ClusterJob.State;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TableUse;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs as operators see and end them. */
@Timeout(120)
class ClusterJobsTest {
  private static final TableSchema SCHEMA = TableSchema.of("web", "f");
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final int ROUNDS = 30;

  private MiniStele cluster;
  private Admin admin;
  private Jobs jobs;

  @BeforeEach
  void start() throws IOException {
    Configuration conf = new Configuration(false);
    conf.set(Keys.SWEEP_INTERVAL.name(), "200ms");
    cluster = MiniStele.start(MiniStele.quick(conf), Site.inMemory(), 1, 1);
    admin = cluster.client().admin();
    jobs = cluster.client().jobs();
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  /** A job whose node has {@code data}. */
  private String node(String data) throws IOException {
    String name =
        JobNodes.newRequest(SystemRuntime.INSTANCE)
            + "-"
            + JobNodes.newRequest(SystemRuntime.INSTANCE);
    cluster.locks().create(LockPaths.job(name), Bytes.of(data));
    return name;
  }

  private static ClusterJob job(String name, State state, long renewals) {
    return new ClusterJob(
        name,
        state,
        Optional.of(LEASE),
        OptionalLong.of(renewals),
        Optional.empty(),
        ClusterJob.Origin.UNKNOWN);
  }

  private static ClusterJob run(String name, Runner.Kind by, String runner) {
    return new ClusterJob(
        name,
        State.BEGUN,
        Optional.of(LEASE),
        OptionalLong.of(0),
        Optional.of(new Runner(by, runner)),
        ClusterJob.Origin.UNKNOWN);
  }

  private static ClusterJob unreadable(String name) {
    return new ClusterJob(
        name,
        State.UNREADABLE,
        Optional.empty(),
        OptionalLong.empty(),
        Optional.empty(),
        ClusterJob.Origin.UNKNOWN);
  }

  private static void assertCode(Code code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private List<String> visible() throws IOException {
    try (Rows rows = cluster.client().table("web").readRows(RowQuery.ALL)) {
      return rows.stream().map(Row::key).map(Bytes::toUtf8).toList();
    }
  }

  @Test
  void eachJobIsListedWithItsStateAndWhatRunsIt() throws IOException {
    assertThat(admin.listJobs()).isEmpty();
    String begun = node("600000 0");
    String pinning = node("600000 3 pinning 0 2");
    String interrupted = node("600000 4 interrupted 0 2");
    String committing = node("600000 5 committing");
    String committed = node("600000 6 interrupted 0 2 committed");
    String application = node("600000 0 application_1_0001");
    String tagged = node("600000 0 tag_stele-1");
    String part = node("600000 0 job_" + begun);
    assertThat(admin.listJobs())
        .containsExactlyInAnyOrder(
            job(begun, State.BEGUN, 0),
            job(pinning, State.PINNING, 3),
            job(interrupted, State.INTERRUPTED, 4),
            job(committing, State.COMMITTING, 5),
            job(committed, State.COMMITTED, 6),
            run(application, Runner.Kind.APPLICATION, "application_1_0001"),
            run(tagged, Runner.Kind.TAG, "stele-1"),
            run(part, Runner.Kind.JOB, begun));
  }

  @Test
  void aJobTellsWhenAndByWhomItWasBegunAndWhatItDoes() throws IOException {
    List<TableUse> uses =
        List.of(
            new TableUse("a table: of=commas, and blanks", TableUse.How.DIRECT),
            new TableUse("web", TableUse.How.BULK));
    Instant before = Instant.now().minusSeconds(1);
    String name = jobs.begin(LEASE, Optional.empty(), uses);
    jobs.renew(name); // What is not changed stays.
    ClusterJob.Origin origin = admin.listJobs().get(0).origin();
    assertThat(origin.uses()).isEqualTo(uses);
    assertThat(origin.begun().orElseThrow()).isBetween(before, Instant.now().plusSeconds(1));
  }

  @Test
  void whatALaterVersionSaysOfAJobIsLeftOut() throws IOException {
    node(
        "600000 0 begun=1764457000123 owner=a+b%2C uses=served:web,shaken:web,live:t.2 color=blue");
    assertThat(admin.listJobs())
        .extracting(ClusterJob::origin)
        .containsExactly(
            new ClusterJob.Origin(
                Optional.of(Instant.ofEpochMilli(1764457000123L)),
                Optional.of("a b,"),
                List.of(
                    new TableUse("web", TableUse.How.SERVED),
                    new TableUse("t.2", TableUse.How.LIVE))));
    node("600000 0 begun=soon owner=%zz uses=,");
    assertThat(admin.listJobs()).extracting(ClusterJob::origin).contains(ClusterJob.Origin.UNKNOWN);
  }

  @Test
  void aNodeThatCannotBeReadHidesNoOther() throws IOException {
    String later = node("600000 7 color=blue");
    String damaged = node("half a no");
    assertThat(admin.listJobs())
        .containsExactlyInAnyOrder(job(later, State.BEGUN, 7), unreadable(damaged));

    assertThatThrownBy(() -> admin.endJob(damaged)).isInstanceOf(CorruptionException.class);
    assertThat(admin.listJobs()).as("it may have committed").contains(unreadable(damaged));
  }

  /** Some files of one task wait in the table, for the job's commit. */
  private JobOutput waiting(String job, String... rows) throws IOException {
    JobOutput output = new JobOutput(jobs, job);
    TableId table = jobs.environment().tableId("web");
    try (AttemptOutput attempt = output.attempt("task-0-a", new JobOutput.Terms(1000, 1 << 20))) {
      attempt.addTable("web", table, SCHEMA);
      for (String row : rows) {
        attempt.add("web", Mutation.of(row).put("f", "q", "1"));
      }
      attempt.finish();
    }
    output.publish("task-0-a", "task-0");
    jobs.register(job, output.changes(Map.of()));
    return output;
  }

  @Test
  void nothingOfAJobThatIsEndedBecomesVisibleAndItsFilesGo() throws IOException {
    admin.createTable(SCHEMA, List.of(Bytes.of("m")));
    String job = jobs.begin(LEASE);
    JobOutput output = waiting(job, "a", "z");
    admin.endJob(job);
    assertThat(admin.listJobs()).isEmpty();
    assertCode(Code.NOT_FOUND, () -> output.commit(List.of(), Map.of()));
    assertThat(visible()).isEmpty();
    MiniStele.await(
        "its files are deleted",
        () ->
            !jobs.environment().files().exists(new Path(jobs.environment().root(), "bulk/" + job)));
    assertThat(visible()).isEmpty();
    assertCode(Code.NOT_FOUND, () -> admin.endJob(job));
    assertThat(cluster.aborts()).isEmpty();
  }

  @Test
  void aJobThatDoesNotExistIsNotFoundWhateverItIsCalled() throws IOException {
    String job = jobs.begin(LEASE);
    String gone = node("600000 0");
    admin.endJob(gone);
    for (String none : List.of(gone, job.substring(0, 40), "job_1_0001", "a/b", "")) {
      assertCode(Code.NOT_FOUND, () -> admin.endJob(none));
    }
    assertThat(admin.listJobs()).extracting(ClusterJob::name).containsExactly(job);
  }

  @Test
  void aJobThatHasCommittedIsNotEndedAndItsFilesStay() throws IOException {
    admin.createTable(SCHEMA, List.of(Bytes.of("m")));
    String job = jobs.begin(LEASE);
    waiting(job, "a", "z").commit(List.of(), Map.of());
    assertCode(Code.REFUSED, () -> admin.endJob(job));
    assertThat(admin.listJobs())
        .extracting(ClusterJob::name, ClusterJob::state)
        .containsExactly(tuple(job, State.COMMITTED));
    assertThat(visible()).containsExactly("a", "z");
  }

  @Test
  void whatAJobHasPinnedIsReadableOnlyUntilItIsEnded() throws IOException {
    admin.createTable(SCHEMA);
    Table table = cluster.client().table("web");
    table.mutate(Mutation.of("a").put("f", "q", "1"));
    String job = jobs.begin(LEASE);
    jobs.pin(job, "web", RowRange.ALL);
    table.mutate(Mutation.of("a").deleteRow());
    assertThat(table.atPin(job).readRow("a")).isPresent();
    admin.endJob(job);
    MiniStele.await(
        "nothing is pinned",
        () ->
            cluster.records().readAll(jobs.environment().tableId("web")).stream()
                .allMatch(tablet -> tablet.pins().isEmpty()));
    assertCode(Code.REFUSED, () -> table.atPin(job).readRow("a"));
  }

  @Test
  void aJobWhoseCommitIsUnderWayIsEndedBeforeItOrNotAtAll() throws Exception {
    String marked = node("600000 0 committing"); // Its master was lost just then.
    admin.endJob(marked);
    assertCode(Code.NOT_FOUND, () -> jobs.commit(marked, Map.of()));
    for (int i = 0; i < ROUNDS; i++) {
      String job = jobs.begin(LEASE);
      CyclicBarrier both = new CyclicBarrier(2);
      CompletableFuture<Boolean> end = CompletableFuture.supplyAsync(() -> ends(job, both));
      both.await(10, TimeUnit.SECONDS);
      boolean committed = commits(job);
      assertThat(end.get(30, TimeUnit.SECONDS)).as("round %s", i).isEqualTo(!committed);
      assertThat(jobs.state(job))
          .isEqualTo(committed ? JobNodes.State.COMMITTED : JobNodes.State.GONE);
    }
  }

  private boolean ends(String job, CyclicBarrier both) {
    try {
      both.await(10, TimeUnit.SECONDS);
      admin.endJob(job);
      return true;
    } catch (SteleException e) {
      assertThat(e.code()).isEqualTo(Code.REFUSED);
      return false;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private boolean commits(String job) throws IOException {
    try {
      jobs.commit(job, Map.of());
      return true;
    } catch (SteleException e) {
      assertThat(e.code()).isEqualTo(Code.NOT_FOUND);
      return false;
    }
  }
}
