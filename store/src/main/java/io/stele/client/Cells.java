package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The cells of one row of any size, in order, fetched on demand, all at one read point.
 *
 * <p>Servers can read at a read point only for a limited time. After that {@link #read} fails with
 * RETRY_LATER, and the row must be read again from the start.
 *
 * <p>Not safe for use by several threads at once.
 */
public final class Cells implements Closeable {
  private final Tablets tablets;
  private final TableRef table;
  private final RowQuery query;
  private Iterator<Cell> part = List.<Cell>of().iterator();
  private Scan scan;
  private boolean begun;
  private boolean closed;

  Cells(Tablets tablets, TableRef table, Bytes row, RowQuery query, long rowBytesMax) {
    this.tablets = tablets;
    this.table = table;
    this.query = query.withRanges(List.of(RowRange.single(row))).limit(1);
    this.scan = Scan.unbounded(this.query, rowBytesMax);
  }

  /**
   * The next cell, or none when all have been read.
   *
   * @throws RowChangedException if the row can no longer be read as it was
   * @throws SteleException RETRY_LATER if no server could answer in time, or no cell was found in
   *     that time although much was read (another call continues where this one stopped);
   *     CORRUPTION if the data is damaged
   * @throws IOException if the thread was interrupted
   * @throws IllegalStateException if the read was closed
   */
  public Optional<Cell> read() throws IOException {
    if (closed) {
      throw new IllegalStateException("this read of cells was closed");
    }
    Deadline deadline = table.deadline();
    while (!part.hasNext() && !scan.isDone()) {
      Scan.Page page = table.awaitRead(scan.read(tablets, table, query, deadline));
      if (begun && page.restarted()) {
        throw new RowChangedException(table.name(), query.ranges().get(0).start());
      }
      List<Cell> cells = new ArrayList<>();
      for (Row row : page.rows()) {
        cells.addAll(row.cells());
      }
      cells.addAll(page.next().part().cells());
      scan = page.next().withoutCells();
      begun |= !cells.isEmpty();
      part = cells.iterator();
    }
    return part.hasNext() ? Optional.of(part.next()) : Optional.empty();
  }

  /** Ends the read. */
  @Override
  public void close() {
    closed = true;
    part = List.<Cell>of().iterator();
    scan = scan.withoutCells();
  }
}
