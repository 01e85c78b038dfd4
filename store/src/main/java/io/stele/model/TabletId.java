package io.stele.model;

import java.util.random.RandomGenerator;

/**
 * The name of one tablet, for as long as the cluster lives: a tablet keeps it through moves and
 * gives it up when it splits.
 *
 * @param table the table it is a part of
 * @param name 16 hex digits
 */
public record TabletId(TableId table, String name) implements Comparable<TabletId> {
  private static final int LENGTH = 16;
  private static final String LEAST_NAME = "0".repeat(LENGTH);

  /** The root tablet, which is never split. */
  public static final TabletId ROOT = least(TableId.ROOT);

  public TabletId {
    if (!isName(name)) {
      throw new IllegalArgumentException(
          "a tablet's name must be 16 hex digits, not \"" + name + "\"");
    }
  }

  // Each request names a tablet: no regular expression here.
  private static boolean isName(String name) {
    for (int i = 0; i < name.length(); i++) {
      char one = name.charAt(i);
      if ((one < '0' || one > '9') && (one < 'a' || one > 'f')) {
        return false;
      }
    }
    return name.length() == LENGTH;
  }

  /** No tablet of {@code table} comes before this one. */
  public static TabletId least(TableId table) {
    return new TabletId(table, LEAST_NAME);
  }

  /** A new name in {@code table}. */
  public static TabletId random(TableId table, RandomGenerator random) {
    return new TabletId(table, String.format("%016x", random.nextLong()));
  }

  /** Reads what {@link #toString()} wrote. */
  public static TabletId parse(String text) {
    int slash = text.indexOf('/');
    if (slash < 0) {
      throw new IllegalArgumentException(
          "a tablet id must be <table id>/<name>, not \"" + text + "\"");
    }
    return new TabletId(new TableId(text.substring(0, slash)), text.substring(slash + 1));
  }

  @Override
  public int compareTo(TabletId other) {
    int byTable = table.compareTo(other.table);
    return byTable != 0 ? byTable : name.compareTo(other.name);
  }

  @Override
  public String toString() {
    return table + "/" + name;
  }
}
