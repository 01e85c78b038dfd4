package io.stele.yarn;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the cluster for this application, and tries again as long as it cannot be told whether
 * another application has it.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class Claiming {
  private static final Logger LOG = LoggerFactory.getLogger(Claiming.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final String applicationId;
  private final LockConnection locks;
  private final ResourceManager resourceManager;
  private final ApplicationState state;
  private final BlockingCalls calls;
  private boolean done;
  private boolean trying;

  /**
   * @param state told why the cluster cannot be claimed, for operators
   */
  Claiming(
      String applicationId,
      LockConnection locks,
      ResourceManager resourceManager,
      ApplicationState state,
      BlockingCalls calls) {
    this.applicationId = applicationId;
    this.locks = locks;
    this.resourceManager = resourceManager;
    this.state = state;
    this.calls = calls;
  }

  /** Whether the cluster is this application's. */
  boolean isDone() {
    return done;
  }

  /** An earlier attempt has taken the cluster. */
  void wasDone() {
    done = true;
  }

  /**
   * Tries to take it, unless that is being tried.
   *
   * @param other takes the id of another application that has it
   */
  void start(Consumer<String> other) {
    if (trying) {
      return;
    }
    trying = true;
    calls.call(
        () -> new ClusterClaim(locks.get()).take(applicationId, resourceManager),
        holder -> ended(holder, other),
        failure -> {
          LOG.warn(
              "Cannot tell whether another application runs the cluster; will ask again", failure);
          state.notClaimed(
              failure.getMessage() == null ? failure.toString() : failure.getMessage());
          calls.later(RETRY, () -> trying = false);
        });
  }

  private void ended(Optional<String> holder, Consumer<String> other) {
    trying = false;
    if (holder.isPresent()) {
      other.accept(holder.get());
    } else {
      LOG.info("This application has claimed the cluster");
      done = true;
      state.claimed();
    }
  }
}
