package io.stele.model;

/**
 * Whose data a tablet holds. A server has a commit log, memory and threads for each kind, so that a
 * server full of user data can still write METADATA.
 */
public enum TabletKind {
  /** Tablets of users' tables. */
  USER("user"),
  /** The root tablet and METADATA's tablets. */
  SYSTEM("system");

  private final String name;

  TabletKind(String name) {
    this.name = name;
  }

  /** The kind of {@code tablet}. */
  public static TabletKind of(TabletId tablet) {
    return tablet.table().isSystem() ? SYSTEM : USER;
  }

  /**
   * Reads what {@link #toString()} wrote.
   *
   * @throws IllegalArgumentException for another name
   */
  public static TabletKind named(String name) {
    for (TabletKind kind : values()) {
      if (kind.name.equals(name)) {
        return kind;
      }
    }
    throw new IllegalArgumentException("a kind of tablet must be user or system, not " + name);
  }

  /** Its name in file names, messages and metrics: user or system. */
  @Override
  public String toString() {
    return name;
  }
}
