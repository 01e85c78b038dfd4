package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.Layout;
import io.stele.metadata.MergeRecords;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.Pin;
import io.stele.wire.control.ControlProtos.MergeTabletRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Merges of tablets, by a master's loop and its requests. */
class MergesTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();
  private TableId table = TableId.METADATA;

  /** A table of three tablets, served by one server. */
  private void started() throws Exception {
    master.bootstrap();
    master.start(A);
    table = master.table("t", Bytes.of("h"), Bytes.of("p"));
    master.stepUntilIdle();
  }

  private List<TabletRecord> tablets() throws IOException {
    return master.tablets(table);
  }

  private static MergeTabletRequestProto request(TabletRecord upper) {
    return request(upper, "any");
  }

  private static MergeTabletRequestProto request(TabletRecord upper, String request) {
    return MergeTabletRequestProto.newBuilder()
        .setTablet(TabletServers.ref(upper))
        .setRequest(request)
        .build();
  }

  private void merge(TabletRecord upper) throws Exception {
    merge(request(upper));
  }

  private void merge(MergeTabletRequestProto request) throws Exception {
    master.requests.mergeTablet(null, request);
    master.stepUntilIdle();
  }

  @Test
  void twoTabletsBecomeOneThatIsServed() throws Exception {
    master.run(
        () -> {
          started();
          TabletRecord upper = tablets().get(1);
          merge(upper);
          assertThat(tablets())
              .extracting(TabletRecord::extent)
              .containsExactly(RowRange.of("", "p"), RowRange.of("p", ""));
          assertThat(master.isServed(table)).isTrue();
          assertThat(master.requests.mergeTablet(null, request(upper)).getWaitsFor())
              .contains("does not know");
          master.stepUntilIdle();
          assertThat(tablets()).as("asked for again, late").hasSize(2);
          merge(tablets().get(1));
          assertThat(tablets()).extracting(TabletRecord::extent).containsExactly(RowRange.ALL);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void whatCannotBeMergedIsRefused() throws Exception {
    master.run(
        () -> {
          started();
          assertThatThrownBy(() -> master.requests.mergeTablet(null, request(tablets().get(0))))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("the first of its table");
          Pin pin = new Pin("job", 0, 1, TableSchema.of("t", "f"));
          master.records.edit(
              tablets().get(0), ManifestEdit.builder("pinned").coversReplay(true).pin(pin).build());
          TabletRecord upper = tablets().get(1);
          merge(request(upper, "first"));
          merge(request(upper, "second"));
          for (int i = 0; i < 2; i++) { // Who looks seldom, and who looks again, is told as well.
            master.sleep(Duration.ofMinutes(1));
            assertThatThrownBy(() -> master.requests.mergeTablet(null, request(upper, "first")))
                .isInstanceOf(SteleException.class)
                .hasMessageContaining("pinned by job");
          }
          assertThatThrownBy(() -> master.requests.mergeTablet(null, request(upper, "second")))
              .hasMessageContaining("pinned by job");
          assertThat(tablets()).hasSize(3);
          assertThat(master.plane.requests).doesNotContain("unload " + table);

          // The server tells nobody that it takes the pin away.
          master.records.edit(
              tablets().get(0),
              ManifestEdit.builder("unpinned").coversReplay(true).unpin("job").build());
          merge(request(upper, "third"));
          assertThat(tablets()).hasSize(2);
        });
  }

  @Test
  void aTabletThatIsPinnedWhileItIsUnloadedIsServedAgainUnmerged() throws Exception {
    master.run(
        () -> {
          started();
          TabletRecord upper = tablets().get(1);
          master.plane.stuck.add(upper.id());
          master.requests.mergeTablet(null, request(upper));
          master.stepFor(Duration.ofMillis(250), Duration.ofMillis(50));
          assertThat(tablets().get(0).assignment().server()).as("waits for the other").isEmpty();
          Pin pin = new Pin("job", 0, 1, TableSchema.of("t", "f"));
          master.records.edit(
              upper, ManifestEdit.builder("pinned").coversReplay(true).pin(pin).build());
          master.stepUntilIdle();
          assertThat(tablets()).hasSize(3);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aWishThatCannotBeGrantedEndsAndBothAreServedAgain() throws Exception {
    master.run(
        () -> {
          started();
          master.plane.stuck.add(tablets().get(0).id());
          master.requests.mergeTablet(null, request(tablets().get(1)));
          master.stepFor(Duration.ofSeconds(17), Duration.ofSeconds(1));
          master.stepUntilIdle();
          assertThat(master.parts.merges().has(tablets().get(1).id())).isFalse();
          assertThat(tablets()).hasSize(3);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aWishEndsThoughTheRecordOfOneTabletCannotBeWrittenMeanwhile() throws Exception {
    master.run(
        () -> {
          started();
          TabletRecord upper = tablets().get(1);
          master.requests.mergeTablet(null, request(upper, "first"));
          KnownRecords known = new KnownRecords();
          tablets().forEach(known::put);
          Predicate<TabletRecord> reachable = record -> !record.id().equals(upper.id());
          Merges merges = master.parts.merges();
          merges.advance(known, Set.of(), reachable);
          assertThat(merges.has(upper.id())).isTrue();
          master.sleep(Duration.ofSeconds(16));
          merges.advance(known, Set.of(), reachable);
          assertThat(merges.has(upper.id())).as("the lower one is held otherwise").isFalse();
          assertThatThrownBy(() -> master.requests.mergeTablet(null, request(upper, "first")))
              .hasMessageContaining("it took too long");
        });
  }

  @Test
  void theSmallerTabletIsServedUntilTheLargerOneIsOut() throws Exception {
    master.run(
        () -> {
          started();
          for (int larger = 0; larger < 2; larger++) {
            TabletRecord busy = tablets().get(larger);
            grow(busy, 1000 << larger);
            master.plane.stuck.add(busy.id());
            master.requests.mergeTablet(null, request(tablets().get(1), "wish " + larger));
            for (int i = 0; i < 100; i++) {
              master.loop.step();
              master.sleep(Duration.ofMillis(100));
              assertThat(master.isServed(table)).isTrue();
            }
            master.sleep(Duration.ofSeconds(10));
            master.stepUntilIdle();
            master.plane.stuck.clear();
          }
          merge(tablets().get(1));
          assertThat(tablets()).hasSize(2);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  /** Gives a tablet a file of that many bytes. */
  private void grow(TabletRecord tablet, long bytes) throws Exception {
    FileRef file = FileRef.builder(Layout.file(tablet.id(), 1, 1), bytes, tablet.extent()).build();
    master.records.edit(
        tablet, ManifestEdit.builder("larger").coversReplay(true).add(List.of(file)).build());
    master.signal.rereadSoon(MetadataKeys.table(table));
    master.stepUntilIdle();
  }

  /** Leaves the first two tablets as a master does that dies before it makes one of them. */
  private TabletRecord leaveMarked() throws IOException {
    TabletRecord lower = master.records.unloaded(tablets().get(0), "unloaded");
    TabletRecord upper = master.records.unloaded(tablets().get(1), "unloaded");
    return new MergeRecords(master.records)
        .begin(lower, upper, new TabletId(table, "00000000000000aa"));
  }

  @Test
  void aMergeThatAnotherMasterBeganIsMade() throws Exception {
    master.run(
        () -> {
          started();
          TabletRecord marked = leaveMarked();
          master.rereadUntilIdle();
          assertThat(tablets()).hasSize(2);
          assertThat(tablets().get(0).id()).isEqualTo(marked.tentative().orElseThrow().child());
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aMergeThatMetadataRefusesIsGivenUpAndBothTabletsAreServed() throws Exception {
    master.run(
        () -> {
          started();
          TabletRecord upper = tablets().get(1);
          AtomicInteger refused = new AtomicInteger();
          master.memory.before(
              update -> {
                if (update.row().equals(upper.row()) && changesExtent(update)) {
                  refused.incrementAndGet();
                  throw SteleException.refused("for the test");
                }
              });
          merge(request(upper, "asked"));
          assertThat(refused).hasValue(1);
          assertThat(master.parts.merges().refusal("asked").orElseThrow())
              .contains("METADATA refuses it");
          assertThat(tablets())
              .extracting(TabletRecord::extent)
              .containsExactly(RowRange.of("", "h"), RowRange.of("h", "p"), RowRange.of("p", ""));
          assertThat(master.isServed(table)).isTrue();
        });
  }

  /** Whether it is the write that makes one tablet of two. */
  private static boolean changesExtent(Mutation update) {
    return update.edits().stream()
        .anyMatch(
            edit -> edit instanceof Edit.Put put && put.value().toString().contains("merged from"));
  }

  @Test
  void aMergeThatCannotBeMadeAnyMoreIsGivenUp() throws Exception {
    master.run(
        () -> {
          started();
          leaveMarked();
          master.start(B);
          master.records.loaded(master.records.assign(tablets().get(1), B));
          master.rereadUntilIdle();
          assertThat(tablets()).hasSize(3);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void aTabletThatADeadServerHadIsRecoveredBeforeItIsMerged() throws Exception {
    master.run(
        () -> {
          started();
          master.start(B);
          TabletRecord lower =
              master.records.release(tablets().get(0), "fenced"); // Its record names a log.
          assertThat(lower.logs()).isNotEmpty();
          master.signal.rereadAllSoon();
          master.loop.step();
          merge(tablets().get(1));
          master.stepUntilIdle();
          assertThat(tablets()).hasSize(2);
          assertThat(master.isServed(table)).isTrue();
          assertThat(master.plane.requests).contains("unload " + table);
        });
  }
}
