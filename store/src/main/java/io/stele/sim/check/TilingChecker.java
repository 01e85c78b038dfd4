package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Whether the tablets of each table hold each row once. */
public final class TilingChecker {
  private TilingChecker() {}

  /**
   * What is wrong.
   *
   * @param tables the tables there are
   * @param records all records of METADATA at one moment, or while nothing splits, in any order;
   *     tentative ones may be among them
   */
  public static List<Violation> check(Set<TableId> tables, List<TabletRecordView> records) {
    Findings findings = new Findings("tiling");
    SortedMap<TableId, List<TabletRecordView>> byTable = new TreeMap<>();
    tables.forEach(table -> byTable.put(table, new ArrayList<>()));
    Set<TabletId> ids = new HashSet<>();
    for (TabletRecordView record : records) {
      if (!ids.add(record.id())) {
        findings.add("tablet " + record.id() + " has two records");
      }
      List<TabletRecordView> ofTable = byTable.get(record.id().table());
      if (ofTable == null) {
        findings.add("tablet " + record.id() + " is of a table that is not there");
      } else {
        ofTable.add(record);
      }
    }
    byTable.forEach((table, ofTable) -> checkTable(table, ofTable, findings));
    return findings.violations();
  }

  private static void checkTable(TableId table, List<TabletRecordView> records, Findings findings) {
    List<TabletRecordView> fixed =
        records.stream().filter(record -> !record.isTentative()).toList();
    List<TabletRecordView> tentative =
        records.stream().filter(TabletRecordView::isTentative).toList();
    List<TabletRecordView> valid = new ArrayList<>(fixed);
    // A valid one may make another one valid, below it.
    for (int i = 0; i < valid.size(); i++) {
      Bytes start = valid.get(i).rows().start();
      for (TabletRecordView lower : tentative) {
        if (!start.isEmpty() && lower.rows().end().equals(start) && !valid.contains(lower)) {
          valid.add(lower);
        }
      }
    }
    valid.sort(Comparator.comparing(record -> record.rows().start()));
    if (valid.isEmpty()) {
      findings.add("table " + table + " has no tablet");
      return;
    }
    Bytes reached = Bytes.EMPTY;
    boolean isComplete = false;
    for (TabletRecordView record : valid) {
      Bytes start = record.rows().start();
      if (isComplete || start.compareTo(reached) < 0) {
        findings.add(text(table, record) + " holds rows that the tablets before it hold too");
      } else if (start.compareTo(reached) > 0) {
        findings.add("nothing holds the rows from " + reached + " to " + text(table, record));
      }
      isComplete |= record.rows().end().isEmpty();
      if (record.rows().end().compareTo(reached) > 0) {
        reached = record.rows().end();
      }
    }
    if (!isComplete) {
      findings.add("nothing holds the rows of table " + table + " from " + reached + " on");
    }
  }

  private static String text(TableId table, TabletRecordView record) {
    return "tablet " + record.id().name() + " of table " + table + " with " + record.rows();
  }
}
