package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.JobNodes;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.JobFileWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A tablet server with a tablet, and jobs whose files are registered and taken there. */
abstract class JobFilesTestCase {
  static final TableSchema SCHEMA = TableSchema.of("t", "f");
  static final Path ROOT = new Path("/stele");
  private static final long LONG_AGO = 7; // Microseconds: older than all that tests put.

  final TestServer.World world = new TestServer.World();
  private final AtomicLong skipped = new AtomicLong();
  TestServer server;
  HostedTablet hosted;

  @BeforeEach
  final void startServer() throws IOException {
    server = newServer();
    hosted = server.takeNew(SCHEMA);
  }

  private TestServer newServer() throws IOException {
    return new TestServer(world, ForwardingRuntime.ahead(skipped::get), new Configuration(false));
  }

  @AfterEach
  final void closeServer() {
    server.close();
  }

  /** The server gives the tablet up, ends, and another one takes the tablet. */
  final void anotherServerTakesTheTablet() throws IOException {
    server.lifecycle.unload(hosted, false);
    server.close();
    server = newServer();
    hosted = server.take(stored());
  }

  /** Time goes by, of which the server's clock tells. */
  final void pass(Duration time) {
    skipped.addAndGet(time.toNanos());
  }

  /** The tablet's record, as METADATA has it. */
  final TabletRecord stored() throws IOException {
    return server.stored(hosted.id());
  }

  final int rows() throws IOException {
    return TestServer.rows(hosted);
  }

  final String begin() throws IOException {
    return server.jobs.begin(
        JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofMinutes(1), Optional.empty());
  }

  /** The files of a job whose only task writes these rows. */
  final List<Pending> write(String job, String... rows) throws IOException {
    return write(target(job, "task-0", SCHEMA, LONG_AGO), rows);
  }

  /** The files of a task of a job that writes these rows. */
  final List<Pending> writeByTask(String job, String task, String... rows) throws IOException {
    return write(target(job, task, SCHEMA, LONG_AGO), rows);
  }

  /** The files of a job that was submitted at a time. */
  final List<Pending> writeAt(long timestampMicros, String job, String... rows) throws IOException {
    return write(target(job, "task-0", SCHEMA, timestampMicros), rows);
  }

  private List<Pending> write(JobFileWriter.Target target, String... rows) throws IOException {
    return write(
        target, Stream.of(rows).map(row -> Mutation.of(row).put("f", "q", "job")).toList());
  }

  /** The files of a job that makes this change to a table. */
  final List<Pending> write(String job, TableSchema schema, Mutation change) throws IOException {
    return write(target(job, "task-0", schema, LONG_AGO), List.of(change));
  }

  private JobFileWriter.Target target(
      String job, String task, TableSchema schema, long timestampMicros) {
    return new JobFileWriter.Target(server.fs, ROOT, job, task, schema, timestampMicros);
  }

  private static List<Pending> write(JobFileWriter.Target target, List<Mutation> changes)
      throws IOException {
    try (JobFileWriter writer =
        new JobFileWriter(target, SystemRuntime.INSTANCE.random(), 1 << 20)) {
      for (Mutation change : changes) {
        writer.add(change);
      }
      return writer.finish().stream()
          .map(file -> (Pending) new PendingFile(target.job(), file))
          .toList();
    }
  }

  static FileRef only(List<Pending> files) {
    assertThat(files).hasSize(1);
    return ((PendingFile) files.get(0)).file();
  }

  /** Rows that a job replaces one by one: {@code 00001} and on, each its own range. */
  static List<Pending> replacements(String job, int end) {
    List<Pending> many = new ArrayList<>();
    for (int i = 1; i < end; i++) {
      RowRange row = RowRange.single(Bytes.of(String.format("%05d", i)));
      many.add(new PendingReplacement(job, row));
    }
    return many;
  }

  /** Asks for the registration, has the server make it, and is told that it is made. */
  final void register(List<Pending> changes) throws IOException {
    server.requested.register(hosted, changes);
    server.registering.work();
    assertThat(server.requested.register(hosted, changes)).as("registered").isTrue();
  }

  /** The job commits, and the tablet takes its files. */
  final void commitAndTake(String job) throws IOException {
    assertThat(server.jobs.commit(job)).isTrue();
    server.files.resolve(hosted);
  }
}
