package io.stele.yarn;

import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks YARN for its nodes. It reports changes of nodes by itself; but how full they are is asked
 * while something is to be placed, and which there are from time to time: a ResourceManager that
 * has restarted does not report those that did not come back.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class NodeListing {
  private static final Logger LOG = LoggerFactory.getLogger(NodeListing.class);
  private static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final Duration INTERVAL_PLACING = Duration.ofSeconds(5);

  private final ResourceManager resourceManager;
  private final ApplicationState state;
  private final BlockingCalls calls;
  private final InstantSource clock;
  private boolean listing;
  private Instant listed = Instant.EPOCH;

  NodeListing(
      ResourceManager resourceManager,
      ApplicationState state,
      BlockingCalls calls,
      InstantSource clock) {
    this.resourceManager = resourceManager;
    this.state = state;
    this.calls = calls;
    this.clock = clock;
  }

  /** Lists them now. Blocks. */
  void listNow() {
    try {
      state.replaceNodes(resourceManager.nodes(), clock.instant());
    } catch (IOException | SteleException e) {
      LOG.warn("The nodes are not known: asking for containers on any node", e);
    }
    listed = clock.instant();
  }

  /**
   * Has them listed if it is time to.
   *
   * @param placing whether some component has no container; while no node is known it makes no
   *     difference
   */
  void listWhenDue(boolean placing) {
    Duration interval = placing || !state.nodes().any() ? INTERVAL_PLACING : INTERVAL;
    if (listing || clock.instant().isBefore(listed.plus(interval))) {
      return;
    }
    listing = true;
    calls.call(
        resourceManager::nodes,
        nodes -> {
          ended();
          state.replaceNodes(nodes, listed);
        },
        failure -> {
          LOG.warn("Cannot list the nodes; using the last list", failure);
          ended();
          state.nodes().missedList();
        });
  }

  private void ended() {
    listing = false;
    listed = clock.instant();
  }
}
