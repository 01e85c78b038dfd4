package io.stele.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that answer, and servers of which none answers before all are asked. */
class ServedTabletsTest {
  private static final int SERVERS = 20;

  @Test
  @Timeout(60) // Whoever asks one after the other never ends.
  void allServersAreAskedAtOnce() throws IOException {
    MemoryLockService locks = new MemoryLockStore().connect();
    for (int i = 1; i <= SERVERS; i++) {
      start(locks, i);
    }
    assertThat(new ServedTablets(SystemRuntime.INSTANCE, locks, new AllOrNone()).read())
        .hasSize(SERVERS)
        .allSatisfy((server, answer) -> assertThat(answer).isEmpty());
  }

  @Test
  void whatAServerSaysIsWrongWithATabletIsKept() throws IOException {
    MemoryLockService locks = new MemoryLockStore().connect();
    ServerId server = start(locks, 1);
    ServerReportResponseProto report =
        ServerReportResponseProto.newBuilder()
            .setStatus(
                ServerStatusProto.newBuilder()
                    .setServerId(server.toString())
                    .setControlAddress("server:1")
                    .setDataAddress("server:1")
                    .setTablets(4))
            .addTablets(tablet("00000000000000a1"))
            .addTablets(tablet("00000000000000a2").addTroubles("one").addTroubles("two"))
            .addTablets(tablet("00000000000000a3").addTroubles("three").setStopped(true))
            .addTablets(tablet("00000000000000a4").setStopped(true)) // It says why a little later.
            .build();
    ServedTablets.Of answer =
        new ServedTablets(SystemRuntime.INSTANCE, locks, new Answering(report))
            .read()
            .get(server)
            .orElseThrow();
    assertThat(answer.served()).hasSize(4);
    assertThat(answer.troubles())
        .containsExactly(
            Map.entry(id("00000000000000a2"), new ServedTablets.Trouble("one; two", false)),
            Map.entry(id("00000000000000a3"), new ServedTablets.Trouble("three", true)),
            Map.entry(id("00000000000000a4"), new ServedTablets.Trouble("it has stopped", true)));
  }

  @Test
  void aServerThatIsStartingServesNothingAndOneThatRefusesIsSilent() throws IOException {
    MemoryLockService locks = new MemoryLockStore().connect();
    ServerId server = start(locks, 1);
    assertThat(read(locks, SteleException.retryLater("it is starting")).get(server))
        .contains(new ServedTablets.Of(Set.of(), Set.of(), Map.of()));
    assertThat(read(locks, SteleException.refused("another version")).get(server)).isEmpty();
  }

  /** A server at that port takes its lock. */
  private static ServerId start(MemoryLockService locks, int port) throws IOException {
    ServerId server = new ServerId("server", port, 1);
    Address address = new Address("server", port);
    locks.tryLock(
        LockPaths.server(server),
        new ServerInfo(address, address, Optional.empty(), Optional.empty()).encode());
    return server;
  }

  private static Map<ServerId, Optional<ServedTablets.Of>> read(
      MemoryLockService locks, SteleException answer) throws IOException {
    ControlPlane plane =
        new ControlPlane() {
          @Override
          public <P, R> R call(
              Address server, Class<P> protocol, Duration timeout, Call<P, R> call) {
            throw answer;
          }

          @Override
          public void retain(Set<Address> servers) {}
        };
    return new ServedTablets(SystemRuntime.INSTANCE, locks, plane).read();
  }

  private static TabletId id(String name) {
    return new TabletId(new TableId("t1"), name);
  }

  private static HostedTabletProto.Builder tablet(String name) {
    return HostedTabletProto.newBuilder()
        .setTablet(
            TabletRefProto.newBuilder()
                .setTableId("t1")
                .setTablet(name)
                .setEpoch(1)
                .setMetadataRow(ByteString.copyFromUtf8("row")))
        .setState("LOADED");
  }

  /** Answers every call with the same report. */
  private record Answering(ServerReportResponseProto report) implements ControlPlane {
    @Override
    @SuppressWarnings("unchecked") // Nothing but a report is asked for.
    public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call) {
      return (R) report;
    }

    @Override
    public void retain(Set<Address> servers) {}
  }

  /** Fails all calls once all servers were called. */
  private static final class AllOrNone implements ControlPlane {
    private final CountDownLatch unasked = new CountDownLatch(SERVERS);

    @Override
    public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
        throws IOException {
      unasked.countDown();
      try {
        unasked.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      throw new ConnectException("nobody is at " + server);
    }

    @Override
    public void retain(Set<Address> servers) {}
  }
}
