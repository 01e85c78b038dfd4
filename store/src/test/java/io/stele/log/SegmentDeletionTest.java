package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.log.SlowDisk.Hang;
import io.stele.model.TabletKind;
import io.stele.runtime.Task;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Unneeded segments are deleted, and no write waits for that. */
@Timeout(120)
class SegmentDeletionTest extends LogTestCase {
  private static void append(CommitLog log, long sequence) throws Exception {
    log.append(record(TABLET, sequence, 10)).get();
  }

  /** A log for which no flush is slow unless the test's clock says so. */
  private CommitLog open(SlowDisk.Clock clock) throws Exception {
    LogLocation location = new LogLocation(fs, DIRECTORY, SERVER, TabletKind.USER);
    CommitLog log = CommitLog.open(clock, location, OPTIONS, failure::complete);
    log.awaitStandby();
    return log;
  }

  /** Ends the segment being written, and returns when the one after the standby is there. */
  private void roll(CommitLog log, int written) {
    log.roll();
    Path afterStandby = LogDirectory.segment(DIRECTORY, TabletKind.USER, written + 2L);
    await(() -> exists(afterStandby));
  }

  private boolean exists(Path file) {
    try {
      return fs.exists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<Long> segments() {
    try {
      return LogDirectory.segments(fs, DIRECTORY).stream().map(Segment::number).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Hang inject(Hang hang) {
    fs.disk().inject(hang);
    return hang;
  }

  @Test
  void aStandbyIsCreatedWhileAnotherThreadDeletes() throws Exception {
    Hang deleting = inject(Hang.of(Operation.DELETE, "user-1.log"));
    try (CommitLog log = open(new SlowDisk.Clock())) {
      append(log, 1);
      roll(log, 1);
      append(log, 2);
      Thread releasing = new Thread(() -> log.release(TABLET, 2));
      releasing.start();
      deleting.await();
      try {
        roll(log, 2);
        assertThat(segments()).containsExactly(1L, 2L, 3L, 4L);
      } finally {
        deleting.succeed();
      }
      releasing.join();
      assertThat(segments()).as("also the one that the writer left").containsExactly(3L, 4L);
    }
  }

  @Test
  void aWriterLeavesMostOfABacklogToTheNextRelease() throws Exception {
    AtomicBoolean failing = new AtomicBoolean(true);
    fs.disk()
        .inject(
            (operation, file) ->
                operation == Operation.DELETE && failing.get()
                    ? Optional.of(new FaultInjector.Effect.Fail())
                    : Optional.empty());
    try (CommitLog log = open(new SlowDisk.Clock())) {
      for (int i = 1; i <= 8; i++) {
        append(log, i);
        log.release(TABLET, i);
        roll(log, i);
      }
      append(log, 9);
      failing.set(false);
      roll(log, 9);
      assertThat(segments()).containsExactly(5L, 6L, 7L, 8L, 9L, 10L, 11L);
      log.release(TABLET, 9);
      assertThat(segments()).containsExactly(10L, 11L);
    }
  }

  @Test
  void aCreationThatHangsForGoodKeepsNoLaterSegment() throws Exception {
    SlowDisk.Clock clock = new SlowDisk.Clock();
    CommitLog log = open(clock);
    Hang creating = inject(Hang.of(Operation.CREATE, "user-3.log"));
    try {
      append(log, 1);
      log.roll();
      creating.await();
      failFlush("user-2.log");
      append(log, 2);
      failFlush("user-4.log");
      append(log, 3);
      await(
          () -> {
            clock.pass(WriterState.HUNG_AFTER);
            log.release(TABLET, 3);
            return segments().equals(List.of(5L, 6L)); // The second by a spare writer.
          });

      creating.succeed();
      await(() -> exists(LogDirectory.segment(DIRECTORY, TabletKind.USER, 6)));
      append(log, 4);
      await(() -> !exists(LogDirectory.segment(DIRECTORY, TabletKind.USER, 3)));
    } finally {
      creating.succeed();
      log.close();
    }
    assertThat(failure).isNotDone();
  }

  /** Fails the next flush of a segment. */
  private void failFlush(String segment) {
    fs.disk()
        .inject(
            FaultInjector.at(
                Operation.FLUSH,
                file -> file.getName().equals(segment),
                1,
                new FaultInjector.Effect.Fail()));
  }

  @Test
  void closingDoesNotWaitForADeletionThatHangs() throws Exception {
    SlowDisk.Clock clock = new SlowDisk.Clock();
    Hang deleting = inject(Hang.interruptible(Operation.DELETE, "user-1.log"));
    CommitLog log = open(clock);
    append(log, 1);
    log.release(TABLET, 1);
    log.roll();
    deleting.await();
    Thread closing = new Thread(log::close);
    closing.start();
    try {
      await(
          () -> {
            clock.pass(Duration.ofSeconds(1));
            return !closing.isAlive();
          });
    } finally {
      deleting.succeed();
    }
    for (Task task : log.tasks()) {
      task.ended().join();
    }
    assertThat(failure).isNotDone();
  }
}
