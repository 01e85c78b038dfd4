package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves for the next attempt of the ApplicationMaster what it must know, with one write at a time:
 * whenever it changes, and again after a while, so that the next attempt can tell about how long
 * ago that was without trust in the clocks of two machines.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class StateSaving {
  private static final Logger LOG = LoggerFactory.getLogger(StateSaving.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final StateFile file;
  private final BlockingCalls calls;
  private final InstantSource clock;
  private ApplicationStateProto saved = ApplicationStateProto.getDefaultInstance();
  private Instant savedAt = Instant.EPOCH;

  /** What is being written, or has just failed to be; empty if a write may begin. */
  private Optional<ApplicationStateProto> writing = Optional.empty();

  private List<CompletableFuture<Void>> waiting = new ArrayList<>();

  /**
   * @param clock the one that all times in the state are of
   */
  StateSaving(StateFile file, BlockingCalls calls, InstantSource clock) {
    this.file = file;
    this.calls = calls;
    this.clock = clock;
  }

  /** Completes {@code answer} once everything that has been done up to now is saved. */
  void whenSaved(CompletableFuture<Void> answer) {
    waiting.add(answer);
  }

  /** Fails all that wait, as nothing can be saved now. */
  void refuse(String reason) {
    takeWaiting()
        .forEach(
            answer ->
                answer.completeExceptionally(
                    new SteleException(
                        SteleException.Code.OUTCOME_UNKNOWN,
                        "the ApplicationMaster cannot save it now, and may forget it if it"
                            + " restarts: "
                            + reason)));
  }

  /** Whether the state is what was saved last. */
  boolean hasSaved(ApplicationStateProto current) {
    return current.equals(saved);
  }

  private List<CompletableFuture<Void>> takeWaiting() {
    List<CompletableFuture<Void>> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
  }

  /** Writes the state if it differs from what was saved last, or that was a while ago. */
  void save(ApplicationStateProto current) {
    if (hasSaved(current) && writing.map(current::equals).orElse(true)) {
      takeWaiting().forEach(answer -> answer.complete(null));
    }
    Instant now = clock.instant();
    boolean isFresh = hasSaved(current) && now.isBefore(savedAt.plus(SavedTimes.REFRESH));
    if (writing.isPresent() || isFresh) {
      return;
    }
    List<CompletableFuture<Void>> covered = takeWaiting();
    writing = Optional.of(current);
    ApplicationStateProto dated = current.toBuilder().setSavedAtMillis(now.toEpochMilli()).build();
    calls.run(
        () -> file.write(dated),
        () -> {
          writing = Optional.empty();
          saved = current;
          savedAt = now;
          covered.forEach(answer -> answer.complete(null));
        },
        failure -> {
          LOG.warn("Cannot write the state file; will retry", failure);
          waiting.addAll(covered);
          if (!hasSaved(current)) {
            saved = ApplicationStateProto.getDefaultInstance(); // Perhaps it was written.
          }
          calls.later(RETRY, () -> writing = Optional.empty());
        });
  }
}
