package io.stele.cli;

import io.stele.config.Keys;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * What stands between the processes of a cluster and the services that it depends on, and between
 * clients and tablet servers.
 *
 * @param zookeeper before ZooKeeper
 * @param nameNode before the NameNode; DataNodes are reached without it
 * @param clients before tablet servers, for clients of this process; others reach them without it
 */
record TortureRelays(TortureRelay zookeeper, TortureRelay nameNode, ClientRelays clients) {
  /**
   * Starts them, and has all that use {@code conf} reach the services through them.
   *
   * @throws IOException if one cannot listen; {@code conf} is as it was then
   */
  static TortureRelays before(Configuration conf) throws IOException {
    TortureRelay zookeeper = TortureRelay.to(Keys.ZOOKEEPER_QUORUM.in(conf));
    URI files = FileSystem.getDefaultUri(conf);
    TortureRelay nameNode;
    try {
      nameNode = TortureRelay.to(files.getAuthority());
    } catch (IOException e) {
      zookeeper.close();
      throw e;
    }
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.address());
    FileSystem.setDefaultUri(conf, files.getScheme() + "://" + nameNode.address());
    return new TortureRelays(zookeeper, nameNode, new ClientRelays());
  }
}
