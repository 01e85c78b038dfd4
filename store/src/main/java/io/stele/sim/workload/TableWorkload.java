package io.stele.sim.workload;

import io.stele.model.Bytes;

/** A workload on one table. */
abstract class TableWorkload implements Workload {
  /** The name of the table. */
  final String table;

  /** How fast each client works. */
  final Pace pace;

  private final String name;
  private final String claim;

  TableWorkload(String name, String claim, String table, Pace pace) {
    this.name = name;
    this.claim = claim;
    this.table = table;
    this.pace = pace;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String table() {
    return table;
  }

  @Override
  public final String claim() {
    return claim;
  }

  /** The key of a row: in the order of the numbers, up to 9999. */
  static Bytes numberedRow(int number) {
    return Bytes.of(String.format("row-%04d", number));
  }
}
