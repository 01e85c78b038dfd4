package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.Schemas;
import io.stele.model.Bytes;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TableOverviewTest {
  @Test
  void ofManyTablesAFewAreReadAndShownAndTheOthersCounted() throws Exception {
    MasterFixture master = new MasterFixture();
    master.run(
        () -> {
          int all = TableOverview.SHOWN_MAX + 7;
          for (int i = 0; i < all; i++) {
            master.schemas.create(
                master.schemas.nextId(), TableSchema.of("table" + i, "f"), List.of());
          }
          int[] reads = new int[1];
          LockService counting =
              master.watched(method -> reads[0] += method.equals("read") ? 1 : 0);
          TableOverview overview =
              new TableOverview(
                  () -> new MasterLoop.View(Map.of(), new TreeMap<>()),
                  new Schemas(master.process, counting));
          TableOverview.Shown shown = overview.now();
          assertThat(shown.tables()).hasSize(TableOverview.SHOWN_MAX).doesNotHaveDuplicates();
          assertThat(shown.all()).isEqualTo(all);
          int first = reads[0];
          assertThat(overview.now()).isEqualTo(shown);
          assertThat(reads[0]).as("names are read once").isEqualTo(first);
        });
  }

  @Test
  void aTableWhoseNodeIsDamagedIsShownBesideTheOthers() throws Exception {
    MasterFixture master = new MasterFixture();
    master.run(
        () -> {
          TableId damaged = master.schemas.nextId();
          master.schemas.create(damaged, TableSchema.of("damaged", "f"), List.of());
          master.schemas.create(master.schemas.nextId(), TableSchema.of("sound", "f"), List.of());
          int version = master.schemas.table(damaged).orElseThrow().version();
          master.locks.write(LockPaths.table(damaged), Bytes.of("nonsense"), version);
          TableOverview overview =
              new TableOverview(
                  () -> new MasterLoop.View(Map.of(), new TreeMap<>()),
                  new Schemas(master.process, master.locks));
          assertThat(overview.now().tables())
              .extracting(TableOverview.Table::name)
              .containsExactlyInAnyOrder(damaged + " (its node is damaged)", "sound");
        });
  }
}
