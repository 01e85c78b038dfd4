package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.Address;
import io.stele.wire.ControlServer;
import io.stele.wire.MasterProtocol;
import io.stele.wire.NetworkTransport;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.MasterService;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import io.stele.wire.control.ControlProtos.TabletServerService;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SteleServersTest {
  private static final ServerId SERVER = new ServerId("host", 1, 2);
  private static final Address FIRST = new Address("first", 1);
  private static final Address SECOND = new Address("second", 1);
  private static final TableId USERS = new TableId("1");

  private final Configuration conf = new Configuration(false);
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final List<DrainRequestProto> drains = new CopyOnWriteArrayList<>();
  private final MemoryLockStore store = new MemoryLockStore();
  private ControlServer tabletServer;
  private ControlServer master;
  private LockService locks;
  private Lock lock; // That was taken last.
  private LockConnection connection;
  private SteleServers servers;
  private NetworkTransport transport;

  @BeforeEach
  void start() throws IOException {
    tabletServer =
        ControlServer.start(
            conf,
            new Address("localhost", 0),
            1,
            TabletServerProtocol.class,
            TabletServerService.newReflectiveBlockingService(
                noting(TabletServerService.BlockingInterface.class)));
    master =
        ControlServer.start(
            conf,
            new Address("localhost", 0),
            1,
            MasterProtocol.class,
            MasterService.newReflectiveBlockingService(
                noting(MasterService.BlockingInterface.class)));
    locks = store.connect();
    transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
    connection = new LockConnection(SystemRuntime.INSTANCE, store::connect);
    servers =
        new SteleServers(SystemRuntime.INSTANCE, transport.controlPlane(), limits(5), connection);
  }

  @AfterEach
  void stop() {
    connection.close();
    transport.close();
    locks.close();
    tabletServer.close();
    master.close();
  }

  /** YARN waits for 10 min for a heartbeat. */
  private static ApplicationSnapshot.Limits limits(int drainSeconds) {
    return new ApplicationSnapshot.Limits(
        Duration.ZERO,
        Duration.ofSeconds(drainSeconds),
        1,
        Duration.ofMinutes(5),
        Duration.ofMinutes(10),
        Map.of());
  }

  /** The reason holds until the next attempt has begun. */
  private static DrainRequestProto drainRequest(boolean unlessLast) {
    return DrainRequestProto.newBuilder()
        .setUnlessLast(unlessLast)
        .setReason(SteleServers.DRAIN_REASON)
        .setReasonHoldsMillis(15 * 60_000)
        .build();
  }

  @Test
  void drainsTheTabletServerThatRegisteredFromTheContainer() throws IOException {
    register("container_1");
    servers.drain("container_1", false);
    servers.drain("container_1", true);
    assertThat(drains).containsExactly(drainRequest(false), drainRequest(true));
    assertThatThrownBy(() -> servers.drain("container_2", true))
        .isInstanceOf(NotRegisteredException.class)
        .hasMessageContaining("container_2");
  }

  /** Long before its time to drain is up. */
  @Test
  void aServerThatDoesNotAnswerIsSoonAskedAgain() throws IOException {
    register("container_1");
    FakePlane plane = new FakePlane(SystemRuntime.INSTANCE);
    new SteleServers(SystemRuntime.INSTANCE, plane, limits(60), connection)
        .drain("container_1", false);
    assertThat(plane.calls).containsExactly("localhost: drain");
    assertThat(plane.timeouts).containsExactly(Duration.ofSeconds(5));
  }

  @Test
  void aLockServiceThatIsAwayHoldsADrainUpAndDoesNotMakeItFail() throws IOException {
    register("container_1");
    AtomicInteger attempts = new AtomicInteger();
    try (LockConnection late =
        new LockConnection(
            SystemRuntime.INSTANCE,
            () -> {
              if (attempts.incrementAndGet() < 3) {
                throw new UnreachableException("away");
              }
              return store.connect();
            })) {
      new SteleServers(SystemRuntime.INSTANCE, transport.controlPlane(), limits(60), late)
          .drain("container_1", false);
    }
    assertThat(drains).containsExactly(drainRequest(false));
    assertThat(attempts).hasValue(3);
  }

  @Test
  void tellsTheMasterOfTheEndOfAServerWhoseLockIsStillThere() throws IOException {
    register("container_1");
    Address address = new Address("localhost", master.port());
    assertThat(
            locks.tryLock(
                LockPaths.MASTER, new MasterInfo("master", Optional.of(address)).encode()))
        .isPresent();
    servers.exited("container_1", true);
    servers.exited("container_1", false);
    assertThat(calls).containsExactly("serverExited " + SERVER + " seen", "serverExited " + SERVER);
  }

  @Test
  void takesTheLockOfAMasterThatHasEndedOrIsLostAndOfNoOther() throws IOException {
    Bytes data = new MasterInfo("container_1_0", Optional.empty()).encode();
    assertThat(locks.tryLock(LockPaths.MASTER, data)).isPresent();
    servers.deposeMaster("container_2");
    servers.exited("container_1", true); // Of tablet servers.
    assertThat(locks.read(LockPaths.MASTER)).isPresent();
    servers.deposeMaster("container_1");
    assertThat(locks.read(LockPaths.MASTER)).isEmpty();
    servers.deposeMaster("container_1");
  }

  @Test
  void tellsNobodyOfTheEndOfAServerThatGaveItsLockUp() throws IOException {
    servers.exited("container_1", true);
    assertThat(calls).isEmpty();
  }

  @Test
  void saysWhichProcessesHaveRegistered() throws IOException {
    Map<String, ComponentKind> running =
        Map.of(
            "container_1", ComponentKind.TABLET_SERVER,
            "container_2", ComponentKind.TABLET_SERVER,
            "container_3", ComponentKind.MASTER);
    assertThat(servers.registered(running).containers()).isEmpty();
    register("container_1");
    assertThat(servers.registered(running).containers()).containsExactly("container_1");
    assertThat(locks.tryLock(LockPaths.MASTER, Bytes.of("master"))).isPresent();
    assertThat(servers.registered(running).containers()).containsOnly("container_1", "container_3");
  }

  @Test
  void readsTheLockOfEachServerOnce() throws IOException {
    register("container_1");
    List<String> read = new CopyOnWriteArrayList<>();
    try (LockConnection noting =
        new LockConnection(SystemRuntime.INSTANCE, () -> notingReads(store.connect(), read))) {
      SteleServers others =
          new SteleServers(SystemRuntime.INSTANCE, transport.controlPlane(), limits(5), noting);
      others.drain("container_1", false);
      others.drain("container_1", false);
      assertThat(read).containsExactly(LockPaths.server(SERVER));

      ServerId second = new ServerId("host", 1, 3);
      register(second, "container_2");
      Map<String, ComponentKind> running =
          Map.of(
              "container_1", ComponentKind.TABLET_SERVER,
              "container_2", ComponentKind.TABLET_SERVER);
      assertThat(others.registered(running).containers())
          .containsOnly("container_1", "container_2");
      assertThat(read).containsExactly(LockPaths.server(SERVER), LockPaths.server(second));

      locks.delete(
          LockPaths.server(SERVER), locks.read(LockPaths.server(SERVER)).orElseThrow().version());
      assertThat(others.registered(running).containers()).containsExactly("container_2");
    }
  }

  @Test
  void saysWhichServersDrainAsTheirLocksSayNowAndThen() throws Exception {
    register("container_1");
    Map<String, ComponentKind> running =
        Map.of("container_1", ComponentKind.TABLET_SERVER, "container_2", ComponentKind.MASTER);
    Simulation simulation = new Simulation(1, 1_000_000);
    SimulatedProcess process = simulation.process("application-master");
    simulation.run(
        () -> {
          try (LockConnection own = new LockConnection(process, store::connect)) {
            SteleServers others =
                new SteleServers(process, new FakePlane(process), limits(60), own);
            assertThat(others.registered(running).draining()).isEmpty();
            setDrained(true);
            process.sleep(Duration.ofSeconds(15));
            assertThat(others.registered(running).draining()).containsExactly("container_1");
            assertThat(others.registered(running).containers()).containsExactly("container_1");
            assertThat(others.registered(Map.of()).draining()).isEmpty();
            setDrained(false);
            process.sleep(Duration.ofSeconds(15));
            assertThat(others.registered(running).draining()).isEmpty();
          }
        });
  }

  @Test
  void whileAllLocksAreReadAgainOthersNeedNotReadThem() throws Exception {
    register("container_1");
    Map<String, ComponentKind> running = Map.of("container_1", ComponentKind.TABLET_SERVER);
    List<String> read = new CopyOnWriteArrayList<>();
    AtomicReference<IoRunnable> atNextRead = new AtomicReference<>(() -> {});
    Simulation simulation = new Simulation(1, 1_000_000);
    SimulatedProcess process = simulation.process("application-master");
    simulation.run(
        () -> {
          try (LockConnection own =
              new LockConnection(process, () -> hooked(store.connect(), read, atNextRead))) {
            SteleServers others =
                new SteleServers(process, new FakePlane(process), limits(60), own);
            others.registered(running);
            process.sleep(Duration.ofSeconds(11));
            read.clear();
            atNextRead.set(() -> others.drain("container_1", true));
            others.registered(running);
            assertThat(read).as("by the one that reads all").hasSize(1);
            process.sleep(Duration.ofSeconds(11));
            atNextRead.set(
                () -> {
                  throw new IOException("planted");
                });
            assertThatThrownBy(() -> others.registered(running)).hasMessage("planted");
            read.clear();
            others.drain("container_1", true);
            assertThat(read).as("what was known is known yet").isEmpty();
          }
        });
  }

  @Test
  void whatLocksSaidIsNotPutInPlaceOfWhatTheySayNow() throws Exception {
    register("container_1");
    Lock first = lock;
    Map<String, ComponentKind> running = Map.of("container_1", ComponentKind.TABLET_SERVER);
    AtomicReference<IoRunnable> atNextRead = new AtomicReference<>(() -> {});
    Simulation simulation = new Simulation(1, 1_000_000);
    SimulatedProcess process = simulation.process("application-master");
    simulation.run(
        () -> {
          try (LockConnection own =
              new LockConnection(
                  process,
                  () -> hooked(store.connect(), new CopyOnWriteArrayList<>(), atNextRead))) {
            SteleServers others =
                new SteleServers(process, new FakePlane(process), limits(60), own);
            assertThat(others.registered(running).draining()).isEmpty();
            register(new ServerId("host", 1, 3), "container_2");
            lock = first;
            setDrained(true);
            process.sleep(Duration.ofSeconds(11));
            atNextRead.set(() -> others.registered(running));
            others.drain("container_2", true); // Read before, and ends after the list.
            assertThat(others.registered(running).draining()).containsExactly("container_1");
          }
        });
  }

  private void setDrained(boolean drained) throws IOException {
    ServerInfo info = info("container_1", new Address("localhost", tabletServer.port()));
    lock.update((drained ? info.drained() : info).encode());
  }

  /** One has METADATA, the other the root tablet; both have tablets of users. */
  private FakePlane planeOfTwo() throws IOException {
    FakePlane plane = new FakePlane(SystemRuntime.INSTANCE);
    register(new ServerId("host", 1, 3), "container_1", FIRST);
    register(new ServerId("host", 1, 4), "container_2", SECOND);
    plane.tablets.put(FIRST, new ArrayList<>(List.of(TableId.METADATA, USERS)));
    plane.tablets.put(SECOND, new ArrayList<>(List.of(TableId.ROOT, USERS)));
    return plane;
  }

  private Map<String, Integer> stopRanks(FakePlane plane) throws IOException {
    return new SteleServers(SystemRuntime.INSTANCE, plane, limits(60), connection)
        .stopRanks(Set.of("container_1", "container_2"), Duration.ofSeconds(60));
  }

  @Test
  void serversWithSystemTabletsUnloadTheirOthersAndAreRanked() throws IOException {
    FakePlane plane = planeOfTwo();
    assertThat(stopRanks(plane)).isEqualTo(Map.of("container_1", 1, "container_2", 2));
    assertThat(plane.tablets)
        .isEqualTo(Map.of(FIRST, List.of(TableId.METADATA), SECOND, List.of(TableId.ROOT)));
  }

  @Test
  void aServerThatDoesNotAnswerOnceIsAskedAgainToUnloadAndTheOrderStays() throws IOException {
    FakePlane plane = planeOfTwo();
    plane.unloadFailures.add(new SocketTimeoutException("5 s"));
    assertThat(stopRanks(plane)).isEqualTo(Map.of("container_1", 1, "container_2", 2));
    assertThat(plane.calls)
        .filteredOn(call -> call.endsWith("unloadTablets"))
        .hasSize(3)
        .contains("first: unloadTablets", "second: unloadTablets");
    assertThat(plane.tablets)
        .isEqualTo(Map.of(FIRST, List.of(TableId.METADATA), SECOND, List.of(TableId.ROOT)));
  }

  @Test
  void aServerThatIsNotThereDoesNotChangeTheOrderAndAnInterruptionEndsTheWork() throws IOException {
    FakePlane plane = planeOfTwo();
    plane.unloadFailures.add(new ConnectException("refused"));
    assertThat(stopRanks(plane)).isEqualTo(Map.of("container_1", 1, "container_2", 2));
    assertThat(plane.calls)
        .filteredOn(call -> call.endsWith("unloadTablets"))
        .containsExactlyInAnyOrder("first: unloadTablets", "second: unloadTablets");

    plane.unloadFailures.add(new InterruptedIOException("the process ends"));
    assertThatThrownBy(() -> stopRanks(plane)).isInstanceOf(InterruptedIOException.class);
  }

  @Test
  void serversWithSystemTabletsUnloadSideBySide() throws Exception {
    Simulation simulation = new Simulation(1, 1_000_000);
    SimulatedProcess process = simulation.process("application-master");
    FakePlane plane = new FakePlane(process);
    plane.unloadTakes = Duration.ofSeconds(10);
    Set<String> containers = new TreeSet<>();
    for (int i = 1; i <= 5; i++) {
      Address address = new Address("server-" + i, 1);
      containers.add("container_" + i);
      register(new ServerId("host", 1, i), "container_" + i, address);
      plane.tablets.put(address, new ArrayList<>(List.of(TableId.METADATA, USERS)));
    }
    simulation.run(
        () -> {
          try (LockConnection own = new LockConnection(process, store::connect)) {
            Map<String, Integer> ranks =
                new SteleServers(process, plane, limits(60), own)
                    .stopRanks(containers, Duration.ofSeconds(60));
            assertThat(ranks).hasSize(5).containsValue(1);
          }
        });
    assertThat(Duration.ofNanos(simulation.nowNanos())).isLessThan(Duration.ofSeconds(15));
    assertThat(plane.tablets.values()).containsOnly(List.of(TableId.METADATA));
  }

  private static LockService notingReads(LockService service, List<String> paths) {
    return hooked(service, paths, new AtomicReference<>(() -> {}));
  }

  private static LockService hooked(
      LockService service, List<String> paths, AtomicReference<IoRunnable> atNextRead) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("read")) {
                paths.add((String) arguments[0]);
                atNextRead.getAndSet(() -> {}).run();
              }
              return method.invoke(service, arguments);
            });
  }

  private void register(String container) throws IOException {
    register(SERVER, container);
  }

  private void register(ServerId server, String container) throws IOException {
    register(server, container, new Address("localhost", tabletServer.port()));
  }

  private void register(ServerId server, String container, Address control) throws IOException {
    lock = locks.tryLock(LockPaths.server(server), info(container, control).encode()).orElseThrow();
  }

  private static ServerInfo info(String container, Address control) {
    return new ServerInfo(control, control, Optional.empty(), Optional.of(container));
  }

  /** A service that notes what it is asked and answers with an empty message. */
  private <S> S noting(Class<S> service) {
    return service.cast(
        Proxy.newProxyInstance(
            service.getClassLoader(),
            new Class<?>[] {service},
            (proxy, method, arguments) -> {
              if (arguments[1] instanceof DrainRequestProto drain) {
                drains.add(drain);
              }
              String detail =
                  ((Message) arguments[1])
                      .getAllFields().values().stream()
                          .map(value -> " " + value)
                          .findFirst()
                          .orElse("");
              boolean seen =
                  arguments[1] instanceof ServerExitedRequestProto exited && exited.getSeen();
              calls.add(method.getName() + detail + (seen ? " seen" : ""));
              return method.getReturnType().getMethod("getDefaultInstance").invoke(null);
            }));
  }
}
