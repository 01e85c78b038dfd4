package io.stele.cli;

import io.stele.config.Keys;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletServerProtocol;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.net.SocksSocketFactory;

/**
 * What stands between the processes of a cluster and the services that it depends on, among those
 * processes, and between clients and tablet servers.
 *
 * @param zookeeper before ZooKeeper
 * @param nameNode before the NameNode; DataNodes are reached without it
 * @param control a SOCKS proxy, by which masters and tablet servers reach the control planes of
 *     each other
 * @param clients before tablet servers, for clients of this process; others reach them without it
 */
record TortureRelays(
    TortureRelay zookeeper, TortureRelay nameNode, TortureRelay control, ClientRelays clients) {
  // Hadoop's key for the connections of one protocol; the protocol's simple name follows.
  private static final String SOCKET_FACTORY = "hadoop.rpc.socket.factory.class.";

  /**
   * Starts them, and has all that use {@code conf} reach ZooKeeper and the NameNode through them.
   *
   * @throws IOException if one cannot listen; {@code conf} is as it was then
   */
  static TortureRelays before(Configuration conf) throws IOException {
    URI files = FileSystem.getDefaultUri(conf);
    List<TortureRelay> started = new ArrayList<>();
    try {
      started.add(TortureRelay.to(Keys.ZOOKEEPER_QUORUM.in(conf)));
      started.add(TortureRelay.to(files.getAuthority()));
      started.add(TortureRelay.socks());
    } catch (IOException e) {
      for (TortureRelay relay : started) {
        relay.close();
      }
      throw e;
    }
    TortureRelays relays =
        new TortureRelays(started.get(0), started.get(1), started.get(2), new ClientRelays());
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), relays.zookeeper().address());
    FileSystem.setDefaultUri(conf, files.getScheme() + "://" + relays.nameNode().address());
    return relays;
  }

  /**
   * What to start the cluster with.
   *
   * @param conf what all use
   * @return the same, by which processes also reach control planes through {@link #control}
   */
  Configuration ofCluster(Configuration conf) {
    Configuration own = new Configuration(conf);
    own.set(CommonConfigurationKeysPublic.HADOOP_SOCKS_SERVER_KEY, control.address());
    for (Class<?> protocol : List.of(MasterProtocol.class, TabletServerProtocol.class)) {
      own.set(SOCKET_FACTORY + protocol.getSimpleName(), SocksSocketFactory.class.getName());
    }
    return own;
  }
}
