package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.runtime.ManualClocks;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What compactions must not do to those who write, read and retry meanwhile. */
class CompactionBystandersTest {
  @Test
  void aMemtableThatWasWrittenOutLeavesTheBudgetThoughACompactionRuns() throws Exception {
    AtomicLong taken = new AtomicLong();
    MemoryAccount account =
        new MemoryAccount() {
          @Override
          public void take(long bytes) {
            taken.addAndGet(bytes);
          }

          @Override
          public void release(long bytes) {
            taken.addAndGet(-bytes);
          }
        };
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "a"));
    fixture.tablet.close();
    TabletEnvironment environment =
        new TabletEnvironment(
            fixture.runtime(),
            ServerClock.trusting(fixture.runtime().wallClock()),
            fixture.fs,
            TabletFixture.ROOT,
            new OpenSSTables(SystemRuntime.INSTANCE, fixture.fs, NoBlockCache.INSTANCE),
            account,
            OperationBudget.unlimited(),
            fixture.log,
            fixture.manifest,
            bytes -> {
              inside.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            },
            fixture.options,
            MemoryRoom.unlimited(),
            new CompactionCounters());
    fixture.tablet = Tablet.open(fixture.manifest.reassigned(), environment, List.of());
    fixture.put("r", "a", "", 1, "x".repeat(600_000));
    fixture.tablet.minorCompact();
    fixture.put("s", "a", "", 1, "y".repeat(50_000_000));
    CompletableFuture<Void> major =
        CompletableFuture.runAsync(
            () -> {
              try {
                fixture.tablet.majorCompact();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    inside.await();
    fixture.tablet.minorCompact(); // The 50 MB are in an SSTable now.
    long during = taken.get();
    go.countDown();
    major.get();
    long after = taken.get();
    assertThat(during).as("bytes accounted during (after: %d)", after).isLessThan(1_000_000);
  }

  @Test
  void aReadPointIsRefusedAfterACompactionThatMadeAVersionSurplus() throws IOException {
    Duration hour = Duration.ofHours(1);
    long micros = hour.toNanos() / 1000;
    TabletFixture fixture =
        new TabletFixture(
            TableSchema.of(
                "t",
                List.of(
                    new ColumnFamily(
                        "a",
                        new GcPolicy.Intersection(
                            List.of(GcPolicy.maxVersions(1), GcPolicy.maxAge(hour)))))));
    fixture.options =
        UntimedPages.options(1 << 20, hour, new TabletOptions.Merging(2, 2, 20), 1 << 20);
    fixture.nowMicros = 10 * micros;
    fixture.reopen(List.of());
    fixture.put("b", "a", "filler", 1, "x".repeat(100_000)); // Keeps the oldest file out of it.
    fixture.put("r", "a", "q", 8 * micros, "old");
    fixture.tablet.minorCompact();
    fixture.put("r", "a", "q", 10 * micros - 2, "young");
    fixture.tablet.minorCompact();
    long point = fixture.tablet.readPoint();
    ReadRequest request =
        new ReadRequest(RowQuery.ALL.family("a"), OptionalLong.of(point), false, 0, false);
    String before = fixture.tablet.read(request).rows().get(1).cells().toString();
    fixture.put("r", "a", "q", 10 * micros - 1, "newest");
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.read(request).rows().get(1).cells()).hasToString(before);
    assertThat(fixture.tablet.mergingCompact()).isTrue();
    assertThat(fixture.tablet.describe().files()).hasSize(2);
    assertThatThrownBy(() -> fixture.tablet.read(request))
        .hasMessageContaining("cannot be read any more");
  }

  @Test
  void damageInOneGroupLeavesTheOthersTheirCompactions() throws IOException {
    TabletFixture fixture =
        new TabletFixture(
            TableSchema.of(
                "t",
                List.of(
                    new ColumnFamily("a", GcPolicy.maxVersions(1), "ga"),
                    new ColumnFamily("b", GcPolicy.maxVersions(1), "gb")),
                LocalityGroup.of("ga"),
                LocalityGroup.of("gb")));
    for (int i = 0; i < 8; i++) {
      fixture.put("r" + i, "a", "", 1, "v");
      fixture.put("r" + i, "b", "", 1, "v");
      fixture.tablet.minorCompact();
    }
    fixture.reopen(List.of());
    TabletSpec whole = fixture.manifest.record();
    for (String damaged : List.of("a", "b")) {
      FileRef first =
          whole.files().stream()
              .filter(file -> file.families().contains(damaged))
              .findFirst()
              .orElseThrow();
      Path path = new Path(TabletFixture.ROOT, first.path());
      byte[] good = new byte[(int) first.length()];
      try (var in = fixture.fs.open(path)) {
        in.readFully(0, good);
      }
      byte[] bad = good.clone();
      bad[40] ^= 1;
      try (var out = fixture.fs.create(path, true)) {
        out.write(bad);
      }
      TestManifest manifest = new TestManifest(whole);
      Tablet tablet =
          Tablet.open(
              manifest.reassigned(),
              new TabletEnvironment(
                  SystemRuntime.INSTANCE,
                  ServerClock.trusting(SystemRuntime.INSTANCE.wallClock()),
                  fixture.fs,
                  TabletFixture.ROOT,
                  new OpenSSTables(SystemRuntime.INSTANCE, fixture.fs, NoBlockCache.INSTANCE),
                  MemoryAccount.NONE,
                  OperationBudget.unlimited(),
                  fixture.log,
                  manifest,
                  fixture.pace,
                  fixture.options,
                  MemoryRoom.unlimited(),
                  new CompactionCounters()),
              List.of());
      String last = "";
      boolean other = false;
      for (int i = 0; i < 20 && !other; i++) {
        try {
          other = tablet.mergingCompact();
        } catch (IOException e) {
          last = e.toString(); // Tried again, as Maintenance does.
        }
      }
      assertThat(other).as("with %s damaged, the other group; %s", damaged, last).isTrue();
      tablet.close();
      try (var out = fixture.fs.create(path, true)) {
        out.write(good);
      }
    }
  }

  @Test
  void aCompactionOfOldFilesDoesNotForgetAClientThatIsActive() throws IOException {
    Duration window = Duration.ofHours(1);
    ManualClocks clocks = new ManualClocks(1, Instant.EPOCH);
    OperationWindow live = new OperationWindow(clocks, window, OperationBudget.unlimited());
    Bytes digest = Bytes.of("d");
    LongConsumer apply =
        number -> {
          OperationWindow.Begun begun =
              live.begin(
                  new OperationId(7, 7, number),
                  Outstanding.from(1),
                  digest,
                  new CompletableFuture<>());
          live.queued(begun.operation(), number, Bytes.EMPTY);
          live.done(begun.operation());
        };
    apply.accept(5);
    Bytes oldFile = live.encodeRecent(0, 5);
    for (int i = 1; i < 8; i++) {
      clocks.pass(window.dividedBy(2));
      apply.accept(5 + i);
    }
    clocks.pass(window.dividedBy(2));
    Bytes newFile = live.encodeRecent(5, Long.MAX_VALUE);
    OperationWindow larger = live.ofSameLength(); // As Rewriter does with the old file.
    larger.restore(oldFile, 0, false);
    larger.forgetAs(live);
    Bytes compacted = larger.encodeWritten();
    OperationWindow reopened = live.ofSameLength();
    reopened.restore(newFile, 0, false);
    reopened.restore(compacted, 0, false);
    for (OperationWindow one : List.of(live, reopened)) {
      assertThat(
              one.begin(
                      new OperationId(7, 7, 5),
                      Outstanding.from(1),
                      digest,
                      new CompletableFuture<>())
                  .known())
          .isPresent();
    }
  }
}
