package io.stele.web;

/**
 * A number that a process exports to collectors.
 *
 * @param name such as {@code stele_tabletserver_memtable_bytes}; a counter's ends with {@code
 *     _total}
 * @param type how it changes
 * @param help what it counts, in a few words
 * @param value NaN if it is not known
 */
public record Metric(String name, Type type, String help, Number value) {
  private static final String COUNTER_SUFFIX = "_total";

  /** How a metric changes. */
  public enum Type {
    /** Up and down. */
    GAUGE,
    /** Only up, while the process runs. */
    COUNTER
  }

  public Metric {
    if (name.endsWith(COUNTER_SUFFIX) != (type == Type.COUNTER)) {
      throw new IllegalArgumentException(
          "the names of counters, and no others, end with " + COUNTER_SUFFIX + ": " + name);
    }
  }

  /** A number that goes up and down. */
  public static Metric gauge(String name, String help, Number value) {
    return new Metric(name, Type.GAUGE, help, value);
  }

  /** A number that only goes up while the process runs. */
  public static Metric counter(String name, String help, Number value) {
    return new Metric(name, Type.COUNTER, help, value);
  }
}
