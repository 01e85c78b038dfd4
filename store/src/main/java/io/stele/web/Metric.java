package io.stele.web;

import java.util.List;

/**
 * What a process exports to collectors under one name.
 *
 * @param name such as {@code stele_tabletserver_memtable_bytes}; a counter's ends with {@code
 *     _total}
 * @param type how it changes
 * @param help what it counts, in a few words
 * @param samples its numbers: one, except for a histogram
 */
public record Metric(String name, Type type, String help, List<Sample> samples) {
  private static final String COUNTER_SUFFIX = "_total";

  /** How a metric changes. */
  public enum Type {
    /** Up and down. */
    GAUGE,
    /** Only up, while the process runs. */
    COUNTER,
    /** Only up, in all its buckets. */
    HISTOGRAM
  }

  /**
   * A number of a metric.
   *
   * @param suffix of the metric's name; mostly empty
   * @param value NaN if it is not known
   */
  public record Sample(String suffix, Number value) {}

  public Metric {
    if (name.endsWith(COUNTER_SUFFIX) != (type == Type.COUNTER)) {
      throw new IllegalArgumentException(
          "the names of counters, and no others, end with " + COUNTER_SUFFIX + ": " + name);
    }
  }

  /** A number that goes up and down. */
  public static Metric gauge(String name, String help, Number value) {
    return new Metric(name, Type.GAUGE, help, List.of(new Sample("", value)));
  }

  /** A number that only goes up while the process runs. */
  public static Metric counter(String name, String help, Number value) {
    return new Metric(name, Type.COUNTER, help, List.of(new Sample("", value)));
  }

  /**
   * How long something took.
   *
   * @param name ends with the unit, {@code _seconds}
   */
  public static Metric histogram(String name, String help, TimeHistogram times) {
    return new Metric(name, Type.HISTOGRAM, help, times.samples());
  }
}
