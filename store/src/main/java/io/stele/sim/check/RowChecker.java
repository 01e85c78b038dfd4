package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Row;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;

/**
 * Whether reads and scans saw whole and current rows, and scans all of them.
 *
 * <p>A row that is there has every column once, all with one value: one that somebody wrote to it,
 * and that was not replaced before the read or scan began. A scan gives rows of its range in
 * ascending order, each once, at most as many as its limit; a row that it leaves out may be absent
 * at some moment of the scan.
 */
public final class RowChecker {
  private final Set<Column> columns;
  private final SortedMap<Bytes, RowVersions> rows;
  private final Findings findings = new Findings("rows");

  private RowChecker(List<Call> calls, Set<Column> columns) {
    this.columns = columns;
    this.rows = RowVersions.of(calls);
  }

  /**
   * What is wrong with the {@link Action.Read}s and {@link Action.Scan}s, given the {@link
   * Action.Write}s and {@link Action.Delete}s.
   *
   * @param columns the columns in which a row keeps its value
   */
  public static List<Violation> check(List<Call> calls, Set<Column> columns) {
    RowChecker checker = new RowChecker(calls, columns);
    for (Call call : calls) {
      if (call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen) {
        if (call.action() instanceof Action.Read read) {
          checker.checkRead(call, read, seen);
        } else if (call.action() instanceof Action.Scan scan) {
          checker.checkScan(call, scan, seen);
        }
      }
    }
    return checker.findings.violations();
  }

  private void checkRead(Call call, Action.Read read, Result.Rows seen) {
    if (seen.rows().isEmpty()) {
      checkAbsent(call, read.row());
    }
    for (Row row : seen.rows()) {
      if (!row.key().equals(read.row())) {
        findings.add(call + " returned another row, " + row.key());
      }
      checkRow(call, row);
    }
  }

  private void checkScan(Call call, Action.Scan scan, Result.Rows seen) {
    List<Row> found = seen.rows();
    if (found.size() > scan.limit()) {
      findings.add(call + " returned more rows than its limit");
    }
    Set<Bytes> keys = new HashSet<>();
    for (int i = 0; i < found.size(); i++) {
      Row row = found.get(i);
      if (!keys.add(row.key())) {
        findings.add(call + " returned row " + row.key() + " twice");
      } else if (i > 0 && found.get(i - 1).key().compareTo(row.key()) > 0) {
        String order = " returned row " + row.key() + " after row " + found.get(i - 1).key();
        findings.add(call + order);
      }
      if (!scan.range().contains(row.key())) {
        findings.add(call + " returned row " + row.key() + ", which is not in its range");
      }
      checkRow(call, row);
    }
    boolean toTheEnd = seen.cutShort().isEmpty() && found.size() < scan.limit();
    for (Bytes key : rows.tailMap(scan.range().start()).keySet()) {
      boolean passed =
          toTheEnd || (!found.isEmpty() && key.compareTo(found.get(found.size() - 1).key()) < 0);
      if (!passed || !scan.range().isBeforeEnd(key)) {
        break;
      }
      if (!keys.contains(key)) {
        checkAbsent(call, key);
      }
    }
  }

  private void checkAbsent(Call call, Bytes key) {
    RowVersions versions = rows.get(key);
    if (versions != null) {
      versions
          .fault(Optional.empty(), call)
          .ifPresent(why -> findings.add(call + " did not return row " + key + ": it saw " + why));
    }
  }

  private void checkRow(Call call, Row row) {
    Set<Column> found = new HashSet<>();
    Set<Bytes> values = new HashSet<>();
    for (Cell cell : row.cells()) {
      found.add(new Column(cell.family(), cell.qualifier()));
      values.add(cell.value());
    }
    if (row.cells().size() != columns.size() || !found.equals(columns) || values.size() != 1) {
      findings.add(call + " returned a row that is not whole: " + row);
      return;
    }
    Optional<Bytes> value = Optional.of(row.cells().get(0).value());
    Optional<String> fault = rows.getOrDefault(row.key(), RowVersions.NONE).fault(value, call);
    fault.ifPresent(why -> findings.add(call + " saw in row " + row.key() + " " + why));
  }
}
