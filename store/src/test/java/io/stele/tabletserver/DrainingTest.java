package io.stele.tabletserver;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.metadata.Assignment;
import io.stele.metadata.LoadTrouble;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MiniStele;
import io.stele.sim.Operation;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.TabletsChangedResponseProto;
import io.stele.wire.control.ControlProtos.TakersProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Draining a server whose lock cannot always be written, and which cannot always unload. */
@Timeout(120)
class DrainingTest {
  private static final Address ADDRESS = new Address("host", 1);
  private static final ServerId OTHER = new ServerId("other", 1, 1);

  private final TestServer.World world = new TestServer.World();
  private TestServer server;
  private final AtomicReference<Next> next = new AtomicReference<>(Next.GOOD);
  private final AtomicReference<Runnable> atNextUpdate = new AtomicReference<>(() -> {});
  private Draining draining;
  private TabletId id; // Of its tablet.
  private final CountDownLatch ended = new CountDownLatch(1); // Counted down by the end.
  private final Set<String> takers = ConcurrentHashMap.newKeySet(); // According to the master.
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger(); // Of files that could not be made.

  @BeforeEach
  void aServerWithATablet() throws Exception {
    server = new TestServer(world);
    MemoryLockService session = world.lockStore.connect();
    Lock lock =
        session.tryLock(LockPaths.server(server.context.id()), info(false).encode()).orElseThrow();
    MasterContact contact =
        new MasterContact(SystemRuntime.INSTANCE, session, plane, server.context.id());
    Bytes master = new MasterInfo("master", Optional.of(ADDRESS)).encode();
    assertThat(world.lockStore.connect().tryLock(LockPaths.MASTER, master)).isPresent();
    draining =
        new Draining(
            server.context, unreliable(lock), DrainingTest::info, server.lifecycle, contact);
    HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
    id = hosted.id();
    TestServer.put(hosted, "row", "value");
  }

  /** The lock, of which the next update fails as {@link #next} says. */
  private Lock unreliable(Lock lock) {
    return (Lock)
        Proxy.newProxyInstance(
            Lock.class.getClassLoader(),
            new Class<?>[] {Lock.class},
            (proxy, method, arguments) -> {
              boolean update = method.getName().equals("update");
              if (update) {
                atNextUpdate.getAndSet(() -> {}).run();
              }
              Next now = update ? next.getAndUpdate(Next::after) : Next.GOOD;
              if (now == Next.GOOD || now == Next.APPLIED_AND_LOST) {
                method.invoke(lock, arguments);
              }
              if (now != Next.GOOD) {
                throw new IOException("planted");
              }
              return null;
            });
  }

  /** What happens to an update of the lock. */
  private enum Next {
    GOOD,
    APPLIED_AND_LOST,
    NOT_APPLIED,
    NEVER_APPLIED;

    Next after() {
      return this == NEVER_APPLIED ? this : GOOD;
    }
  }

  @AfterEach
  void end() throws Exception {
    server.context.life().end("the test is over");
    server.close();
  }

  private static ServerInfo info(boolean drains) {
    ServerInfo takes = new ServerInfo(ADDRESS, ADDRESS, Optional.empty(), Optional.empty());
    return drains ? takes.drained() : takes;
  }

  private boolean saysDrained() throws IOException {
    return ServerInfo.all(server.locks).get(server.context.id()).draining();
  }

  private void awaitDrained(boolean drained) throws Exception {
    MiniStele.await(
        "the server is drained, and says so: " + drained,
        () -> saysDrained() == drained && server.lifecycle.isDraining() == drained);
  }

  @Test
  void whatTheLockCouldNotBeToldIsToldLater() throws Exception {
    next.set(Next.NOT_APPLIED);
    draining.begin();
    awaitDrained(true);
    next.set(Next.NOT_APPLIED);
    draining.undo();
    awaitDrained(false);
    next.set(Next.APPLIED_AND_LOST);
    draining.begin();
    awaitDrained(true);
    assertThat(next).hasValue(Next.GOOD);

    next.set(Next.NEVER_APPLIED);
    draining.undo();
    MiniStele.await("the lock could not be told", () -> !server.lifecycle.isDraining());
    draining.begin();
    next.set(Next.GOOD);
    awaitDrained(true);
  }

  @Test
  void anEndThatFailsLeavesTheServerAsItWas() throws Exception {
    noFileCanBeWritten();
    assertThatThrownBy(draining::drainForShutdown).isInstanceOf(IOException.class);
    assertThat(draining.isShuttingDown()).isFalse();
    awaitDrained(false);

    draining.begin();
    awaitDrained(true);
    assertThatThrownBy(draining::drainForShutdown).isInstanceOf(IOException.class);
    assertThat(draining.isShuttingDown()).isFalse();
    assertThat(saysDrained()).isTrue();
    assertThat(server.lifecycle.isDraining()).isTrue();
    draining.undo();
    awaitDrained(false);
  }

  @Test
  void noMoreTabletsAreGivenAwayOnceItIsUndone() throws Exception {
    for (int i = 0; i < 20; i++) {
      TestServer.put(server.takeNew(TableSchema.of("t" + i, "f")), "row", "value");
    }
    int tablets = server.context.tablets().count();
    otherTakesTablets();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    world.disk.inject(
        FaultInjector.at(
            Operation.CREATE,
            path -> path.getName().endsWith(".sst"),
            1,
            new FaultInjector.Effect.Delay(
                () -> {
                  begun.countDown();
                  try {
                    goOn.await();
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                })));
    draining.begin();
    begun.await(); // Tablets are written out first, while they are served.
    draining.undo();
    goOn.countDown();
    awaitDrained(false);
    assertThat(server.context.tablets().count()).isEqualTo(tablets);
  }

  /**
   * METADATA may have gone to the server that is gone now, and only this one is there to serve it.
   */
  @Test
  void aDrainThatWaitsForMetadataIsUndone() throws Exception {
    startOther();
    takers.add(OTHER.toString());
    CountDownLatch waits = new CountDownLatch(1);
    world.metadata.whenAway(waits::countDown);
    world.metadata.setAway(Optional.of(RowRange.ALL));
    draining.begin();
    waits.await();
    draining.undo();
    awaitDrained(false);
    world.metadata.setAway(Optional.empty());
    draining.begin(); // What was begun goes on, or is done again.
    awaitGiven();
    draining.undo();
    awaitDrained(false);
  }

  @Test
  void nothingIsGivenAwayThatNobodyWouldGet() throws Exception {
    Lock other = startOther();
    draining.begin();
    MiniStele.await("the master was asked again and again", () -> asked.get() >= 3);
    assertThat(server.context.tablets().count()).isEqualTo(1);
    other.update(info(true).encode());
    takers.add(OTHER.toString());
    int before = asked.get();
    MiniStele.await("the master was asked again and again", () -> asked.get() >= before + 3);
    assertThat(server.context.tablets().count()).isEqualTo(1);
    other.update(info(false).encode());
    awaitEmpty();
  }

  @Test
  void anEndIsNotUndone() throws Exception {
    draining.drainForShutdown();
    assertFails(SteleException.Code.REFUSED, draining::undo);
    assertThat(server.lifecycle.isDraining()).isTrue();
  }

  @Test
  void anEndThatFailsIsTriedAgainWhileAnotherServerTakesTablets() throws Exception {
    noFileCanBeWritten();
    endAtOnce();
    awaitFailedEnd();
    world.disk.heal();
    int before = asked.get();
    MiniStele.await("the master is asked again", () -> asked.get() > before + 1);
    assertThat(draining.isShuttingDown()).as("nobody would take the tablet").isFalse();
    otherTakesTablets();
    awaitGiven();
    assertThat(ended.getCount()).as("nobody serves the tablet yet").isEqualTo(1);
    otherTakesTheTablet();
    ended.await();
    assertThat(server.context.tablets().count()).isZero();
    assertThat(saysDrained()).isTrue();
  }

  @Test
  void aServerThatIsAskedToEndUnlessItIsTheLastWaitsForAnother() throws Exception {
    int before = asked.get();
    endUnlessItIsTheLast();
    endUnlessItIsTheLast();
    MiniStele.await("the master is asked again", () -> asked.get() > before + 1);
    assertThat(draining.isShuttingDown()).as("nobody would take the tablet").isFalse();
    otherTakesTablets();
    awaitGiven();
    assertThat(ended.getCount()).as("nobody serves the tablet yet").isEqualTo(1);
    otherTakesTheTablet();
    ended.await();
    assertThat(server.context.tablets().count()).isZero();
  }

  @Test
  void whatItsOnlyTakerDoesNotServeBeforeItDiesTheServerTakesAgain() throws Exception {
    Lock other = otherTakesTablets();
    endUnlessItIsTheLast();
    awaitGiven();
    other.release();
    takers.clear();
    awaitDrained(false);
    assertThat(draining.isShuttingDown()).isFalse();
    TabletRecord again = server.records().assign(server.stored(id), server.context.id());
    server.lifecycle.load(again.id(), again.row(), again.assignment().epoch());
    server.work();
    MiniStele.await("it is served", () -> server.context.tablets().count() == 1);
    assertThat(ended.getCount()).isEqualTo(1);
  }

  /** A later end must wait for it. */
  @Test
  void whatIsBeingUnloadedWhileADrainIsUndoneOrBeginsIsGivenAway() throws Exception {
    HostedTablet first = server.context.tablets().find(id).orElseThrow();
    HostedTablet second = server.takeNew(TableSchema.of("u", "f"));
    TestServer.put(second, "row", "value");
    server.lifecycle.setDraining(true);
    atNextFile(() -> server.lifecycle.setDraining(false));
    server.lifecycle.unload(first, false);
    assertThat(server.lifecycle.isDraining()).isFalse();
    assertThat(server.lifecycle.givenAway().tablets()).containsExactly(id);
    atNextFile(() -> server.lifecycle.setDraining(true));
    server.lifecycle.unload(second, false);
    assertThat(server.lifecycle.isDraining()).isTrue();
    assertThat(server.lifecycle.givenAway().tablets()).containsOnly(id, second.id());
  }

  private void atNextFile(Runnable work) {
    world.disk.inject(
        FaultInjector.at(
            Operation.CREATE,
            path -> path.getName().endsWith(".sst"),
            1,
            new FaultInjector.Effect.Delay(work)));
  }

  private void awaitGiven() throws Exception {
    MiniStele.await(
        "the tablet is given away",
        () -> server.stored(id).assignment().state() == Assignment.State.NONE);
  }

  private void otherTakesTheTablet() throws Exception {
    server.records().loaded(server.records().assign(server.stored(id), OTHER));
  }

  @Test
  void anEndThatWasUndoneBetweenTwoTriesIsNotTriedAgain() throws Exception {
    otherTakesTablets();
    noFileCanBeWritten();
    endAtOnce();
    awaitUndone();
    world.disk.heal();
    draining.begin(); // The worker goes on, and would try the end again first.
    awaitEmpty();
    draining.undo();
    awaitDrained(false);
    assertThat(ended.getCount()).isEqualTo(1);
  }

  @Test
  void anEndThatIsAskedForAgainAndAgainIsNotUndoneBetweenTwoTries() throws Exception {
    Optional<Draining.Reason> reason =
        Optional.of(new Draining.Reason("its container is called back", Duration.ofMinutes(1)));
    noFileCanBeWritten();
    draining.begin();
    draining.beginEnd(ended::countDown, false, reason);
    MiniStele.await("the end has failed", () -> failures.get() > 0 && !draining.isShuttingDown());
    draining.beginEnd(ended::countDown, true, reason);
    assertFails(SteleException.Code.REFUSED, draining::undo)
        .hasMessageContaining("its container is called back")
        .hasMessageContaining("'stele server drain' is undone");
    awaitDrained(false); // It serves until another takes its tablets.
    assertFails(SteleException.Code.REFUSED, draining::undo)
        .hasMessageNotContaining("'stele server drain' is undone");
    world.disk.heal();
    otherTakesTablets();
    awaitGiven();
    assertWaits();
    otherTakesTheTablet();
    ended.await();
  }

  @Test
  void aReasonHoldsForAnHourAtMost() {
    DrainRequestProto request =
        DrainRequestProto.newBuilder()
            .setReason("why")
            .setReasonHoldsMillis(Duration.ofDays(2).toMillis())
            .build();
    assertThat(Draining.Reason.of(request).orElseThrow().holds()).isEqualTo(Duration.ofMinutes(60));
    assertThat(Draining.Reason.of(DrainRequestProto.getDefaultInstance())).isEmpty();
  }

  @Test
  void whatItsOnlyTakerFailsToLoadTheServerTakesAgainOnceNoOtherIsThere() throws Exception {
    otherTakesTablets();
    endUnlessItIsTheLast();
    awaitGiven();
    otherDoesNotLoadTheTablet(0, false);
    assertWaits();
    takers.clear();
    awaitDrained(false);
    assertThat(ended.getCount()).isEqualTo(1);
  }

  @Test
  void aTabletInQuarantineIsNotWaitedFor() throws Exception {
    otherTakesTablets();
    endUnlessItIsTheLast();
    awaitGiven();
    otherDoesNotLoadTheTablet(3, false);
    assertWaits();
    otherDoesNotLoadTheTablet(4, true);
    awaitEnd();
  }

  private void otherDoesNotLoadTheTablet(int failures, boolean quarantined) throws IOException {
    server
        .records()
        .notLoaded(
            server.records().assign(server.stored(id), OTHER),
            new LoadTrouble("planted", OTHER, 1, failures, quarantined));
  }

  @Test
  void whatAnEarlierTryGaveAwayIsWaitedFor() throws Exception {
    Lock other = otherTakesTablets();
    endUnlessItIsTheLast();
    awaitGiven();
    takers.clear();
    other.release();
    awaitDrained(false);
    otherTakesTablets(); // Before the master has given the tablet to anybody.
    awaitDrained(true);
    assertWaits();
    otherTakesTheTablet();
    awaitEnd();
  }

  @Test
  void anEndAtOnceThatIsAskedForMeanwhileWaitsForNobody() throws Exception {
    otherTakesTablets();
    endUnlessItIsTheLast();
    awaitGiven();
    assertWaits();
    endAtOnce();
    awaitEnd();
  }

  @Test
  void anEndAtOnceIsTriedThoughTheOneThatWasUnderWayHasFailed() throws Exception {
    atNextUpdate.set(
        () -> {
          takers.clear();
          endAtOnce();
          next.set(Next.NOT_APPLIED);
        });
    otherTakesTablets();
    endUnlessItIsTheLast();
    awaitEnd();
  }

  @Test
  void theDamagedRecordOfAnotherTabletDoesNotHoldUpTheEnd() throws Exception {
    TabletRecord whole = server.createTable(TableSchema.of("u", "f"));
    server.records().delete(whole);
    TabletRecord lower = tablet(whole, "00000000000000a1", RowRange.of("", "m"));
    TabletRecord upper =
        tablet(whole, "00000000000000a2", new RowRange(Bytes.of("m"), Bytes.EMPTY));
    server.take(lower);
    world.metadata.damage(upper.row());
    otherTakesTablets();
    endUnlessItIsTheLast();
    awaitGiven();
    otherTakesTheTablet();
    MiniStele.await("both are given away", () -> server.context.tablets().count() == 0);
    assertWaits();
    TabletRecord given =
        server.records().reader().read(lower.id().table(), lower.row()).orElseThrow();
    server.records().loaded(server.records().assign(given, OTHER));
    awaitEnd();
  }

  private TabletRecord tablet(TabletRecord of, String name, RowRange rows) {
    return world.metadata.put(world.metadata.fresh(new TabletId(of.id().table(), name), rows));
  }

  @Test
  void whatNobodyTakesForAWhileIsTakenBack() throws Exception {
    server.lifecycle.setDraining(true);
    Evacuation impatient = new Evacuation(server.context, server.lifecycle, Duration.ofMillis(50));
    assertFails(SteleException.Code.RETRY_LATER, () -> impatient.handOver(() -> true, () -> false));
    otherTakesTheTablet();
    impatient.handOver(() -> true, () -> false);
  }

  /** The server waits for others: it asks again and again who serves what it gave away. */
  private void assertWaits() throws Exception {
    int before = world.metadata.reads();
    MiniStele.await(
        "it asks, or has ended",
        () -> ended.getCount() == 0 || world.metadata.reads() > before + 2);
    assertThat(ended.getCount()).as("somebody does not serve what was given away").isEqualTo(1);
  }

  private void awaitEnd() throws Exception {
    MiniStele.await("the server has ended", () -> ended.getCount() == 0);
  }

  /** Waits until an attempt at the end has failed. */
  private void awaitFailedEnd() throws Exception {
    MiniStele.await("the end has failed", () -> failures.get() > 0 && !draining.isShuttingDown());
    awaitDrained(false);
  }

  /** Undoes what was asked for, as soon as that is possible: between two attempts. */
  private void awaitUndone() throws Exception {
    MiniStele.await(
        "an attempt has failed, and what was asked for is undone",
        () -> {
          try {
            if (failures.get() == 0) {
              return false;
            }
            draining.undo();
            return true;
          } catch (SteleException e) {
            assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED);
            return false;
          }
        });
    awaitDrained(false);
  }

  @Test
  void anEndOfWhichTheLockCouldNotBeToldIsTakenBack() throws Exception {
    next.set(Next.APPLIED_AND_LOST);
    assertThatThrownBy(draining::drainForShutdown).isInstanceOf(IOException.class);
    awaitDrained(false);
    assertThat(server.context.tablets().count()).isEqualTo(1);
  }

  @Test
  void aServerIsDrainedForItsEndOnlyOnce() throws Exception {
    draining.begin();
    draining.drainForShutdown();
    assertThat(server.context.tablets().count()).isZero();
    assertThat(draining.isShuttingDown()).isTrue();
    assertThatThrownBy(draining::drainForShutdown).isInstanceOf(SteleException.class);
    assertThat(draining.isShuttingDown()).isTrue();
  }

  /** Another server, which takes tablets. */
  private Lock startOther() throws IOException {
    return world
        .lockStore
        .connect()
        .tryLock(LockPaths.server(OTHER), info(false).encode())
        .orElseThrow();
  }

  /** Another server, which takes tablets according to the master, too. */
  private Lock otherTakesTablets() throws IOException {
    Lock other = startOther();
    takers.add(OTHER.toString());
    return other;
  }

  /** The server is asked to end. */
  private void endAtOnce() {
    draining.beginEnd(ended::countDown, false, Optional.empty());
  }

  /** The server is asked to end once another one takes tablets. */
  private void endUnlessItIsTheLast() {
    draining.beginEnd(ended::countDown, true, Optional.empty());
  }

  private void awaitEmpty() throws Exception {
    MiniStele.await("the server is empty", () -> server.context.tablets().count() == 0);
  }

  private void noFileCanBeWritten() {
    world.disk.inject(
        FaultInjector.always(
            Operation.CREATE,
            path -> path.getName().endsWith(".sst") && failures.incrementAndGet() > 0,
            new FaultInjector.Effect.Fail()));
  }

  /** Of the master. */
  private final ControlPlane plane =
      new ControlPlane() {
        @Override
        public <P, R> R call(Address to, Class<P> protocol, Duration timeout, Call<P, R> call)
            throws IOException {
          Object master =
              Proxy.newProxyInstance(
                  protocol.getClassLoader(),
                  new Class<?>[] {protocol},
                  (proxy, method, arguments) -> {
                    asked.incrementAndGet();
                    return TabletsChangedResponseProto.newBuilder()
                        .setTakers(TakersProto.newBuilder().addAllServerIds(takers))
                        .build();
                  });
          try {
            return call.on(protocol.cast(master));
          } catch (ServiceException e) {
            throw new IOException(e);
          }
        }

        @Override
        public void retain(Set<Address> servers) {}
      };
}
