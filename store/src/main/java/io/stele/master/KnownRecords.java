package io.stele.master;

import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The records of the tables' tablets as the master's loop read them last, by their rows in
 * METADATA, and what servers have according to them.
 *
 * <p>For the loop alone.
 */
final class KnownRecords {
  private final TreeMap<Bytes, TabletRecord> records = new TreeMap<>();
  private final Loads loads = new Loads();

  /** What servers have. */
  Loads loads() {
    return loads;
  }

  /** By row. */
  Collection<TabletRecord> all() {
    return Collections.unmodifiableCollection(records.values());
  }

  /** A record is like this. */
  void put(TabletRecord record) {
    TabletRecord before = records.put(record.row(), record);
    if (before != null && !before.id().equals(record.id())) {
      loads.remove(before.id()); // It was split, or merged.
    }
    loads.put(record.id(), record.assignment(), record.fileBytes());
  }

  /** There is no record in this row. */
  void remove(Bytes row) {
    Optional.ofNullable(records.remove(row)).ifPresent(gone -> loads.remove(gone.id()));
  }

  /** These are all records in {@code rows}. */
  void replace(RowRange rows, List<TabletRecord> now) {
    Set<Bytes> there = new HashSet<>();
    now.forEach(record -> there.add(record.row()));
    records.keySet().stream()
        .filter(row -> rows.contains(row) && !there.contains(row))
        .toList()
        .forEach(this::remove);
    now.forEach(this::put);
  }
}
