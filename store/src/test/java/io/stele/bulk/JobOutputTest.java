package io.stele.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.JobChange;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts, tasks and ApplicationMasters that get in each other's way. */
@Timeout(120)
class JobOutputTest {
  private static final TableSchema SCHEMA = TableSchema.of("web", "f");
  private static final JobOutput.Terms TERMS = new JobOutput.Terms(1000, 1 << 20);
  private static final int ROUNDS = 20;

  private MiniStele cluster;
  private Stele stele;
  private Jobs jobs;
  private TableId table;
  private String job;
  private JobOutput output;

  @BeforeEach
  void start() throws IOException {
    start(new Configuration(false), Site.inMemory());
  }

  private void start(Configuration conf, Site site) throws IOException {
    cluster = MiniStele.start(MiniStele.quick(conf), site, 1, 1);
    stele = cluster.client();
    stele.admin().createTable(SCHEMA, List.of(Bytes.of("m")));
    jobs = stele.jobs();
    table = jobs.environment().tableId("web");
    begin();
  }

  private void begin() throws IOException {
    job = jobs.begin(Duration.ofMinutes(10));
    output = new JobOutput(jobs, job);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  /** An attempt has written {@code text} to each of the rows, and finished. */
  private void finish(String attempt, String text, String... rows) throws IOException {
    try (AttemptOutput one = output.attempt(attempt, TERMS)) {
      one.addTable("web", table, SCHEMA);
      for (String row : rows) {
        one.add("web", Mutation.of(row).put("f", text, text));
      }
      one.finish();
    }
  }

  /** All rows, each with its columns: {@code "a 1 2"}. */
  private List<String> visible() throws IOException {
    List<String> visible = new ArrayList<>();
    try (var rows = stele.table("web").readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        StringBuilder text = new StringBuilder(row.key().toUtf8());
        row.cells().forEach(cell -> text.append(' ').append(cell.qualifier().toUtf8()));
        visible.add(text.toString());
      }
    }
    return visible;
  }

  private int sstables() throws IOException {
    int count = 0;
    Path directory = new Path(jobs.environment().root(), "bulk/" + job);
    for (FileStatus file : jobs.environment().files().listStatus(directory)) {
      count += file.getPath().getName().endsWith(".sst") ? 1 : 0;
    }
    return count;
  }

  @Test
  void ofTwoAttemptsOfATaskTheFirstToPublishCounts() throws IOException {
    finish("task-0-a", "first", "a", "z");
    finish("task-0-b", "second", "a", "z");
    assertThat(sstables()).isEqualTo(2);
    output.publish("task-0-a", "task-0");
    output.publish("task-0-b", "task-0");
    output.publish("task-0-a", "task-0"); // Its answer was lost.
    assertThat(output.isFinished("task-0-a")).as("published").isFalse();
    assertThat(output.isFinished("task-0-b")).isTrue();
    output.discard("task-0-a");
    output.discard("task-0-b");
    output.discard("task-0-b");
    assertThat(sstables()).isEqualTo(1);
    output.commit(List.of(), Map.of());
    assertThat(visible()).containsExactly("a first", "z first");
  }

  /** Its ApplicationMaster discards a task's attempt that it had told to publish, late. */
  @Test
  void anAttemptThatIsPublishedWhileItIsDiscardedIsThereWholeOrNotAtAll() throws IOException {
    for (int delete = 1; delete <= 3; delete++) {
      String text = "before delete " + delete;
      finish("task-0-a", text, "a" + delete, "z" + delete);
      Publishing files = new Publishing(delete);
      new JobOutput(jobs, job, files).discard("task-0-a");
      output.commit(List.of(), Map.of());
      assertThat(visible())
          .filteredOn(row -> row.endsWith(text))
          .as(text)
          .hasSize(files.published ? 2 : 0);
      begin();
    }
  }

  @Test
  void tasksThatANameNodeWhichIsBehindDoesNotShowYetAreCommitted() throws IOException {
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    finish("task-1-a", "two", "b");
    Behind behind = new Behind(new Path(jobs.environment().root(), "bulk/" + job));
    output.publish("task-1-a", "task-1"); // By another process.
    new JobOutput(jobs, job, behind).commit(List.of(), Map.of());
    assertThat(visible()).containsExactly("a one", "b two");
  }

  @Test
  void anAttemptThatANameNodeWhichIsBehindDoesNotShowYetIsFinished() throws IOException {
    finish("task-0-a", "one", "a");
    Behind behind = new Behind(new Path(jobs.environment().root(), "bulk/" + job));
    finish("task-1-a", "two", "b"); // Over another connection.
    assertThat(new JobOutput(jobs, job, behind).isFinished("task-1-a")).isTrue();
    assertThat(new JobOutput(jobs, job, behind).isFinished("task-2-a")).isFalse();
  }

  @Test
  void whatHasFailedIsToldEvenIfTheJobCannotBeEndedThen() throws IOException {
    IOException failure = new IOException("no right to read");
    jobs.endAfter(failure, job);
    assertThat(failure.getSuppressed()).isEmpty();
    assertThat(jobs.state(job)).isEqualTo(JobNodes.State.GONE);
    stele.close();
    jobs.endAfter(failure, job);
    assertThat(failure.getSuppressed()).hasSize(1);
  }

  /** Files of the store as a NameNode shows them that is behind, until it is asked to catch up. */
  private final class Behind extends FilterFileSystem {
    private final Path directory;
    private final FileStatus[] before;
    private boolean caughtUp;

    Behind(Path directory) throws IOException {
      super(jobs.environment().files());
      this.directory = directory;
      this.before = super.listStatus(directory);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      if (!caughtUp
          && path.getParent().equals(directory)
          && Stream.of(before).noneMatch(one -> one.getPath().getName().equals(path.getName()))) {
        throw new FileNotFoundException(path + " is not there yet");
      }
      return super.getFileStatus(path);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return !caughtUp && path.toUri().getPath().equals(directory.toUri().getPath())
          ? before
          : super.listStatus(path);
    }

    @Override
    public void msync() {
      caughtUp = true;
    }
  }

  /** Files of the store; before one of its deletes an attempt is published. */
  private final class Publishing extends FilterFileSystem {
    private final int before;
    private int deletes;
    private boolean published;

    Publishing(int before) throws IOException {
      super(jobs.environment().files());
      this.before = before;
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      if (++deletes == before) {
        try {
          output.publish("task-0-a", "task-0");
          published = true;
        } catch (IOException e) {
          published = false; // The list is gone.
        }
      }
      return super.delete(path, recursive);
    }
  }

  /** As before, but clients wait no longer than this for any answer. */
  private LockService restart(String timeout) throws IOException {
    cluster.close();
    Configuration conf = new Configuration(false);
    conf.set(Keys.CLIENT_TIMEOUT.name(), timeout);
    Site site = Site.inMemory();
    start(conf, site);
    return site.connect();
  }

  @Test
  void aCommitThatATabletCannotTakePartInSaysWhy() throws IOException {
    restart("2s");
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    Path file =
        new Path(
            jobs.environment().root(), output.changes(Map.of()).get(table).files().get(0).path());
    assertThat(jobs.environment().files().delete(file, false)).isTrue();
    assertThatThrownBy(() -> jobs.register(job, output.changes(Map.of())))
        .hasMessageContaining("its server says")
        .hasMessageContaining(file.getName());
  }

  /** Hours of work may have gone before it. */
  @Test
  void aCommitWaitsForATabletForLongerThanForAnAnswer() throws Exception {
    restart("1s");
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    Path file =
        new Path(
            jobs.environment().root(), output.changes(Map.of()).get(table).files().get(0).path());
    Path aside = file.suffix("-aside");
    assertThat(jobs.environment().files().rename(file, aside)).isTrue();
    CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> commit(new CyclicBarrier(1)));
    assertThatThrownBy(() -> commit.get(3, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
    assertThat(jobs.environment().files().rename(aside, file)).isTrue();
    commit.get();
    assertThat(visible()).containsExactly("a one");
  }

  @Test
  void aCommitThatWaitsForATabletEndsWithItsJob() throws Exception {
    restart("1s");
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    Path file =
        new Path(
            jobs.environment().root(), output.changes(Map.of()).get(table).files().get(0).path());
    assertThat(jobs.environment().files().delete(file, false)).isTrue();
    CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> commit(new CyclicBarrier(1)));
    assertThatThrownBy(() -> commit.get(2, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
    output.abort();
    assertThatThrownBy(commit::get).hasStackTraceContaining("is over");
  }

  @Test
  void aJobThatCannotCommitMakesNoTablets() throws IOException {
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    stele.admin().alterTable("web", schema -> schema.with(ColumnFamily.of("g")));
    stele.admin().alterTable("web", schema -> schema.without("f"));
    List<JobOutput.Cut> cuts = List.of(new JobOutput.Cut("web", table, Bytes.of("c")));
    assertThatThrownBy(() -> output.commit(cuts, Map.of()))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("has family f, which table web does not have");
    assertThat(stele.table("web").tablets()).hasSize(2);
  }

  @Test
  void aCommitOutlastsThePinningOfAnotherJob() throws Exception {
    try (LockService locks = restart("1s")) {
      String pinned = jobs.begin(Duration.ofMinutes(10));
      JobNodes nodes = new JobNodes(SystemRuntime.INSTANCE, locks);
      int pinning = nodes.read(pinned).orElseThrow().version();
      nodes.beginPinning(pinned, pinning);
      finish("task-0-a", "one", "a");
      output.publish("task-0-a", "task-0");
      CompletableFuture<Void> commit =
          CompletableFuture.runAsync(() -> commit(new CyclicBarrier(1)));
      assertThatThrownBy(() -> commit.get(3, TimeUnit.SECONDS))
          .isInstanceOf(TimeoutException.class);
      nodes.endPinning(pinned, pinning);
      commit.get();
      assertThat(visible()).containsExactly("a one");
    }
  }

  @Test
  void whatIsNotFinishedOrNotPublishedIsNotCommitted() throws IOException {
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    finish("task-1-a", "two", "b");
    try (AttemptOutput killed = output.attempt("task-2-a", TERMS)) {
      killed.addTable("web", table, SCHEMA);
      killed.add("web", Mutation.of("c").put("f", "three", "three"));
    }
    output.commit(List.of(), Map.of());
    assertThat(visible()).containsExactly("a one");
    assertThatThrownBy(() -> output.publish("task-2-a", "task-2")).isInstanceOf(IOException.class);
  }

  /** One that had failed, which was tolerated, until an ApplicationMaster ran it again. */
  @Test
  void aTaskThatPublishesAfterACommitHasBegunIsLeftOutAndFails() throws IOException {
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    Map<TableId, JobChange> changes = output.changes(Map.of());
    jobs.register(job, changes); // Here its ApplicationMaster is killed.
    assertThat(visible()).isEmpty();
    finish("task-1-a", "two", "b");
    assertLeftOut("task-1-a", "task-1");
    finish("task-1-b", "two", "b");
    assertLeftOut("task-1-b", "task-1"); // As all its attempts, though one has published.
    finish("task-0-b", "again", "a");
    output.publish("task-0-b", "task-0"); // Nobody has told that it had succeeded.
    finish("task-2-a", "nothing");
    output.publish("task-2-a", "task-2");
    assertThat(output.changes(Map.of())).isEqualTo(changes);
    new JobOutput(jobs, job).commit(List.of(), Map.of()); // By the next.
    assertThat(visible()).containsExactly("a one");
    output.commit(List.of(), Map.of());
    assertThat(visible()).containsExactly("a one");
  }

  private void assertLeftOut(String attempt, String task) {
    assertThatThrownBy(() -> output.publish(attempt, task))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("commits without what " + task + " has written")
        .hasMessageContaining("mapreduce.map.failures.maxpercent");
  }

  @Test
  void aTaskThatPublishesWhileTheListOfAllIsMadeIsInItOrFails() throws IOException {
    List<String> published = new ArrayList<>();
    for (int call = 1; call <= 6; call++) {
      String text = "before call " + call;
      finish("task-0-a", "one", "a" + call);
      output.publish("task-0-a", "task-0");
      finish("task-1-a", text, "b" + call);
      new JobOutput(jobs, job, new PublishingLate(call, published)).commit(List.of(), Map.of());
      assertThat(visible()).contains("a" + call + " one");
      assertThat(visible().contains("b" + call + " " + text))
          .as(text)
          .isEqualTo(published.remove("task-1"));
      begin();
    }
  }

  /** Files of the store; before one of the calls of a commit another task is published. */
  private final class PublishingLate extends FilterFileSystem {
    private final int before;
    private final List<String> published;
    private int calls;

    PublishingLate(int before, List<String> published) throws IOException {
      super(jobs.environment().files());
      this.before = before;
      this.published = published;
    }

    private void count() throws IOException {
      if (++calls == before) {
        try {
          output.publish("task-1-a", "task-1");
          published.add("task-1");
        } catch (SteleException | AccessControlException e) {
          assertThat(e.getMessage()).isNotEmpty(); // It is left out, or the job has committed.
        }
      }
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
      count();
      return super.rename(from, to);
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
      count();
      return super.mkdirs(path, permission);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      count();
      FileStatus[] listed = super.listStatus(path);
      count();
      return listed;
    }
  }

  @Test
  void ofTwoApplicationMastersThatCommitAtOnceBothSucceedAndTheJobIsThereOnce() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      String text = String.format("%02d", round);
      finish("task-0-a", text, "a" + text, "z" + text);
      finish("task-1-a", text, "b" + text);
      output.publish("task-0-a", "task-0");
      output.publish("task-1-a", "task-1");
      CyclicBarrier start = new CyclicBarrier(2);
      CompletableFuture<?> one = CompletableFuture.runAsync(() -> commit(start));
      CompletableFuture<?> other = CompletableFuture.runAsync(() -> commit(start));
      CompletableFuture.allOf(one, other).get();
      assertThat(visible()).hasSize(3 * (round + 1)).contains("a" + text + " " + text);
      begin();
    }
  }

  private void commit(CyclicBarrier start) {
    try {
      JobOutput own = new JobOutput(jobs, job);
      start.await();
      own.commit(List.of(), Map.of());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whatTheLaterTaskWroteToACellIsTheLaterAlsoWhereItsNumberHasMoreDigits() throws Exception {
    for (String task : List.of("task-1000000", "task-999999")) {
      try (AttemptOutput one = output.attempt(task + "-a", TERMS)) {
        one.addTable("web", table, SCHEMA);
        one.add("web", Mutation.of("row").put("f", "q", task));
        one.finish();
      }
      output.publish(task + "-a", task);
    }
    output.commit(List.of(), Map.of());
    Row row = stele.table("web").readRow("row").orElseThrow();
    assertThat(row.cells().get(0).value().toUtf8()).isEqualTo("task-1000000");
  }

  @Test
  void ofACommitAndAnAbortAtOnceOneWinsForGood() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      int before = visible().size();
      String text = String.format("%02d", round);
      finish("task-0-a", text, "a" + text, "z" + text);
      output.publish("task-0-a", "task-0");
      CyclicBarrier start = new CyclicBarrier(2);
      CompletableFuture<Boolean> committed =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  start.await();
                  output.commit(List.of(), Map.of());
                  return true;
                } catch (Exception e) {
                  return false;
                }
              });
      start.await();
      output.abort();
      assertThat(visible()).hasSize(before + (committed.get() ? 2 : 0));
      begin();
    }
  }

  @Test
  void rowsAreReplacedWithTheFilesThatReplaceThem() throws IOException {
    stele.table("web").mutate(Mutation.of("b").put("f", "old", "x"));
    stele.table("web").mutate(Mutation.of("y").put("f", "kept", "x"));
    finish("task-0-a", "new", "c");
    output.publish("task-0-a", "task-0");
    Map<TableId, List<RowRange>> replaced = Map.of(table, List.of(RowRange.of("a", "n")));
    jobs.register(job, output.changes(replaced));
    assertThat(visible()).containsExactly("b old", "y kept");
    output.commit(List.of(), replaced);
    assertThat(visible()).containsExactly("c new", "y kept");
    stele.table("web").mutate(Mutation.of("b").put("f", "later", "x"));
    output.commit(List.of(), replaced);
    assertThat(visible()).containsExactly("b later", "c new", "y kept");
  }

  /** More than ten: the tablet goes by the names of the files. */
  @Test
  void ofRunsOfATaskTheLaterIsTheLaterChange() throws IOException {
    AttemptOutput.Sorting eachInItsRun = new AttemptOutput.Sorting(1, () -> {});
    try (AttemptOutput one = output.attempt("task-0-a", TERMS, eachInItsRun)) {
      one.addTable("web", table, SCHEMA);
      one.add("web", Mutation.of("z").put("f", "gone", "x"));
      one.add("web", Mutation.of("z").deleteRow());
      for (int i = 0; i < 12; i++) {
        one.add("web", Mutation.of("b").put("f", "q", "run " + i));
        one.add("web", Mutation.of("a").put("f", "q" + i, "x"));
      }
      one.finish();
    }
    assertThat(sstables()).isEqualTo(26);
    output.publish("task-0-a", "task-0");
    output.commit(List.of(), Map.of());
    assertThat(visible()).hasSize(2).contains("b q");
    Row row = stele.table("web").readRow("b").orElseThrow();
    assertThat(row.value("f", "q")).contains(Bytes.of("run 11"));
  }

  /** What was written to one table takes no room from another one that is written later. */
  @Test
  void tablesThatAreWrittenOneAfterTheOtherGetFewRuns() throws IOException {
    AttemptOutput.Sorting sorting = new AttemptOutput.Sorting(900 << 10, () -> {});
    try (AttemptOutput one = output.attempt("task-0-a", TERMS, sorting)) {
      for (String name : List.of("web", "other")) {
        one.addTable(name, table, SCHEMA);
      }
      for (String name : List.of("other", "web")) {
        for (int i = 0; i < 9000; i++) {
          one.add(name, Mutation.of("row" + i % 100).put("f", "q", "of " + name + " " + i));
        }
      }
      one.finish();
    }
    assertThat(sstables()).isBetween(2, 6);
  }

  @Test
  void anAttemptThatCouldNotWriteARunCannotFinishWithoutIt() throws IOException {
    AttemptOutput.Sorting sorting = new AttemptOutput.Sorting(64 << 20, () -> {});
    try (AttemptOutput one = output.attempt("task-0-a", TERMS, sorting)) {
      one.addTable("web", table, SCHEMA);
      // Each is more than a quarter of what a row may have: all its cells count with the key.
      Mutation.Builder wide = Mutation.builder(Bytes.of(new byte[Limits.ROW_BYTES_MAX]));
      for (long i = 0; i <= Limits.MUTATION_BYTES_MAX / 4; i += 2L * Limits.ROW_BYTES_MAX) {
        wide.put("f", Bytes.of("q"), Bytes.EMPTY);
      }
      Mutation more = wide.build();
      for (int i = 0; i < 4; i++) {
        one.add("web", more);
      }
      assertThatThrownBy(one::finish)
          .hasMessageContaining("the limit is " + Limits.MUTATION_BYTES_MAX);
      assertThatThrownBy(() -> one.add("web", Mutation.of("b").put("f", "q", "v")))
          .hasMessageContaining("let the task fail");
      assertThatThrownBy(one::finish) // Which may be all that MapReduce shows.
          .hasMessageContaining("the limit is")
          .hasMessageContaining("let the task fail");
    }
    assertThat(output.isFinished("task-0-a")).isFalse();
  }

  @Test
  void anAttemptThatCouldNotWriteARowCannotFinishWithoutItEvenIfTheProgramGoesOn()
      throws IOException {
    JobOutput failing = new JobOutput(jobs, job, new FirstCreateFails());
    try (AttemptOutput one = failing.attempt("task-0-a", TERMS)) {
      one.addTable("web", table, SCHEMA);
      assertThatThrownBy(
              () -> {
                for (String row : List.of("a", "b", "c")) {
                  one.add("web", Mutation.of(row).put("f", "q", "v"));
                }
                one.finish();
              })
          .hasMessageContaining("no room");
      assertThatThrownBy(() -> one.add("web", Mutation.of("d").put("f", "q", "v")))
          .hasMessageContaining("let the task fail");
      assertThatThrownBy(one::finish)
          .hasMessageContaining("no room")
          .hasMessageContaining("let the task fail");
    }
    assertThat(output.isFinished("task-0-a")).isFalse();
  }

  /** Files of the store; the first that is created is not. */
  private final class FirstCreateFails extends FilterFileSystem {
    private boolean failed;

    FirstCreateFails() throws IOException {
      super(jobs.environment().files());
    }

    @Override
    public FSDataOutputStream createNonRecursive(
        Path path,
        FsPermission permission,
        EnumSet<CreateFlag> flags,
        int bufferBytes,
        short replication,
        long blockBytes,
        Progressable progress)
        throws IOException {
      if (!failed) {
        failed = true;
        throw new IOException("no room");
      }
      return super.createNonRecursive(
          path, permission, flags, bufferBytes, replication, blockBytes, progress);
    }
  }

  @Test
  void anAbortedJobIsNeverVisible() throws IOException {
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    jobs.register(job, output.changes(Map.of()));
    output.abort();
    assertThatThrownBy(() -> output.commit(List.of(), Map.of())).hasMessageContaining("is over");
    assertThat(visible()).isEmpty();
  }

  @Test
  void anOutputIsThatOfTheJobThatSetsItUpFirst() throws IOException {
    assertThatThrownBy(() -> output.requireSetUp("job_1")).hasMessageContaining("was not set up");
    output.setUp("job_1");
    output.setUp("job_1"); // By its next ApplicationMaster.
    output.requireSetUp("job_1");
    assertThatThrownBy(() -> output.setUp("job_2")).hasMessageContaining("is that of job job_1");
    assertThatThrownBy(() -> output.requireSetUp("job_2"))
        .hasMessageContaining("is that of job job_1");
    assertThat(output.isSetUpByAnother("job_1")).isFalse();
    assertThat(output.isSetUpByAnother("job_2")).isTrue();
    finish("task-0-a", "one", "a");
    output.publish("task-0-a", "task-0");
    output.commit(List.of(), Map.of());
    output.setUp("job_1"); // It begins from scratch.
    assertThat(visible()).containsExactly("a one");
  }

  /** A task with little to write might not have heard of it. */
  @Test
  void anOutputThatIsOverAndSweptIsNotSetUp() throws IOException {
    output.setUp("job_1");
    output.abort();
    Path directory = new Path(jobs.environment().root(), "bulk/" + job);
    cluster.master().sweep();
    assertThat(jobs.environment().files().exists(directory)).isFalse();
    finish("task-0-a", "one", "a");
    assertThatThrownBy(() -> output.requireSetUp("job_1")).hasMessageContaining("is over");
    assertThatThrownBy(() -> output.setUp("job_1")).hasMessageContaining("is over");
  }

  @Test
  void aJobOfNoTasksCommitsNothing() throws IOException {
    output.commit(List.of(), Map.of());
    assertThat(visible()).isEmpty();
  }
}
