package io.stele.sim;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A simulated cluster of a master and a tablet server in which nothing fails, and a client of it.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class ClusterFixture {
  private static final long STEPS_MAX = 100_000_000;

  private final Simulation simulation;
  private final SimulatedCluster cluster;
  private final SimulatedCluster.Slot master;
  private final SimulatedCluster.Slot server;
  private final SimulatedProcess process;
  private final Stele client;
  private final List<CompletableFuture<Void>> started = new ArrayList<>();

  /** What a test does with the cluster. */
  @FunctionalInterface
  interface Scenario {
    void run(ClusterFixture cluster) throws Exception;
  }

  private ClusterFixture(Simulation simulation) {
    this.simulation = simulation;
    this.cluster =
        new SimulatedCluster(
            simulation, HistoryPlan.of(0, Duration.ofSeconds(30), Histories.NAMES).configuration());
    this.master = cluster.add(SimulatedCluster.Kind.MASTER);
    this.server = cluster.add(SimulatedCluster.Kind.SERVER);
    this.process = cluster.clientProcess();
    this.client = cluster.connect(process);
  }

  /** Runs {@code scenario} in the client's process. Fails if it fails, or a task it started. */
  static void run(Scenario scenario) throws Exception {
    Simulation simulation = new Simulation(0, STEPS_MAX);
    simulation.run(
        () -> {
          ClusterFixture fixture = new ClusterFixture(simulation);
          fixture.start("test", () -> scenario.run(fixture));
          fixture.awaitAll();
        });
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
    cluster.network().setDelay(master.process(), delay);
  }

  /** Makes all messages to and from the tablet server take up to {@code delay} longer. */
  void slowServer(Duration delay) {
    cluster.network().setDelay(server.process(), delay);
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
