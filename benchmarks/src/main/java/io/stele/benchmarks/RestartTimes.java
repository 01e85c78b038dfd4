package io.stele.benchmarks;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.ServerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;

/**
 * How long tablets are away when all tablet servers are killed with kill -9 and started again:
 * ZooKeeper, a master and the servers as processes, HDFS with three DataNodes in this one. The ends
 * are reported to the master. A row of each tablet is written before each restart, so each has
 * something to replay, and some SSTables. Prints when the first, half and all of the rows could be
 * read again after the last start of a process. The code of all servers is cold each time, as it is
 * in an outage.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.RestartTimes [tablets] [restarts] [servers] [option of Java]
 * </pre>
 */
public final class RestartTimes {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private RestartTimes() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments given = new Arguments(args);
    int tablets = given.number(0, 400);
    int restarts = given.number(1, 4);
    int servers = given.number(2, 2);
    List<String> options = new ArrayList<>(List.of("-Xmx2g"));
    if (args.length > 3) {
      options.add(args[3]);
    }
    Configuration settings = new Configuration();
    settings.set(Keys.CLIENT_TIMEOUT.name(), "300s");
    try (ProcessCluster cluster = new ProcessCluster("restart", 3, settings)) {
      cluster.startMaster();
      start(cluster, servers, options);
      try (Stele client = Stele.connect(cluster.conf())) {
        ProcessCluster.createTable(client, tablets);
        Table table = client.table("t");
        for (int restart = 1; restart <= restarts; restart++) {
          write(table, tablets, restart);
          for (Map.Entry<ServerId, ServerInfo> server : cluster.servers().entrySet()) {
            cluster.kill(server.getValue().container().orElseThrow());
            cluster.report(server.getKey());
          }
          start(cluster, servers, options);
          read(table, tablets, restart);
        }
      }
    }
    System.exit(0);
  }

  private static void start(ProcessCluster cluster, int servers, List<String> options)
      throws Exception {
    for (int i = 0; i < servers; i++) {
      cluster.startServer(options);
    }
  }

  private static Bytes row(int tablet) {
    return Bytes.of(String.format("%06d", tablet));
  }

  private static void write(Table table, int tablets, int restart) throws Exception {
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < tablets; i++) {
        writer.add(Mutation.of(row(i)).put("f", Bytes.of("q" + restart), Bytes.of("value")));
      }
    }
  }

  private static void read(Table table, int tablets, int restart) throws Exception {
    long started = System.nanoTime();
    List<CompletableFuture<Long>> read = new ArrayList<>();
    for (int i = 0; i < tablets; i++) {
      Bytes row = row(i);
      read.add(
          table
              .readRowAsync(row, RowQuery.ALL)
              .thenApply(
                  found -> {
                    if (found.isEmpty() || found.get().cells().size() != restart) {
                      throw new IllegalStateException("row " + row + " has lost cells: " + found);
                    }
                    return (System.nanoTime() - started) / 1_000_000;
                  }));
    }
    ProcessCluster.printTimes("restart " + restart, read, PATIENCE);
  }
}
