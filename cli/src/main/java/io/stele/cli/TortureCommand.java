package io.stele.cli;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.client.Stele;
import io.stele.model.SteleException;
import io.stele.runtime.AtExit;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.Workloads;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code stele torture}: the simulator's workloads against a cluster of real processes. */
@Command(
    name = "torture",
    description = "Run client workloads against the cluster and check every answer.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "It finds most while things fail: add --faults, or kill servers and masters during the run. It uses its own tables, torture-SEED-*,",
      "and drops them at the end. The seed decides what clients ask for, not when, so no two runs are the same.",
      "All calls are kept in memory and checked at the end: prefer many short runs to one long run.",
      "Exit code 1: an answer was wrong, a call took too long, or failed for no reason.",
      "",
      "Examples:",
      "  stele torture",
      "  stele torture --seconds 20 --workload counters --workload registers",
      "  stele torture --seconds 300 --faults         kill and stop processes of the demo that was kept",
      "  stele torture --faults --fault rolling-restart --fault full-disks",
      "  stele torture --pause-max 5 --clients 8      harder"
    })
final class TortureCommand implements Callable<Integer> {
  private static final int SEED_BOUND = 1_000_000_000;

  private final Torture.Connector connector;
  private final BiFunction<Pace, String, List<Workload>> known;

  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "60",
      description = "How long clients run (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "4",
      description = "Number of clients of each workload (default: ${DEFAULT-VALUE}).")
  private int clients;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description =
          "Run only this workload: counters, registers, lists, atomic or scans; may be repeated.")
  private List<String> names = List.of();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Decides what clients ask for (default: random).")
  private Optional<Long> seed = Optional.empty();

  @Option(
      names = "--pause-max",
      paramLabel = "MILLIS",
      defaultValue = "100",
      description = "The longest pause between two calls of a client (default: ${DEFAULT-VALUE}).")
  private int pauseMaxMillis;

  @Option(
      names = "--faults",
      paramLabel = "DIR",
      arity = "0..1",
      fallbackValue = "",
      description =
          "Kill and stop processes, restart all in turn, take ZooKeeper and parts of HDFS away, fill disks, drain servers and move tablets meanwhile. Only on a cluster that stele demo --keep left running, in DIR, or, without DIR, where it usually is.")
  private Optional<String> faults = Optional.empty();

  @Option(
      names = "--fault",
      paramLabel = "NAME",
      description =
          "With --faults: only this fault; may be repeated. One of kill-server, stop-server, stop-server-long, kill-master, stop-master, kill-am, drain, move, merge, rolling-restart, zookeeper, namenode, datanode, full-disks, quota.")
  private List<String> faultNames = List.of();

  @Option(
      names = "--fault-every",
      paramLabel = "N",
      defaultValue = "10",
      description =
          "How many seconds are between two faults, on average (default: ${DEFAULT-VALUE}).")
  private int faultSeconds;

  @Option(names = "--keep", description = "Keep the tables at the end.")
  private boolean keep;

  /** Made by picocli. */
  TortureCommand() {
    this(Stele::connect, Workloads::all);
  }

  /**
   * With other clusters and workloads.
   *
   * @param known the workloads, given their pace and what the names of their tables begin with
   */
  TortureCommand(Torture.Connector connector, BiFunction<Pace, String, List<Workload>> known) {
    this.connector = connector;
    this.known = known;
  }

  @SuppressWarnings("try") // What drops the tables is closed, not used.
  @Override
  public Integer call() throws Exception {
    requireAtLeast("--seconds", seconds, 1);
    requireAtLeast("--clients", clients, 1);
    requireAtLeast("--pause-max", pauseMaxMillis, 0);
    seed.ifPresent(given -> requireAtLeast("--seed", given, 0));
    long chosen = seed.orElseGet(() -> (long) SystemRuntime.INSTANCE.random().nextInt(SEED_BOUND));
    Torture.Plan plan = new Torture.Plan(chosen, clients, Duration.ofSeconds(seconds));
    List<Workload> workloads =
        chosen(known.apply(new Pace(Duration.ofMillis(pauseMaxMillis)), plan.prefix()));
    Configuration conf = cluster.configuration();
    PrintWriter out = spec.commandLine().getOut();
    Torture torture = new Torture(conf, connector, plan, workloads, faults(chosen, out), out);
    torture.refuseWhatIsThere();
    AtExit atCtrlC =
        keep ? () -> {} : SystemRuntime.atExit("drop-tables", () -> dropAtExit(torture));
    boolean good;
    try (AutoCloseable end = keep ? () -> {} : torture::dropTables) {
      good = torture.run();
    } finally {
      atCtrlC.cancel();
    }
    return (good ? ExitCode.DONE : ExitCode.FAILED).number();
  }

  private Optional<TortureFaults> faults(long chosen, PrintWriter out) throws IOException {
    if (faults.isEmpty()) {
      if (!faultNames.isEmpty()) {
        throw new ParameterException(spec.commandLine(), "--fault needs --faults");
      }
      return Optional.empty();
    }
    requireAtLeast("--fault-every", faultSeconds, 1);
    Path directory =
        Path.of(
            faults
                .filter(given -> !given.isEmpty())
                .orElseGet(() -> System.getProperty("stele.work.dir", ".stele")));
    if (!EmbeddedHadoop.isRunning(directory)) {
      throw SteleException.refused(
          "no embedded Hadoop runs in "
              + directory
              + ": start one with `stele demo --keep`. Processes of other clusters are not killed");
    }
    TortureScene scene =
        new TortureScene(SystemRuntime.INSTANCE, directory, new SplittableRandom(chosen));
    return Optional.of(
        new TortureFaults(
            scene, TortureFaults.named(faultNames, scene), Duration.ofSeconds(faultSeconds), out));
  }

  private void dropAtExit(Torture torture) {
    try {
      torture.dropTables();
    } catch (IOException | InterruptedException | RuntimeException e) {
      Failures.lines(e).forEach(spec.commandLine().getErr()::println);
    }
  }

  private List<Workload> chosen(List<Workload> all) {
    List<String> allNames = all.stream().map(Workload::name).toList();
    List<String> unknown = new ArrayList<>(names);
    unknown.removeAll(allNames);
    if (!unknown.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "unknown workload "
              + unknown.get(0)
              + "; choose from "
              + allNames.stream().collect(Collectors.joining(", ")));
    }
    return all.stream()
        .filter(workload -> names.isEmpty() || names.contains(workload.name()))
        .toList();
  }

  private void requireAtLeast(String option, long value, long least) {
    if (value < least) {
      throw new ParameterException(
          spec.commandLine(), option + " must be at least " + least + ", not " + value);
    }
  }
}
