package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.lock.ZooKeeperProcess;
import io.stele.master.MasterMain;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.tabletserver.TabletServerMain;
import io.stele.wire.MasterProtocol;
import io.stele.wire.NetworkTransport;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * A cluster whose masters, tablet servers and ZooKeeper are processes, so that they can be killed.
 * HDFS is in this process. All end when it is closed; what they logged stays. For one thread.
 */
final class ProcessCluster implements AutoCloseable {
  private static final String TABLET_SERVER = "server-";
  private static final Duration SESSION = Duration.ofSeconds(60);

  private final Path directory;
  private final Configuration conf;
  private final MiniDFSCluster hdfs;
  private final ZooKeeperProcess zookeeper;
  private final ServerProcesses processes;
  private final LockService locks;
  private final NetworkTransport reports; // As the ApplicationMaster has one.
  private int masters;
  private int servers;

  /**
   * Starts HDFS and ZooKeeper, and no server yet.
   *
   * @param name of what is measured, for directories
   * @param settings of HDFS and of Stele
   */
  ProcessCluster(String name, int dataNodes, Configuration settings) throws Exception {
    directory = Files.createTempDirectory(name);
    Configuration files = new Configuration(settings);
    files.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, Scratch.directory(name + "-hdfs").toString());
    hdfs = new MiniDFSCluster.Builder(files).numDataNodes(dataNodes).build();
    zookeeper = ZooKeeperProcess.start(directory.resolve("zk"), Duration.ofSeconds(2));
    conf = new Configuration(settings);
    conf.set("fs.defaultFS", hdfs.getFileSystem().getUri().toString());
    conf.setInt("dfs.replication", dataNodes);
    conf.set(Keys.ROOT_DIR.name(), hdfs.getFileSystem().getUri() + "/stele");
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.quorum());
    processes = new ServerProcesses(directory, conf);
    locks =
        CuratorLockService.connect(SystemRuntime.INSTANCE, zookeeper.quorum(), "stele", SESSION);
    reports = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
  }

  /** Of its clients. */
  Configuration conf() {
    return conf;
  }

  /** Its locks, by a session of our own. */
  LockService locks() {
    return locks;
  }

  /** Processes started from now on have this class path, or where it is empty that of this one. */
  void use(Optional<String> classPath) {
    processes.use(classPath);
  }

  /** The container of the master that is active. */
  String activeMaster() throws IOException {
    VersionedData lock = locks.read(LockPaths.MASTER).orElseThrow();
    String process = MasterInfo.decode(lock.data()).process();
    return process.substring(0, process.lastIndexOf('_'));
  }

  /** Starts a master, which stands by if there is one. */
  void startMaster() throws IOException {
    processes.start("master-" + ++masters, MasterMain.class, "-Xmx512m");
  }

  /**
   * Starts a tablet server.
   *
   * @param options of Java
   * @return the system's number of its process
   */
  long startServer(List<String> options) throws IOException {
    String container = TABLET_SERVER + ++servers;
    processes.start(container, TabletServerMain.class, options);
    return processes.pid(container);
  }

  /**
   * Starts tablet servers, and waits until all have their locks.
   *
   * @param options of Java, for each
   */
  List<ServerId> startServers(int count, String... options)
      throws IOException, InterruptedException {
    for (int i = 0; i < count; i++) {
      processes.start(TABLET_SERVER + ++servers, TabletServerMain.class, List.of(options));
    }
    while (servers().size() < processes.running(TABLET_SERVER)) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    return List.copyOf(servers().keySet());
  }

  /** The tablet servers that have their locks. */
  Map<ServerId, ServerInfo> servers() throws IOException {
    return ServerInfo.all(locks);
  }

  /** The system's number of a process. */
  long pid(String container) {
    return processes.pid(container);
  }

  /** Kills a process, as kill -9 does, and returns when it has ended. */
  void kill(String container) throws InterruptedException {
    processes.kill(container);
  }

  /** Tells the master that a server was seen to end, as the ApplicationMaster does. */
  void report(ServerId dead) throws Exception {
    reports
        .controlPlane()
        .call(
            MasterInfo.address(locks).orElseThrow(),
            MasterProtocol.class,
            Duration.ofSeconds(5),
            protocol ->
                protocol.serverExited(
                    null,
                    ServerExitedRequestProto.newBuilder()
                        .setServerId(dead.toString())
                        .setSeen(true)
                        .build()));
  }

  /** Creates the table {@code t} of so many tablets, with the family {@code f}. */
  static void createTable(Stele client, int tablets) throws IOException {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < tablets; i++) {
      splits.add(Bytes.of(String.format("%06d", i)));
    }
    client.admin().createTable(TableSchema.of("t", "f"), splits);
  }

  /**
   * Prints when the first, half and all of some reads were answered.
   *
   * @param reads the times at which they were, in milliseconds
   * @param patience how long to wait for each
   */
  static void printTimes(String what, List<CompletableFuture<Long>> reads, Duration patience)
      throws Exception {
    List<Long> times = new ArrayList<>();
    for (CompletableFuture<Long> one : reads) {
      times.add(one.get(patience.toSeconds(), TimeUnit.SECONDS));
    }
    times.sort(Long::compare);
    System.out.printf(
        "%s: first %d ms, half %d ms, all %d ms%n",
        what, times.get(0), times.get(times.size() / 2), times.get(times.size() - 1));
  }

  @Override
  public void close() {
    reports.close();
    locks.close();
    processes.close();
    zookeeper.close();
    hdfs.close();
    System.out.println("logs in " + directory);
  }
}
