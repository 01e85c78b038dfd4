package io.stele.log;

import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.files.TooFewReplicasException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nothing is acknowledged that fewer DataNodes have than asked for. */
@Timeout(60)
class ReplicasTest extends LogTestCase {
  @Test
  void aWriteWaitsUntilAPipelineHasTheMinimumOfReplicas() throws Exception {
    try (CommitLog log = open(OPTIONS)) {
      log.append(record(TABLET, 1, 10)).get();
      fs.disk().dataNodes(1);
      CompletableFuture<Void> waiting = log.append(record(TABLET, 2, 10));
      await(() -> log.refusal().isPresent());
      assertThat(log.refusal().orElseThrow())
          .contains("only 1 of the 2 replicas")
          .contains("stele.tabletserver.log.replicas.min");
      assertThat(waiting).isNotDone();
      assertThat(failure).isNotDone(); // Another server would be no better off.
      fs.disk().dataNodes(2);
      waiting.get();
      await(() -> log.refusal().isEmpty());
      log.append(record(TABLET, 3, 10)).get();
    }
    assertThat(replayed(fs, DIRECTORY)).hasSize(3).last().isEqualTo(record(TABLET, 3, 10));
  }

  @Test
  void aSegmentThatLostReplicasIsLeftForOneThatHasThem() throws Exception {
    try (CommitLog log = open(OPTIONS)) {
      log.append(record(TABLET, 1, 10)).get();
      fs.disk().dataNodes(1); // Both segments lose theirs,
      fs.disk().dataNodes(3); // and new ones have three again.
      log.append(record(TABLET, 2, 10)).get();
      assertThat(log.statistics().failures()).isPositive();
    }
    assertThat(replayed(fs, DIRECTORY)).hasSize(2);
  }

  @Test
  void whereTheMinimumIsOneReplicaOneIsEnough() throws Exception {
    try (CommitLog log = open(OPTIONS.withReplicasMin(1))) {
      fs.disk().dataNodes(1);
      log.append(record(TABLET, 1, 10)).get();
      assertThat(log.statistics().failures()).isZero();
    }
  }

  @Test
  void aMinimumAboveTheFilesReplicationIsMetByAllOfThem() throws Exception {
    try (CommitLog log = open(OPTIONS.withReplicasMin(64))) {
      log.append(record(TABLET, 1, 10)).get();
    }
  }

  @Test
  void withTooFewDataNodesALogDoesNotOpenAndLeavesNothing() throws Exception {
    fs.disk().dataNodes(1);
    assertThatThrownBy(() -> open(OPTIONS))
        .isInstanceOf(TooFewReplicasException.class)
        .hasMessageContaining("only 1 of the 2 replicas");
    assertThat(fs.listStatus(DIRECTORY)).isEmpty();
  }

  @Test
  void aLongShortageLeavesNoFilesBehindAndNoFailureOfTheLog() throws Exception {
    try (CommitLog log = open(OPTIONS)) {
      log.append(record(TABLET, 1, 10)).get();
      fs.disk().dataNodes(1);
      CompletableFuture<Void> waiting = log.append(record(TABLET, 2, 10));
      await(() -> log.statistics().failures() > 10);
      assertThat(LogDirectory.segments(fs, DIRECTORY)).hasSizeLessThanOrEqualTo(4);
      fs.disk().dataNodes(3);
      waiting.get();
    }
    assertThat(failure).isNotDone();
  }

  @Test
  void theSegmentThatStandsByBeginsOnAnotherNode() throws Exception {
    try (CommitLog log = open(OPTIONS.withSegmentBytes(1))) {
      for (int i = 1; i <= 20; i++) {
        log.awaitStandby();
        List<String> nodes = new ArrayList<>();
        for (Path open : fs.disk().openForWriting()) {
          nodes.add(fs.disk().firstNode(open));
        }
        assertThat(nodes).doesNotHaveDuplicates();
        log.append(record(TABLET, i, 10)).get();
      }
    }
  }
}
