package io.stele.yarn;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps an ask that the ResourceManager refuses from hurting others. The ResourceManager takes all
 * asks of a heartbeat or none: for one that it refuses, it refuses the heartbeat, and says neither
 * whose ask it was nor which containers have ended. YARN's client would send the same again for
 * ever.
 *
 * <p>So after a refusal each slot's asks are sent alone, one slot a heartbeat. What is refused
 * alone is reported and dropped, and the heartbeat goes out without it. To the client it has
 * succeeded.
 *
 * <p>For one thread at a time, as heartbeats are.
 */
final class SeparatedAsks implements ApplicationMasterProtocol, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(SeparatedAsks.class);

  private final ApplicationMasterProtocol resourceManager;
  private final BiConsumer<Long, String> refusals;

  /** What is still to be sent alone, by the id that all asks of one slot have. */
  private final Map<Long, Set<ResourceRequest>> apart = new LinkedHashMap<>();

  /**
   * @param refusals hears the id of each slot whose asks are refused, and why
   */
  SeparatedAsks(ApplicationMasterProtocol resourceManager, BiConsumer<Long, String> refusals) {
    this.resourceManager = resourceManager;
    this.refusals = refusals;
  }

  @Override
  public AllocateResponse allocate(AllocateRequest heartbeat) throws YarnException, IOException {
    List<ResourceRequest> asks = List.copyOf(heartbeat.getAskList());
    if (apart.isEmpty()) {
      try {
        return resourceManager.allocate(heartbeat);
      } catch (InvalidResourceRequestException e) {
        LOG.info("The ResourceManager refuses some of {} asks: sending them apart", asks.size());
      }
    }
    asks.forEach(this::setApart);
    for (long slot : List.copyOf(apart.keySet())) {
      List<ResourceRequest> alone = new ArrayList<>(apart.getOrDefault(slot, Set.of()));
      heartbeat.setAskList(alone);
      try {
        AllocateResponse response = resourceManager.allocate(heartbeat);
        apart.remove(slot);
        return response;
      } catch (InvalidResourceRequestException e) {
        apart.remove(slot);
        // To take back what was refused is refused, too; nobody waits for that.
        if (alone.stream().anyMatch(ask -> ask.getNumContainers() > 0)) {
          refusals.accept(slot, firstLine(e));
        }
      }
    }
    heartbeat.setAskList(List.of());
    return resourceManager.allocate(heartbeat);
  }

  /** An ask takes the place of an earlier one of the same kind, whose number it corrects. */
  private void setApart(ResourceRequest ask) {
    Set<ResourceRequest> ofSlot =
        apart.computeIfAbsent(
            ask.getAllocationRequestId(),
            id -> new TreeSet<>(new ResourceRequest.ResourceRequestComparator()));
    ofSlot.remove(ask);
    ofSlot.add(ask);
  }

  /** The rest is the stack in the ResourceManager. */
  private static String firstLine(InvalidResourceRequestException e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }

  @Override
  public RegisterApplicationMasterResponse registerApplicationMaster(
      RegisterApplicationMasterRequest request) throws YarnException, IOException {
    apart.clear(); // The client sends all its asks again to a ResourceManager that is new to it.
    return resourceManager.registerApplicationMaster(request);
  }

  @Override
  public FinishApplicationMasterResponse finishApplicationMaster(
      FinishApplicationMasterRequest request) throws YarnException, IOException {
    return resourceManager.finishApplicationMaster(request);
  }

  @Override
  public void close() {
    RPC.stopProxy(resourceManager);
  }
}
