package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/**
 * How long tablets are away whose server is drained: ZooKeeper, a master and tablet servers as
 * processes, HDFS with three DataNodes in this one. A row of each tablet is written all the time,
 * one write after the other with a short pause. One server after the other is drained and then told
 * to take tablets again. Prints for each the longest time that a write of each of its tablets took
 * meanwhile: the median and the longest of these, and the same for as long a time before.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.DrainTimes [tablets of a server] [drains] [servers]
 * </pre>
 */
public final class DrainTimes {
  private static final Duration CALM = Duration.ofSeconds(5);

  private final int tablets;
  private final int drains;

  private DrainTimes(int tablets, int drains) {
    this.tablets = tablets;
    this.drains = drains;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments numbers = new Arguments(args);
    int servers = numbers.number(2, 3);
    try (ProcessCluster cluster = new ProcessCluster("drains", 3, new Configuration())) {
      cluster.startMaster();
      List<ServerId> started = cluster.startServers(servers, "-Xmx1g");
      try (Stele client = Stele.connect(cluster.conf())) {
        new DrainTimes(numbers.number(0, 100), numbers.number(1, 6)).measure(client, started);
      }
    }
    System.exit(0);
  }

  private void measure(Stele client, List<ServerId> servers) throws Exception {
    client.admin().setBalanced(false);
    ProcessCluster.createTable(client, tablets * servers.size());
    Table table = client.table("t");
    List<RowWrites> writes = RowWrites.toEachTablet(table);
    for (int drain = 0; drain < drains; drain++) {
      ServerId server = servers.get(drain % servers.size());
      List<Bytes> its =
          table.tablets().stream()
              .filter(tablet -> tablet.server().equals(Optional.of(server)))
              .map(tablet -> tablet.rows().start())
              .toList();
      List<RowWrites> watched = writes.stream().filter(one -> its.contains(one.tablet())).toList();
      watched.forEach(RowWrites::reset);
      TimeUnit.MILLISECONDS.sleep(CALM.toMillis());
      List<Long> before = RowWrites.longestMillis(watched);

      watched.forEach(RowWrites::reset);
      long begin = System.nanoTime();
      client.admin().beginDrainServer(server).await();
      long took = System.nanoTime() - begin;
      TimeUnit.NANOSECONDS.sleep(Math.max(0, CALM.toNanos() - took));
      List<Long> meanwhile = RowWrites.longestMillis(watched);
      System.out.printf(
          "drain %d, %d tablets in %d ms: longest write of a tablet, median %d ms, of all %d ms; before: %d ms, %d ms%n",
          drain + 1,
          watched.size(),
          took / 1_000_000,
          meanwhile.get(meanwhile.size() / 2),
          meanwhile.get(meanwhile.size() - 1),
          before.get(before.size() / 2),
          before.get(before.size() - 1));
      client.admin().undrainServer(server);
    }
    writes.forEach(RowWrites::stop);
  }
}
