package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the lock service which processes are registered: often while some process has yet to
 * register, and now and then whether tablet servers still hold their locks, and take tablets, and
 * some master holds the masters'. To YARN, the container of a hung process looks healthy.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class ServerListing {
  private static final Logger LOG = LoggerFactory.getLogger(ServerListing.class);
  private static final Duration INTERVAL = Duration.ofSeconds(15);
  private static final Duration INTERVAL_STARTING = Duration.ofSeconds(1);

  private final Servers servers;
  private final Registrations registrations;
  private final BlockingCalls calls;
  private final InstantSource clock;
  private boolean listing;
  private Instant listed = Instant.EPOCH;

  ServerListing(
      Servers servers, Registrations registrations, BlockingCalls calls, InstantSource clock) {
    this.servers = servers;
    this.registrations = registrations;
    this.calls = calls;
    this.clock = clock;
  }

  /** Has them listed if it is time to. */
  void listWhenDue() {
    Duration interval = registrations.someStart() ? INTERVAL_STARTING : INTERVAL;
    if (listing || clock.instant().isBefore(listed.plus(interval))) {
      return;
    }
    Map<String, ComponentKind> running = registrations.toBeRegistered();
    if (running.isEmpty()) {
      return;
    }
    listing = true;
    Instant begun = clock.instant();
    calls.call(
        () -> servers.registered(running),
        registered -> {
          ended();
          registrations.listed(running.keySet(), registered, begun, listed);
        },
        failure -> {
          LOG.warn("Cannot read from ZooKeeper which servers run; will ask again", failure);
          ended();
          registrations.missedList(failure.toString(), clock.instant());
        });
  }

  private void ended() {
    listing = false;
    listed = clock.instant();
  }
}
