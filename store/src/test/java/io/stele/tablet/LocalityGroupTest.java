package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class LocalityGroupTest {
  private static final TableSchema APART =
      TableSchema.of(
          "t",
          List.of(
              new ColumnFamily("page", GcPolicy.keepAll(), "pages"),
              new ColumnFamily("rank", GcPolicy.maxVersions(1)),
              new ColumnFamily("tag", GcPolicy.maxVersions(1))),
          LocalityGroup.of("pages").withCodec(Codec.GZIP).withBlockBytes(1 << 20));
  private static final TableSchema TOGETHER =
      TableSchema.of(
          "t",
          List.of(
              new ColumnFamily("page", GcPolicy.keepAll()),
              new ColumnFamily("rank", GcPolicy.maxVersions(1)),
              new ColumnFamily("tag", GcPolicy.maxVersions(1))));

  @Test
  void aMinorCompactionMakesAnSSTableForEachGroupThatHasCells() throws IOException {
    TabletFixture fixture = new TabletFixture(APART);
    fixture.put("r", "rank", "", 1, "7");
    fixture.tablet.minorCompact();
    assertThat(families(fixture)).containsExactly(set("rank", "tag"));
    fixture.put("r", "page", "", 1, "<html>");
    fixture.put("r", "tag", "", 1, "new");
    fixture.tablet.minorCompact();
    assertThat(families(fixture))
        .containsExactlyInAnyOrder(set("page"), set("rank", "tag"), set("rank", "tag"));
    TabletFile pages = file(fixture, "page");
    assertThat(pages.table().properties().codec()).isEqualTo(Codec.GZIP);
    assertThat(fixture.rows()).containsExactly("r page:@1=<html> rank:@1=7 tag:@1=new");
  }

  @Test
  void blocksOfAllGroupsTogetherKeepToTheMemoryThatThereIs() throws IOException {
    TabletFixture fixture = new TabletFixture(APART);
    fixture.options = UntimedPages.DEFAULT.withValueBytesMax(1 << 20);
    fixture.tablet.close();
    fixture.reopen(List.of());
    for (int i = 0; i < 100; i++) {
      fixture.put("r" + i, "page", "", 1, "x".repeat(4000));
      fixture.put("r" + i, "rank", "", 1, "7");
    }
    fixture.tablet.minorCompact();
    long blocks = file(fixture, "page").table().properties().dataBlocks();
    assertThat(blocks).as("of 32 KiB instead of 1 MiB").isBetween(10L, 20L);
    assertThat(fixture.rows()).hasSize(100);
  }

  @Test
  void aReadOfOneGroupDoesNotTouchTheFilesOfOthers() throws IOException {
    TabletFixture fixture = new TabletFixture(APART);
    for (int i = 0; i < 50; i++) {
      fixture.put("r" + i, "page", "", 1, "<html>".repeat(1000));
      fixture.put("r" + i, "rank", "", 1, "7");
    }
    fixture.tablet.minorCompact();
    Path pages = new Path(TabletFixture.ROOT, file(fixture, "page").ref().path());
    fixture.fs.delete(pages, false);
    List<String> ranks =
        fixture.tablet.read(ReadRequest.of(RowQuery.ALL.family("rank"))).rows().stream()
            .map(row -> row.key().toString())
            .toList();
    assertThat(ranks).hasSize(50);
  }

  @Test
  void aRowDeletedIsDeletedInEveryGroupThroughAllCompactions() throws IOException {
    TabletFixture fixture = new TabletFixture(APART);
    fixture.put("r", "page", "", 1, "<html>");
    fixture.put("r", "rank", "", 1, "7");
    fixture.tablet.minorCompact();
    fixture.apply(Mutation.of("r").deleteRow()).join();
    fixture.tablet.minorCompact();
    assertThat(fixture.rows()).isEmpty();
    assertThat(fixture.tablet.statistics().files()).isEqualTo(4);
    fixture.tablet.majorCompact();
    assertThat(fixture.rows()).isEmpty();
    assertThat(fixture.tablet.statistics().files()).isZero();
  }

  @Test
  void familiesPutIntoOtherGroupsFollowAtTheNextCompactionAndReadsSeeNoDifference()
      throws IOException {
    TabletFixture fixture = new TabletFixture(TOGETHER);
    fixture.put("r", "page", "", 1, "old");
    fixture.put("r", "rank", "", 1, "1");
    fixture.tablet.minorCompact();
    alter(fixture, APART);
    fixture.put("r", "page", "", 2, "new");
    fixture.put("r", "rank", "", 2, "2");
    fixture.tablet.minorCompact();
    List<String> before = fixture.rows();
    assertThat(before).containsExactly("r page:@2=new page:@1=old rank:@2=2");
    assertThat(fixture.tablet.wantsMergingCompaction()).isTrue();
    assertThat(fixture.tablet.mergingCompact()).isTrue();
    assertThat(families(fixture)).containsExactlyInAnyOrder(set("page"), set("rank", "tag"));
    assertThat(fixture.rows()).isEqualTo(before);
    alter(fixture, TOGETHER);
    assertThat(fixture.tablet.mergingCompact()).isTrue();
    assertThat(families(fixture)).containsExactly(set("page", "rank", "tag"));
    assertThat(fixture.rows()).isEqualTo(before);
    assertThat(fixture.tablet.wantsMergingCompaction()).isFalse();
  }

  @Test
  void whatADroppedFamilyHeldIsGoneAfterACompaction() throws IOException {
    TabletFixture fixture = new TabletFixture(TOGETHER);
    fixture.put("r", "page", "", 1, "old");
    fixture.put("r", "rank", "", 1, "1");
    fixture.tablet.minorCompact();
    alter(fixture, TOGETHER.without("page"));
    assertThat(fixture.rows()).containsExactly("r rank:@1=1");
    fixture.tablet.majorCompact();
    assertThat(families(fixture)).containsExactly(set("rank", "tag"));
    assertThat(fixture.tablet.describe().files()).hasSize(1);
    assertThat(file(fixture, "rank").table().properties().cells()).isEqualTo(1);
  }

  @Test
  void garbageIsCollectedAfterTheTimeStatedAndNotAgainAndAgain() throws IOException {
    Duration hour = Duration.ofHours(1);
    TabletFixture fixture = new TabletFixture(APART);
    fixture.put("r", "page", "", 1, "<html>");
    fixture.put("r", "rank", "", 1, "7");
    fixture.tablet.minorCompact();
    fixture.apply(Mutation.of("r").deleteFamily("rank")).join();
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.collectGarbage(hour)).isFalse();
    fixture.nowMicros += hour.toNanos() / 1000;
    assertThat(fixture.tablet.wantsToCollectGarbage(hour)).isTrue();
    assertThat(fixture.tablet.collectGarbage(hour)).isTrue();
    assertThat(families(fixture)).containsExactly(set("page"));
    assertThat(fixture.tablet.wantsToCollectGarbage(hour)).isFalse();
    fixture.reopen(List.of());
    assertThat(fixture.tablet.collectGarbage(hour)).isFalse();
  }

  @Test
  void whatExpiresIsCollectedThoughNobodyDeletedAnything() throws IOException {
    Duration hour = Duration.ofHours(1);
    TabletFixture fixture =
        new TabletFixture(
            TableSchema.of("t", List.of(new ColumnFamily("visit", GcPolicy.maxAge(hour)))));
    fixture.put("r", "visit", "", fixture.nowMicros, "1");
    fixture.tablet.minorCompact();
    fixture.nowMicros += hour.toNanos() / 1000;
    assertThat(fixture.tablet.wantsToCollectGarbage(hour)).isFalse();
    fixture.nowMicros += 1;
    assertThat(fixture.rows()).isEmpty();
    assertThat(fixture.tablet.collectGarbage(hour)).isTrue();
    assertThat(fixture.tablet.statistics().files()).isZero();
  }

  @Test
  void manyTombstonesAreNotWaitedFor() throws IOException {
    TabletFixture fixture = new TabletFixture(APART);
    for (int i = 0; i < 1000; i++) {
      fixture.put("r" + i, "rank", "", 1, "7");
    }
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.collectGarbage(Duration.ofDays(1))).isFalse();
    for (int i = 0; i < 400; i++) {
      fixture.apply(Mutation.of("r" + i).deleteFamily("rank")).join();
    }
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.collectGarbage(Duration.ofDays(1))).isTrue();
    assertThat(file(fixture, "rank").table().properties().cells()).isEqualTo(600);
  }

  @Test
  void mergingAndMajorCompactionsKeepThePaceAndMinorOnesDoNotWait() throws IOException {
    AtomicLong passed = new AtomicLong();
    TabletFixture fixture = new TabletFixture(APART);
    fixture.pace = passed::addAndGet;
    fixture.reopen(List.of());
    for (int i = 0; i < 20; i++) {
      fixture.put("r" + i, "page", "", 1, "x".repeat(300_000));
    }
    fixture.tablet.minorCompact();
    assertThat(passed).hasValue(0);
    fixture.tablet.majorCompact();
    assertThat(passed.get()).isBetween(6_000_000L, 6_001_000L);
  }

  @Test
  void rewritesEndUnfinishedIfTheyMust() throws IOException {
    TabletFixture fixture = new TabletFixture(APART);
    fixture.pace = bytes -> fixture.tablet.abortRewrites(); // In the middle of one.
    fixture.reopen(List.of());
    for (int i = 0; i < 5; i++) {
      fixture.put("r" + i, "page", "", 1, "x".repeat(300_000));
    }
    fixture.tablet.minorCompact();
    List<FileRef> before = fixture.tablet.describe().files();
    assertThatThrownBy(fixture.tablet::majorCompact)
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
    assertThat(fixture.tablet.describe().files()).isEqualTo(before);
    assertThat(fixture.tablet.hasAbandonedFiles()).isFalse();
    fixture.put("r", "page", "", 1, "y".repeat(300_000));
    assertThat(fixture.tablet.minorCompact()).as("minor ones go on").isTrue();
    assertThat(fixture.rows()).hasSize(6);
  }

  @Test
  void groupsAreCompactedAtTheSameTimeAndNoneByTwo() throws Exception {
    CountDownLatch inPages = new CountDownLatch(1);
    CountDownLatch ranksDone = new CountDownLatch(1);
    TabletFixture fixture = new TabletFixture(APART);
    fixture.pace =
        bytes -> { // Only the pages are large enough to come here.
          inPages.countDown();
          await(ranksDone);
        };
    fixture.reopen(List.of());
    for (int round = 0; round < 2; round++) {
      fixture.put("r" + round, "page", "", 1, "<html>".repeat(100_000));
      fixture.put("r" + round, "rank", "", 1, "7");
      fixture.tablet.minorCompact();
    }
    fixture.nowMicros += 2_000_000;
    Duration second = Duration.ofSeconds(1);
    CompletableFuture<Void> other = CompletableFuture.runAsync(() -> collectAll(fixture, second));
    await(inPages);
    collectAll(fixture, second);
    assertThat(families(fixture).stream().filter(set("rank", "tag")::equals)).hasSize(1);
    assertThat(families(fixture).stream().filter(set("page")::equals)).hasSize(2);
    ranksDone.countDown();
    other.get();
    assertThat(families(fixture)).containsExactlyInAnyOrder(set("page"), set("rank", "tag"));
    assertThat(fixture.rows()).hasSize(2);
  }

  private static void collectAll(TabletFixture fixture, Duration interval) {
    try {
      boolean some = true;
      while (some) {
        some = fixture.tablet.collectGarbage(interval);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(CountDownLatch latch) throws InterruptedIOException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw (InterruptedIOException) new InterruptedIOException().initCause(e);
    }
  }

  private static void alter(TabletFixture fixture, TableSchema schema) {
    fixture.tablet.alter(schema);
    fixture.manifest.alter(schema);
  }

  private static List<SortedSet<String>> families(TabletFixture fixture) {
    return fixture.tablet.describe().files().stream().map(FileRef::families).toList();
  }

  private static TabletFile file(TabletFixture fixture, String family) throws IOException {
    FileRef ref =
        fixture.tablet.describe().files().stream()
            .filter(one -> one.families().contains(family))
            .findFirst()
            .orElseThrow();
    return TabletFile.open(fixture.environment(), ref, new SchemaRules(fixture.tablet.schema()));
  }

  private static SortedSet<String> set(String... families) {
    return new TreeSet<>(List.of(families));
  }
}
