package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.stele.cli.embedded.ConnectedProcess;
import io.stele.cli.embedded.EchoServer;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which processes each fault cuts off: those of a cluster that a relay stands before. */
@Timeout(120)
class PartitionFaultsTest {
  private static final List<String> COMPONENTS =
      List.of("master-1", "master-2", "tabletserver-1", "tabletserver-2", "tabletserver-3");

  private final Map<String, ConnectedProcess> processes = new TreeMap<>();
  @TempDir private Path hadoop;
  private EchoServer service; // In the place of either.
  private TortureRelay unused;
  private TortureRelay relay;
  private TortureScene scene;
  private final ClientRelays clients = new ClientRelays();
  private Configuration conf;
  private Site site;
  private MiniStele mini;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(ProcessSockets.areKnown());
    service = new EchoServer();
    relay = TortureRelay.to(service.address());
    unused = TortureRelay.to(service.address());
    for (String component : COMPONENTS) {
      processes.put(component, ConnectedProcess.start(hadoop, component, relay.address()));
    }
    conf = MiniStele.quick(new Configuration(false));
    site = Site.inMemory();
    mini = MiniStele.start(conf, site, 1, 1);
    scene = scene(Optional.of(new TortureRelays(relay, unused, unused, clients)));
  }

  private TortureScene scene(Optional<TortureRelays> before) {
    TortureScene made =
        new TortureScene(
            SystemRuntime.INSTANCE,
            Optional.of(hadoop),
            before,
            "torture-1-",
            new SplittableRandom(1));
    made.over().set(true); // Each partition ends at once.
    return made;
  }

  @AfterEach
  void stop() throws IOException {
    processes.values().forEach(ConnectedProcess::close);
    if (mini != null) {
      mini.close();
      relay.close();
      unused.close();
      service.close();
    }
  }

  /** Those that had to connect anew, after {@code fault}. */
  private List<String> cutOffBy(String fault) throws Exception {
    Optional<String> told = inject(fault);
    List<String> cut = new ArrayList<>();
    for (Map.Entry<String, ConnectedProcess> entry : processes.entrySet()) {
      ConnectedProcess process = entry.getValue();
      if (told.orElse("").contains(entry.getKey() + " (" + process.pid() + ")")) {
        process.expect("closed");
        process.expect("connected");
        cut.add(entry.getKey());
      }
      process.send(fault);
      assertThat(List.of(process.next(), process.next()))
          .as(entry.getKey())
          .containsExactlyInAnyOrder("sent", "heard " + fault);
    }
    return cut;
  }

  private Optional<String> inject(String name) throws Exception {
    TortureFault fault =
        TortureFaults.named(List.of(name), scene).stream().findFirst().orElseThrow();
    return fault.injection().inject(mini.client());
  }

  @Test
  void oneServerOrAllAreCutOffFromZooKeeper() throws Exception {
    assertThat(cutOffBy("cut-server")).singleElement().asString().startsWith("tabletserver-");
    assertThat(cutOffBy("cut-server-long")).singleElement().asString().startsWith("tabletserver-");
    assertThat(cutOffBy("cut-servers"))
        .containsExactly("tabletserver-1", "tabletserver-2", "tabletserver-3");
  }

  @Test
  void allMastersAreCutOffOrTheActiveOne() throws Exception {
    assertThat(cutOffBy("cut-masters")).containsExactly("master-1", "master-2");
    // The one of this cluster is none of these processes.
    assertThat(inject("cut-master")).isEmpty();
    int port = processes.get("master-2").listeningPort();
    assertThat(new PartitionFaults(scene).mastersAt("localhost:" + port))
        .extracting(TaggedProcess::component)
        .containsExactly(Optional.of("master-2"));
  }

  @Test
  void serversOrAMasterAreCutOffFromTheNameNode() throws Exception {
    scene = scene(Optional.of(new TortureRelays(unused, relay, unused, clients)));
    assertThat(cutOffBy("cut-server-namenode"))
        .singleElement()
        .asString()
        .startsWith("tabletserver-");
    assertThat(cutOffBy("cut-servers-namenode"))
        .containsExactly("tabletserver-1", "tabletserver-2", "tabletserver-3");
    assertThat(inject("cut-master-namenode")).isEmpty(); // As above.
  }

  @Test
  void aServerAndTheMastersAreCutOffFromEachOther() throws Exception {
    try (TortureRelay control = TortureRelay.socks()) {
      scene = scene(Optional.of(new TortureRelays(unused, unused, control, clients)));
      String master = "localhost:" + processes.get("master-2").listeningPort();
      for (String component : COMPONENTS) {
        if (component.startsWith("tabletserver-")) {
          Objects.requireNonNull(
                  processes.put(
                      component,
                      ConnectedProcess.startThrough(control.address(), hadoop, component, master)))
              .close();
        }
      }
      for (String fault : List.of("cut-server-master", "cut-master-answers")) {
        assertThat(cutOffBy(fault)).singleElement().asString().startsWith("tabletserver-");
      }
      assertThat(inject("cut-servers-master")).isEmpty(); // As above.
    }
  }

  @Test
  void aClientOfAServerThatLosesItsAnswersDoesNotKnowWhatBecameOfItsWrite() throws Exception {
    String server = mini.servers().get(0).hostAndPort();
    mini.client().admin().createTable(TableSchema.of("t", "f"));
    Table direct = mini.client().table("t");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "3s");
    try (Transport network = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        Stele stele =
            Stele.over(
                conf,
                SystemRuntime.INSTANCE,
                site.connect(),
                new RelayedTransport(network, clients))) {
      assertThat(inject("cut-answers")).isEmpty(); // It has called nobody yet.
      Table table = stele.table("t");
      write(table, "before");
      TortureRelay before = clients.called(List.of(server)).get(0);
      assertThat(before.service()).isEqualTo(server);
      before.cutEverybody(TortureRelay.Cut.ANSWERS);
      assertThatThrownBy(() -> write(table, "unknown"))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
      assertThat(direct.exists("unknown")).isTrue();
      before.reconnect();
      write(table, "after");
      assertThat(inject("cut-answers")).hasValue(server + " for 0 s");
      assertThat(inject("cut-clients")).hasValue(server + " for 0 s");
      write(table, "again");
    }
  }

  private static void write(Table table, String row) throws IOException {
    table.mutate(Mutation.builder(row).put("f", "q", "v").build());
  }

  @Test
  void allThatUseAConfigurationReachBothServicesThroughRelays() throws Exception {
    Configuration conf = new Configuration(false);
    conf.set("fs.defaultFS", "hdfs://" + service.address());
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), service.address());
    TortureRelays relays = TortureRelays.before(conf);
    assertThat(conf.get("fs.defaultFS")).isEqualTo("hdfs://" + relays.nameNode().address());
    assertThat(Keys.ZOOKEEPER_QUORUM.in(conf)).isEqualTo(relays.zookeeper().address());
    relays.nameNode().close();
    relays.zookeeper().close();
    relays.control().close();
  }

  @Test
  void withoutARelayThereAreNoPartitions() {
    TortureScene kept = scene(Optional.empty());
    assertThat(TortureFaults.named(List.of(), kept))
        .extracting(TortureFault::name)
        .contains("kill-server", "quota")
        .noneMatch(name -> name.startsWith("cut-"));
    assertThatThrownBy(() -> TortureFaults.named(List.of("cut-server"), kept))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("cut-server is only for")
        .hasMessageContaining("--start, on Linux")
        .hasMessageContaining("full-disks, quota");
  }
}
