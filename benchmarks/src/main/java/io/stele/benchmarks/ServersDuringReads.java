package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.metadata.ServerInfo;
import io.stele.model.RowRange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/**
 * What tablet servers spend while one thread reads a table of 1000-byte values at a pin: through
 * them, and directly from its files; and while nobody reads, for as long as the direct read took.
 * Servers, master and ZooKeeper are processes of their own; HDFS is in that of the reader. Prints
 * for each server its CPU time, and how many rows of its tablets, METADATA's included, it read.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.ServersDuringReads [MB] [rounds] [servers]
 * </pre>
 */
public final class ServersDuringReads {
  private static final int TABLETS_OF_A_SERVER = 4;

  private final ProcessCluster cluster;
  private final HttpClient http = HttpClient.newHttpClient();

  /** What one server has spent since it started. */
  private record Spent(Duration cpu, long rows) {}

  private ServersDuringReads(ProcessCluster cluster) {
    this.cluster = cluster;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments given = new Arguments(args);
    int megabytes = given.number(0, 200);
    int rounds = given.number(1, 3);
    int servers = given.number(2, 2);
    Configuration settings = new Configuration();
    settings.set(Keys.SESSION_TIMEOUT.name(), "60s"); // No server dies here, however slow all is.
    try (ProcessCluster cluster = new ProcessCluster("servers-during-reads", 1, settings)) {
      cluster.startMaster();
      cluster.startServers(servers, "-Xmx1g");
      try (Stele stele = Stele.connect(cluster.conf())) {
        DirectReads.fill(stele, megabytes, servers * TABLETS_OF_A_SERVER);
        new ServersDuringReads(cluster).run(stele, rounds);
      }
    }
    System.exit(0);
  }

  private void run(Stele stele, int rounds) throws Exception {
    String job = stele.jobs().begin(Duration.ofHours(1));
    stele.jobs().pin(job, DirectReads.TABLE, RowRange.ALL);
    Table pinned = stele.table(DirectReads.TABLE).atPin(job);
    for (int i = 0; i <= rounds; i++) {
      measure("served", () -> DirectReads.served(pinned));
      long nanos = measure("direct", () -> DirectReads.direct(pinned));
      measure(
          "nobody reads",
          () -> {
            TimeUnit.NANOSECONDS.sleep(nanos);
            return 0L;
          });
    }
  }

  private long measure(String what, Callable<Long> phase) throws Exception {
    Map<String, Spent> before = spent();
    long start = System.nanoTime();
    long bytes = phase.call();
    long nanos = System.nanoTime() - start;
    StringBuilder servers = new StringBuilder();
    for (Map.Entry<String, Spent> one : spent().entrySet()) {
      Spent then = Objects.requireNonNull(before.get(one.getKey()));
      Spent now = one.getValue();
      servers.append(
          String.format(
              Locale.ROOT,
              "  %s: %.2f s CPU, %,d rows",
              one.getKey(),
              now.cpu().minus(then.cpu()).toMillis() / 1e3,
              now.rows() - then.rows()));
    }
    System.out.printf(
        Locale.ROOT, "%-12s %5.0f MB in %5.2f s%s%n", what, bytes / 1e6, nanos / 1e9, servers);
    return nanos;
  }

  /** By container. */
  private Map<String, Spent> spent() throws Exception {
    Map<String, Spent> all = new TreeMap<>();
    for (ServerInfo server : cluster.servers().values()) {
      String container = server.container().orElseThrow();
      long rows = rowsRead(server); // First: asking costs, too.
      ProcessHandle process = ProcessHandle.of(cluster.pid(container)).orElseThrow();
      all.put(container, new Spent(process.info().totalCpuDuration().orElseThrow(), rows));
    }
    return all;
  }

  private long rowsRead(ServerInfo server) throws IOException, InterruptedException {
    URI page = URI.create("http://" + server.web().orElseThrow() + "/metrics");
    return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith("stele_tabletserver_rows_read_total "))
        .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
        .sum();
  }
}
