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
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** A job's cells have the time of the host that submits it: its clock must be right. */
final class JobClockTest {
  private static ProcessRuntime ahead(Duration ahead) {
    return new ForwardingRuntime() {
      @Override
      public InstantSource wallClock() {
        return () -> super.wallClock().instant().plus(ahead);
      }
    };
  }

  private static long nowMicros(MiniStele cluster, Configuration conf, ProcessRuntime runtime)
      throws IOException {
    try (Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        Stele stele = Stele.over(conf, runtime, cluster.locks(), transport)) {
      return stele.jobs().environment().nowMicros();
    }
  }

  @Test
  void aHostWhoseClockIsWrongCannotGiveCellsTheirTime() throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      assertThat(nowMicros(cluster, conf, SystemRuntime.INSTANCE)).isPositive();
      assertThatThrownBy(() -> nowMicros(cluster, conf, ahead(Duration.ofHours(1))))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining(" ahead of ")
          .hasMessageContaining("correct");
      assertThatThrownBy(() -> nowMicros(cluster, conf, ahead(Duration.ofHours(-1))))
          .hasMessageContaining(" behind ");
    }
  }
}
