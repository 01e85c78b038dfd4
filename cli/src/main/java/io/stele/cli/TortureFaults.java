package io.stele.cli;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.Outage;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * What fails while clients are at work: processes of the cluster, all on this machine, are killed
 * or stopped, servers are drained, tablets are moved. One thing at a time, chosen by a seed.
 *
 * <p>For one thread, except for {@link #stop}.
 */
final class TortureFaults {
  private static final Duration STOPPED_MAX = Duration.ofSeconds(25);
  private static final Duration DRAINED_MAX = Duration.ofSeconds(8);
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final int MOVES = 5;
  // YARN by default gives an application up whose ApplicationMaster fails twice in five minutes.
  private static final Duration APPLICATION_MASTER_EVERY = Duration.ofMinutes(6);

  /** What can fail. */
  private enum Kind {
    KILL_TABLET_SERVER("kill -9"),
    STOP_TABLET_SERVER("kill -STOP, then -CONT"),
    KILL_MASTER("kill -9"),
    STOP_MASTER("kill -STOP, then -CONT"),
    KILL_APPLICATION_MASTER("kill -9"),
    DRAIN_TABLET_SERVER("drain, then undo"),
    MOVE_TABLETS("move " + MOVES + " tablets"),
    MERGE_TABLETS("merge tablets, and split them again"),
    STOP_ZOOKEEPER("be without ZooKeeper"),
    STOP_NAMENODE("be without the NameNode"),
    STOP_DATANODE("be without a DataNode");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /**
   * Something that failed.
   *
   * @param what was done, and to what
   * @param startNanos when, by the runtime's clock
   * @param endNanos when it was over
   */
  record Injected(String what, long startNanos, long endNanos) {}

  private final ProcessRuntime runtime;
  private final Path hadoop;
  private final SplittableRandom random;
  private final Duration every;
  private final PrintWriter out;
  private final List<Injected> injected = new ArrayList<>();
  private Optional<Deadline> nextApplicationMaster = Optional.empty();
  private volatile boolean over;

  /**
   * Faults of a cluster.
   *
   * @param hadoop the work directory of the embedded Hadoop it runs on
   * @param every how long it is between two, on average
   */
  TortureFaults(
      ProcessRuntime runtime,
      Path hadoop,
      SplittableRandom random,
      Duration every,
      PrintWriter out) {
    this.runtime = runtime;
    this.hadoop = hadoop;
    this.random = random;
    this.every = every;
    this.out = out;
  }

  /** Lets things fail until {@link #stop}; then everything that was stopped goes on. */
  void run(Stele stele) throws InterruptedException {
    while (pause(Duration.ofMillis(random.nextLong(1, 2 * every.toMillis())))) {
      Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
      long start = runtime.nanoTime();
      Optional<String> target;
      try {
        target = inject(kind, stele);
      } catch (IOException | RuntimeException e) {
        out.println("could not " + kind.text + ": " + e.getMessage());
        continue; // The cluster is just recovering from the last one.
      }
      if (target.isPresent()) {
        Injected one = new Injected(kind.text + " " + target.get(), start, runtime.nanoTime());
        out.println(one.what());
        injected.add(one);
      }
    }
  }

  /** Ends it soon. Safe for use by any thread. */
  void stop() {
    over = true;
  }

  /** What failed, in order; ask once {@link #run} has returned. */
  List<Injected> injected() {
    return List.copyOf(injected);
  }

  /** Returns whether it goes on. */
  private boolean pause(Duration time) throws InterruptedException {
    Deadline deadline = Deadline.after(runtime, time);
    while (!over && !deadline.isOver()) {
      runtime.sleep(LOOK_EVERY);
    }
    return !over;
  }

  /** Returns what it was done to; empty if there was nothing. */
  private Optional<String> inject(Kind kind, Stele stele) throws IOException, InterruptedException {
    return switch (kind) {
      case KILL_TABLET_SERVER -> kill(TortureFaults::isTabletServer);
      case STOP_TABLET_SERVER -> stopAndContinue(TortureFaults::isTabletServer);
      case KILL_MASTER -> kill(TortureFaults::isMaster);
      case STOP_MASTER -> stopAndContinue(TortureFaults::isMaster);
      case KILL_APPLICATION_MASTER -> killApplicationMaster();
      case DRAIN_TABLET_SERVER -> drain(stele);
      case MOVE_TABLETS -> move(stele);
      case MERGE_TABLETS -> merge(stele);
      case STOP_ZOOKEEPER -> beWithout(Outage.ZOOKEEPER);
      case STOP_NAMENODE -> beWithout(Outage.NAMENODE);
      case STOP_DATANODE -> beWithout(Outage.DATANODE);
    };
  }

  private Optional<String> kill(Predicate<TaggedProcess> which) {
    Optional<TaggedProcess> process = any(which);
    process.ifPresent(TaggedProcess::kill);
    return process.map(TortureFaults::name);
  }

  private Optional<String> killApplicationMaster() {
    if (nextApplicationMaster.filter(next -> !next.isOver()).isPresent()) {
      return Optional.empty();
    }
    nextApplicationMaster = Optional.of(Deadline.after(runtime, APPLICATION_MASTER_EVERY));
    return kill(TortureFaults::isApplicationMaster);
  }

  private Optional<String> stopAndContinue(Predicate<TaggedProcess> which)
      throws IOException, InterruptedException {
    Optional<TaggedProcess> process = any(which);
    if (process.isEmpty()) {
      return Optional.empty();
    }
    Duration time = Duration.ofMillis(random.nextLong(500, STOPPED_MAX.toMillis()));
    long start = runtime.nanoTime();
    process.get().stop();
    try {
      pause(time);
    } finally {
      process.get().goOn();
    }
    long seconds = Duration.ofNanos(runtime.nanoTime() - start).toSeconds();
    return Optional.of(name(process.get()) + " after " + seconds + " s");
  }

  private Optional<String> beWithout(Outage outage) throws IOException {
    Duration time = Duration.ofMillis(random.nextLong(500, STOPPED_MAX.toMillis()));
    EmbeddedHadoop.beWithout(hadoop, outage, time);
    return Optional.of("for " + time.toSeconds() + " s");
  }

  private Optional<String> drain(Stele stele) throws IOException, InterruptedException {
    List<ServerId> servers =
        stele.admin().clusterStatus().servers().stream().map(ClusterStatus.Server::id).toList();
    if (servers.size() < 2) {
      return Optional.empty();
    }
    ServerId server = servers.get(random.nextInt(servers.size()));
    stele.admin().drainServer(server);
    try {
      pause(Duration.ofMillis(random.nextLong(500, DRAINED_MAX.toMillis())));
    } finally {
      stele.admin().undrainServer(server);
    }
    return Optional.of(server.toString());
  }

  private Optional<String> move(Stele stele) throws IOException {
    Optional<Table> table = table(stele);
    if (table.isPresent()) {
      List<TabletInfo> tablets = table.get().tablets();
      for (int i = 0; i < MOVES && !over; i++) {
        TabletInfo tablet = tablets.get(random.nextInt(tablets.size()));
        stele.admin().moveTablet(table.get().name(), tablet.rows().start(), Optional.empty());
      }
    }
    return table.map(one -> "of " + one.name());
  }

  /** Merges a tablet with the one before it, and splits it there again. */
  private Optional<String> merge(Stele stele) throws IOException {
    Optional<Table> table = table(stele);
    if (table.isEmpty()) {
      return Optional.empty();
    }
    List<TabletInfo> tablets = table.get().tablets();
    if (tablets.size() < 2) {
      return Optional.empty();
    }
    Bytes row = tablets.get(1 + random.nextInt(tablets.size() - 1)).rows().start();
    stele.admin().mergeTablet(table.get().name(), row);
    stele.admin().splitTablet(table.get().name(), row);
    return Optional.of("of " + table.get().name());
  }

  /** One of those that the torture works on. */
  private Optional<Table> table(Stele stele) throws IOException {
    List<String> tables =
        stele.admin().listTables().stream()
            .map(schema -> schema.name())
            .filter(name -> name.startsWith("torture-"))
            .toList();
    return tables.isEmpty()
        ? Optional.empty()
        : Optional.of(stele.table(tables.get(random.nextInt(tables.size()))));
  }

  private Optional<TaggedProcess> any(Predicate<TaggedProcess> which) {
    List<TaggedProcess> some =
        EmbeddedHadoop.processes(hadoop).stream()
            .filter(TaggedProcess::isJava)
            .filter(which)
            .toList();
    return some.isEmpty() ? Optional.empty() : Optional.of(some.get(random.nextInt(some.size())));
  }

  private static boolean isTabletServer(TaggedProcess process) {
    return process.component().filter(name -> name.startsWith("tabletserver")).isPresent();
  }

  private static boolean isMaster(TaggedProcess process) {
    return process.component().filter(name -> name.startsWith("master")).isPresent();
  }

  private static boolean isApplicationMaster(TaggedProcess process) {
    return process.command().contains("io.stele.yarn.ApplicationMasterMain");
  }

  private static String name(TaggedProcess process) {
    return process.component().orElse("the ApplicationMaster") + " (" + process.pid() + ")";
  }

  /**
   * Waits until all tablets are served.
   *
   * @return how long it took; empty if they were not within {@code most}
   */
  Optional<Duration> awaitServed(Stele stele, Duration most) throws InterruptedException {
    long start = runtime.nanoTime();
    Deadline deadline = Deadline.after(runtime, most);
    while (!deadline.isOver()) {
      try {
        if (stele.admin().clusterStatus().unassigned() == 0) {
          return Optional.of(Duration.ofNanos(runtime.nanoTime() - start));
        }
      } catch (IOException | RuntimeException e) {
        // No master answers yet.
      }
      runtime.sleep(LOOK_EVERY);
    }
    return Optional.empty();
  }
}
