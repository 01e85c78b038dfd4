package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/**
 * A cluster of one build whose processes are replaced by those of another, one by one, while a row
 * of each of its tablets is written all the time; and then back again. A tablet server is drained
 * before it is killed, a master is killed while another stands by. In between, both builds serve
 * the same tables. Prints for each step the longest that a write took, and in the end whether a
 * write failed or was lost.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.RollingUpgrade CLASS-PATH-OF-THE-OTHER-BUILD [tablets]
 * </pre>
 */
public final class RollingUpgrade {
  private static final int SERVERS = 3;
  private static final Duration DRAIN_MAX = Duration.ofMinutes(2);
  private static final Duration STANDS_BY = Duration.ofSeconds(8);
  private static final Duration BOTH = Duration.ofSeconds(5);

  private final ProcessCluster cluster;
  private final Stele client;
  private final List<RowWrites> writes;

  private RollingUpgrade(ProcessCluster cluster, Stele client, Table table) throws Exception {
    this.cluster = cluster;
    this.client = client;
    this.writes = RowWrites.toEachTablet(table);
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Optional<String> other = Optional.of(args[0]);
    Configuration settings = new Configuration();
    settings.set(Keys.CLIENT_TIMEOUT.name(), "60s");
    boolean sound;
    try (ProcessCluster cluster = new ProcessCluster("upgrade", 3, settings)) {
      cluster.use(other);
      cluster.startMaster();
      cluster.startServers(SERVERS, "-Xmx768m");
      try (Stele client = Stele.connect(cluster.conf())) {
        ProcessCluster.createTable(client, new Arguments(args).number(1, 30));
        RollingUpgrade upgrade = new RollingUpgrade(cluster, client, client.table("t"));
        upgrade.replaceAll("this build", Optional.empty());
        upgrade.replaceAll("the other build", other);
        sound = upgrade.check();
      }
    }
    System.exit(sound ? 0 : 1);
  }

  private void replaceAll(String build, Optional<String> classPath) throws Exception {
    cluster.use(classPath);
    for (Map.Entry<ServerId, ServerInfo> old : cluster.servers().entrySet()) {
      cluster.startServers(1, "-Xmx768m");
      TimeUnit.MILLISECONDS.sleep(BOTH.toMillis());
      client.admin().drainServer(old.getKey(), DRAIN_MAX);
      cluster.kill(old.getValue().container().orElseThrow());
      step("a tablet server of " + build);
    }
    String master = cluster.activeMaster();
    cluster.startMaster();
    TimeUnit.MILLISECONDS.sleep(STANDS_BY.toMillis());
    cluster.kill(master);
    client.admin().clusterStatus(); // Answered by the new one.
    step("a master of " + build);
  }

  private void step(String what) {
    List<Long> longest = RowWrites.longestMillis(writes);
    System.out.printf(
        "%s: longest write of a tablet, median %d ms, of all %d ms%n",
        what, longest.get(longest.size() / 2), longest.get(longest.size() - 1));
    writes.forEach(RowWrites::reset);
  }

  private boolean check() throws Exception {
    long acknowledged = 0;
    boolean sound = true;
    writes.forEach(RowWrites::stop);
    TimeUnit.MILLISECONDS.sleep(BOTH.toMillis()); // Until the last writes are done.
    for (RowWrites one : writes) {
      sound &= one.isSound();
      acknowledged += one.acknowledged();
    }
    System.out.printf(
        "%d writes acknowledged, %s%n", acknowledged, sound ? "none failed, none lost" : "UNSOUND");
    return sound;
  }
}
