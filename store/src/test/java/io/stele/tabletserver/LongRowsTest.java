package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.ClearedRows;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.JobFileWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Rows as long as the limit allows, where they become bounds of files in a tablet's record. */
class LongRowsTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");
  private static final Path ROOT = new Path("/stele");
  private static final String TASK = "attempt_1700000000000_0001_r_000000_0";

  private final TestServer.World world = new TestServer.World();

  private static String begin(TestServer server) throws IOException {
    return server.jobs.begin(
        JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofMinutes(1), Optional.empty());
  }

  private static Bytes row(String letter, int length) {
    return Bytes.of(letter.repeat(length));
  }

  private static List<Pending> write(TestServer server, String job, Bytes... rows)
      throws IOException {
    JobFileWriter.Target target = new JobFileWriter.Target(server.fs, ROOT, job, TASK, SCHEMA, 7);
    try (JobFileWriter writer =
        new JobFileWriter(target, SystemRuntime.INSTANCE.random(), 1 << 20)) {
      for (Bytes row : rows) {
        writer.add(Mutation.of(row).put("f", "q", "job"));
      }
      return writer.finish().stream().map(file -> (Pending) new PendingFile(job, file)).toList();
    }
  }

  private static void commit(TestServer server, HostedTablet hosted, String job) throws Exception {
    assertThat(server.jobs.commit(job)).isTrue();
    server.requested.resolve(hosted, job);
    server.minor.work();
    assertThat(server.aborts).isEmpty();
    assertThat(server.requested.resolve(hosted, job)).isTrue();
  }

  private static void register(TestServer server, HostedTablet hosted, List<Pending> changes) {
    server.requested.register(hosted, changes);
    server.registering.work();
    assertThat(server.aborts).isEmpty();
    assertThat(server.requested.register(hosted, changes)).isTrue();
  }

  @Test
  void aJobsFileMayBeginWithTheLongestRow() throws Exception {
    HostedTablet hosted;
    try (TestServer server = new TestServer(world)) {
      hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      register(server, hosted, write(server, job, row("a", Limits.ROW_BYTES_MAX)));
      commit(server, hosted, job);
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
      hosted.tablet().majorCompact();
      server.lifecycle.unload(hosted, false);
    }
    try (TestServer server = new TestServer(world)) {
      HostedTablet loaded = server.take(server.stored(hosted.id()));
      assertThat(loaded.record().files()).hasSize(1);
      assertThat(TestServer.rows(loaded)).isEqualTo(1);
    }
  }

  @Test
  void aJobMayReplaceTheRowsFromTheLongestOn() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "a", "before");
      TestServer.put(hosted, "c", "before");
      String job = begin(server);
      RowRange replaced = new RowRange(row("b", Limits.ROW_BYTES_MAX), Bytes.EMPTY);
      register(server, hosted, List.of(new PendingReplacement(job, replaced)));
      commit(server, hosted, job);
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
      assertThat(server.stored(hosted.id()).pending()).isEmpty();
    }
  }

  @Test
  void rowsUpToTheLongestCanBeCleared() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "a", "v");
      TestServer.put(hosted, "c", "v");
      hosted.tablet().minorCompact();
      RowRange cleared = RowRange.until(row("b", Limits.ROW_BYTES_MAX));
      hosted.tablet().pauseWrites().get(30, TimeUnit.SECONDS);
      try {
        hosted.tablet().clear(cleared, new ClearedRows(1, List.of(cleared)));
      } finally {
        hosted.tablet().resumeWrites();
      }
      assertThat(server.aborts).isEmpty();
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
    }
  }

  @Test
  void aTabletWithAJobsFileIsSplitAtTheLongestRow() throws Exception {
    Bytes middle = row("b", Limits.SPLIT_ROW_BYTES_MAX);
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = begin(server);
      register(server, hosted, write(server, job, Bytes.of("a"), middle, Bytes.of("c")));
      commit(server, hosted, job);
      server.splitter.split(hosted, middle);
      assertThat(server.aborts).isEmpty();
      assertThat(server.context.tablets().all()).hasSize(2);
      int rows = 0;
      for (HostedTablet half : server.context.tablets().all()) {
        half.tablet().majorCompact();
        assertThat(server.stored(half.id()).files()).hasSize(1);
        rows += TestServer.rows(half);
      }
      assertThat(rows).isEqualTo(3);
    }
  }

  /** Each file with rows on both sides gets the row as a bound, in both halves. */
  @Test
  void aTabletIsNotSplitWhereItsManyFilesWouldTakeTooMuchOfMetadata() throws Exception {
    Bytes middle = row("b", Limits.SPLIT_ROW_BYTES_MAX);
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      for (int i = 0; i < 50; i++) {
        TestServer.put(hosted, "a", "v");
        TestServer.put(hosted, "b".repeat(Limits.SPLIT_ROW_BYTES_MAX), "v");
        TestServer.put(hosted, "c", "v");
        hosted.tablet().minorCompact();
      }
      assertThatThrownBy(() -> server.splitter.split(hosted, middle))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
          .hasMessageContaining("unite its files");
      assertThat(server.splitter.middle(hosted)).isEmpty();
      assertThat(server.context.tablets().all()).containsExactly(hosted);
      hosted.tablet().majorCompact();
      server.splitter.split(hosted, middle);
      assertThat(server.context.tablets().all()).hasSize(2);
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void aTabletGoesOnWithoutChangesThatMetadataRefuses() throws Exception {
    TestServer server = new TestServer(world);
    HostedTablet hosted = server.takeNew(SCHEMA);
    TestServer.put(hosted, "a", "v");
    TestServer.put(hosted, "c", "v");
    String job = begin(server);
    register(server, hosted, write(server, job, Bytes.of("b")));
    assertThat(server.jobs.commit(job)).isTrue();

    world.metadata.before(
        update -> {
          throw SteleException.refused("too large");
        });
    for (IoRunnable change :
        List.<IoRunnable>of(
            hosted.tablet()::minorCompact,
            () -> hosted.tablet().pin("pin"),
            () -> server.files.resolve(hosted),
            () -> server.splitter.split(hosted, Bytes.of("c")))) {
      assertThatThrownBy(change::run).isInstanceOf(ChangeRefusedException.class);
      assertThat(hosted.tablet().failure()).isEmpty();
      TestServer.put(hosted, "d", "writes are not paused");
    }
    assertThat(server.requested.resolve(hosted, job)).isFalse();
    server.minor.work();
    assertThat(hosted.work().troubles()).hasSize(1);
    assertThat(server.aborts).isEmpty();

    world.metadata.before(update -> {});
    server.files.resolve(hosted);
    hosted.tablet().minorCompact();
    server.splitter.split(hosted, Bytes.of("c"));
    int rows = 0;
    for (HostedTablet half : server.context.tablets().all()) {
      rows += TestServer.rows(half);
    }
    assertThat(rows).isEqualTo(4);

    world.metadata.before(
        update -> {
          throw SteleException.refused("too large");
        });
    HostedTablet half = server.context.tablets().all().iterator().next();
    assertThatThrownBy(() -> server.lifecycle.unload(half, false))
        .isInstanceOf(ChangeRefusedException.class);
    assertThat(server.aborts).as("its memtable is empty, it has stopped").hasSize(1);
    server.close();
  }
}
