package io.stele.sim.workload;

import java.util.List;

/** The workloads there are, in sizes that suit some eight clients. */
public final class Workloads {
  private static final int REGISTERS = 4;
  private static final int COUNTERS = 3;
  private static final int ATOMIC_ROWS = 6;
  private static final int NODES_MAX = 250; // As many as are appended in half a minute.
  private static final int NODES_MAX_LONG = 20_000;
  private static final int ROWS_MAX = 100;
  private static final int VALUE_BYTES = 500;

  private Workloads() {}

  /** All of them for half a minute, each working at {@code pace} on a table of its name. */
  public static List<Workload> all(Pace pace) {
    return all(pace, "", NODES_MAX);
  }

  /**
   * All of them for as long as it takes, each working at {@code pace} on a table named {@code
   * prefix} and its name.
   */
  public static List<Workload> all(Pace pace, String prefix) {
    return all(pace, prefix, NODES_MAX_LONG);
  }

  private static List<Workload> all(Pace pace, String prefix, int nodesMax) {
    return List.of(
        new Counters(prefix + "counters", COUNTERS, pace),
        new Registers(prefix + "registers", REGISTERS, pace),
        new LinkedLists(prefix + "lists", nodesMax, pace),
        new AtomicRows(prefix + "atomic", ATOMIC_ROWS, pace),
        new CompleteScans(prefix + "scans", ROWS_MAX, VALUE_BYTES, pace));
  }
}
