package io.stele.sim;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.ColumnFamily;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.IoRunnable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * A small simulated cluster in which nothing fails but what the test makes fail, and a client of
 * it.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class ClusterFixture {
  private static final long STEPS_MAX = 100_000_000;
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final Simulation simulation;
  private final SimulatedCluster cluster;
  private final SimulatedProcess process;
  private final Stele client;
  private final List<CompletableFuture<Void>> started = new ArrayList<>();

  /** What a test does with the cluster. */
  @FunctionalInterface
  interface Scenario {
    void run(ClusterFixture cluster) throws Exception;
  }

  private ClusterFixture(Simulation simulation, int servers, Configuration settings) {
    this.simulation = simulation;
    this.cluster = new SimulatedCluster(simulation, settings);
    cluster.add(SimulatedCluster.Kind.MASTER);
    for (int i = 0; i < servers; i++) {
      cluster.add(SimulatedCluster.Kind.SERVER);
    }
    this.process = cluster.clientProcess();
    this.client = cluster.connect(process);
  }

  /**
   * Runs {@code scenario} in the client's process of a cluster with a master and a tablet server.
   * Fails if it fails, or a task it started.
   */
  static void run(Scenario scenario) throws Exception {
    run(0, 1, settings(0, Duration.ofSeconds(30)), scenario);
  }

  /** Likewise, with so many tablet servers. */
  static void run(long seed, int servers, Configuration settings, Scenario scenario)
      throws Exception {
    Simulation simulation = new Simulation(seed, STEPS_MAX);
    try {
      simulation.run(
          () -> {
            ClusterFixture fixture = new ClusterFixture(simulation, servers, settings);
            fixture.start("test", () -> scenario.run(fixture));
            fixture.awaitAll();
          });
    } catch (Exception | AssertionError e) {
      e.addSuppressed(new AssertionError("the seed was " + seed));
      throw e;
    }
  }

  /** The settings of a cluster whose history lasts for {@code length}. */
  static Configuration settings(long seed, Duration length) {
    return HistoryPlan.of(seed, length, Histories.NAMES).configuration();
  }

  /** Starts a task in the client's process; the test ends after it. */
  void start(String name, Simulation.Work work) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    started.add(end);
    process.start(
        name,
        () -> {
          try {
            work.run();
            end.complete(null);
          } catch (Exception | AssertionError e) {
            end.completeExceptionally(e);
          }
        });
  }

  private void awaitAll() throws Exception {
    for (int i = 0; i < started.size(); i++) { // Tasks start others.
      simulation.outside().await(started.get(i));
    }
  }

  /** Makes all messages to and from the master take up to {@code delay} longer. */
  void slowMaster(Duration delay) {
    cluster.network().setDelay(first(SimulatedCluster.Kind.MASTER).process(), delay);
  }

  /** Makes all messages to and from the tablet server take up to {@code delay} longer. */
  void slowServer(Duration delay) {
    cluster.network().setDelay(first(SimulatedCluster.Kind.SERVER).process(), delay);
  }

  private SimulatedCluster.Slot first(SimulatedCluster.Kind kind) {
    return cluster.slots(kind).get(0);
  }

  /** All masters and tablet servers. */
  List<SimulatedCluster.Slot> slots() {
    return Stream.of(SimulatedCluster.Kind.values())
        .flatMap(kind -> cluster.slots(kind).stream())
        .toList();
  }

  /** The processes of all masters and tablet servers. */
  List<SimulatedProcess> members() {
    return slots().stream().map(SimulatedCluster.Slot::process).toList();
  }

  /** Makes {@code call} again and again until it succeeds, for {@code limit} at most. */
  void until(Duration limit, IoRunnable call) throws Exception {
    long start = process.nanoTime();
    while (true) {
      try {
        call.run();
        return;
      } catch (SteleException | IOException | AssertionError e) {
        if (process.nanoTime() - start > limit.toNanos()) {
          throw e;
        }
        process.sleep(PAUSE);
      }
    }
  }

  /** A new table of one family, {@code f}. */
  Table createTable(String name, Duration limit) throws Exception {
    until(
        limit,
        () -> client.admin().createTable(TableSchema.of(name, List.of(ColumnFamily.of("f")))));
    return client.table(name);
  }

  /** The cluster itself. */
  SimulatedCluster cluster() {
    return cluster;
  }

  /** The client's process. */
  SimulatedProcess process() {
    return process;
  }

  /** The client's connection. */
  Stele client() {
    return client;
  }

  /** The cluster's jobs, as the client has them. */
  Jobs jobs() {
    return client.jobs();
  }
}
