package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Settled;
import io.stele.model.TableSchema;
import io.stele.model.TaskProgress;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.OperationResult;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What tablets of a server remember for the tasks of jobs that begin and end. */
class JobTasksTest {
  private final TestServer.World world = new TestServer.World();

  private static CompletableFuture<OperationResult> increment(
      HostedTablet hosted, String job, long number) {
    return hosted
        .tablet()
        .apply(
            new OperationRequest(
                ReadModifyWrite.increment(Bytes.of("row"), "f", Bytes.of("q"), 1),
                Optional.of(new OperationId(1, 2, number)),
                new Outstanding(
                    1,
                    Optional.empty(),
                    Optional.of(new TaskProgress(Optional.of(job), new Settled(number, number)))),
                Durability.HFLUSH));
  }

  @Test
  void aTabletRemembersWhatTasksWroteUntilTheirJobIsOver() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(TableSchema.of("t", "f"));
      JobTasks tasks = new JobTasks(server.states);
      String job =
          server.jobs.begin(
              JobNodes.newRequest(SystemRuntime.INSTANCE), Duration.ofMinutes(1), Optional.empty());
      assertThatThrownBy(() -> increment(hosted, job, 1).join())
          .hasMessageContaining("must be found out first");
      tasks.admit(hosted, job).join();
      increment(hosted, job, 1).join();
      increment(hosted, job, 2).join();
      server.states.poll().join();
      tasks.forgetEnded(hosted);
      assertThat(hosted.tablet().jobs().all()).containsExactly(job);
      assertThat(increment(hosted, job, 1).join().settled()).contains(new Settled(2, 2));

      server.jobs.end(job);
      server.states.poll().join();
      tasks.forgetEnded(hosted);
      assertThat(hosted.tablet().jobs().all()).isEmpty();
      assertThatThrownBy(() -> increment(hosted, job, 1).join())
          .hasMessageContaining("must be found out first");
      assertThatThrownBy(() -> tasks.admit(hosted, job).join()).hasMessageContaining("is over");
    }
  }
}
