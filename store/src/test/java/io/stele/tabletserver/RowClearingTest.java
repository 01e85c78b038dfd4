package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.record.ClearedRows;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Requests to clear rows or erase families that are carried out late. */
class RowClearingTest {
  private final TestServer.World world = new TestServer.World();

  /** Whoever asked for it was told that it may not have been made, and has written since. */
  @Test
  void whatWasWrittenAfterTheChangeEndedStays() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
      server.beginChange("t", 7);
      TestServer.put(hosted, "row", "before");
      server.requested.clear(hosted, 7, RowRange.ALL);
      server.endChange("t");
      TestServer.put(hosted, "row", "after");
      server.minor.work();
      assertThat(TestServer.rows(hosted)).isEqualTo(1);
      assertThat(server.stored(hosted.id()).cleared()).isEqualTo(ClearedRows.NONE);

      server.beginChange("t", 8);
      server.requested.clear(hosted, 7, RowRange.ALL);
      server.minor.work();
      assertThat(TestServer.rows(hosted)).as("another change is in progress").isEqualTo(1);
      server.requested.clear(hosted, 8, RowRange.ALL);
      server.minor.work();
      assertThat(TestServer.rows(hosted)).isZero();
    }
  }

  /** Who asks for the next change must not be told that it cannot be made, without a try. */
  @Test
  void workThatRestsForOneChangeOrJobDoesNotRestForTheNext() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
      TestServer.put(hosted, "row", "before");
      hosted.work().failed(Work.of(WorkKind.CLEAR_ROWS, "7"), "a file is damaged", true);
      hosted.work().failed(Work.of(WorkKind.ERASE_FAMILIES, "7"), "a file is damaged", true);
      hosted.work().failed(Work.of(WorkKind.PIN, "job-1"), "a file is damaged", true);
      server.beginChange("t", 7);
      server.requested.clear(hosted, 7, RowRange.ALL);
      server.requested.erase(hosted, 7, Set.of("f"));
      assertThat(server.requested.pin(hosted, "job-1")).isFalse();
      assertThat(server.minor.size()).as("it rests").isZero();
      assertThat(RequestedWork.whyNotPinned(hosted, "job-1")).contains("a file is damaged");
      assertThat(RequestedWork.whyNotPinned(hosted, "job-2")).isEmpty();

      server.endChange("t");
      server.beginChange("t", 8);
      server.requested.clear(hosted, 8, RowRange.ALL);
      server.requested.erase(hosted, 9, Set.of("g"));
      server.requested.pin(hosted, "job-2");
      assertThat(server.minor.size()).isEqualTo(3);
      server.minor.work();
      assertThat(TestServer.rows(hosted)).isZero();
    }
  }

  @Test
  void aFamilyIsNotErasedAfterTheChangeEnded() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(TableSchema.of("t", "f", "g"));
      TestServer.alter(hosted, TableSchema.of("t", "g"));
      server.beginChange("t", 7);
      server.requested.erase(hosted, 7, Set.of("f"));
      server.endChange("t");
      TestServer.alter(hosted, TableSchema.of("t", "f", "g"));
      TestServer.put(hosted, "row", "value");
      TestServer.alter(hosted, TableSchema.of("t", "g"));
      server.minor.work();
      assertThat(server.stored(hosted.id()).cleared()).isEqualTo(ClearedRows.NONE);
    }
  }
}
