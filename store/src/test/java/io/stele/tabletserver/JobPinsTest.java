package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.Pin;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.ReadRequest;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Pins of tablets on a server, for jobs that begin and end. */
class JobPinsTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");
  private static final Duration LEASE = Duration.ofMinutes(1);

  private final TestServer.World world = new TestServer.World();

  private static String begin(TestServer server) throws IOException {
    return server.jobs.begin(JobNodes.newRequest(SystemRuntime.INSTANCE), LEASE, Optional.empty());
  }

  private static List<String> pinned(TestServer server, HostedTablet hosted) throws IOException {
    return server.stored(hosted.id()).pins().stream().map(Pin::name).toList();
  }

  private static Bytes at(HostedTablet hosted, String pin) throws IOException {
    return hosted
        .tablet()
        .read(ReadRequest.of(RowQuery.row("a")).atPin(pin))
        .rows()
        .get(0)
        .value("f", "q")
        .orElseThrow();
  }

  @Test
  void aTabletIsPinnedOnRequestAndFreeWhenTheJobIsOver() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      Maintenance maintenance = server.maintenance();
      TestServer.put(hosted, "a", "before");
      String job = begin(server);
      String other = begin(server);
      assertThat(server.requested.pin(hosted, job)).isFalse();
      assertThat(server.requested.pin(hosted, other)).as("it waits, too").isFalse();
      server.minor.work();
      assertThat(server.requested.pin(hosted, job)).isTrue();
      assertThat(server.requested.pin(hosted, other)).isTrue();
      TestServer.put(hosted, "a", "after");
      assertThat(pinned(server, hosted)).containsExactlyInAnyOrder(job, other);
      assertThat(at(hosted, job)).isEqualTo(Bytes.of("before"));

      server.states.poll().join();
      maintenance.round();
      assertThat(server.minor.size()).as("both jobs are there").isZero();
      server.jobs.end(job);
      server.states.poll().join();
      maintenance.round();
      server.minor.work();
      assertThat(pinned(server, hosted)).containsExactly(other);
      assertThat(hosted.minor().free()).isEqualTo(1);
    }
  }

  /** The end of the pin is in METADATA, but the second change, without what it kept, is not. */
  @Test
  void whatOnlyAPinSawIsRemovedLaterIfItsEndFailsHalfWay() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      Maintenance maintenance = server.maintenance();
      TestServer.put(hosted, "a", "before");
      String job = begin(server);
      server.requested.pin(hosted, job);
      server.minor.work();
      hosted.tablet().pauseWrites().get(30, TimeUnit.SECONDS);
      hosted.tablet().clear(RowRange.ALL, ClearedRows.NONE.with(1, List.of(RowRange.ALL)));
      hosted.tablet().resumeWrites();
      assertThat(server.stored(hosted.id()).files()).anyMatch(FileRef::isCleared);
      server.jobs.end(job);
      server.states.poll().join();
      AtomicInteger updates = new AtomicInteger();
      world.metadata.before(
          update -> {
            if (updates.incrementAndGet() == 2) {
              throw SteleException.refused("for the test");
            }
          });
      maintenance.round();
      server.minor.work();
      assertThat(pinned(server, hosted)).isEmpty();
      assertThat(server.stored(hosted.id()).files()).anyMatch(FileRef::isCleared);

      server.lifecycle.unload(hosted, false); // Nothing of it rests where it is loaded next.
      HostedTablet again = server.take(server.stored(hosted.id()));
      assertThat(server.stored(again.id()).files()).anyMatch(FileRef::isCleared);
      maintenance.round();
      server.minor.work();
      assertThat(server.stored(again.id()).files()).isEmpty();
    }
  }

  @Test
  void aRequestThatComesAfterTheEndOfItsJobPinsNothing() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      Maintenance maintenance = server.maintenance();
      String job = begin(server);
      server.jobs.end(job);
      assertThat(server.requested.pin(hosted, job)).isFalse();
      server.minor.work();
      assertThat(server.requested.pin(hosted, job)).isFalse();
      assertThat(pinned(server, hosted)).isEmpty();
      assertThat(hosted.record().files()).as("it was never pinned").isEmpty();
    }
  }

  @Test
  void aJobThatEndsWhileItsPinIsMadeLeavesNone() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "a", "before");
      String job = begin(server);
      AtomicInteger reads = new AtomicInteger();
      LockService ending =
          (LockService)
              Proxy.newProxyInstance(
                  JobPinsTest.class.getClassLoader(),
                  new Class<?>[] {LockService.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("read") && reads.incrementAndGet() == 2) {
                      assertThat(JobPins.isPinned(hosted, job)).isTrue();
                      server.jobs.end(job);
                    }
                    try {
                      return method.invoke(server.locks, arguments);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  });
      new JobPins(new JobNodes(SystemRuntime.INSTANCE, ending), server.states).pin(hosted, job);
      assertThat(reads).hasValue(2);
      assertThat(pinned(server, hosted)).isEmpty();
      assertThat(hosted.tablet().pins()).isEmpty();
    }
  }

  @Test
  void thePinsOfAJobThatIsOverGoWhereverTheTabletIsLoadedNext() throws Exception {
    HostedTablet hosted;
    String job;
    try (TestServer server = new TestServer(world)) {
      hosted = server.takeNew(SCHEMA);
      job = begin(server);
      server.pins.pin(hosted, job);
      server.lifecycle.unload(hosted, false);
      server.jobs.end(job);
    }
    try (TestServer server = new TestServer(world)) {
      HostedTablet loaded = server.take(server.stored(hosted.id()));
      Maintenance maintenance = server.maintenance();
      assertThat(pinned(server, loaded)).containsExactly(job);
      server.states.poll().join();
      maintenance.round();
      server.minor.work();
      assertThat(pinned(server, loaded)).isEmpty();
    }
  }
}
