package io.stele.log;

import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.SlowDisk.Hang;
import io.stele.sim.Operation;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Spare writers take the place of those that are stuck. */
class SpareWritersTest extends SlowLogFixture {
  private static final Duration STUCK = WriterState.STUCK_AFTER.plusMillis(1);

  @Test
  void whatHangsInBothFilesGoesToOneThatASpareWriterCreates() throws Exception {
    Hang standby = hang(Operation.FLUSH, 2);
    append(1);
    Hang first = hang(Operation.FLUSH, 1);
    CompletableFuture<Void> second = log.append(record(TABLET, 2, 10));
    first.await();
    clock.pass(SLOW);
    standby.await();
    clock.pass(STUCK);
    second.get();
    append(3);
    log.awaitStandby();
    standby.succeed(); // Neither is the first to know what the other has.
    first.succeed();
    append(4);
    assertThat(log.statistics().switchOvers()).isEqualTo(2);
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L, 3L, 4L);
    assertThat(failure).isNotDone();
  }

  @Test
  void aSpareWriterStandsByWhileTheOtherIsStuck() throws Exception {
    Hang creating = hang(Operation.CREATE, 3);
    switchFromFirst().succeed();
    creating.await();
    clock.pass(STUCK);
    log.awaitStandby();
    append(4);
    assertThat(segments()).containsExactly(1, 2, 4);
    creating.succeed();
    fail(Operation.FLUSH, 2);
    append(5); // In the third segment, if that was there in time.
    append(6);
    close();
    assertThat(replayedSequences(fs, DIRECTORY)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
  }
}
