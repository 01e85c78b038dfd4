package io.stele.yarn;

import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/**
 * An application of ours as YARN and its ApplicationMaster see it.
 *
 * @param id YARN's id of it
 * @param name {@code stele-} and the cluster's name
 * @param state YARN's word: {@code ACCEPTED}, {@code RUNNING}, {@code FINISHED}, {@code FAILED},
 *     {@code KILLED}
 * @param trackingUrl its page; empty while it has none
 * @param diagnostics what YARN says of it; often empty
 * @param reachable whether the ApplicationMaster answered; it may be restarting, which the
 *     components do not notice
 * @param stopping whether it ends everything, as it was asked to
 * @param notDrained how many tablet servers ended, since then, without having given their tablets
 *     away
 * @param deployment the files that processes are started with from now on; empty unless reachable,
 *     and where the ApplicationMaster is of an older version
 * @param components what runs; empty unless reachable
 */
public record ApplicationStatus(
    ApplicationId id,
    String name,
    String state,
    String trackingUrl,
    String diagnostics,
    boolean reachable,
    boolean stopping,
    int notDrained,
    String deployment,
    List<ComponentStatus> components) {
  public ApplicationStatus {
    components = List.copyOf(components);
  }

  /**
   * Why its ApplicationMaster does not answer, and what that means for its servers, for people.
   *
   * @param begun whether an ApplicationMaster of it has run
   */
  public String unanswered(boolean begun) {
    return begun
        ? "The ApplicationMaster does not answer. It may be restarting; the servers keep running"
            + " without it."
        : "No server runs yet: " + withoutMaster() + ".";
  }

  /** What it waits for before its first ApplicationMaster runs. */
  String withoutMaster() {
    String words = diagnostics.strip();
    String reason = words.isEmpty() ? "" : " (" + words + ")";
    return YarnApplicationState.valueOf(state) == YarnApplicationState.ACCEPTED
        ? "YARN has given no container to the ApplicationMaster"
            + reason
            + "; the queue may be full, or yarn.scheduler.capacity.maximum-am-resource-percent too"
            + " small"
        : "YARN has not accepted the application" + reason;
  }

  /** Whether it has not ended. */
  boolean alive() {
    return ClusterApplications.ALIVE.contains(YarnApplicationState.valueOf(state));
  }

  /** The components of the kind. */
  List<ComponentStatus> of(ComponentKind kind) {
    return components.stream().filter(one -> one.isOf(kind)).toList();
  }

  /** Whether every component runs. */
  public boolean complete() {
    return reachable
        && !stopping
        && !components.isEmpty()
        && components.stream().allMatch(ComponentStatus::running);
  }
}
