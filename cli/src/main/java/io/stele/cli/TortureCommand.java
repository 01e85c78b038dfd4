package io.stele.cli;

import io.stele.cli.demo.DemoCluster;
import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.runtime.AtExit;
import io.stele.runtime.IoFunction;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.Workloads;
import io.stele.yarn.YarnSubmitter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
      "It finds most while things fail: add --faults, or kill servers and masters",
      "during the run. On a cluster that it starts itself, or that stele demo --keep",
      "left running, it kills and stops processes and takes parts of Hadoop away. On",
      "its own cluster, on Linux, it also cuts servers and masters off from",
      "ZooKeeper, the NameNode and each other, and servers from clients. On any",
      "other cluster it does what an operator does: it drains, restarts, moves,",
      "merges, splits and balances.",
      "",
      "It uses its own tables, torture-SEED-*, and drops them at the end. The seed",
      "decides what clients ask for, not when, so no two runs are the same. All calls",
      "are kept in memory, some 300 bytes each, and checked at the end. For a run of",
      "hours, set STELE_OPTS=-Xmx4g.",
      "",
      "Exits with 9 if an answer was wrong, a call took too long or failed for no",
      "reason, or a tablet was not served 30 s after the last fault.",
      "",
      "Examples:",
      "  stele torture",
      "  stele torture --seconds 20 --workload counters --workload registers",
      "  stele torture --seconds 600 --faults --start   with a cluster of its own",
      "  stele torture --seconds 300 --faults           with the configured cluster",
      "  stele torture --faults --fault rolling-restart --fault full-disks",
      "  stele torture --pause-max 5 --clients 8      harder"
    })
final class TortureCommand implements Callable<Integer> {
  private static final int SEED_BOUND = 1_000_000_000;
  private static final int DATA_NODES = 4; // One more than a block is on.
  private static final Map<String, String> OWN_SETTINGS =
      Map.of(Keys.YARN_MASTER_COUNT.name(), "2", Keys.YARN_TABLETSERVER_COUNT.name(), "3");

  private final IoFunction<Configuration, Stele> connector;
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
      names = "--start",
      paramLabel = "DIR",
      arity = "0..1",
      fallbackValue = "",
      description =
          "Start a cluster only for this, and stop it at the end: HDFS with four DataNodes, ZooKeeper, YARN, two masters and three tablet servers, all in DIR, or, without DIR, where stele demo has its files. -D sets keys of that cluster.")
  private Optional<String> start = Optional.empty();

  @Option(
      names = "--faults",
      paramLabel = "DIR",
      arity = "0..1",
      fallbackValue = "",
      description =
          "Make things fail during the run. With --start, or on the cluster that stele demo --keep left running (in DIR, if it is not where it usually is): processes, ZooKeeper, parts of HDFS, disks. On every cluster: drain and restart servers, move, merge, split and balance tablets.")
  private Optional<String> faults = Optional.empty();

  @Option(
      names = "--fault",
      paramLabel = "NAME",
      description =
          "With --faults: only this fault; may be repeated. One of kill-server, stop-server, stop-server-long, kill-master, stop-master, kill-am, drain, move, merge, split, balance, rolling-restart, zookeeper, stop-zookeeper, namenode, datanode, datanode-disk, full-disks, quota, cut-server, cut-server-long, cut-servers, cut-master, cut-masters, cut-server-namenode, cut-servers-namenode, cut-master-namenode, cut-server-master, cut-servers-master, cut-master-answers, cut-clients, cut-answers; the last thirteen only with --start, on Linux.")
  private List<String> faultNames = List.of();

  @Option(
      names = "--map-reduce",
      description =
          "Verify the linked lists by a MapReduce job, too, at the end; with --start it always does.")
  private boolean byJob;

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
    this(conf -> ClusterOptions.connect(conf, line -> {}), Workloads::all);
  }

  /**
   * With other clusters and workloads.
   *
   * @param known the workloads, given their pace and what the names of their tables begin with
   */
  TortureCommand(
      IoFunction<Configuration, Stele> connector, BiFunction<Pace, String, List<Workload>> known) {
    this.connector = connector;
    this.known = known;
  }

  @Override
  public Integer call() throws Exception {
    requireAtLeast("--seconds", seconds, 1);
    requireAtLeast("--clients", clients, 1);
    requireAtLeast("--pause-max", pauseMaxMillis, 0);
    seed.ifPresent(given -> requireAtLeast("--seed", given, 0));
    refuseWhatDoesNotFit();
    if (start.isEmpty()) {
      Optional<Path> hadoop = hadoop();
      return run(cluster.configuration(), hadoop, Optional.empty(), keep);
    }
    try {
      return runOnItsOwn(directory(start.get()));
    } catch (IOException | RuntimeException e) {
      DemoCluster.waitIfEnding();
      throw e;
    }
  }

  private void refuseWhatDoesNotFit() {
    if (faults.isEmpty() && !faultNames.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "--fault needs --faults");
    }
    requireAtLeast("--fault-every", faultSeconds, 1);
    if (start.isPresent() && faults.filter(given -> !given.isEmpty()).isPresent()) {
      throw new ParameterException(
          spec.commandLine(), "give the directory to --start, not to --faults");
    }
    if (start.isPresent() && keep) {
      throw new ParameterException(
          spec.commandLine(), "--keep keeps nothing of a cluster that --start stops at the end");
    }
  }

  private static Path directory(String given) {
    return Path.of(given.isEmpty() ? System.getProperty("stele.work.dir", ".stele") : given)
        .toAbsolutePath()
        .normalize();
  }

  /** The Hadoop of the cluster, if it is ours to break. */
  private Optional<Path> hadoop() throws IOException {
    Optional<String> given = faults.filter(text -> !text.isEmpty());
    if (given.isEmpty()) {
      return cluster.runningDemo();
    }
    Path directory = directory(given.get());
    if (!EmbeddedHadoop.isRunning(directory)) {
      throw SteleException.refused(
          "no embedded Hadoop runs in "
              + directory
              + ": start one with `stele demo --keep`, or use --start. Processes of other clusters are not killed");
    }
    return Optional.of(directory);
  }

  private int runOnItsOwn(Path directory) throws Exception {
    if (EmbeddedHadoop.isRunning(directory)) {
      throw SteleException.refused(
          "a cluster is running in "
              + directory
              + ": leave out --start to use it, or stop it with `stele demo --stop`");
    }
    Map<String, String> settings = new HashMap<>(OWN_SETTINGS);
    settings.putAll(cluster.settings());
    Configuration site = DemoCluster.settings(settings);
    PrintWriter out = spec.commandLine().getOut();
    out.println("starting a cluster with " + DATA_NODES + " DataNodes in " + directory);
    try (DemoCluster own =
        DemoCluster.startHadoop(
            directory, DATA_NODES, site, daemon -> out.println("  " + daemon + " up"))) {
      Configuration conf = own.configuration();
      Optional<TortureRelays> relays = relays(conf);
      Configuration ofCluster = relays.map(before -> before.ofCluster(conf)).orElse(conf);
      try (YarnSubmitter yarn = YarnSubmitter.connect(ofCluster)) {
        DemoCluster.startStele(yarn, said -> {});
      }
      out.println("  Stele is up; logs are in " + EmbeddedHadoop.logDirectory(directory));
      byJob = true;
      return run(conf, Optional.of(directory), relays, true); // All ends with the cluster.
    }
  }

  /** Has all that use {@code conf} reach services through relays, if faults need them. */
  private Optional<TortureRelays> relays(Configuration conf) throws IOException {
    if (faults.isEmpty()) {
      return Optional.empty();
    }
    if (!ProcessSockets.areKnown()) {
      spec.commandLine()
          .getOut()
          .println(
              "  nothing is cut off from ZooKeeper, the NameNode, masters, servers or clients: only Linux tells whose a connection is, in /proc");
      return Optional.empty();
    }
    return Optional.of(
        TortureRelays.before(conf)); // They end with this process: servers need them.
  }

  /**
   * Runs it.
   *
   * @param hadoop that the cluster runs on, if it is ours to break
   * @param relays that stand before the services that it depends on
   * @param keepTables whether tables stay
   */
  @SuppressWarnings("try") // What drops the tables is closed, not used.
  private int run(
      Configuration conf, Optional<Path> hadoop, Optional<TortureRelays> relays, boolean keepTables)
      throws Exception {
    long chosen = seed.orElseGet(() -> (long) SystemRuntime.INSTANCE.random().nextInt(SEED_BOUND));
    Torture.Plan plan = new Torture.Plan(chosen, clients, Duration.ofSeconds(seconds), byJob);
    List<Workload> workloads =
        chosen(known.apply(new Pace(Duration.ofMillis(pauseMaxMillis)), plan.prefix()));
    PrintWriter out = spec.commandLine().getOut();
    IoFunction<Configuration, Stele> clients =
        relays
            .<IoFunction<Configuration, Stele>>map(own -> own.clients()::connect)
            .orElse(connector);
    Torture torture =
        new Torture(conf, clients, plan, workloads, faultsOf(plan, hadoop, relays, out), out);
    torture.refuseWhatIsThere();
    AtExit atCtrlC =
        keepTables ? () -> {} : SystemRuntime.atExit("drop-tables", () -> dropAtExit(torture));
    boolean good;
    try (AutoCloseable end = keepTables ? () -> {} : torture::dropTables) {
      good = torture.run();
    } finally {
      atCtrlC.cancel();
    }
    return (good ? ExitCode.DONE : ExitCode.PROBLEMS).number();
  }

  private Optional<TortureFaults> faultsOf(
      Torture.Plan plan, Optional<Path> hadoop, Optional<TortureRelays> relays, PrintWriter out) {
    if (faults.isEmpty()) {
      return Optional.empty();
    }
    TortureScene scene =
        new TortureScene(
            SystemRuntime.INSTANCE,
            hadoop,
            relays,
            plan.prefix(),
            new SplittableRandom(plan.seed()));
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
