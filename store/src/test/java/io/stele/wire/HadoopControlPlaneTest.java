package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.ForwardingRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HadoopControlPlaneTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final AtomicLong ahead = new AtomicLong();
  private final HadoopControlPlane plane =
      new HadoopControlPlane(ForwardingRuntime.ahead(ahead::get), new Configuration(false));

  @AfterEach
  void close() {
    plane.close();
  }

  /** A call that asks the server nothing. */
  private int call(int port) throws IOException {
    return plane.call(
        new Address("localhost", port), TabletServerProtocol.class, TIMEOUT, server -> port);
  }

  private void pass(Duration time) {
    ahead.addAndGet(time.toNanos());
  }

  @Test
  void clientsOfServersThatNobodyCallsAnyMoreAreDropped() throws IOException {
    for (int port = 1; port <= 100; port++) {
      call(port);
      call(1000);
      pass(Duration.ofMinutes(1));
    }
    assertThat(plane.clients()).isBetween(10, 13);
  }

  @Test
  void aClientWithACallUnderWayStays() throws IOException {
    int clients =
        plane.call(
            new Address("localhost", 1),
            TabletServerProtocol.class,
            TIMEOUT,
            server -> {
              pass(HadoopControlPlane.IDLE_MAX.multipliedBy(2));
              try {
                call(2);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
              return plane.clients();
            });
    assertThat(clients).isEqualTo(2);
    pass(HadoopControlPlane.IDLE_MAX.dividedBy(2));
    call(3);
    assertThat(plane.clients()).as("it was used until now").isEqualTo(3);
    pass(HadoopControlPlane.IDLE_MAX.multipliedBy(2));
    call(3);
    call(4);
    assertThat(plane.clients()).isEqualTo(2);
    plane.retain(Set.of(new Address("localhost", 4)));
    assertThat(plane.clients()).isEqualTo(1);
  }
}
