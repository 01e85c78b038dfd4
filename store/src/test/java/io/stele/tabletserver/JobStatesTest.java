package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.record.Pending;
import io.stele.record.PendingReplacement;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a server knows of the jobs of its tablets. */
class JobStatesTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");

  private final TestServer.World world = new TestServer.World();

  private static String begin(TestServer server) throws IOException {
    return server.jobs.begin(
        JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofMinutes(1), Optional.empty());
  }

  /** Registers a change of a job, which then waits in the tablet. */
  private static String writer(TestServer server, HostedTablet hosted) throws IOException {
    String job = begin(server);
    List<Pending> change = List.of(new PendingReplacement(job, RowRange.single(Bytes.of("row"))));
    server.files.register(hosted, change);
    return job;
  }

  private static LockService unreachable() {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              throw new IOException("no lock service");
            });
  }

  @Test
  void aJobWhoseNodeCannotBeReadIsNotOver() throws Exception {
    try (TestServer server = new TestServer(world);
        JobStates blind =
            new JobStates(
                SystemRuntime.INSTANCE,
                server.context.tablets(),
                new JobNodes(SystemRuntime.INSTANCE, unreachable()))) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String writer = writer(server, hosted);
      server.jobs.end(writer);
      assertThatThrownBy(() -> blind.poll().join()).hasStackTraceContaining("no lock service");
      assertThat(blind.isOver(writer)).isFalse();
      assertThat(blind.anyOver()).isFalse();

      String reader = begin(server);
      server.pins.pin(hosted, reader);
      server.jobs.end(reader);
      assertThatThrownBy(() -> blind.poll().join()).hasStackTraceContaining("no lock service");
      assertThat(blind.anyOver()).isFalse();
      server.states.poll().join();
      assertThat(server.states.isGone(writer)).isTrue();
      assertThat(server.states.isGone(reader)).isTrue();
    }
  }

  @Test
  void aJobThatHasCommittedIsOverAndKeepsItsPinsUntilItsNodeIsGone() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      String job = writer(server, hosted);
      server.pins.pin(hosted, job);
      server.jobs.commit(job);
      server.states.poll().join();
      assertThat(server.files.hasEnded(hosted)).isTrue();
      assertThat(server.pins.hasEnded(hosted)).isFalse();

      server.jobs.remove(job, server.jobs.read(job).orElseThrow());
      server.states.poll().join();
      assertThat(server.pins.hasEnded(hosted)).isTrue();
    }
  }
}
