package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.impl.AMRMClientImpl;
import org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException;
import org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.util.Records;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What YARN's own client comes to send to a ResourceManager that refuses some asks. */
final class SeparatedAsksTest {
  private static final long MEMORY_MAX_MB = 4096;

  private final Picky resourceManager = new Picky();
  private final List<String> refusals = new ArrayList<>();
  private final Client client =
      new Client(
          new SeparatedAsks(resourceManager, (slot, reason) -> refusals.add(slot + " " + reason)));

  /** Takes heartbeats with asks that are not too large only. */
  private static final class Picky implements ApplicationMasterProtocol, Closeable {
    /** The slots asked for, one entry a heartbeat taken. */
    final List<Set<Long>> taken = new ArrayList<>();

    int refused;
    boolean withoutLabels;

    @Override
    public AllocateResponse allocate(AllocateRequest heartbeat) throws YarnException {
      for (ResourceRequest ask : heartbeat.getAskList()) {
        // As the real one does whether it asks for a container or takes such an ask back.
        if (ask.getCapability().getMemorySize() > MEMORY_MAX_MB) {
          refused++;
          throw new InvalidResourceRequestException("too large\n\tat its scheduler");
        }
        if (withoutLabels) {
          refused++;
          throw new InvalidLabelResourceRequestException("no such label");
        }
      }
      taken.add(
          heartbeat.getAskList().stream()
              .filter(ask -> ask.getNumContainers() > 0)
              .map(ResourceRequest::getAllocationRequestId)
              .collect(Collectors.toSet()));
      return AllocateResponse.newInstance(
          0, List.of(), List.of(), List.of(), Resource.newInstance(0, 0), null, 1, null, List.of());
    }

    @Override
    public RegisterApplicationMasterResponse registerApplicationMaster(
        RegisterApplicationMasterRequest request) {
      return Records.newRecord(RegisterApplicationMasterResponse.class);
    }

    @Override
    public FinishApplicationMasterResponse finishApplicationMaster(
        FinishApplicationMasterRequest request) {
      return FinishApplicationMasterResponse.newInstance(true);
    }

    @Override
    public void close() {}
  }

  private static final class Client extends AMRMClientImpl<ContainerRequest> {
    Client(ApplicationMasterProtocol protocol) {
      rmClient = protocol;
    }

    int unsent() {
      return ask.size();
    }
  }

  @BeforeEach
  void start() {
    client.init(new Configuration());
    client.start();
  }

  @AfterEach
  void stop() {
    client.stop();
  }

  private ContainerRequest ask(long slot, long memoryMb) {
    ContainerRequest request =
        ContainerRequest.newBuilder()
            .capability(Resource.newInstance(memoryMb, 1))
            .priority(Priority.newInstance(1))
            .allocationRequestId(slot)
            .build();
    client.addContainerRequest(request);
    return request;
  }

  private Set<Long> askedFor() {
    Set<Long> all = new HashSet<>();
    resourceManager.taken.forEach(all::addAll);
    return all;
  }

  @Test
  void goodAsksGoOutTogether() throws Exception {
    ask(1, 1024);
    ask(2, 1024);
    client.allocate(0);
    assertThat(resourceManager.taken).containsExactly(Set.of(1L, 2L));
    assertThat(refusals).isEmpty();
  }

  @Test
  void anAskThatIsRefusedIsDroppedAndAllOthersAreMade() throws Exception {
    ask(1, 1024);
    ask(2, 8192);
    ask(3, 1024);
    for (int i = 0; i < 3; i++) {
      client.allocate(0);
    }
    assertThat(refusals).containsExactly("2 too large");
    assertThat(askedFor()).containsExactlyInAnyOrder(1L, 3L);
    assertThat(client.unsent()).isZero();
  }

  @Test
  void aRefusedAskThatIsTakenBackDisturbsNothing() throws Exception {
    ContainerRequest tooLarge = ask(1, 8192);
    client.allocate(0);
    client.removeContainerRequest(tooLarge);
    client.allocate(0);
    client.allocate(0);
    assertThat(refusals).containsExactly("1 too large");
    assertThat(resourceManager.taken).as("each heartbeat succeeded").hasSize(3);
    assertThat(resourceManager.refused).as("twice the ask, twice its end").isEqualTo(4);
    ask(1, 1024);
    client.allocate(0);
    assertThat(askedFor()).containsExactly(1L);
  }

  @Test
  void anAskThatIsTakenBackBeforeItsTurnIsNotMade() throws Exception {
    ask(1, 8192);
    ask(2, 1024);
    ContainerRequest second = ask(3, 1024);
    client.allocate(0);
    assertThat(askedFor()).containsExactly(2L);
    client.removeContainerRequest(second);
    client.allocate(0);
    client.allocate(0);
    assertThat(askedFor()).containsExactly(2L);
  }

  @Test
  void whereAllAreRefusedEachIsReportedAndTheHeartbeatGoesOut() throws Exception {
    resourceManager.withoutLabels = true;
    ask(1, 1024);
    ask(2, 1024);
    client.allocate(0);
    assertThat(refusals).containsExactly("1 no such label", "2 no such label");
    assertThat(resourceManager.taken).containsExactly(Set.of());
  }
}
