package io.stele.sim.workload;

import java.util.List;

/** The workloads there are, in sizes that suit half a minute and some eight clients. */
public final class Workloads {
  private static final int REGISTERS = 4;
  private static final int COUNTERS = 3;
  private static final int ATOMIC_ROWS = 6;
  private static final int NODES_MAX = 250;
  private static final int ROWS_MAX = 100;
  private static final int VALUE_BYTES = 500;

  private Workloads() {}

  /** All of them, each working at {@code pace} on a table of its name. */
  public static List<Workload> all(Pace pace) {
    return all(pace, "");
  }

  /** All of them, each working at {@code pace} on a table named {@code prefix} and its name. */
  public static List<Workload> all(Pace pace, String prefix) {
    return List.of(
        new Counters(prefix + "counters", COUNTERS, pace),
        new Registers(prefix + "registers", REGISTERS, pace),
        new LinkedLists(prefix + "lists", NODES_MAX, pace),
        new AtomicRows(prefix + "atomic", ATOMIC_ROWS, pace),
        new CompleteScans(prefix + "scans", ROWS_MAX, VALUE_BYTES, pace));
  }
}
