package io.stele.yarn;

/**
 * One component of a running application.
 *
 * @param id such as {@code tabletserver-1}; it stays through restarts
 * @param state {@code WAITING}, {@code ASKED} (of YARN), {@code STARTING}, {@code RUNNING}, {@code
 *     LOST} (it has lost its lock and must end; of a master: no master has the lock), {@code
 *     DRAINING} or {@code STOPPING}
 * @param container YARN's id of its container; empty while it has none
 * @param node the node it runs on; empty while it has none
 * @param restarts how often it ended unasked
 * @param note what it waits for, or how it last ended; empty when there is nothing to say
 * @param outdated whether it was started with an earlier version or configuration than would be
 *     used now
 * @param failures how often it ended by its own fault within the last minutes
 * @param lastExit how its last container ended that ended unasked, in one line; empty if none has
 *     or the ApplicationMaster is of an older version
 */
public record ComponentStatus(
    String id,
    String state,
    String container,
    String node,
    int restarts,
    String note,
    boolean outdated,
    int failures,
    String lastExit) {
  /** Whether it is one of the kind. */
  boolean isOf(ComponentKind kind) {
    return SlotId.parse(id).kind() == kind;
  }

  /** Whether its process has been started and is not being ended. */
  public boolean running() {
    return state.equals("RUNNING");
  }
}
