package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.log.FencedLog;
import io.stele.log.WholeFence;
import io.stele.metadata.Layout;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.sim.CrashableDisk;
import io.stele.sim.FaultInjector;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.Operation;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.Address;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class ServerWatchTest {
  private static final ServerId SERVER = new ServerId("host", 1, 1);
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration LEASE_AND_DRIFT = Duration.ofMillis(10_500);
  private static final Duration FIRST_LOCK = LEASE_AND_DRIFT.multipliedBy(10);
  private static final Duration MOMENT = Duration.ofMillis(100);

  private final Simulation simulation = new Simulation(1, 1_000_000);
  private final SimulatedProcess process = simulation.process("master");
  private final MemoryLockStore store = new MemoryLockStore();
  private final MemoryLockService locks = store.connect(process.pool("callbacks", 1));
  private final CrashableDisk disk = new CrashableDisk();
  private final FileSystem fs = disk.mount();
  private final Layout layout = new Layout(new Path("/stele"), "test");
  private final LoopSignal signal = new LoopSignal(process);
  private final StepGuard guard = new StepGuard(signal);
  private final DeadLogs logs =
      new DeadLogs(
          process,
          fs,
          layout,
          2,
          new LogSorting(
              process,
              fs,
              new MasterFixture().servers, // Sorts nothing here.
              signal,
              Long.MAX_VALUE));
  private final ServerWatch watch = watch();

  private ServerWatch watch() {
    return watch(locks);
  }

  private ServerWatch watch(LockService seen) {
    ServerLocks serverLocks = new ServerLocks(seen);
    Fences fences = new Fences(process, serverLocks, logs, new Recoveries(process), LEASE, signal);
    return new ServerWatch(process, serverLocks, fences, logs, signal, guard);
  }

  @Test
  void aServerThatHasNoLockAnyMoreIsFencedAtOnce() throws Exception {
    simulation.run(
        () -> {
          Lock lock = serverStarts();
          watch.refreshWithLogs();
          assertThat(watch.live()).containsOnlyKeys(SERVER);
          lock.release();
          watch.refresh();
          assertThat(watch.live()).isEmpty();
          assertThat(watch.fences().isFencing()).isTrue();
          sleep(MOMENT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
          assertThat(watch.fences().isFencing()).isFalse();
          assertThat(fs.exists(layout.logs(SERVER))).isFalse();
          assertThat(fs.exists(layout.recovery(SERVER))).isTrue();
        });
  }

  @Test
  void nothingIsReadWhileNoLockChanges() throws Exception {
    simulation.run(
        () -> {
          Lock lock = serverStarts();
          watch.refreshWithLogs();
          locks.disconnect();
          watch.refreshIfChanged(); // It would fail if it read anything.
          watch.locksChanged();
          assertThatThrownBy(() -> watch.refreshIfChanged()).isInstanceOf(IOException.class);
          lock.release();
          assertThat(watch.live()).containsOnlyKeys(SERVER);
          locks.reconnect();
          watch.refreshIfChanged();
          assertThat(watch.live()).isEmpty();
        });
  }

  @Test
  void aServerIsReadAgainOnceItIsHeardToGiveItsTabletsAway() throws Exception {
    simulation.run(
        () -> {
          Lock lock = serverStarts();
          watch.refreshWithLogs();
          ServerInfo takes = watch.live().get(SERVER);
          lock.update(takes.drained().encode());
          watch.heard(SERVER, false);
          watch.refreshIfChanged();
          assertThat(watch.live()).containsEntry(SERVER, takes);
          watch.heard(SERVER, true);
          watch.refreshIfChanged();
          assertThat(watch.live()).containsEntry(SERVER, takes.drained());
        });
  }

  private interface Before {
    void call(String method, String path) throws IOException;
  }

  /** The lock service, of which {@code before} may fail each call. */
  private LockService locks(Before before) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              before.call(method.getName(), arguments == null ? "" : arguments[0].toString());
              try {
                return method.invoke(locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aSuspicionThatCannotBeNotedIsGivenUpAndLeavesTheServerItsLock() throws Exception {
    LockService refusing =
        locks(
            (method, path) -> {
              if (method.equals("create")) {
                throw SteleException.refused("not here");
              }
            });
    ServerWatch other = watch(refusing);
    simulation.run(
        () -> {
          serverStarts();
          other.refreshWithLogs();
          assertThatThrownBy(() -> other.suspected(SERVER))
              .isInstanceOf(IOException.class)
              .hasMessageContaining(SERVER.toString())
              .hasStackTraceContaining("not here");
          assertThat(locks.read(LockPaths.server(SERVER))).isPresent();
        });
  }

  @Test
  void aServerThatIsSuspectedIsFencedOneLeaseAfterItsLockWasTaken() throws Exception {
    simulation.run(
        () -> {
          serverStarts();
          watch.refreshWithLogs();
          watch.suspected(SERVER);
          assertThat(locks.read(LockPaths.server(SERVER))).isEmpty();
          watch.refresh();
          sleep(LEASE_AND_DRIFT.minus(MOMENT));
          assertThat(watch.fences().fenced()).isEmpty();
          assertThat(watch.answering().leased()).containsExactly(SERVER);
          assertThat(fs.exists(layout.logs(SERVER))).isTrue();
          sleep(MOMENT.multipliedBy(2));
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
          assertThat(watch.answering().leased()).isEmpty();
          assertThat(locks.children(LockPaths.SUSPECTS)).isEmpty();
        });
  }

  /** Its configuration is a newer or an older one than the master's. */
  @Test
  void theLeaseThatASuspectHasIsWaitedForIfItIsLonger() throws Exception {
    simulation.run(
        () -> {
          serverStarts(LEASE.multipliedBy(5));
          watch.refreshWithLogs();
          watch.suspected(SERVER);
          watch.fences().close();
          ServerWatch next = watch();
          next.refreshWithLogs();
          sleep(LEASE_AND_DRIFT.multipliedBy(5).minus(MOMENT));
          assertThat(next.fences().fenced()).isEmpty();
          sleep(MOMENT.multipliedBy(2));
          assertThat(next.fences().fenced()).containsExactly(SERVER);
          assertThat(locks.children(LockPaths.SUSPECTS)).isEmpty();
        });
  }

  @Test
  void theLeaseOfASuspectIsNotedWhenItsLockIsFound() throws Exception {
    simulation.run(
        () -> {
          ServerLocks notes = new ServerLocks(locks);
          notes.suspect(SERVER);
          assertThat(notes.suspectsLease(SERVER)).isZero();
          serverStarts(LEASE);
          notes.suspect(SERVER);
          assertThat(notes.suspectsLease(SERVER)).isEqualTo(LEASE);
          notes.revoke(SERVER);
          notes.suspect(SERVER);
          assertThat(notes.suspectsLease(SERVER)).isEqualTo(LEASE);
        });
  }

  @Test
  void theNextMasterWaitsForTheLeaseOfASuspectToo() throws Exception {
    simulation.run(
        () -> {
          serverStarts();
          watch.refreshWithLogs();
          watch.suspected(SERVER);
          watch.fences().close();
          ServerWatch next = watch();
          next.refreshWithLogs();
          assertThat(next.answering().leased()).containsExactly(SERVER);
          next.named(SERVER);
          sleep(LEASE_AND_DRIFT.minus(MOMENT));
          assertThat(next.fences().fenced()).isEmpty();
          assertThat(next.answering().leased()).containsExactly(SERVER);
          sleep(MOMENT.multipliedBy(2));
          assertThat(next.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aServerNoMasterHasSeenIsFencedForItsLogDirectoryAlone() throws Exception {
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          watch.refresh();
          sleep(FIRST_LOCK.plus(MOMENT));
          assertThat(watch.fences().fenced()).isEmpty();
          watch.refreshWithLogs();
          sleep(FIRST_LOCK.plus(MOMENT));
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aServerThatARecordNamesIsFencedIfItHasNoLock() throws Exception {
    simulation.run(
        () -> {
          watch.named(SERVER);
          sleep(MOMENT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aRecordThatNamesAServerEndsTheWaitForItsFirstLock() throws Exception {
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          watch.refreshWithLogs();
          sleep(MOMENT);
          assertThat(watch.fences().fenced()).isEmpty();
          watch.named(SERVER);
          sleep(MOMENT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aServerThatDiedBeforeItsFirstLockHindersNobody() throws Exception {
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          watch.refreshWithLogs();
          sleep(MOMENT);
          assertThat(watch.answering().leased()).isEmpty();
          assertThat(watch.fences().isFencing()).isFalse();
          assertThat(watch.fences().fenced()).as("it may still start").isEmpty();
        });
  }

  /** A master that stood still renamed the log of a server that took its lock just then. */
  @Test
  void aFenceThatAnotherMasterBeganIsCompletedThoughTheServerHasItsLock() throws Exception {
    simulation.run(
        () -> {
          serverStarts();
          watch.refreshWithLogs();
          fs.mkdirs(layout.recovery(SERVER).getParent());
          fs.rename(layout.logs(SERVER), layout.recovery(SERVER));
          watch.refreshWithLogs();
          assertThat(watch.live()).isEmpty();
          assertThat(watch.answering().leased()).as("it has its lock").containsExactly(SERVER);
          sleep(MOMENT);
          assertThat(FencedLog.isListed(fs, layout.recovery(SERVER))).isTrue();
          assertThat(locks.read(LockPaths.server(SERVER))).isEmpty();
          assertThat(watch.fences().fenced()).as("its lease may be valid").isEmpty();
          assertThat(watch.answering().leased()).containsExactly(SERVER);
          sleep(LEASE_AND_DRIFT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
          assertThat(watch.answering().leased()).isEmpty();
        });
  }

  /** It has taken and closed the log, and not yet the lock. */
  @Test
  void aServerThatTookItsLockWhileAnotherMasterTookItsLogIsFenced() throws Exception {
    simulation.run(
        () -> {
          serverStarts();
          fs.mkdirs(layout.recovery(SERVER).getParent());
          WholeFence.fence(
              WholeFence.of(process, fs), layout.logs(SERVER), layout.recovery(SERVER));
          assertThat(FencedLog.isListed(fs, layout.recovery(SERVER))).isTrue();
          watch.refreshWithLogs();
          assertThat(watch.live()).isEmpty();
          sleep(MOMENT);
          assertThat(locks.read(LockPaths.server(SERVER))).isEmpty();
          sleep(LEASE_AND_DRIFT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aFenceThatAnotherMasterBeganWaitsForTheLeaseOfASuspect() throws Exception {
    simulation.run(
        () -> {
          serverStarts();
          watch.refreshWithLogs();
          watch.suspected(SERVER);
          watch.refresh();
          fs.mkdirs(layout.recovery(SERVER).getParent());
          fs.rename(layout.logs(SERVER), layout.recovery(SERVER));
          watch.refreshWithLogs();
          sleep(MOMENT);
          assertThat(FencedLog.isListed(fs, layout.recovery(SERVER))).isTrue();
          assertThat(watch.fences().fenced()).isEmpty();
          sleep(LEASE_AND_DRIFT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aServerThatWasJustStartingIsSpared() throws Exception {
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          watch.refreshWithLogs();
          sleep(LEASE.multipliedBy(5)); // It warms up, on a busy machine.
          assertThat(watch.fences().isFencing())
              .as("a server that starts hinders nobody")
              .isFalse();
          serverStarts();
          sleep(FIRST_LOCK);
          assertThat(watch.fences().fenced()).isEmpty();
          watch.refreshWithLogs();
          assertThat(watch.live()).containsOnlyKeys(SERVER);
          assertThat(watch.fences().isFencing()).isFalse();
          assertThat(fs.exists(layout.logs(SERVER))).isTrue();
        });
  }

  @Test
  void theLeaseOfASuspectCountsFromWhenItsLockWasTaken() throws Exception {
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          watch.refreshWithLogs();
          sleep(LEASE.dividedBy(2));
          serverStarts();
          watch.refreshWithLogs();
          sleep(LEASE.dividedBy(4));
          watch.suspected(SERVER);
          watch.refreshWithLogs();
          sleep(LEASE_AND_DRIFT.minus(MOMENT));
          assertThat(watch.fences().fenced()).isEmpty();
          assertThat(fs.exists(layout.logs(SERVER))).isTrue();
          sleep(MOMENT.multipliedBy(2));
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aServerThatTakesItsLockAfterItsLogIsGoneIsNotLiveAndIsFencedAfterAnotherLease()
      throws Exception {
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          watch.refreshWithLogs();
          noLogCanBeTaken();
          sleep(FIRST_LOCK.plus(MOMENT));
          serverStarts();
          watch.refreshWithLogs();
          assertThat(watch.live()).isEmpty();
          disk.heal();
          sleep(Duration.ofSeconds(3));
          assertThat(fs.exists(layout.logs(SERVER))).isFalse();
          assertThat(locks.read(LockPaths.server(SERVER))).isEmpty();
          assertThat(watch.fences().fenced()).isEmpty();
          sleep(LEASE_AND_DRIFT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  /** So that there is time between the log and the lock. */
  private void noLogCanBeTaken() {
    disk.inject(
        FaultInjector.always(Operation.RENAME, path -> true, new FaultInjector.Effect.Fail()));
  }

  @Test
  void aLateLockOfWhichItIsUnknownWhetherItCouldBeTakenIsWaitedForToo() throws Exception {
    boolean[] lost = new boolean[1];
    LockService losing =
        locks(
            (method, path) -> {
              if (method.equals("delete") && path.equals(LockPaths.server(SERVER)) && !lost[0]) {
                lost[0] = locks.delete(path, locks.read(path).orElseThrow().version());
                throw SteleException.outcomeUnknown("lost", null);
              }
            });
    ServerWatch other = watch(losing);
    simulation.run(
        () -> {
          fs.mkdirs(layout.logs(SERVER));
          other.refreshWithLogs();
          noLogCanBeTaken();
          sleep(FIRST_LOCK.plus(MOMENT));
          serverStarts();
          disk.heal();
          sleep(Duration.ofSeconds(6));
          assertThat(lost[0]).isTrue();
          assertThat(locks.read(LockPaths.server(SERVER))).isEmpty();
          assertThat(other.fences().fenced()).isEmpty();
          sleep(LEASE_AND_DRIFT);
          assertThat(other.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void anExitThatWasSeenTakesTheLockAndFencesAtOnce() throws Exception {
    simulation.run(
        () -> {
          serverStarts();
          watch.refreshWithLogs();
          watch.exited(SERVER);
          assertThat(locks.read(LockPaths.server(SERVER))).isEmpty();
          watch.refresh();
          sleep(MOMENT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void aSuspicionOfAServerThatIsFencedLeavesNoNote() throws Exception {
    simulation.run(
        () -> {
          watch.named(SERVER);
          sleep(MOMENT);
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
          watch.suspected(SERVER);
          assertThat(locks.children(LockPaths.SUSPECTS)).isEmpty();
        });
  }

  @Test
  void aStrayNodeAmongTheServersHidesNobody() throws Exception {
    simulation.run(
        () -> {
          locks.create(LockPaths.SERVERS + "/stray", Bytes.of("?"));
          locks.create(LockPaths.server(new ServerId("damaged", 1, 1)), Bytes.of("?"));
          serverStarts();
          watch.refreshWithLogs();
          assertThat(watch.live()).containsOnlyKeys(SERVER);
        });
  }

  private Lock serverStarts() throws IOException {
    return serverStarts(Duration.ZERO);
  }

  /** A server that writes to its log, which HDFS cannot close for minutes. */
  private Lock serverWrites() throws IOException {
    Lock lock = serverStarts();
    FSDataOutputStream out = disk.mount().create(new Path(layout.logs(SERVER), "user-1.log"));
    out.write(1);
    out.hflush();
    disk.recoverSlowly(() -> 0);
    watch.refreshWithLogs();
    return lock;
  }

  private boolean isListed() throws IOException {
    return FencedLog.isListed(fs, layout.recovery(SERVER));
  }

  private void anotherMasterRenamesTheLog() throws IOException {
    fs.mkdirs(layout.recovery(SERVER).getParent());
    fs.rename(layout.logs(SERVER), layout.recovery(SERVER));
    watch.refreshWithLogs();
  }

  @Test
  void nobodyWaitsForHdfsIfTheLeaseIsOver() throws Exception {
    simulation.run(
        () -> {
          serverWrites().release();
          watch.refresh();
          sleep(Duration.ofSeconds(5));
          assertThat(isListed()).as("HDFS may still close it").isFalse();
          sleep(Duration.ofSeconds(3));
          assertThat(isListed()).isTrue();
          assertThat(watch.fences().fenced()).containsExactly(SERVER);
        });
  }

  @Test
  void hdfsMustCloseTheLogOfAServerThatHasItsLock() throws Exception {
    simulation.run(
        () -> {
          Lock lock = serverWrites();
          anotherMasterRenamesTheLog();
          sleep(Duration.ofMinutes(1));
          assertThat(isListed()).isFalse();
          lock.release();
          sleep(Duration.ofSeconds(2));
          assertThat(isListed()).isTrue();
        });
  }

  @Test
  void hdfsMustCloseTheLogOfASuspectUntilItsLeaseIsOver() throws Exception {
    simulation.run(
        () -> {
          serverWrites();
          watch.suspected(SERVER);
          anotherMasterRenamesTheLog();
          sleep(LEASE);
          assertThat(isListed()).isFalse();
          sleep(LEASE_AND_DRIFT);
          assertThat(isListed()).isTrue();
        });
  }

  private Lock serverStarts(Duration lease) throws IOException {
    fs.mkdirs(layout.logs(SERVER));
    Address address = new Address("host", 1);
    ServerInfo info =
        new ServerInfo(address, address, Optional.empty(), Optional.empty(), false, lease);
    return store.connect(work -> {}).tryLock(LockPaths.server(SERVER), info.encode()).orElseThrow();
  }

  private void sleep(Duration time) throws InterruptedException {
    simulation.outside().sleep(time);
  }
}
