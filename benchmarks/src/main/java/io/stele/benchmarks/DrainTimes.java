package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.lock.ZooKeeperProcess;
import io.stele.master.MasterMain;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.tabletserver.TabletServerMain;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

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
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration CALM = Duration.ofSeconds(5);

  private final int tablets;
  private final int drains;
  private final int count;
  private final Path directory;
  private final Configuration conf = new Configuration();

  private DrainTimes(int tablets, int drains, int count, Path directory) {
    this.tablets = tablets;
    this.drains = drains;
    this.count = count;
    this.directory = directory;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    new DrainTimes(
            number(args, 0, 100),
            number(args, 1, 6),
            number(args, 2, 3),
            Files.createTempDirectory("drains"))
        .run();
    System.exit(0);
  }

  private static int number(String[] args, int index, int otherwise) {
    return index < args.length ? Integer.parseInt(args[index]) : otherwise;
  }

  private void run() throws Exception {
    Configuration hdfs = new Configuration();
    hdfs.set("hdfs.minidfs.basedir", Scratch.directory("drains-hdfs").toString());
    try (MiniDFSCluster files = new MiniDFSCluster.Builder(hdfs).numDataNodes(3).build();
        ZooKeeperProcess zookeeper =
            ZooKeeperProcess.start(directory.resolve("zk"), Duration.ofSeconds(2))) {
      conf.set("fs.defaultFS", files.getFileSystem().getUri().toString());
      conf.set(Keys.ROOT_DIR.name(), files.getFileSystem().getUri() + "/stele");
      conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.quorum());
      try (ServerProcesses servers = new ServerProcesses(directory, conf)) {
        servers.start("master", MasterMain.class, "-Xmx512m");
        for (int i = 1; i <= count; i++) {
          servers.start("server-" + i, TabletServerMain.class, "-Xmx1g");
        }
        try (LockService locks =
                CuratorLockService.connect(
                    SystemRuntime.INSTANCE, zookeeper.quorum(), "stele", Duration.ofSeconds(10));
            Stele client = Stele.connect(conf)) {
          while (ServerInfo.all(locks).size() < count) {
            TimeUnit.MILLISECONDS.sleep(50);
          }
          measure(client, List.copyOf(ServerInfo.all(locks).keySet()));
        }
      }
    }
    System.out.println("logs in " + directory);
  }

  private void measure(Stele client, List<ServerId> servers) throws Exception {
    client.admin().setBalanced(false);
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < tablets * count; i++) {
      splits.add(Bytes.of(String.format("%06d", i)));
    }
    client.admin().createTable(TableSchema.of("t", "f"), splits);
    Table table = client.table("t");
    List<Writes> writes = new ArrayList<>();
    for (TabletInfo tablet : table.tablets()) {
      writes.add(new Writes(table, tablet));
    }
    writes.forEach(Writes::next);
    for (int drain = 0; drain < drains; drain++) {
      ServerId server = servers.get(drain % count);
      List<Bytes> its =
          table.tablets().stream()
              .filter(tablet -> tablet.server().equals(Optional.of(server)))
              .map(tablet -> tablet.rows().start())
              .toList();
      List<Writes> watched = writes.stream().filter(one -> its.contains(one.start)).toList();
      watched.forEach(Writes::reset);
      TimeUnit.MILLISECONDS.sleep(CALM.toMillis());
      List<Long> before = longest(watched);

      watched.forEach(Writes::reset);
      long begin = System.nanoTime();
      client.admin().beginDrainServer(server).await();
      long took = System.nanoTime() - begin;
      TimeUnit.NANOSECONDS.sleep(Math.max(0, CALM.toNanos() - took));
      List<Long> meanwhile = longest(watched);
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
  }

  private static List<Long> longest(List<Writes> writes) {
    List<Long> all = new ArrayList<>(writes.stream().map(Writes::longestMillis).toList());
    Collections.sort(all);
    return all;
  }

  /** One row of a tablet, written again and again. */
  private static final class Writes {
    private final Table table;
    private final Bytes start;
    private final Bytes row;
    private long longestNanos;

    Writes(Table table, TabletInfo tablet) {
      this.table = table;
      this.start = tablet.rows().start();
      this.row = start.isEmpty() ? Bytes.of("0") : start;
    }

    void next() {
      long began = System.nanoTime();
      table
          .mutateAsync(Mutation.of(row).put("f", "q", "some value"))
          .whenComplete(
              (done, failure) -> {
                if (failure != null) {
                  throw new IllegalStateException("a write failed", failure);
                }
                note(System.nanoTime() - began);
                SystemRuntime.INSTANCE.after(PAUSE, this::next);
              });
    }

    private synchronized void note(long nanos) {
      longestNanos = Math.max(longestNanos, nanos);
    }

    synchronized void reset() {
      longestNanos = 0;
    }

    synchronized long longestMillis() {
      return longestNanos / 1_000_000;
    }
  }
}
