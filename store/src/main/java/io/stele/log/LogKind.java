package io.stele.log;

/**
 * Whose records a log holds. Root and METADATA tablets have a log of their own, so that a server
 * full of user data can still write METADATA.
 */
public enum LogKind {
  /** Tablets of users' tables. */
  USER("user"),
  /** The root tablet and METADATA's tablets. */
  META("meta");

  private final String prefix;

  LogKind(String prefix) {
    this.prefix = prefix;
  }

  /** How the names of this kind's segments begin. */
  String prefix() {
    return prefix;
  }
}
