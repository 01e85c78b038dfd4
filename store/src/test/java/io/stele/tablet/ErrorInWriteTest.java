package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.PlantedErrors;
import io.stele.log.LogRecord;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** An {@code Error} on a write's way through a tablet: each caller is told something. */
final class ErrorInWriteTest {
  /** Where it is thrown. */
  private enum Stage {
    EVALUATING,
    APPENDING,
    LOGGING
  }

  /** A log that fails at some stage, from the second record on. */
  private static final class FailingLog implements TabletLog {
    final List<CompletableFuture<Void>> waiting = new ArrayList<>();
    private final boolean throwing;
    private final Error error;

    FailingLog(boolean throwing, Error error) {
      this.throwing = throwing;
      this.error = error;
    }

    @Override
    public CompletableFuture<Void> append(LogRecord record, LogNeed need) {
      if (throwing && !waiting.isEmpty()) {
        throw error;
      }
      CompletableFuture<Void> done = new CompletableFuture<>();
      waiting.add(done);
      return done;
    }

    @Override
    public int recordBytesMax() {
      return 1 << 20;
    }

    @Override
    public void release(long sequence) {}
  }

  private static Stream<Arguments> stagesAndErrors() {
    return PlantedErrors.at((Object[]) Stage.values());
  }

  @ParameterizedTest
  @MethodSource("stagesAndErrors")
  void everyCallerIsToldWhateverIsThrown(Stage stage, Error error) throws IOException {
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "f"));
    FailingLog log = new FailingLog(stage == Stage.APPENDING, error);
    boolean[] failing = {false};
    ServerClock clock =
        ServerClock.trusting(
            () -> {
              if (failing[0]) {
                throw error;
              }
              return Instant.ofEpochSecond(1000);
            });
    Tablet tablet =
        Tablet.open(
            fixture.manifest.reassigned(),
            new TabletEnvironment(
                fixture.runtime(),
                clock,
                fixture.fs,
                TabletFixture.ROOT,
                new OpenSSTables(fixture.runtime(), fixture.fs, NoBlockCache.INSTANCE),
                fixture.memory,
                fixture.operations,
                log,
                fixture.manifest,
                fixture.pace,
                fixture.options,
                MemoryRoom.unlimited(),
                new CompactionCounters()),
            List.of());
    CompletableFuture<OperationResult> before =
        tablet.apply(OperationRequest.of(Mutation.of("a").put("f", "q", "1")));
    failing[0] = stage == Stage.EVALUATING;
    CompletableFuture<OperationResult> hit =
        tablet.apply(OperationRequest.of(Mutation.of("b").put("f", "q", "1")));
    failing[0] = false;
    CompletableFuture<OperationResult> behind =
        tablet.apply(OperationRequest.of(Mutation.of("c").put("f", "q", "1")));
    if (stage == Stage.LOGGING) {
      log.waiting.get(1).completeExceptionally(error);
    }
    log.waiting.forEach(done -> done.complete(null));
    assertThat(before).isDone();
    assertThat(hit).isCompletedExceptionally();
    assertThat(behind).isDone();
  }

  @Test
  void whatFollowsOnOneOperationKeepsNoOtherFromBeingTold() {
    CommitQueue queue = new CommitQueue(0);
    CompletableFuture<Void> first = new CompletableFuture<>();
    CompletableFuture<Void> second = new CompletableFuture<>();
    CommitQueue.Entry one =
        queue.add(
            1,
            () -> {
              throw new StackOverflowError("planted");
            },
            first);
    CommitQueue.Entry two = queue.add(2, () -> second.complete(null), second);
    queue.durable(two);
    queue.durable(one);
    assertThat(second).isCompleted();
    assertThat(first).isCompletedExceptionally();
    assertThat(queue.readPoint()).isEqualTo(2);
  }
}
