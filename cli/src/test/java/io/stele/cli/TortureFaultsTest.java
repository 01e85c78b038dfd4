package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.Workloads;
import io.stele.wire.NetworkTransport;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which faults come, and what is wrong after them, on a cluster in this JVM. */
@Timeout(120)
class TortureFaultsTest {
  private static final Duration AT_ONCE = Duration.ofMillis(1);
  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(1);

  private final Configuration conf = MiniStele.quick(new Configuration(false));
  private final Site site = Site.inMemory();
  private final TortureScene scene =
      new TortureScene(SystemRuntime.INSTANCE, Path.of("no-hadoop"), new SplittableRandom(1));
  private final StringWriter said = new StringWriter();
  private MiniStele mini;

  @BeforeEach
  void start() throws IOException {
    conf.set(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT.toSeconds() + "s");
    mini = MiniStele.start(conf, site, 1, 1);
  }

  @AfterEach
  void stop() {
    mini.close();
  }

  private TortureFaults faults(List<TortureFault> faults) {
    return new TortureFaults(scene, faults, AT_ONCE, new PrintWriter(said, true));
  }

  @Test
  void eachFaultComesOnceBeforeAnyComesAgain() throws Exception {
    List<String> names = List.of("a", "b", "c", "d");
    List<String> came = new ArrayList<>();
    List<TortureFault> recorded = new ArrayList<>();
    for (String name : names) {
      recorded.add(
          TortureFault.of(
              name,
              name,
              stele -> {
                came.add(name);
                scene.over().set(came.size() == 3 * names.size());
                return Optional.of("it");
              }));
    }
    faults(recorded).run(mini.client());
    for (int i = 0; i < came.size(); i += names.size()) {
      assertThat(came.subList(i, i + names.size())).containsExactlyInAnyOrderElementsOf(names);
    }
  }

  @Test
  void aFaultThatCannotBeHadIsWrongOnlyWhereItIsHarmless() throws Exception {
    TortureFault.Injection fails =
        stele -> {
          scene.over().set(true);
          throw new IOException("no successor");
        };
    TortureFaults bad = faults(List.of(new TortureFault("restart", "restart all", true, fails)));
    bad.run(mini.client());
    assertThat(bad.good()).isFalse();
    assertThat(said.toString()).contains("WRONG: could not restart all: no successor");

    scene.over().set(false);
    TortureFaults late = faults(List.of(TortureFault.of("move", "move tablets", fails)));
    late.run(mini.client());
    assertThat(late.good()).isTrue();
  }

  @Test
  void aCallThatFailsDuringAHarmlessFaultIsWrong() throws Exception {
    TortureFault outage =
        new TortureFault(
            "restart",
            "restart",
            true,
            stele -> {
              List<ServerId> servers = mini.servers();
              servers.forEach(mini::killServer);
              SystemRuntime.INSTANCE.sleep(CLIENT_TIMEOUT.multipliedBy(3));
              mini.startServer();
              scene.over().set(true);
              return Optional.of("all");
            });
    Torture.Plan plan = new Torture.Plan(1, 2, Duration.ofSeconds(8));
    List<Workload> counters =
        Workloads.all(new Pace(Duration.ofMillis(5)), plan.prefix()).stream()
            .filter(workload -> workload.name().equals("counters"))
            .toList();
    Torture torture =
        new Torture(
            conf,
            this::connect,
            plan,
            counters,
            Optional.of(faults(List.of(outage))),
            new PrintWriter(said, true));
    assertThat(torture.run()).as(said.toString()).isFalse();
    assertThat(said.toString()).containsPattern("WRONG: restart all: failed: #\\d+ client ");
  }

  private Stele connect(Configuration with) throws IOException {
    NetworkTransport transport = new NetworkTransport(with, SystemRuntime.INSTANCE, "localhost");
    return Stele.over(with, SystemRuntime.INSTANCE, site.connect(), transport);
  }

  @Test
  void whyTabletsAreNotServedIsSaid() throws Exception {
    mini.servers().forEach(mini::killServer);
    TortureScene.Waited waited = scene.awaitServed(mini.client(), Duration.ofMillis(100));
    assertThat(waited.missing()).isPresent();
    assertThat(waited.missing().orElseThrow())
        .contains("all tablets are served. Last seen: ")
        .containsPattern("the cluster's status cannot be had: |\\d+ tablets are not served");
  }

  @Test
  void anUnknownFaultIsRefused() {
    assertThatThrownBy(() -> TortureFaults.named(List.of("flood"), scene))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("flood")
        .hasMessageContaining("rolling-restart, zookeeper");
    assertThat(TortureFaults.named(List.of("quota"), scene)).hasSize(1);
  }
}
