package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.ChildJvm;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;

/** A DataNode in a process of its own, which can be suspended. Close it. */
final class DataNodeProcess implements AutoCloseable {
  private static final String ADDRESS = "address";

  private final Path directory;
  private final Process process;

  /** Starts it with its files in {@code directory}. */
  DataNodeProcess(Path directory, Configuration hdfs) throws IOException {
    this.directory = directory;
    Files.createDirectories(directory);
    Configuration conf = new Configuration(hdfs);
    conf.set("dfs.datanode.data.dir", directory.resolve("data").toUri().toString());
    for (String key : List.of("address", "http.address", "ipc.address")) {
      conf.set("dfs.datanode." + key, "127.0.0.1:0");
    }
    Path file = directory.resolve("conf.xml");
    try (OutputStream out = Files.newOutputStream(file)) {
      conf.writeXml(out);
    }
    process =
        ChildJvm.start(
            ChildJvm.shortLived("128m"),
            DataNodeProcess.class,
            List.of(file.toString(), directory.resolve(ADDRESS).toString()),
            directory.resolve("datanode.log"));
  }

  /** What the process runs. */
  public static void main(String[] args) throws Exception {
    Configuration conf = new HdfsConfiguration();
    conf.addResource(new org.apache.hadoop.fs.Path("file://" + args[0]));
    DataNode node = DataNode.createDataNode(new String[0], conf);
    Path draft = Path.of(args[1] + ".draft");
    Files.writeString(draft, "127.0.0.1:" + node.getXferAddress().getPort());
    Files.move(draft, Path.of(args[1]));
    Thread.currentThread().join();
  }

  /** Its address, as HDFS names it; waits until it has one. */
  String address() throws Exception {
    Path file = directory.resolve(ADDRESS);
    MiniStele.await("the address of a DataNode", () -> Files.exists(file));
    return Files.readString(file);
  }

  /** Suspends the process: its connections stay, and nobody answers. */
  void suspend() throws IOException, InterruptedException {
    signal("STOP");
  }

  /** Lets the process go on. */
  void resume() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
