package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.Assignment;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.Task;
import io.stele.sim.check.Violation;
import io.stele.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a {@link LoadedWatch} says of small clusters, some of which lie. */
@ExtendWith(Cores.One.class)
class LoadedWatchTest {
  private static final int SEEDS = 3;
  private static final int REQUESTS_OF_A_LOAD = 6;
  private static final Duration LOST_FOR = Duration.ofMillis(300);
  private static final long STEPS_MAX = 3_000_000;
  private static final Duration LENGTH = Duration.ofSeconds(30);
  private static final Duration START_MAX = Duration.ofSeconds(60);

  @Test
  void aHealthyClusterWhoseTabletsComeAndGoIsInOrder() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      Watched watched = new Watched(seed);
      watched.run(
          () -> {
            for (int i = 0; i < 10; i++) {
              watched.createTable("t" + i, List.of(Bytes.of("g"), Bytes.of("p")));
              watched.client.admin().dropTable("t" + i);
            }
            watched.createTable("t", List.of(Bytes.of("m")));
            watched.cluster.drainAndEnd(watched.servers().get(0));
            watched.process.sleep(LENGTH);
          });
      assertThat(watched.violations()).as("seed %d", seed).isEmpty();
    }
  }

  @Test
  void aTabletThatIsLoadedByItsRecordAlone() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      Watched watched = new Watched(seed);
      watched.run(
          () -> {
            watched.createTable("t", List.of());
            TabletRecord lie = watched.lie();
            watched.process.sleep(Duration.ofSeconds(5));
            assertThat(watched.violations()).isEmpty(); // It may come to be served yet.
            watched.process.sleep(Duration.ofSeconds(4));
            assertThat(watched.violations())
                .singleElement()
                .satisfies(
                    found -> assertThat(found.toString()).contains(lie.id().toString(), "loaded"));
          });
    }
  }

  @Test
  void aServerThatAFaultTouchesCountsAgainSoonAfterIt() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      Watched watched = new Watched(seed);
      watched.run(
          () -> {
            watched.createTable("t", List.of());
            watched.cluster.files().setWeather(new SimulatedFiles.Weather(0.4, 0.001, 0, 0, 0));
            watched.process.sleep(Duration.ofSeconds(1));
            watched.lie();
            watched.process.sleep(LENGTH);
            assertThat(watched.violations()).isEmpty();
            watched.cluster.files().setWeather(SimulatedFiles.Weather.FAIR);
            watched.process.sleep(watched.watch.afterFault());
            assertThat(watched.violations()).isEmpty();
            watched.process.sleep(Duration.ofSeconds(9));
            assertThat(watched.violations()).isNotEmpty();
          });
    }
  }

  /** It cannot renew its lease until then. */
  @Test
  void aServerThatTheLockServiceDoesNotHearIsTouchedUntilItEnds() throws Exception {
    Watched watched = new Watched(0);
    watched.run(
        () -> {
          SimulatedProcess server = watched.processes().get(0);
          assertThat(watched.cluster.isUntouched(server)).isTrue();
          watched.servers().get(0).session().expire();
          assertThat(watched.cluster.isUntouched(server)).isFalse();
          while (!server.isDead()) {
            assertThat(watched.cluster.isUntouched(server)).isFalse();
            watched.process.sleep(Duration.ofMillis(100));
          }
        });
  }

  /** If the tablet was not served for long, the master would take the server for dead. */
  @Test
  void anAnswerThatGetsLostWhileATabletIsLoadedCostsNoServer() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      Watched watched = new Watched(seed);
      watched.run(
          () -> {
            List<SimulatedProcess> before = watched.processes();
            for (int request = 1; request <= REQUESTS_OF_A_LOAD; request++) {
              watched.loseAnswers(request);
              watched.createTable("t" + request, List.of());
              watched.process.sleep(Duration.ofSeconds(9));
            }
            assertThat(watched.processes()).as("%s", watched.simulation.trace()).isEqualTo(before);
          });
      assertThat(watched.violations()).as("seed %d", seed).isEmpty();
    }
  }

  /** A cluster of one master and two servers, a client, and a watch. */
  private static final class Watched {
    private final Simulation simulation;
    private SimulatedCluster cluster;
    private SimulatedProcess process;
    private Stele client;
    private TabletRecords records;
    private LoadedWatch watch;

    Watched(long seed) {
      this.simulation = new Simulation(seed, STEPS_MAX);
    }

    void run(Simulation.Work work) throws Exception {
      simulation.run(
          () -> {
            cluster =
                new SimulatedCluster(
                    simulation, HistoryPlan.of(0, LENGTH, Histories.NAMES).configuration());
            cluster.add(SimulatedCluster.Kind.MASTER);
            cluster.add(SimulatedCluster.Kind.SERVER);
            cluster.add(SimulatedCluster.Kind.SERVER);
            process = cluster.clientProcess();
            client = cluster.connect(process);
            LockService locks = cluster.ensemble().connect(process);
            Transport transport = cluster.network().transport(process, "liar");
            Duration lease = Keys.LEASE.in(cluster.conf());
            TabletAccess access = new TabletAccess(process, locks, transport.dataPlane(), lease);
            records = new TabletRecords(process, locks, access, START_MAX);
            watch = new LoadedWatch(cluster);
            FileSystem files = cluster.files().mount(process);
            Path root = new Path(Keys.ROOT_DIR.in(cluster.conf()));
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Task task =
                process.start(
                    "test",
                    () -> {
                      try {
                        createTable("first", List.of());
                        while (!servers().stream().allMatch(slot -> slot.server().isPresent())) {
                          process.sleep(Duration.ofMillis(100));
                        }
                        transport.join(Bootstrap.join(files, root, locks).memberKey(files));
                        watch.start();
                        work.run();
                      } catch (Exception | AssertionError e) {
                        failure.complete(e);
                      }
                    });
            simulation.outside().await(task.ended());
            assertThat(failure.getNow(null)).isNull();
          });
    }

    List<Violation> violations() {
      return watch.violations();
    }

    List<SimulatedCluster.Slot> servers() {
      return cluster.slots(SimulatedCluster.Kind.SERVER);
    }

    void createTable(String name, List<Bytes> splits) throws Exception {
      long end = process.nanoTime() + START_MAX.toNanos();
      while (true) {
        try {
          client.admin().createTable(TableSchema.of(name, List.of(ColumnFamily.of("f"))), splits);
          return;
        } catch (IOException | SteleException e) {
          if (process.nanoTime() - end >= 0) {
            throw e;
          }
          process.sleep(Duration.ofMillis(200));
        }
      }
    }

    List<SimulatedProcess> processes() {
      return servers().stream().map(SimulatedCluster.Slot::process).toList();
    }

    /** Loses what a server is told by the other one just after it has sent so many requests. */
    void loseAnswers(int requests) {
      for (SimulatedCluster.Slot slot : servers()) {
        SimulatedProcess asking = slot.process();
        asking.traps().clear(); // What the last load did not come to.
        asking.traps().set(Step.REQUEST, requests, () -> cutOff(asking));
      }
    }

    private void cutOff(SimulatedProcess asking) {
      cluster.network().cut((from, to) -> to == asking && from != asking && isServer(from));
      simulation.schedule(
          simulation.outside(), LOST_FOR, "", () -> cluster.network().cut((from, to) -> false));
    }

    private boolean isServer(SimulatedProcess one) {
      return servers().stream().anyMatch(slot -> slot.process() == one);
    }

    /** Makes a record say that a tablet is loaded at a server that knows nothing of it. */
    TabletRecord lie() throws Exception {
      cluster.slots(SimulatedCluster.Kind.MASTER).get(0).process().pause(); // It would notice.
      TabletRecord record = userTablet();
      ServerId owner = record.assignment().server().orElseThrow();
      ServerId other =
          servers().stream()
              .map(slot -> slot.server().orElseThrow().id())
              .filter(id -> !id.equals(owner))
              .findFirst()
              .orElseThrow();
      return records.loaded(records.assign(records.unloaded(record, "a lie"), other));
    }

    private TabletRecord userTablet() throws Exception {
      Set<TableId> tables = new TreeSet<>(new ClusterView(cluster, process).tables());
      tables.removeIf(TableId::isSystem);
      while (true) {
        List<TabletRecord> loaded = new ArrayList<>();
        for (TableId table : tables) {
          loaded.addAll(records.reader().readAll(table));
        }
        loaded.removeIf(record -> record.assignment().state() != Assignment.State.LOADED);
        if (!loaded.isEmpty()) {
          return loaded.get(0);
        }
        process.sleep(Duration.ofMillis(100));
      }
    }
  }
}
