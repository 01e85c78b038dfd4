package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** A job's cells have the time of the host that submits it: its clock must be right. */
final class JobClockTest {
  private final Configuration conf = MiniStele.quick(new Configuration(false));
  private final Site site = Site.inMemory();

  private static ProcessRuntime ahead(Duration ahead) {
    return new ForwardingRuntime() {
      @Override
      public InstantSource wallClock() {
        return () -> super.wallClock().instant().plus(ahead);
      }
    };
  }

  private long submit(MiniStele cluster, ProcessRuntime runtime) throws IOException {
    try (Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        Stele stele =
            Stele.over(conf, runtime, cluster.locks(), transport, Optional.of(site.mount()))) {
      return stele.jobs().environment().submission().timeMicros();
    }
  }

  @Test
  void aHostWhoseClockIsWrongCannotGiveCellsTheirTime() throws IOException {
    try (MiniStele cluster = MiniStele.start(conf, site, 1, 1)) {
      assertThat(submit(cluster, SystemRuntime.INSTANCE)).isPositive();
      assertThatThrownBy(() -> submit(cluster, ahead(Duration.ofHours(1))))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining(" ahead of ")
          .hasMessageContaining("correct");
      assertThatThrownBy(() -> submit(cluster, ahead(Duration.ofHours(-1))))
          .hasMessageContaining(" behind ");
    }
  }
}
