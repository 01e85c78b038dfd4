package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Jobs;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.PinnedTablet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A job pins many ranges of rows, while other jobs wait to commit. In virtual time. */
@ExtendWith(Cores.One.class)
class PinnedRangesTest {
  private static final Duration LEASE = Duration.ofMinutes(2);
  private static final int TABLETS = 64;

  /** Each message takes up to so long: one range after the other would take five minutes. */
  private static final Duration SLOW = Duration.ofMillis(100);

  private static final Duration PINNED_MAX = Duration.ofSeconds(60);

  private static Bytes row(int salt) {
    return Bytes.of(String.format("%02d", salt));
  }

  private static void createTable(ClusterFixture fixture, String name) throws Exception {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < TABLETS; i++) {
      splits.add(row(i));
    }
    fixture.client().admin().createTable(TableSchema.of(name, "f"), splits);
  }

  /** The same rows under each salt but the last. */
  private static List<RowRange> ranges() {
    List<RowRange> ranges = new ArrayList<>();
    for (int i = 0; i < TABLETS - 1; i++) {
      ranges.add(RowRange.of(row(i).toUtf8() + "a", row(i).toUtf8() + "b"));
      ranges.add(RowRange.of(row(i).toUtf8() + "c", row(i).toUtf8() + "d"));
    }
    return ranges;
  }

  private static List<Bytes> pinned(ClusterFixture fixture, String table, String job)
      throws Exception {
    return fixture.client().table(table).atPin(job).pinnedTablets().all().stream()
        .map(PinnedTablet::rows)
        .map(RowRange::start)
        .toList();
  }

  @Test
  void manyRangesOfTablesArePinnedAtOnce() throws Exception {
    ClusterFixture.run(
        fixture -> {
          createTable(fixture, "one");
          createTable(fixture, "other");
          Jobs jobs = fixture.jobs();
          String job = jobs.begin(LEASE);
          fixture.slowServer(SLOW);
          long before = fixture.process().nanoTime();
          jobs.pin(job, Map.of("one", ranges(), "other", ranges()));
          assertThat(Duration.ofNanos(fixture.process().nanoTime() - before))
              .as("the time of pinning")
              .isLessThan(PINNED_MAX);
          for (String table : List.of("one", "other")) {
            assertThat(pinned(fixture, table, job))
                .as("the tablets pinned of table %s", table)
                .hasSize(TABLETS - 1)
                .doesNotContain(row(TABLETS - 1));
          }
        });
  }

  @Test
  void aJobWhosePinningFailsIsThereUntilItIsEnded() throws Exception {
    ClusterFixture.run(
        fixture -> {
          createTable(fixture, "one");
          Jobs jobs = fixture.jobs();
          String job = jobs.begin(LEASE);
          assertThatThrownBy(() -> jobs.pin(job, Map.of("one", ranges(), "two", ranges())))
              .isInstanceOfSatisfying(
                  SteleException.class,
                  e -> assertThat(e.code()).isEqualTo(SteleException.Code.NOT_FOUND));
          jobs.pin(job, Map.of("one", ranges()));
          assertThat(pinned(fixture, "one", job)).hasSize(TABLETS - 1);
          jobs.end(job);
          jobs.commit(jobs.begin(LEASE), Map.of());
        });
  }
}
