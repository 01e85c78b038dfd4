package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
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
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
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
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Configuration conf = MiniStele.quick(new Configuration(false));
  private final Site site = Site.inMemory();
  private final TortureScene scene = scene(Optional.of(Path.of("no-hadoop")));
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

  private static TortureScene scene(Optional<Path> hadoop) {
    return new TortureScene(
        SystemRuntime.INSTANCE, hadoop, Optional.empty(), "torture-1-", new SplittableRandom(1));
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
    Torture.Plan plan = new Torture.Plan(1, 2, Duration.ofSeconds(8), false);
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
    Await.untilAnswered(PATIENCE, "the master to miss the server", this::isNoServerLive);
    TortureScene.Waited waited = scene.awaitServed(mini.client(), Duration.ofMillis(100));
    assertThat(waited.missing()).isPresent();
    assertThat(waited.missing().orElseThrow())
        .contains("all tablets are served. Last seen: ")
        .containsPattern("the cluster's status cannot be had: |\\d+ tablets are not served");
  }

  private boolean isNoServerLive() throws IOException {
    return mini.client().admin().clusterStatus().servers().isEmpty();
  }

  @Test
  void anUnknownFaultIsRefused() {
    assertThatThrownBy(() -> TortureFaults.named(List.of("flood"), scene))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("flood")
        .hasMessageContaining("rolling-restart, zookeeper");
    assertThat(TortureFaults.named(List.of("quota"), scene)).hasSize(1);
  }

  @Test
  void processesOfAClusterThatIsNotOursDoNotFail() {
    TortureScene elsewhere = scene(Optional.empty());
    assertThat(TortureFaults.named(List.of(), elsewhere))
        .extracting(TortureFault::name)
        .containsExactly("drain", "move", "merge", "split", "balance", "rolling-restart");
    assertThatThrownBy(() -> TortureFaults.named(List.of("kill-server"), elsewhere))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("kill-server is only for")
        .hasMessageContaining("drain, move");
  }

  /** A client that waits for a slow machine. */
  private Stele patient() throws IOException {
    Configuration with = new Configuration(conf);
    with.set(Keys.CLIENT_TIMEOUT.name(), "60s");
    return connect(with);
  }

  private static Table numbers(Stele stele, int tablets, int rows) throws IOException {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < tablets; i++) {
      splits.add(Bytes.of(String.format("%02d", i * rows / tablets)));
    }
    stele.admin().createTable(TableSchema.of("torture-1-numbers", "f"), splits);
    Table table = stele.table("torture-1-numbers");
    for (int i = 0; i < rows; i++) {
      table.mutate(Mutation.of(String.format("%02d", i)).put("f", "q", "v"));
    }
    return table;
  }

  private Optional<String> inject(String name, Stele stele) throws Exception {
    TortureFault fault =
        TortureFaults.named(List.of(name), scene).stream().findFirst().orElseThrow();
    return fault.injection().inject(stele);
  }

  @Test
  void aTabletOfTheRunIsSplitAtOneOfItsRows() throws Exception {
    try (Stele stele = patient()) {
      stele.admin().createTable(TableSchema.of("torture-12-others", "f"));
      assertThat(inject("split", stele)).isEmpty();
      Table table = numbers(stele, 2, 30);
      assertThat(inject("split", stele).orElseThrow()).startsWith("of torture-1-numbers at ");
      assertThat(table.tablets()).hasSize(3);
      assertThat(stele.table("torture-12-others").tablets()).hasSize(1);
    }
  }

  @Test
  void balancingIsOnAgainAfterItWasOff() throws Exception {
    try (Stele stele = patient()) {
      scene.over().set(true); // What was changed is changed back at once.
      Set<String> done = new TreeSet<>();
      while (done.size() < 2) {
        done.add(inject("balance", stele).orElseThrow());
        assertThat(stele.admin().isBalanced()).isTrue();
      }
      assertThat(done).containsExactly("at once", "nothing for a while");

      stele.admin().setBalanced(false);
      done.clear();
      for (int i = 0; i < 10; i++) {
        inject("balance", stele).ifPresent(done::add);
      }
      assertThat(done).containsExactly("at once");
      assertThat(stele.admin().isBalanced()).isFalse();
    }
  }
}
