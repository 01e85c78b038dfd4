package io.stele.yarn;

import io.stele.model.SteleException;

/** The kinds of processes that the ApplicationMaster keeps running. */
enum ComponentKind {
  MASTER("master", "io.stele.master.MasterMain", 1),
  TABLET_SERVER("tabletserver", "io.stele.tabletserver.TabletServerMain", 2);

  private final String id;
  private final String mainClass;
  private final int priority;

  ComponentKind(String id, String mainClass, int priority) {
    this.id = id;
    this.mainClass = mainClass;
    this.priority = priority;
  }

  /** The name that operators know. */
  String id() {
    return id;
  }

  /** The class whose {@code main} a container of this kind runs. */
  String mainClass() {
    return mainClass;
  }

  /** The YARN priority of its containers; lower goes first. */
  int priority() {
    return priority;
  }

  /** Whether a process of this kind can be asked to give its work away before it ends. */
  boolean drains() {
    return this == TABLET_SERVER;
  }

  static ComponentKind parse(String id) {
    for (ComponentKind kind : values()) {
      if (kind.id.equals(id)) {
        return kind;
      }
    }
    throw SteleException.refused(
        "unknown kind of process \""
            + id
            + "\" of the YARN application: use master or tabletserver");
  }
}
