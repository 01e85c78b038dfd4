package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.Task;
import io.stele.wire.application.ApplicationProtos.ComponentProto;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Processes of another deployment take the place of those that run, on virtual time. */
final class DeploymentTest extends ApplicationMasterFixture {
  @Test
  void anUpgradeGoesOnInTheNextAttemptAndTakesMastersLast() throws Exception {
    Deployment next = new Deployment(hadoopPath("/new.zip"), hadoopPath("/conf.xml"));
    simulation.run(
        () -> {
          Task first = attempt();
          calls();
          CompletableFuture<Void> refused = master.deploy(FakeYarn.UNUSABLE);
          process.sleep(A_WHILE);
          assertThat(refused).isCompletedExceptionally();
          assertThat(outdated()).isEmpty();
          assertThat(Deployment.of(master.status().getDeployment())).isEqualTo(FakeYarn.SUBMITTED);
          CompletableFuture<Void> deployed = master.deploy(next);
          process.sleep(A_WHILE);
          assertThat(deployed).isCompleted();
          assertThat(Deployment.of(master.status().getDeployment())).isEqualTo(next);
          assertThat(calls()).as("tablet servers end only if they are asked to").isEmpty();
          assertThat(outdated()).containsExactly("master-1", "tabletserver-1", "tabletserver-2");
          yarn.end("tabletserver-1", 0);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsExactlyInAnyOrder(
                  "exited tabletserver-1",
                  "request tabletserver-1",
                  "start tabletserver-1 upgraded");
          assertThat(restarts("tabletserver-1")).as("it was asked to end").isZero();

          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          attempt();
          assertThat(outdated()).containsExactly("master-1", "tabletserver-2");
          master.deploy(next); // Again.
          process.sleep(A_WHILE);
          assertThat(outdated()).containsExactly("master-1", "tabletserver-2");
          calls();
          yarn.end("tabletserver-2", 0);
          process.sleep(A_WHILE);
          process.sleep(A_WHILE);
          List<String> calls = calls();
          assertThat(calls)
              .containsExactlyInAnyOrder(
                  "exited tabletserver-2",
                  "request tabletserver-2",
                  "start tabletserver-2 upgraded",
                  "stop master-1",
                  "exited master-1",
                  "request master-1",
                  "start master-1 upgraded")
              .containsSubsequence(
                  "start tabletserver-2 upgraded", "stop master-1", "start master-1 upgraded");
          assertThat(outdated()).isEmpty();
        });
  }

  private static org.apache.hadoop.fs.Path hadoopPath(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  private List<String> outdated() {
    return master.status().getComponentsList().stream()
        .filter(ComponentProto::getOutdated)
        .map(ComponentProto::getId)
        .toList();
  }
}
