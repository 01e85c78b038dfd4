package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.Pending;
import io.stele.record.PendingReplacement;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** Jobs that replace many ranges of rows: each divides every file of a tablet that it meets. */
class RecordRoomTest {
  private static final TableSchema SCHEMA =
      TableSchema.of(
          "t",
          List.of(
              ColumnFamily.of("f").in("one"),
              ColumnFamily.of("g").in("two"),
              ColumnFamily.of("h").in("three"),
              ColumnFamily.of("i").in("four")),
          LocalityGroup.of("one"),
          LocalityGroup.of("two"),
          LocalityGroup.of("three"),
          LocalityGroup.of("four"));

  private final TestServer.World world = new TestServer.World();
  private final AtomicLong skipped = new AtomicLong();

  private TestServer server() throws IOException {
    return new TestServer(world, ForwardingRuntime.ahead(skipped::get), new Configuration(false));
  }

  private static String begin(TestServer server) throws IOException {
    return server.jobs.begin(
        JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofMinutes(1), Optional.empty());
  }

  /** A row of 500 bytes, as long as an address of a page may be. */
  private static String row(int number) {
    return String.format("%08d", number) + "k".repeat(492);
  }

  private static List<Pending> replacements(String job, int count) {
    List<Pending> many = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      many.add(
          new PendingReplacement(
              job, new RowRange(Bytes.of(row(2 * i)), Bytes.of(row(2 * i + 1)))));
    }
    return many;
  }

  /** Writes to the ends of the tablet's rows, in all locality groups. */
  private static void write(HostedTablet hosted) throws Exception {
    for (String row : List.of(row(0), row(9999))) {
      Mutation.Builder mutation = Mutation.builder(Bytes.of(row));
      for (String family : List.of("f", "g", "h", "i")) {
        mutation.put(family, Bytes.of("q"), Bytes.of("value"));
      }
      hosted.tablet().apply(OperationRequest.of(mutation.build())).get(30, TimeUnit.SECONDS);
    }
  }

  /** How many cells a read sees, of one version of each column. */
  private static int cells(HostedTablet hosted) throws IOException {
    RowQuery query = RowQuery.ALL.versions(1);
    return hosted.tablet().read(ReadRequest.of(query)).rows().stream()
        .mapToInt(row -> row.cells().size())
        .sum();
  }

  private static void writeAndCompact(HostedTablet hosted) throws Exception {
    write(hosted);
    hosted.tablet().minorCompact();
  }

  private static void register(TestServer server, HostedTablet hosted, List<Pending> changes) {
    server.requested.register(hosted, changes);
    server.registering.work();
    assertThat(server.requested.register(hosted, changes)).isTrue();
  }

  @Test
  void whatIsRegisteredHasRoomWithTheFilesThatTheTakeItselfMakes() throws Exception {
    try (TestServer server = server()) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      writeAndCompact(hosted);
      assertThatThrownBy(() -> server.requested.register(hosted, replacements(begin(server), 130)))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining("replace fewer ranges");

      String job = begin(server);
      register(server, hosted, replacements(job, 100));
      writeAndCompact(hosted); // As the take does before it pauses writes,
      write(hosted); // and again after that.
      assertThat(server.jobs.commit(job)).isTrue();
      assertThat(server.requested.resolve(hosted, job)).isFalse();
      server.minor.work();
      assertThat(server.requested.resolve(hosted, job)).isTrue();
      assertThat(cells(hosted)).isEqualTo(8);
    }
  }

  @Test
  void aTabletThatHasNoRoomForACommittedJobIsCompactedAtOnceAndThenServed() throws Exception {
    try (TestServer server = server()) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      writeAndCompact(hosted);
      String job = begin(server);
      register(server, hosted, replacements(job, 100));
      for (int i = 0; i < 3; i++) {
        writeAndCompact(hosted);
      }
      assertThat(server.jobs.commit(job)).isTrue();
      assertThatThrownBy(() -> server.requested.mayAnswer(hosted).get(60, TimeUnit.SECONDS))
          .hasMessageContaining("is taking over the files of a job");
      server.minor.work();
      assertThat(server.requested.resolve(hosted, job)).as("it has no room").isFalse();

      server.work(); // The compaction that this has started; rounds may start none.
      skipped.addAndGet(Duration.ofSeconds(6).toNanos());
      server.requested.resolve(hosted, job);
      server.minor.work();
      assertThat(server.requested.resolve(hosted, job)).isTrue();
      server.requested.mayAnswer(hosted).get(60, TimeUnit.SECONDS);
      assertThat(cells(hosted)).isEqualTo(8);
      assertThat(server.stored(hosted.id()).files().size()).isGreaterThan(300);
      assertThat(server.aborts).isEmpty();
    }
  }

  /** Then only the end of what pins them helps. */
  @Test
  void filesThatACompactionHasUnitedAreNotUnitedAgain() throws Exception {
    try (TestServer server = server()) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      writeAndCompact(hosted);
      writeAndCompact(hosted);
      assertThat(hosted.mayUniteFiles()).isTrue();
      hosted.uniteFiles();
      assertThat(hosted.mayUniteFiles()).isFalse();
      String job = begin(server);
      server.pins.pin(hosted, job);
      assertThat(hosted.mayUniteFiles()).as("it has another pin").isTrue();
      hosted.uniteFiles();
      assertThat(hosted.mayUniteFiles()).isFalse();
      writeAndCompact(hosted);
      assertThat(hosted.mayUniteFiles()).as("it has another file").isTrue();
    }
  }
}
