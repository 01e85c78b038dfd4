package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.MetadataKeys;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClearingTest {
  private static final ServerId SERVER = new ServerId("a", 1, 1);

  private final MasterFixture master = new MasterFixture();

  private static SchemaChange clears(TableId table, RowRange rows) {
    return new SchemaChange(
        "change", 1, SchemaChange.Step.CLEAR_TABLETS, table, Optional.empty(), List.of(), 0, rows);
  }

  private void asked() throws InterruptedException {
    master.sleep(Duration.ofMillis(50));
  }

  @Test
  void whatWasFoundClearedIsNotReadAgain() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(SERVER);
          TableId table = master.table("t", Bytes.of("h"), Bytes.of("p"));
          master.stepUntilIdle();
          TabletRecord last = master.records.reader().readAll(table).get(2);
          master.records.unloaded(last, "it is on its way");
          master.plane.requests.clear();

          Clearing clearing =
              new Clearing(
                  master.process, master.records, master.watch::live, master.servers::clear);
          SchemaChange change = clears(table, RowRange.ALL);
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.GOES_ON);
          asked();
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.GOES_ON);
          RowRange rows = MetadataKeys.table(table);
          master.memory.setAway(
              Optional.of(
                  new RowRange(rows.start(), MetadataKeys.row(table, Bytes.of("p")).successor())));
          assertThat(clearing.advance(change))
              .as("it reads the last record only")
              .isEqualTo(Clearing.State.GOES_ON);

          master.memory.setAway(Optional.empty());
          master.signal.rereadAllSoon();
          master.stepUntilIdle();
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.GOES_ON);
          asked();
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.DONE);
          assertThat(master.plane.requests.stream().filter(one -> one.startsWith("clear")))
              .hasSize(3);
        });
  }

  @Test
  void timeInWhichMetadataIsAwayDoesNotCountAsTimeWithoutProgress() throws Exception {
    master.run(
        () -> {
          TableId table = master.table("t", Bytes.of("h"));
          Clearing clearing =
              new Clearing(
                  master.process, master.records, master.watch::live, master.servers::clear);
          SchemaChange change = clears(table, RowRange.ALL);
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.GOES_ON);
          master.sleep(Clearing.GIVE_UP.plusSeconds(1));
          for (int i = 0; i < 60; i++) {
            assertThat(clearing.advance(change)).isEqualTo(Clearing.State.GOES_ON);
            master.sleep(Duration.ofSeconds(1));
          }
          master.sleep(Duration.ofSeconds(1));
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.STUCK);
        });
  }

  @Test
  void onlyTabletsWithRowsOfTheRangeAreAsked() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(SERVER);
          TableId table = master.table("t", Bytes.of("h"), Bytes.of("p"));
          master.stepUntilIdle();
          master.plane.requests.clear();
          Clearing clearing =
              new Clearing(
                  master.process, master.records, master.watch::live, master.servers::clear);
          SchemaChange change = clears(table, RowRange.of("c", "k"));
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.GOES_ON);
          asked();
          assertThat(clearing.advance(change)).isEqualTo(Clearing.State.DONE);
          assertThat(master.plane.requests).hasSize(2);
        });
  }
}
