package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CorruptionException;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.record.RecordChangeSize;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import io.stele.tablet.JobFileWriter;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Files of jobs in the tablets of a server. */
class JobFilesTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");
  private static final Path ROOT = new Path("/stele");

  private final TestServer.World world = new TestServer.World();

  private static String begin(TestServer server) throws IOException {
    return server.jobs.begin(
        JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofMinutes(1), Optional.empty());
  }

  private static List<Pending> write(TestServer server, String job, String... rows)
      throws IOException {
    return write(server, job, "task-0", List.of(rows));
  }

  private static List<Pending> write(TestServer server, String job, String task, List<String> rows)
      throws IOException {
    return write(server, job, task, rows, 7);
  }

  private static List<Pending> write(
      TestServer server, String job, String task, List<String> rows, long timestampMicros)
      throws IOException {
    JobFileWriter.Target target =
        new JobFileWriter.Target(server.fs, ROOT, job, task, SCHEMA, timestampMicros);
    try (JobFileWriter writer =
        new JobFileWriter(target, SystemRuntime.INSTANCE.random(), 1 << 20)) {
      for (String row : rows) {
        writer.add(Mutation.of(row).put("f", "q", "job"));
      }
      return writer.finish().stream().map(file -> (Pending) new PendingFile(job, file)).toList();
    }
  }

  private static void mayAnswer(TestServer server, HostedTablet hosted) throws Exception {
    CompletableFuture<Void> answer = server.requested.mayAnswer(hosted);
    try {
      answer.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  @Test
  void filesAreSeenWhenTheirJobHasCommittedAndNoRequestIsAnsweredWithoutThem() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "a", "before");
      String job = begin(server);
      List<Pending> files = write(server, job, "b", "c");
      assertThat(server.requested.register(hosted, files)).isFalse();
      assertThat(server.minor.size()).as("not behind minor compactions").isZero();
      server.registering.work();
      assertThat(server.requested.register(hosted, files)).isTrue();
      assertThat(server.stored(hosted.id()).pending()).isEqualTo(files);
      mayAnswer(server, hosted);
      assertThat(TestServer.rows(hosted)).isEqualTo(1);

      assertThat(server.jobs.commit(job)).isTrue();
      assertThatThrownBy(() -> mayAnswer(server, hosted))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
      server.minor.work();
      assertThat(server.requested.resolve(hosted, job)).isTrue();
      mayAnswer(server, hosted);
      assertThat(TestServer.rows(hosted)).isEqualTo(3);
      TestServer.put(hosted, "d", "after");
      assertThat(TestServer.rows(hosted)).isEqualTo(4);
      assertThat(hosted.minor().free()).isEqualTo(1);
    }
  }

  /** The clock of the host from which a job was submitted may be ahead. */
  @Test
  void whatIsWrittenAfterTheCommitIsNewerThanWhatTheJobWrote() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      long ahead = (System.currentTimeMillis() + 20_000) * 1000;
      List<Pending> files = write(server, job, "task", List.of("b"), ahead);
      server.requested.register(hosted, files);
      server.registering.work();
      assertThat(server.requested.register(hosted, files)).isTrue();
      assertThat(server.jobs.commit(job)).isTrue();
      assertThat(server.requested.resolve(hosted, job)).isFalse();
      server.minor.work();
      assertThat(server.requested.resolve(hosted, job)).isTrue();
      assertThat(value(hosted, "b")).isEqualTo(Bytes.of("job"));
      TestServer.put(hosted, "b", "after");
      assertThat(value(hosted, "b")).isEqualTo(Bytes.of("after"));
    }
  }

  @Test
  void aClockThatIsFarAheadIsNotBelieved() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      List<Pending> files = write(server, job, "task", List.of("b"), Long.MAX_VALUE - 1);
      server.requested.register(hosted, files);
      server.registering.work();
      assertThat(server.requested.register(hosted, files)).isTrue();
      assertThat(server.jobs.commit(job)).isTrue();
      server.requested.resolve(hosted, job);
      server.minor.work();
      TestServer.put(hosted, "c", "after");
      long hour = Duration.ofHours(1).toMillis();
      assertThat(newest(hosted, "c").timestampMicros() / 1000)
          .isLessThan(System.currentTimeMillis() + hour);
    }
  }

  private static Bytes value(HostedTablet hosted, String row) throws IOException {
    return newest(hosted, row).value();
  }

  private static Cell newest(HostedTablet hosted, String row) throws IOException {
    ReadRequest newest = ReadRequest.of(RowQuery.row(row).versions(1));
    return hosted.tablet().read(newest).rows().get(0).cells().get(0);
  }

  @Test
  void aRequestThatWaitsForTheFilesOfAJobIsToldWhyTheyCannotBeTaken() throws Exception {
    HostedTablet hosted;
    String job;
    try (TestServer server = new TestServer(world)) {
      hosted = server.takeNew(SCHEMA);
      job = begin(server);
      List<Pending> files = write(server, job, "a");
      server.files.register(hosted, files);
      server.lifecycle.unload(hosted, false);
      server.fs.delete(new Path(ROOT, ((PendingFile) files.get(0)).file().path()), false);
      server.jobs.commit(job);
    }
    try (TestServer server = new TestServer(world)) {
      HostedTablet loaded = server.take(server.stored(hosted.id()));
      assertThatThrownBy(() -> mayAnswer(server, loaded)).hasMessageEndingWith("try again");
      server.minor.work();
      assertThatThrownBy(() -> mayAnswer(server, loaded))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
          .hasMessageContaining("FileNotFoundException")
          .hasMessageContaining("bulk/" + job);
    }
  }

  @Test
  void aRegistrationThatNobodyTriesAgainIsForgotten() throws Exception {
    AtomicLong skipped = new AtomicLong();
    ProcessRuntime runtime = ForwardingRuntime.ahead(skipped::get);
    try (TestServer server = new TestServer(world, runtime, new Configuration(false))) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      Maintenance maintenance = server.maintenance();
      List<Pending> files = write(server, begin(server), "b");
      world.disk.inject(
          FaultInjector.always(
              Operation.OPEN,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Delay(
                  () -> {
                    throw new IllegalStateException("a fault of the code");
                  })));
      server.requested.register(hosted, files);
      server.registering.work();
      hosted.work().failed(Work.of(WorkKind.SPLIT), "tried again by rounds", false);
      skipped.addAndGet(Duration.ofMinutes(10).toNanos());
      maintenance.round();
      assertThat(hosted.work().troubles()).hasSize(2);
      skipped.addAndGet(Duration.ofMinutes(1).toNanos());
      maintenance.round();
      assertThat(hosted.work().troubles())
          .singleElement()
          .satisfies(trouble -> assertThat(trouble.work()).isEqualTo(Work.of(WorkKind.SPLIT)));
    }
  }

  /** Each range divides each file: what is registered must have room when it is taken. */
  @Test
  void replacementsThatWouldDivideTheFilesOfATabletTooOftenAreRefused() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      for (int i = 0; i < 12; i++) {
        TestServer.put(hosted, "00000", "first");
        TestServer.put(hosted, "99999", "last");
        hosted.tablet().minorCompact();
      }
      String job = begin(server);
      List<Pending> many = replacements(job, 400);
      assertThatThrownBy(() -> server.requested.register(hosted, many))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
          .hasMessageContaining("replace fewer ranges");

      hosted.tablet().majorCompact();
      server.requested.register(hosted, many);
      server.registering.work();
      assertThat(server.requested.register(hosted, many)).isTrue();
      assertThat(server.jobs.commit(job)).isTrue();
      assertThat(server.requested.resolve(hosted, job)).isFalse();
      server.minor.work();
      assertThat(server.stored(hosted.id()).files()).hasSizeBetween(400, 4_000);
      assertThat(TestServer.rows(hosted)).isEqualTo(2);
    }
  }

  /** Registered, taken and split in one write each: METADATA refuses those that are too large. */
  @Test
  void filesWithLongRowsAreRefusedBeforeTheyAreTooMuchForTheRecord() throws Exception {
    world.metadata.before(
        update -> {
          if (request(update) > RecordChangeSize.REQUEST_BYTES_MAX
              || OperationSize.of(update) > RecordChangeSize.CELL_BYTES_MAX) {
            throw SteleException.refused("the request is too large");
          }
        });
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String tooLarge = begin(server);
      assertThatThrownBy(
              () -> server.requested.register(hosted, withLongRows(server, tooLarge, 450)))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining("write the output with fewer tasks");

      String job = begin(server);
      List<Pending> files = withLongRows(server, job, 300);
      server.requested.register(hosted, files);
      server.registering.work();
      assertThat(server.requested.register(hosted, files)).isTrue();
      String other = begin(server);
      assertThatThrownBy(() -> server.requested.register(hosted, withLongRows(server, other, 150)))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));

      assertThat(server.jobs.commit(job)).isTrue();
      server.files.resolve(hosted);
      assertThat(server.stored(hosted.id()).files()).hasSize(300);
      server.splitter.split(hosted, Bytes.of("m".repeat(3_000)));
      int rows = 0;
      for (HostedTablet half : server.context.tablets().all()) {
        rows += TestServer.rows(half);
        half.tablet().majorCompact();
      }
      assertThat(rows).isEqualTo(600);
      assertThat(server.aborts).isEmpty();
    }
  }

  private static List<Pending> withLongRows(TestServer server, String job, int count)
      throws IOException {
    List<Pending> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String end = "r".repeat(2_995) + String.format("%05d", i);
      files.addAll(write(server, job, "task-" + i, List.of("a" + end.substring(1), end)));
    }
    return files;
  }

  private static long request(Mutation update) {
    long bytes = update.row().length();
    for (Edit edit : update.edits()) {
      bytes +=
          edit instanceof Edit.Put put
              ? put.qualifier().length() + (long) put.value().length()
              : ((Edit.DeleteColumn) edit).qualifier().length();
    }
    return bytes;
  }

  private static List<Pending> replacements(String job, int count) {
    List<Pending> many = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      RowRange row = RowRange.single(Bytes.of(String.format("%05d", i)));
      many.add(new PendingReplacement(job, row));
    }
    return many;
  }

  /** A job's own files come above the rows that it replaces. */
  @Test
  void aJobDoesNotDivideItsOwnFiles() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      List<Pending> changes = new ArrayList<>(replacements(job, 200));
      for (int task = 0; task < 30; task++) {
        changes.addAll(write(server, job, "task-" + task, List.of("00000", "99999")));
      }
      server.requested.register(hosted, changes);
      server.registering.work();
      assertThat(server.requested.register(hosted, changes)).isTrue();
      server.jobs.commit(job);
      server.files.resolve(hosted);
      assertThat(server.stored(hosted.id()).files()).hasSize(30);
    }
  }

  @Test
  void aTabletThatWouldBeDividedTooMuchTakesFilesOnceItIsCompacted() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      server.files.register(hosted, replacements(job, 1_800));
      for (int i = 0; i < 12; i++) { // After it was registered.
        TestServer.put(hosted, "00000", "first");
        TestServer.put(hosted, "99999", "last");
        hosted.tablet().minorCompact();
      }
      server.jobs.commit(job);
      List<FileRef> before = server.stored(hosted.id()).files();
      assertThatThrownBy(() -> server.files.resolve(hosted))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
          .hasMessageContaining("unites its files");
      assertThat(server.stored(hosted.id()).files()).isEqualTo(before);
      assertThat(server.aborts).isEmpty();
      hosted.tablet().majorCompact();
      server.files.resolve(hosted);
      assertThat(hosted.tablet().pending()).isEmpty();
      assertThat(TestServer.rows(hosted)).isEqualTo(2);
    }
  }

  /** Otherwise the file would be in two stacks, and the tablet would be rewritten. */
  @Test
  void deletesOfColumnsGiveAFileNoOtherFamilies() throws Exception {
    TableSchema both = TableSchema.of("t", "f", "other");
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(both);
      String job = begin(server);
      List<Pending> files = write(server, job, both, Mutation.of("r").deleteColumn("f", "q"));
      server.files.register(hosted, files);
      server.jobs.commit(job);
      server.files.resolve(hosted);
      assertThat(server.stored(hosted.id()).files())
          .singleElement()
          .satisfies(file -> assertThat(file.families()).containsExactly("f"));
    }
  }

  @Test
  void rowsThatAJobDeletesAreDeletedInFamiliesThatWereAddedMeanwhile() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "r", "before");
      String job = begin(server);
      JobFileWriter.Target target =
          new JobFileWriter.Target(server.fs, ROOT, job, "task-0", SCHEMA, 7);
      List<Pending> files;
      try (JobFileWriter writer =
          new JobFileWriter(target, SystemRuntime.INSTANCE.random(), 1 << 20)) {
        writer.add(Mutation.of("r").deleteRow());
        files = writer.finish().stream().map(file -> (Pending) new PendingFile(job, file)).toList();
      }
      TestServer.alter(hosted, TableSchema.of("t", "f", "n"));
      hosted
          .tablet()
          .apply(OperationRequest.of(Mutation.of("r").put("n", "q", "put meanwhile")))
          .get(60, TimeUnit.SECONDS);
      server.files.register(hosted, files);
      server.jobs.commit(job);
      server.files.resolve(hosted);

      RowQuery added = RowQuery.ALL.family("n");
      assertThat(TestServer.rows(hosted)).isZero();
      assertThat(rows(hosted, added)).isZero();
      hosted.tablet().majorCompact();
      assertThat(TestServer.rows(hosted)).isZero();
      assertThat(rows(hosted, added)).isZero();
    }
  }

  /** The files of a job that makes this change to a table. */
  private static List<Pending> write(
      TestServer server, String job, TableSchema schema, Mutation change) throws IOException {
    JobFileWriter.Target target =
        new JobFileWriter.Target(server.fs, ROOT, job, "task-0", schema, 7);
    try (JobFileWriter writer =
        new JobFileWriter(target, SystemRuntime.INSTANCE.random(), 1 << 20)) {
      writer.add(change);
      return writer.finish().stream().map(file -> (Pending) new PendingFile(job, file)).toList();
    }
  }

  private static int rows(HostedTablet hosted, RowQuery query) throws IOException {
    return hosted.tablet().read(ReadRequest.of(query)).rows().size();
  }

  @Test
  void aFamilyThatAJobHasNotWrittenMayBeDropped() throws Exception {
    TableSchema both = TableSchema.of("t", "f", "other");
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(both);
      String job = begin(server);
      List<Pending> files = write(server, job, both, Mutation.of("r").put("f", "q", "job"));
      TestServer.alter(hosted, SCHEMA);
      server.files.register(hosted, files);
      assertThat(hosted.tablet().pending()).isEqualTo(files).isNotEmpty();
    }
  }

  @Test
  void moreThanARecordHasRoomForIsRefused() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      List<Pending> many = replacements(job, 1_001);
      assertThat(server.requested.register(hosted, many)).isFalse();
      server.registering.work();
      assertThat(server.requested.register(hosted, many)).isTrue();

      List<Pending> more = replacements(job, 4_002);
      assertThatThrownBy(() -> server.requested.register(hosted, more))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining("would have 4001 files");
      assertThat(server.stored(hosted.id()).pending()).hasSize(1_000);
    }
  }

  @Test
  void aRegistrationThatFailedWithoutDamageIsTriedAgain() throws Exception {
    AtomicLong skipped = new AtomicLong();
    ProcessRuntime runtime = ForwardingRuntime.ahead(skipped::get);
    try (TestServer server = new TestServer(world, runtime, new Configuration(false))) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      List<Pending> files = write(server, begin(server), "b");
      world.disk.inject(
          FaultInjector.always(
              Operation.OPEN,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Delay(
                  () -> {
                    throw new IllegalStateException("a fault of the code");
                  })));
      assertThat(server.requested.register(hosted, files)).isFalse();
      server.registering.work();
      world.disk.heal();
      assertThat(hosted.work().troubles()).hasSize(1);
      assertThat(server.requested.register(hosted, files)).as("a little later").isFalse();
      skipped.addAndGet(Duration.ofHours(1).toNanos());
      assertThat(server.requested.register(hosted, files)).isFalse();
      server.registering.work();
      assertThat(server.requested.register(hosted, files)).isTrue();
      assertThat(hosted.work().troubles()).isEmpty();
    }
  }

  @Test
  void whoLoadsATabletInWhichFilesWaitTakesThemOrStrikesThem() throws Exception {
    HostedTablet hosted;
    String committed;
    String ended;
    try (TestServer server = new TestServer(world)) {
      hosted = server.takeNew(SCHEMA);
      committed = begin(server);
      ended = begin(server);
      server.files.register(hosted, write(server, committed, "a", "b"));
      server.files.register(hosted, write(server, ended, "c"));
      server.jobs.commit(committed);
      server.jobs.end(ended);
      server.lifecycle.unload(hosted, false);
    }
    try (TestServer server = new TestServer(world)) {
      HostedTablet loaded = server.take(server.stored(hosted.id()));
      assertThat(JobFiles.jobsOf(loaded)).containsExactlyInAnyOrder(committed, ended);
      server.files.resolve(loaded);
      assertThat(TestServer.rows(loaded)).isEqualTo(2);
      assertThat(server.stored(hosted.id()).pending()).isEmpty();
      assertThat(server.stored(hosted.id()).files()).hasSize(1);
    }
  }

  private static List<Bytes> rows(HostedTablet hosted) throws IOException {
    return hosted.tablet().read(ReadRequest.of(RowQuery.ALL)).rows().stream()
        .map(Row::key)
        .toList();
  }

  /** Files with one row of its own, in place of all that is there. */
  private static String replacing(TestServer server, HostedTablet hosted, String row)
      throws IOException {
    String job = begin(server);
    List<Pending> changes = new ArrayList<>(write(server, job, row));
    changes.add(new PendingReplacement(job, RowRange.ALL));
    server.files.register(hosted, changes);
    return job;
  }

  @Test
  void jobsThatReplaceRowsAreTakenInTheOrderOfTheirCommitsAndNothingComesBack() throws Exception {
    for (int i = 0; i < 4; i++) { // Names are random: their order must not count.
      try (TestServer server = new TestServer(world)) {
        HostedTablet hosted = server.takeNew(SCHEMA);
        TestServer.put(hosted, "old", "value");
        String one = replacing(server, hosted, "one");
        String two = replacing(server, hosted, "two");
        String plain = begin(server);
        server.files.register(hosted, write(server, plain, "plain"));
        String never = replacing(server, hosted, "never");
        TestServer.put(hosted, "meanwhile", "value");
        server.jobs.commit(plain);
        server.jobs.commit(two);
        server.jobs.commit(one);
        server.files.resolve(hosted);
        assertThat(rows(hosted)).containsExactly(Bytes.of("one"));
        TestServer.put(hosted, "later", "value");
        server.jobs.end(never);
        server.files.resolve(hosted);
        assertThat(rows(hosted)).containsExactly(Bytes.of("later"), Bytes.of("one"));
        assertThat(server.stored(hosted.id()).pending()).isEmpty();
      }
    }
  }

  @Test
  void aReplacementWithoutFilesClearsItsRowsAndAPinGoesOnToSeeThem() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      for (String row : List.of("a", "b", "c")) {
        TestServer.put(hosted, row, "value");
      }
      String reader = begin(server);
      server.pins.pin(hosted, reader);
      String job = begin(server);
      server.files.register(hosted, List.of(new PendingReplacement(job, RowRange.of("b", "c"))));
      server.jobs.commit(job);
      server.files.resolve(hosted);
      assertThat(rows(hosted)).containsExactly(Bytes.of("a"), Bytes.of("c"));
      assertThat(hosted.tablet().read(ReadRequest.of(RowQuery.ALL).atPin(reader)).rows())
          .hasSize(3);
      server.lifecycle.unload(hosted, false);
      HostedTablet again = server.take(server.stored(hosted.id()));
      assertThat(rows(again)).containsExactly(Bytes.of("a"), Bytes.of("c"));
    }
  }

  @Test
  void aRequestThatComesAfterTheEndOfItsJobRegistersNothing() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String ended = begin(server);
      server.jobs.end(ended);
      server.files.register(hosted, write(server, ended, "a"));
      String committed = begin(server);
      server.jobs.commit(committed);
      server.files.register(hosted, write(server, committed, "b"));
      assertThat(server.stored(hosted.id()).pending()).isEmpty();
      assertThat(server.jobs.commit(ended)).isFalse();
    }
  }

  @Test
  void aDamagedFileIsRefusedAndTheTabletGoesOn() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      FileRef file = ((PendingFile) write(server, job, "a").get(0)).file();
      Path damaged = new Path(ROOT, "bulk/" + job + "/other-0.sst");
      try (FSDataOutputStream out = server.fs.create(damaged)) {
        out.write(new byte[(int) file.length()]);
      }
      FileRef other =
          PendingFile.unnumbered(
              "bulk/" + job + "/other-0.sst", file.length(), file.bounds(), file.families());
      List<Pending> files = List.of(new PendingFile(job, other));
      assertThatThrownBy(() -> server.files.register(hosted, files))
          .isInstanceOf(CorruptionException.class);
      server.requested.register(hosted, files);
      server.registering.work();
      assertThatThrownBy(() -> server.requested.register(hosted, files))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.CORRUPTION));
      assertThat(hosted.tablet().failure()).isEmpty();
      TestServer.put(hosted, "a", "value");
    }
  }

  @Test
  void aFileIsOpenedOnceAndClosedWhenItWaitsNoMore() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String committed = begin(server);
      String ended = begin(server);
      List<Pending> files = write(server, committed, "a");
      List<Pending> unwanted = write(server, ended, "b");
      List<Pending> forgotten = write(server, begin(server), "c");
      int open = server.fs.openReaders();
      long opened = world.disk.count(Operation.OPEN);
      server.files.register(hosted, files);
      server.files.register(hosted, unwanted);
      server.files.register(hosted, forgotten);
      server.jobs.commit(committed);
      server.jobs.end(ended);
      server.files.resolve(hosted);
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
      assertThat(world.disk.count(Operation.OPEN)).isEqualTo(opened + 3);
      assertThat(server.fs.openReaders()).isEqualTo(open + 2);
      server.lifecycle.unload(hosted, false);
      assertThat(server.fs.openReaders()).isEqualTo(open);
    }
  }

  @Test
  void aPinSeesWhatHasCommittedBefore() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      server.files.register(hosted, write(server, job, "a"));
      server.jobs.commit(job);
      String reader = begin(server);
      server.requested.pin(hosted, reader);
      server.minor.work();
      assertThat(server.requested.pin(hosted, reader)).isTrue();
      assertThat(hosted.tablet().pins().get(0).readPoint()).isEqualTo(hosted.tablet().readPoint());
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
    }
  }

  private static void alter(HostedTablet hosted, String... families) {
    TestServer.alter(hosted, TableSchema.of("t", families));
  }

  @Test
  void aDroppedFamilyIsErasedOnceNoFileOfAJobHasIt() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "a", "old");
      String job = begin(server);
      server.files.register(hosted, write(server, job, "b"));
      alter(hosted, "g");
      server.beginChange("t", 7);
      server.requested.erase(hosted, 7, Set.of("f"));
      server.minor.work();
      assertThat(RowClearing.left(hosted, 7, RowRange.ALL)).isNotEmpty();
      assertThatThrownBy(() -> server.clearing.erase(hosted, 7, Set.of("f")))
          .hasMessageContaining("until the job is over")
          .hasMessageContaining(job);

      server.jobs.commit(job);
      server.files.resolve(hosted);
      server.clearing.erase(hosted, 7, Set.of("f"));
      assertThat(RowClearing.left(hosted, 7, RowRange.ALL)).isEmpty();
      assertThat(server.stored(hosted.id()).cleared().of(7)).containsExactly(RowRange.ALL);
      alter(hosted, "f", "g");
      assertThat(TestServer.rows(hosted)).isZero();

      TestServer.put(hosted, "c", "new");
      server.requested.erase(hosted, 7, Set.of("f")); // It comes late.
      server.requested.erase(hosted, 6, Set.of("f"));
      server.minor.work();
      server.clearing.erase(hosted, 7, Set.of("f"));
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
      server.endChange("t");
      server.beginChange("t", 8);
      assertThatThrownBy(() -> server.clearing.erase(hosted, 8, Set.of("f")))
          .hasMessageContaining("which are to be erased");
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
    }
  }

  @Test
  void filesWithAFamilyThatIsGoneByThenAreNotRegistered() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      List<Pending> files = write(server, begin(server), "b");
      alter(hosted, "g");
      server.files.register(hosted, files);
      assertThat(hosted.tablet().pending()).isEmpty();
    }
  }
}
