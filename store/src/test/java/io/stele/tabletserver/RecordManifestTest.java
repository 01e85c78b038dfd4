package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.MemoryRecords;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecordManifestTest {
  private final List<String> aborts = new ArrayList<>();
  private final ServerLife life = new ServerLife(SystemRuntime.INSTANCE, aborts::add);

  @Test
  void theRecordCanBeReadWhileAChangeOfItWaitsForMetadata() throws Exception {
    TabletRecord root = TabletRecord.builder(TabletId.ROOT, RowRange.ALL, Bytes.EMPTY).build();
    RecordManifest manifest =
        new RecordManifest(SystemRuntime.INSTANCE, null, root, life, changed -> {});
    CountDownLatch changing = new CountDownLatch(1);
    CountDownLatch metadataIsBack = new CountDownLatch(1);
    CompletableFuture<Void> change =
        CompletableFuture.runAsync(
            () -> {
              try {
                manifest.change(
                    before -> {
                      changing.countDown();
                      try {
                        metadataIsBack.await();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                      return before;
                    });
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    changing.await();
    CompletableFuture<TabletRecord> read = CompletableFuture.supplyAsync(manifest::record);
    try {
      assertThat(read.get(10, TimeUnit.SECONDS)).isEqualTo(root);
    } finally {
      metadataIsBack.countDown();
    }
    change.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aChangeThatWasInterruptedHasAnUnknownOutcomeAndEndsTheServer() {
    assertThatThrownBy(
            () ->
                life.untilKnown(
                    "write",
                    () -> {
                      throw new InterruptedIOException("interrupted while waiting");
                    }))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
    assertThat(life.isOver()).isTrue();
    assertThat(aborts).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"REFUSED", "CORRUPTION"})
  void aChangeThatIsRejectedChangesNothingAndTheServerGoesOn(SteleException.Code code) {
    assertThatThrownBy(
            () ->
                life.untilKnown(
                    "write",
                    () -> {
                      throw new SteleException(code, "too large, or a file of METADATA is damaged");
                    }))
        .isInstanceOf(ChangeRefusedException.class)
        .hasMessageContaining("nothing was changed")
        .satisfies(e -> assertThat(FailureCause.of(e)).isEqualTo(FailureCause.TABLET))
        .satisfies(e -> assertThat(FailureCause.isDamage(e)).isFalse());
    assertThat(aborts).isEmpty();
    assertThat(life.isOver()).isFalse();
  }

  /** Drops many files, {@code path} of each number, while sweeps delete what the record names. */
  private void dropsAreNamedAndForgotten(IntFunction<String> path) throws Exception {
    MemoryRecords metadata =
        new MemoryRecords(SystemRuntime.INSTANCE, new MemoryLockStore().connect());
    TabletRecords records = metadata.records();
    TableId table = new TableId("t1");
    records.createTable(table, List.of());
    TabletRecord loaded =
        records.loaded(
            records.assign(records.reader().readAll(table).get(0), new ServerId("host1", 7101, 1)));
    RecordManifest manifest =
        new RecordManifest(SystemRuntime.INSTANCE, records, loaded, life, changed -> {});
    int readsBefore = metadata.reads();
    for (int i = 0; i < 2_600; i++) {
      FileRef file =
          FileRef.builder(path.apply(i), 100, RowRange.ALL)
              .sequences(1, 2)
              .families(List.of("f"))
              .build();
      manifest.commit(
          ManifestEdit.builder("minor compaction").add(List.of(file)).reach(1, 1).build());
      manifest.commit(
          ManifestEdit.builder("merging compaction").remove(List.of(file)).reach(1, 1).build());
      TabletRecord stored = records.reader().readAll(table).get(0);
      readsBefore++;
      assertThat(stored.dropped().containsKey(file.path())).as("file %s is named", i).isTrue();
      if (i % 7 == 0) {
        records.forgetDropped(stored, stored.dropped().keySet()); // As a sweep does.
      }
      assertThat(manifest.record().dropped().size()).isLessThan(1_000);
    }
    assertThat(metadata.reads() - readsBefore).isLessThan(2_600 / 50);
  }

  @Test
  void everyFileThatATabletDropsIsNamedHoweverManyWereSweptBefore() throws Exception {
    dropsAreNamedAndForgotten(i -> "tables/t1/0123456789abcdef/1-" + i + ".sst");
  }

  @Test
  void sweptFilesOfJobsAreForgottenToo() throws Exception {
    dropsAreNamedAndForgotten(i -> "bulk/job/" + i + ".sst");
  }

  @Test
  void aServerThatFindsTheTabletLostEnds() throws Exception {
    TestServer.World world = new TestServer.World();
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
      TestServer.put(hosted, "a", "v");
      server.records().release(server.stored(hosted.id()), "fenced");
      assertThatThrownBy(hosted.tablet()::minorCompact).isInstanceOf(RecordChangedException.class);
      assertThat(server.aborts).hasSize(1);
    }
  }
}
