package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.RecordChangedException;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecordManifestTest {
  private final List<String> aborts = new ArrayList<>();
  private final ServerLife life = new ServerLife(SystemRuntime.INSTANCE, aborts::add);

  @Test
  void theRecordCanBeReadWhileAChangeOfItWaitsForMetadata() throws Exception {
    TabletRecord root = TabletRecord.builder(TabletId.ROOT, RowRange.ALL, Bytes.EMPTY).build();
    RecordManifest manifest = new RecordManifest(SystemRuntime.INSTANCE, null, root, life);
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
