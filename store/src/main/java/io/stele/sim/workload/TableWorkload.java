package io.stele.sim.workload;

import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.LocalityGroup;

/** A workload on one table. */
abstract class TableWorkload implements Workload {
  /**
   * For tables whose rows are read from files each time: much may happen between the read of a
   * conditional change and its place among the changes.
   */
  static final LocalityGroup UNCACHED =
      LocalityGroup.of(LocalityGroup.DEFAULT_NAME).withCachePriority(CachePriority.LOW);

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

  /** Reads all rows of the table, unless the workload reads back something else. */
  @Override
  public void readBack(WorkloadContext context) throws InterruptedException {
    RecordedTable.readBackAll(context, table);
  }

  /** The key of a row: in the order of the numbers, up to 9999. */
  static Bytes numberedRow(int number) {
    return Bytes.of(String.format("row-%04d", number));
  }
}
