package io.stele.yarn;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks tablet servers to give their tablets away and end. A server whose drain fails takes its
 * tablets back; so it is asked as long as its container drains. It is asked to end only while
 * another server takes tablets, unless it must end in time, or its time is over: an operator may
 * have just drained all others.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class Drains {
  private static final Logger LOG = LoggerFactory.getLogger(Drains.class);
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  private final Servers servers;
  private final ApplicationState state;
  private final BlockingCalls calls;
  private final BooleanSupplier mayAct;
  private final InstantSource clock;

  /**
   * @param mayAct whether this attempt may act now
   */
  Drains(
      Servers servers,
      ApplicationState state,
      BlockingCalls calls,
      BooleanSupplier mayAct,
      InstantSource clock) {
    this.servers = servers;
    this.state = state;
    this.calls = calls;
    this.mayAct = mayAct;
    this.clock = clock;
  }

  /**
   * Begins to drain a container that has just entered this phase. Only if no server is registered
   * from it is there nobody to ask. After any other failure the server may have been asked, or may
   * be asked later.
   *
   * @param cannot takes the container if its server cannot be asked
   */
  void begin(HeldContainer held, Consumer<HeldContainer> cannot) {
    ask(
        held,
        failure -> {
          if (!(failure instanceof NotRegisteredException)) {
            askAgainAfter(failure, held);
          } else if (isDraining(held)) {
            LOG.warn("{}: {} cannot be drained; stopping it", held.slot(), held.id(), failure);
            cannot.accept(held);
          }
        });
  }

  private void ask(HeldContainer held, Consumer<Throwable> failed) {
    boolean unlessLast = !state.isToEndAtOnce(held.id(), clock.instant());
    calls.run(() -> servers.drain(held.id(), unlessLast), () -> askAgainLater(held), failed);
  }

  private void askAgainLater(HeldContainer held) {
    calls.later(INTERVAL, () -> askAgain(held));
  }

  private void askAgain(HeldContainer held) {
    if (!isDraining(held)) {
      return;
    }
    if (!mayAct.getAsBoolean()) {
      askAgainLater(held);
      return;
    }
    // It may be about to end as it was asked to, and registered no more.
    ask(held, failure -> askAgainAfter(failure, held));
  }

  /** Its time to drain is the limit. */
  private void askAgainAfter(Throwable failure, HeldContainer held) {
    LOG.info(
        "{}: {} was not asked to drain now, or did not answer; will ask again: {}",
        held.slot(),
        held.id(),
        failure.toString());
    askAgainLater(held);
  }

  private boolean isDraining(HeldContainer held) {
    return state.phaseOf(held.id()).equals(Optional.of(Phase.DRAINING));
  }
}
