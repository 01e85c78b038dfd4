package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Ports;
import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes of a cluster that others made, and that its processes may not read. */
@Timeout(60)
class UnreadableNodesTest {
  @Test
  void aNodeThatMayNotBeReadDoesNotHideOthers() throws Exception {
    try (TestingServer server = new TestingServer(Ports.free(), true);
        CuratorLockService locks =
            CuratorLockService.connect(
                SystemRuntime.INSTANCE, server.getConnectString(), "test", Duration.ofSeconds(8))) {
      locks.create("x", Bytes.of("1"));
      locks
          .handle()
          .create(
              "/stele/test/secrets",
              new byte[0],
              new ArrayList<>(List.of(new ACL(ZooDefs.Perms.WRITE, ZooDefs.Ids.ANYONE_ID_UNSAFE))),
              CreateMode.PERSISTENT);
      assertThat(locks.lasting()).containsExactly("x");
      assertThat(locks.lasting()).containsExactly("x");
    }
  }
}
