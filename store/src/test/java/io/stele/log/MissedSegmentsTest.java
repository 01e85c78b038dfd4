package io.stele.log;

import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.Operation;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Which segments of a log are missed if they are gone: all but those that have acknowledged
 * nothing.
 */
class MissedSegmentsTest extends SlowLogFixture {
  /** Its writer deletes it where it learns too late that it was its turn. */
  @Test
  void aSegmentThatHasAcknowledgedNothingIsNotMissed() throws Exception {
    switchPastSecond().succeed();
    log.awaitStandby();
    assertThat(sequences(3)).containsExactly(2L);
    fs.delete(LogDirectory.segment(DIRECTORY, TabletKind.USER, 2), false);
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L);
  }

  /** Deletes what a fenced log has of a segment: the segment or its copy. */
  private static void deleteListed(CrashableFileSystem master, long number) throws IOException {
    for (Segment segment : FencedLog.segments(master, RECOVERY, TabletKind.USER)) {
      if (segment.number() == number) {
        assertThat(master.delete(segment.path(), false)).isTrue();
      }
    }
  }

  @Test
  void aSegmentWithAcknowledgedRecordsIsMissedBehindOneThatHasNone() throws Exception {
    close();
    open(OPTIONS.withSegmentBytes(1000));
    for (long sequence = 1; sequence <= 2; sequence++) {
      log.append(record(TABLET, sequence, 2000)).get();
      log.awaitStandby();
    }
    while (!segments().contains(4)) {
      spin();
    }
    log.awaitStandby();
    fail(Operation.FLUSH, 3);
    append(3);
    assertThat(sequences(1)).containsExactly(1L);
    assertThat(sequences(2)).containsExactly(2L);
    assertThat(sequences(4)).containsExactly(3L);
    CrashableFileSystem master = fs.disk().mount();
    WholeFence.fence(WholeFence.of(SystemRuntime.INSTANCE, master), DIRECTORY, RECOVERY);
    deleteListed(master, 3);
    assertThat(replayedSequences(master, RECOVERY)).containsExactly(1L, 2L, 3L);
    assertThat(LogRepair.check(master, RECOVERY))
        .singleElement()
        .satisfies(
            lost -> {
              assertThat(lost.segment().number()).isEqualTo(3);
              assertThat(lost.tablets()).contains(SegmentSummary.EMPTY);
            });
    deleteListed(master, 2);
    assertThatThrownBy(() -> replayedSequences(master, RECOVERY))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("user-2.log");
    assertThat(LogRepair.check(master, RECOVERY))
        .extracting(lost -> lost.tablets().map(tablets -> tablets.tablets().keySet()))
        .containsExactly(Optional.of(Set.of(TABLET)), Optional.of(Set.of()));
  }
}
