package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import javax.net.SocketFactory;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.net.SocksSocketFactory;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Token;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class YarnNodeManagersTest {
  private static final int CONNECTIONS = 4; // More than wait in the queue of the socket below.

  /** Its host takes no connection and refuses none, like one that has lost its power. */
  @Test
  @Timeout(60)
  void aDeadNodeIsGivenUpInTime() throws IOException {
    List<Socket> waiting = new ArrayList<>();
    try (ServerSocket dead = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        YarnNodeManagers nodes =
            new YarnNodeManagers(SystemRuntime.INSTANCE, new Configuration())) {
      fill(dead, waiting);
      NodeId node = NodeId.newInstance("localhost", dead.getLocalPort());
      NMTokenCache.getSingleton()
          .setToken(node.toString(), Token.newInstance(new byte[1], "", new byte[1], ""));
      ContainerId container = ContainerId.newContainerId(FakeYarn.attempt(1), 1);
      assertThatThrownBy(() -> nodes.wasStarted(container, node))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("5000 millis timeout");
    } finally {
      for (Socket one : waiting) {
        one.close();
      }
    }
  }

  private static void fill(ServerSocket server, List<Socket> waiting) throws IOException {
    for (int i = 0; i < CONNECTIONS; i++) {
      Socket one = new Socket();
      waiting.add(one);
      try {
        one.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()), 100);
      } catch (IOException e) {
        return; // The queue is full.
      }
    }
    throw new IOException("the socket takes every connection");
  }

  @Test
  void theTimeToConnectIsNotThatOfOtherClients() {
    Configuration conf = new Configuration();
    SocketFactory usual = NetUtils.getDefaultSocketFactory(conf);
    QuickConnects.configure(conf);
    SocketFactory quick = NetUtils.getDefaultSocketFactory(conf);
    assertThat(quick).isInstanceOf(QuickConnects.class).isNotEqualTo(usual);
    assertThat(usual).isNotEqualTo(quick);
    assertThat(NetUtils.getDefaultSocketFactory(conf)).isEqualTo(quick);
  }

  @Test
  void aSocketFactoryOfTheConfigurationIsKept() {
    Configuration conf = new Configuration();
    String key = "hadoop.rpc.socket.factory.class.default";
    conf.set(key, SocksSocketFactory.class.getName());
    QuickConnects.configure(conf);
    assertThat(conf.get(key)).isEqualTo(SocksSocketFactory.class.getName());
  }
}
