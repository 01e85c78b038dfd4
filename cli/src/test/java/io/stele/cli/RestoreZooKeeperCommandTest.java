package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A ZooKeeper that lost a cluster's node, and the command that restores it. */
@Timeout(120)
class RestoreZooKeeperCommandTest {
  private static final String CLUSTER = "test";
  private static final Duration SESSION = Duration.ofSeconds(10);

  @TempDir Path scratch;

  @Test
  void aClusterIsServedAgainAfterZooKeeperLostItsNode() throws Exception {
    Path data = Files.createDirectory(scratch.resolve("zookeeper"));
    ServerCnxnFactory zookeeper =
        ServerCnxnFactory.createFactory(new InetSocketAddress("localhost", 0), 100);
    zookeeper.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
    try {
      restore("localhost:" + zookeeper.getLocalPort());
    } finally {
      zookeeper.shutdown();
    }
  }

  private void restore(String quorum) throws Exception {
    Configuration conf = configuration(quorum);
    org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path(Keys.ROOT_DIR.in(conf));
    Site site = Site.of(conf, root, quorum, CLUSTER, SESSION);
    assertThat(run("restore-zookeeper").exit()).isEqualTo(ExitCode.NOT_FOUND.number());
    try (MiniStele cluster = MiniStele.start(conf, site, 1, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("web", "f"));
      stele.table("web").mutate(Mutation.of("a").put("f", "q", "1"));
      MiniStele.await(
          "the table is copied", () -> run("restore-zookeeper").out().contains("has 1 table "));
      Ran running = run("restore-zookeeper", "--yes");
      assertThat(running.exit()).isEqualTo(ExitCode.REFUSED.number());
      assertThat(running.err()).contains("end all masters and tablet servers first");
      List.copyOf(cluster.servers()).forEach((ServerId server) -> cluster.killServer(server));
      cluster.killMaster();
    }

    Ran there = run("restore-zookeeper", "--yes");
    assertThat(there.exit()).isEqualTo(ExitCode.REFUSED.number());
    assertThat(there.err()).contains("nothing needs to be restored");
    deleteNode(quorum);
    Ran shown = run("restore-zookeeper");
    assertThat(shown.exit()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("has 1 table as of").contains("add --yes");
    Ran restored = run("restore-zookeeper", "--yes");
    assertThat(restored.exit()).as(restored.err()).isZero();
    assertThat(restored.out()).contains("restored to /stele/test in ZooKeeper");

    try (MiniStele cluster = MiniStele.start(conf, site, 1, 1)) {
      assertThat(cluster.client().table("web").readRow("a").orElseThrow().value("f", "q"))
          .contains(Bytes.of("1"));
    }
  }

  private Configuration configuration(String quorum) throws IOException {
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set(Keys.ROOT_DIR.name(), scratch.resolve("root").toUri().toString());
    conf.set(Keys.SESSION_TIMEOUT.name(), SESSION.toSeconds() + "s");
    conf.set(Keys.LEASE.name(), "5s"); // A busy machine must not end the server.
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), quorum);
    conf.set(Keys.CLUSTER_NAME.name(), CLUSTER);
    Path directory = Files.createDirectory(scratch.resolve("conf"));
    try (OutputStream file = Files.newOutputStream(directory.resolve("stele-site.xml"))) {
      conf.writeXml(file);
    }
    return conf;
  }

  private Ran run(String... words) {
    List<String> command = new ArrayList<>(List.of(words));
    command.addAll(List.of("--conf", scratch.resolve("conf").toString()));
    return Ran.of(command);
  }

  private static void deleteNode(String quorum) throws Exception {
    ZooKeeper client = new ZooKeeper(quorum, (int) SESSION.toMillis(), event -> {});
    try {
      ZKUtil.deleteRecursive(client, "/stele/" + CLUSTER);
    } finally {
      client.close();
    }
  }
}
