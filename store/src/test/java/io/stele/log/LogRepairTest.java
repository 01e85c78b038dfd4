package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.bytes;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.rewrite;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.ServerId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A segment of another server's log in the place of one. */
@Timeout(60)
class LogRepairTest {
  private static final ServerId OTHER = new ServerId("host", 8, 1_700_000_000_000L);
  private static final Path FENCED = new Path("crash:/recovery/" + SERVER);

  private final CrashableFileSystem fs = CrashableFileSystem.create();

  /** Two segments: with {@code first} records, and with one. */
  private Path write(ServerId server, int first) throws Exception {
    Path directory = new Path("crash:/logs/" + server);
    LogDirectory.create(fs, directory);
    try (CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, directory, server, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {})) {
      for (int i = 1; i <= first; i++) {
        log.append(record(TABLET, i, 1000)).get();
      }
      log.awaitStandby();
      long before = log.statistics().segments();
      log.roll();
      LogTestCase.await(() -> log.statistics().segments() > before);
      log.append(record(TABLET, first + 1, 1000)).get();
    }
    return directory;
  }

  private DistinctRecords replayed() throws IOException {
    DistinctRecords distinct = new DistinctRecords(TABLET, 0);
    try (RecordSource source =
        new FencedLogs(SystemRuntime.INSTANCE, fs, 0)
            .read(FENCED, TABLET, 0, SystemRuntime.INSTANCE.nanoTime())) {
      for (Optional<LogRecord> one = source.next(); one.isPresent(); one = source.next()) {
        assertThat(one.get().sequence()).isEqualTo(4);
        distinct.add(one.get());
      }
      distinct.passOver(source.losses());
    }
    return distinct;
  }

  private Segment misplace(int theirs) throws Exception {
    Path ours = write(SERVER, 3);
    Path others = write(OTHER, theirs);
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, fs.disk().mount()), ours, FENCED);
    Segment first = FencedLog.segments(fs, FENCED, TabletKind.USER).get(0);
    assertThat(first.number()).isEqualTo(1);
    rewrite(fs, first.path(), bytes(fs, LogDirectory.segment(others, TabletKind.USER, 1)));
    return first;
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 2, 5}) // As long as ours, shorter, longer.
  void aMisplacedSegmentIsFoundAndItsLossCanBeAccepted(int theirs) throws Exception {
    Segment first = misplace(theirs);
    assertThatThrownBy(() -> replayed().checkComplete())
        .hasMessageContaining("the first of them 1");
    assertThat(LogRepair.check(fs, FENCED))
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.segment().number()).isEqualTo(1);
              assertThat(found.damage()).hasSize(1);
              assertThat(found.damage().get(0).offset()).isZero();
              assertThat(found.damage().get(0)).hasMessageContaining("misplaced");
              assertThat(found.tablets().orElseThrow().tablets().keySet())
                  .isEqualTo(Set.of(TABLET));
              assertThat(found.accepted()).isFalse();
            });
    LogRepair.accept(fs, FENCED, first.path().getName());
    assertThat(LogRepair.check(fs, FENCED)).allMatch(LogRepair.Damaged::accepted);
    replayed().checkComplete();
  }
}
