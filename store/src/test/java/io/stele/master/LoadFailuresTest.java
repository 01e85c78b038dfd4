package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LoadFailuresTest {
  private static final ServerId SERVER = new ServerId("a", 1, 1);
  private static final Duration LONGER_THAN_THE_FIRST_PAUSE = Duration.ofMillis(600);

  private final MasterFixture master = new MasterFixture();
  private final LoadFailures failures = new LoadFailures(master.process, master.records);

  /** Returns the record after a failure that has nothing to do with the tablet. */
  private TabletRecord fail(TabletRecord assigned) {
    return fail(assigned, false);
  }

  /** Returns the record after a failure, and the releases that were asked for before. */
  private TabletRecord fail(TabletRecord assigned, boolean elsewhere) {
    TabletId tablet = assigned.id();
    long epoch = assigned.assignment().epoch();
    failures.failed(new LoadFailureReport(SERVER, tablet, epoch, "HDFS was away", elsewhere));
    TabletRecord failed = failures.apply(Map.of(tablet, assigned), any -> true).get(0);
    return failures.apply(Map.of(tablet, failed), any -> true).stream().findFirst().orElse(failed);
  }

  @Test
  void theLongerATabletFailsTheLongerItIsLeftAlone() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TabletRecord record = master.only(master.table("t"));
          for (int i = 0; i < 3; i++) {
            record = fail(master.records.assign(record, SERVER));
          }
          master.sleep(LONGER_THAN_THE_FIRST_PAUSE);
          assertThat(failures.holds(record)).isTrue();
        });
  }

  @Test
  void metadataIsNeverLeftAloneForLong() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TabletRecord record = master.only(TableId.METADATA);
          for (int i = 0; i < 9; i++) {
            record = fail(master.records.assign(record, SERVER));
          }
          assertThat(failures.holds(record)).isTrue();
          master.sleep(Duration.ofSeconds(5));
          assertThat(failures.holds(record)).isFalse();
        });
  }

  @Test
  void aTabletThatIsBeingTriedIsReleasedWhenThatHasFailed() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TabletRecord record = master.only(master.table("t"));
          while (!record.isQuarantined()) {
            record = fail(master.records.assign(record, SERVER), true);
          }
          TabletRecord tried = master.records.assign(record, SERVER);
          failures.release(tried.id());
          assertThat(failures.apply(Map.of(tried.id(), tried), any -> true)).isEmpty();
          TabletRecord failed = fail(tried, true);
          assertThat(failed.isQuarantined()).isFalse();
          assertThat(failures.holds(failed)).isFalse();
        });
  }

  @Test
  void failuresBeforeATabletWasLoadedDoNotCount() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TabletRecord record = master.only(master.table("t"));
          for (int i = 0; i < 9; i++) {
            TabletRecord failed = fail(master.records.assign(record, SERVER));
            TabletRecord loaded = master.records.loaded(master.records.assign(failed, SERVER));
            record = master.records.unloaded(loaded, "it moves");
          }
          record = fail(master.records.assign(record, SERVER));
          assertThat(failures.holds(record)).isTrue();
          master.sleep(LONGER_THAN_THE_FIRST_PAUSE);
          assertThat(failures.holds(record)).isFalse();
        });
  }
}
