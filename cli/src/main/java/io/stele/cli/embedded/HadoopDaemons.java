package io.stele.cli.embedded;

import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.WorkerPool;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer;
import org.apache.hadoop.mapreduce.v2.jobhistory.JHAdminConfig;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * The JVM of an embedded Hadoop: starts the daemons and ZooKeeper beside it, writes how clients
 * reach them, and lives until it is told to stop or its parent has died.
 *
 * <p>It speaks with its parent over its own standard streams. To the parent: {@code up <daemon>},
 * then {@code ready} or {@code failed <why>}. From it: {@code detach} (live on without a parent),
 * {@code stop}, and the end of the stream, which is what the death of the parent looks like.
 * Everything else that is printed goes to the log.
 *
 * <p>It ends by halting: what it holds is thrown away with it, and {@code daemons.sh} around it
 * ends ZooKeeper and the containers.
 */
final class HadoopDaemons {
  private static final int LOCKED = 3;
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;

  private final Path directory;
  private final PrintStream parent;
  private final Configuration conf;

  private HadoopDaemons(Path directory, PrintStream parent, Configuration conf) {
    this.directory = directory;
    this.parent = parent;
    this.conf = conf;
  }

  /**
   * Arguments: the work directory, the number of DataNodes, of NodeManagers, and the memory of a
   * NodeManager in MB.
   */
  public static void main(String[] args) throws IOException {
    PrintStream parent =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    Path directory = Path.of(args[0]);
    // Held until this process ends: one Hadoop in a directory.
    FileLock lock =
        FileChannel.open(
                EmbeddedHadoop.lockFile(directory),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE)
            .tryLock();
    if (lock == null) {
      parent.println("failed another embedded Hadoop runs in " + directory);
      Runtime.getRuntime().halt(LOCKED);
    }
    RUNTIME.start("parent", HadoopDaemons::listenToParent);
    try {
      Configuration conf =
          HadoopSettings.ofDaemons(
              directory,
              Integer.parseInt(args[1]),
              Integer.parseInt(args[2]),
              Integer.parseInt(args[3]));
      new HadoopDaemons(directory, parent, conf)
          .start(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    } catch (Throwable e) {
      // ZooKeeper makes uncaught exceptions end nothing but their thread: without this, a failed
      // start would look like a slow one.
      e.printStackTrace();
      parent.println("failed " + e.toString().replace('\n', ' '));
      Runtime.getRuntime().halt(1);
    }
    try {
      Futures.await(RUNTIME, new CompletableFuture<>(), "waiting for the parent"); // For ever.
    } finally {
      Reference.reachabilityFence(lock); // Garbage collection would release it.
    }
  }

  private static void listenToParent() {
    boolean detached = false;
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("stop")) {
          break;
        }
        detached |= line.equals("detach");
      }
    } catch (IOException e) {
      System.err.println("The parent is gone: " + e);
    }
    if (!detached) {
      Runtime.getRuntime().halt(0);
    }
  }

  private void start(int dataNodes, int nodeManagers) throws Exception {
    // HDFS and YARN are busy with different things while they start.
    WorkerPool starters = RUNTIME.pool("starter", 2);
    CompletableFuture<EmbeddedZooKeeper> startingZookeeper =
        CompletableFuture.supplyAsync(this::startZookeeper, starters);
    CompletableFuture<MiniDFSCluster> starting =
        CompletableFuture.supplyAsync(() -> startHdfs(dataNodes), starters);
    MiniYARNCluster yarn = startYarn(nodeManagers);
    MiniDFSCluster hdfs = Futures.await(RUNTIME, starting, "starting HDFS");
    hdfs.waitActive();
    FileSystem fs = hdfs.getFileSystem();
    conf.set("fs.defaultFS", fs.getUri().toString());
    makeDirectories(fs);
    Configuration history = startHistory();

    Configuration client = HadoopSettings.ofClients(conf, yarn.getConfig(), history);
    EmbeddedZooKeeper zookeeper = Futures.await(RUNTIME, startingZookeeper, "starting ZooKeeper");
    client.set("stele.zookeeper.quorum", "localhost:" + zookeeper.port());
    Path file = EmbeddedHadoop.configurationFile(directory);
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    try (OutputStream out = Files.newOutputStream(temporary)) {
      client.writeXml(out);
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    RUNTIME.start("outages", new Outages(directory, hdfs, zookeeper));
    parent.println("ready");
  }

  private EmbeddedZooKeeper startZookeeper() {
    try {
      EmbeddedZooKeeper zookeeper =
          EmbeddedZooKeeper.startIn(
              directory.resolve("zookeeper"), EmbeddedHadoop.logDirectory(directory));
      parent.println("up ZooKeeper");
      return zookeeper;
    } catch (IOException e) {
      throw new IllegalStateException("ZooKeeper did not start", e);
    }
  }

  private MiniDFSCluster startHdfs(int dataNodes) {
    try {
      MiniDFSCluster hdfs =
          new MiniDFSCluster.Builder(new Configuration(conf), directory.resolve("hdfs").toFile())
              .numDataNodes(dataNodes)
              .build();
      parent.println("up HDFS");
      return hdfs;
    } catch (IOException e) {
      throw new IllegalStateException("HDFS did not start", e);
    }
  }

  private MiniYARNCluster startYarn(int nodeManagers) {
    // It works below target/ of the current directory, which is the work directory.
    MiniYARNCluster yarn = new MiniYARNCluster("yarn", 1, nodeManagers, 1, 1);
    yarn.init(new YarnConfiguration(conf));
    yarn.start();
    try {
      if (!yarn.waitForNodeManagersToConnect(60_000)) {
        throw new IllegalStateException("the NodeManagers did not connect to the ResourceManager");
      }
    } catch (Exception e) {
      throw new IllegalStateException("YARN did not start", e);
    }
    linkContainerLogs(yarn, nodeManagers);
    parent.println("up YARN");
    return yarn;
  }

  /** MiniYARNCluster puts them deep below a random name. */
  private void linkContainerLogs(MiniYARNCluster yarn, int nodeManagers) {
    try {
      for (int i = 0; i < nodeManagers; i++) {
        Path logs = Path.of(yarn.getNodeManager(i).getConfig().get(YarnConfiguration.NM_LOG_DIRS));
        Files.createSymbolicLink(
            EmbeddedHadoop.logDirectory(directory).resolve("containers-" + i),
            logs.toAbsolutePath());
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot link the logs of containers", e);
    }
  }

  private void makeDirectories(FileSystem fs) throws IOException {
    FsPermission forAll = new FsPermission((short) 01777);
    for (String path :
        new String[] {"/tmp", "/tmp/hadoop-yarn", "/tmp/hadoop-yarn/staging", "/mr-history"}) {
      fs.mkdirs(new org.apache.hadoop.fs.Path(path));
      fs.setPermission(new org.apache.hadoop.fs.Path(path), forAll);
    }
    fs.mkdirs(fs.getHomeDirectory());
  }

  private Configuration startHistory() {
    JobHistoryServer history = new JobHistoryServer();
    history.init(new YarnConfiguration(conf));
    history.start();
    InetSocketAddress address = history.getClientService().getClientHandler().getConnectAddress();
    Configuration bound = new Configuration(false);
    bound.set(JHAdminConfig.MR_HISTORY_ADDRESS, "localhost:" + address.getPort());
    bound.set(
        JHAdminConfig.MR_HISTORY_WEBAPP_ADDRESS,
        history.getConfig().get(JHAdminConfig.MR_HISTORY_WEBAPP_ADDRESS));
    parent.println("up MapReduce history");
    return bound;
  }
}
