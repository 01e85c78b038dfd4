package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Child;
import io.stele.metadata.SplitRecords;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.ManifestEdit;
import io.stele.record.Pin;
import io.stele.runtime.IoFunction;
import io.stele.sim.Cores;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Splits of hot tablets and merges of small ones, by a master's loop. */
@ExtendWith(Cores.One.class)
class ReshapingTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();
  private TableId table = TableId.METADATA;

  /** A table that is cut at "m", and since then at "d", "g" and "t". */
  private void started() throws Exception {
    master.bootstrap();
    master.start(A);
    master.start(B);
    table = master.table("t", Bytes.of("m"));
    master.stepUntilIdle();
    for (String row : List.of("d", "g", "t")) {
      split(Bytes.of(row));
    }
    master.rereadUntilIdle();
    reshape(Duration.ofHours(1));
  }

  private void reshape(Duration mergeAfter) {
    reshape(master.schemas::table, mergeAfter);
  }

  private void reshape(IoFunction<TableId, Optional<StoredTable>> found, Duration mergeAfter) {
    master
        .parts
        .rebalancing()
        .reshapeBy(
            new Reshaping(
                master.process, master.balance, found, new Reshaping.Settings(0, mergeAfter)));
  }

  private void split(Bytes row) throws IOException {
    for (TabletRecord parent : tablets()) {
      if (parent.extent().contains(row)) {
        new SplitRecords(master.records).split(parent, row, child(), child());
      }
    }
  }

  private Child child() {
    return new Child(TabletId.random(table, master.process.random()), List.of());
  }

  private List<TabletRecord> tablets() throws IOException {
    return master.tablets(table);
  }

  private void stepFor(Duration time) throws Exception {
    master.stepFor(time, Duration.ofSeconds(1));
  }

  @Test
  void smallOnesAreMergedAfterALongTimeButNotAcrossTheRowsAtWhichTheTableWasCutAtFirst()
      throws Exception {
    master.run(
        () -> {
          started();
          stepFor(Duration.ofMinutes(58));
          assertThat(tablets()).hasSize(5);
          stepFor(Duration.ofMinutes(10));
          assertThat(tablets()).as("what is merged is left alone as long").hasSize(3);
          stepFor(Duration.ofMinutes(70));
          assertThat(tablets())
              .extracting(TabletRecord::extent)
              .containsExactly(RowRange.of("", "m"), RowRange.of("m", ""));
          stepFor(Duration.ofMinutes(70));
          assertThat(tablets()).hasSize(2);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  /** As jobs pin a table now and then. */
  @Test
  void aPinDefersAMergeAndTheTimeGoesOnMeanwhile() throws Exception {
    master.run(
        () -> {
          started();
          stepFor(Duration.ofMinutes(30));
          Pin pin = new Pin("job", 0, 1, TableSchema.of("t", "f"));
          for (TabletRecord tablet : tablets()) {
            edit(tablet, ManifestEdit.builder("pinned").pin(pin));
          }
          stepFor(Duration.ofMinutes(40));
          assertThat(tablets()).hasSize(5);
          for (TabletRecord tablet : tablets()) {
            edit(tablet, ManifestEdit.builder("unpinned").unpin("job"));
          }
          stepFor(Duration.ofMinutes(5));
          assertThat(tablets()).hasSize(3);
        });
  }

  private void edit(TabletRecord tablet, ManifestEdit.Builder edit) throws IOException {
    master.records.edit(tablet, edit.coversReplay(true).build());
    master.signal.rereadAllSoon();
  }

  @Test
  void pairsOnDifferentServersAreMergedAtTheSameTime() throws Exception {
    master.run(
        () -> {
          started();
          for (int i = 0; i < 7200 && tablets().size() == 5; i++) {
            stepFor(Duration.ofSeconds(1));
          }
          stepFor(Duration.ofSeconds(20));
          assertThat(tablets()).as("the next look is a minute after the first").hasSize(3);
        });
  }

  @Test
  void aTableIsReadOnceALookHoweverManyPairsOfItAreSmall() throws Exception {
    master.run(
        () -> {
          started();
          table = master.table("cut", Bytes.of("d"), Bytes.of("g"), Bytes.of("m"), Bytes.of("t"));
          master.stepUntilIdle();
          AtomicInteger reads = new AtomicInteger();
          reshape(
              id -> {
                if (id.equals(table)) {
                  reads.incrementAndGet();
                }
                return master.schemas.table(id);
              },
              Duration.ofHours(1));
          stepFor(Duration.ofMinutes(80));
          assertThat(tablets()).hasSize(5);
          assertThat(reads.get()).as("the rows of its creation stay: it is asked once").isOne();
        });
  }

  @Test
  void whatWasSplitLatelyIsLeftAlone() throws Exception {
    master.run(
        () -> {
          started();
          stepFor(Duration.ofMinutes(50));
          split(Bytes.of("p"));
          split(Bytes.of("x"));
          master.signal.rereadAllSoon();
          stepFor(Duration.ofMinutes(20));
          assertThat(tablets())
              .extracting(TabletRecord::extent)
              .contains(RowRange.of("m", "p"), RowRange.of("p", "t"), RowRange.of("t", "x"));
        });
  }

  @Test
  void whereBalancingIsOffOrTheTimeIsZeroNothingIsMerged() throws Exception {
    master.run(
        () -> {
          started();
          master.balance.set(false);
          stepFor(Duration.ofMinutes(90));
          assertThat(tablets()).hasSize(5);
          master.balance.set(true);
          reshape(Duration.ZERO);
          stepFor(Duration.ofMinutes(90));
          assertThat(tablets()).hasSize(5);
        });
  }

  @Test
  void oneThatIsAskedTooMuchForOneServerIsToBeSplitAndOnesThatAreAskedAreNotMerged()
      throws Exception {
    master.run(
        () -> {
          started();
          for (TabletRecord tablet : tablets()) {
            master.plane.busy.put(tablet.id(), 10L);
          }
          TabletRecord hot = tablets().get(2);
          master.plane.busy.put(hot.id(), 5000L);
          stepFor(Duration.ofMinutes(3));
          assertThat(master.plane.requests).contains("split " + hot.id().name());
          assertThat(master.plane.requests.stream().filter(one -> one.startsWith("split")))
              .hasSizeBetween(1, 3)
              .containsOnly("split " + hot.id().name());
          stepFor(Duration.ofMinutes(90));
          assertThat(tablets()).hasSize(5);
        });
  }

  @Test
  void aTableWhoseNodeIsDamagedDoesNotKeepOthersFromBeingMerged() throws Exception {
    master.run(
        () -> {
          started();
          TableId damaged = table;
          table = master.table("u");
          master.stepUntilIdle();
          split(Bytes.of("k"));
          master.signal.rereadAllSoon();
          reshape(
              id -> {
                if (id.equals(damaged)) {
                  throw new CorruptionException("a node", 0, "it is damaged");
                }
                return master.schemas.table(id);
              },
              Duration.ofHours(1));
          stepFor(Duration.ofMinutes(140));
          assertThat(tablets()).hasSize(1);
          assertThat(master.tablets(damaged)).hasSize(5);
        });
  }
}
