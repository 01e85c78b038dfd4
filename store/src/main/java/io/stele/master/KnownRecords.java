package io.stele.master;

import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The tablets' records as the master's loop last read them, the tablets that each server has
 * according to them, and the records that the loop must look at. It is updated by changes. The cost
 * of each does not depend on the number of tablets, so no step of the loop looks at all of them.
 *
 * <p>Only for the loop, except for {@link #byId}.
 */
public final class KnownRecords {

  private final TreeMap<Bytes, TabletRecord> records = new TreeMap<>(); // The tables', by row.
  private final Map<TabletId, TabletRecord> system = new TreeMap<>();
  private final ConcurrentSkipListMap<TabletId, TabletRecord> byId = new ConcurrentSkipListMap<>();
  private final Map<TableId, Integer> tables = new TreeMap<>(); // How many tablets each has.
  private final Map<TabletId, TabletRecord> merging = new TreeMap<>();
  private final Set<TabletId> changed = new TreeSet<>();
  private final ServerLoads loads;
  private Set<TableId> hidden = Set.of();

  /** No records yet. */
  public KnownRecords() {
    this(new HostNumbers());
  }

  /**
   * No records yet.
   *
   * @param hosts the numbers that reports about tablets use
   */
  KnownRecords(HostNumbers hosts) {
    this.loads = new ServerLoads(hosts);
  }

  /** The loads of the servers. */
  public ServerLoads loads() {
    return loads;
  }

  /** The records of the tables' tablets, by row. */
  Collection<TabletRecord> all() {
    return Collections.unmodifiableCollection(records.values());
  }

  /**
   * All records except those of hidden tables, by tablet. It changes while the loop runs; any
   * thread may read it.
   */
  NavigableMap<TabletId, TabletRecord> byId() {
    return Collections.unmodifiableNavigableMap(byId);
  }

  /** The tables that have records. */
  Set<TableId> tables() {
    return Collections.unmodifiableSet(tables.keySet());
  }

  /** The lower tablets of merges that have begun, hidden or not. */
  Collection<TabletRecord> merging() {
    return Collections.unmodifiableCollection(merging.values());
  }

  /** Sets the records of the root tablet and METADATA's tablets. */
  public void system(TabletRecord root, List<TabletRecord> metadata) {
    Set<TabletId> there = new HashSet<>(Set.of(root.id()));
    metadata.forEach(record -> there.add(record.id()));
    system.keySet().stream().filter(id -> !there.contains(id)).forEach(byId::remove);
    system.keySet().retainAll(there);
    putSystem(root);
    metadata.forEach(this::putSystem);
  }

  private void putSystem(TabletRecord record) {
    note(record, Optional.ofNullable(system.put(record.id(), record)));
    byId.put(record.id(), record);
  }

  private void note(TabletRecord record, Optional<TabletRecord> before) {
    if (before.filter(old -> old.state().equals(record.state())).isEmpty()) {
      changed.add(record.id());
    }
  }

  /** The record of a table's tablet in this row. */
  Optional<TabletRecord> at(Bytes row) {
    return Optional.ofNullable(records.get(row));
  }

  /** Adds or replaces the record of a table's tablet. */
  public void put(TabletRecord record) {
    TabletId id = record.id();
    Optional<TabletRecord> before = Optional.ofNullable(records.put(record.row(), record));
    if (before.filter(old -> old.id().equals(id)).isEmpty()) {
      before.ifPresent(this::forget); // It was split, or merged.
      tables.merge(id.table(), 1, Integer::sum);
    }
    note(record, before);
    loads.put(id, record.assignment(), record.fileBytes());
    if (!hidden.contains(id.table())) {
      byId.put(id, record);
    }
    if (record.isMerging()) {
      merging.put(id, record);
    } else {
      merging.remove(id);
    }
  }

  /** Removes the record in this row, if there is one. */
  void remove(Bytes row) {
    Optional.ofNullable(records.remove(row)).ifPresent(this::forget);
  }

  private void forget(TabletRecord gone) {
    loads.remove(gone.id());
    byId.remove(gone.id());
    merging.remove(gone.id());
    changed.remove(gone.id());
    tables.computeIfPresent(gone.id().table(), (table, count) -> count > 1 ? count - 1 : null);
  }

  /** Replaces all records in {@code rows}. */
  void replace(RowRange rows, List<TabletRecord> now) {
    Set<Bytes> there = new HashSet<>();
    now.forEach(record -> there.add(record.row()));
    in(rows).keySet().stream().filter(row -> !there.contains(row)).toList().forEach(this::remove);
    now.forEach(this::put);
  }

  private Map<Bytes, TabletRecord> in(RowRange rows) {
    NavigableMap<Bytes, TabletRecord> from = records.tailMap(rows.start(), true);
    return rows.end().isEmpty() ? from : from.headMap(rows.end(), false);
  }

  /** Whether at most {@code few} records are in the rows from {@code from} to {@code to}. */
  boolean isFew(Bytes from, Bytes to, int few) {
    return from.compareTo(to) >= 0
        || records.subMap(from, true, to, false).keySet().stream().limit(few + 1L).count() <= few;
  }

  /** The records of a table's tablets, hidden or not. */
  List<TabletRecord> of(TableId table) {
    return List.copyOf(in(MetadataKeys.table(table)).values());
  }

  /** Hides exactly these tables: nothing is done about their tablets. */
  void hide(Set<TableId> now) {
    Set<TableId> before = hidden;
    hidden = Set.copyOf(now);
    now.stream().filter(table -> !before.contains(table)).forEach(this::leaveOut);
    before.stream()
        .filter(table -> !now.contains(table))
        .flatMap(table -> of(table).stream())
        .forEach(record -> byId.put(record.id(), record));
  }

  /** The hidden tables. */
  Set<TableId> hidden() {
    return hidden;
  }

  private void leaveOut(TableId table) {
    of(table).forEach(record -> byId.remove(record.id()));
  }

  /** The servers that records name as having a tablet, or as the target of an assignment. */
  Set<ServerId> servers() {
    Set<ServerId> servers = new TreeSet<>(loads.servers());
    system.values().forEach(record -> record.assignment().server().ifPresent(servers::add));
    return servers;
  }

  /**
   * The tablets that {@code server} has according to their records, except those of hidden tables.
   */
  List<TabletRecord> on(ServerId server) {
    List<TabletRecord> all = new ArrayList<>();
    system.values().stream().filter(record -> record.assignment().isTo(server)).forEach(all::add);
    loads
        .server(server)
        .ifPresent(one -> one.tablets().forEach(tablet -> find(tablet.id()).ifPresent(all::add)));
    return all;
  }

  private Optional<TabletRecord> find(TabletId tablet) {
    return Optional.ofNullable(byId.get(tablet));
  }

  /**
   * The tablets that may need an action: root, METADATA, and all that are not served by a live
   * server, belong to a table that is being dropped, or are {@code wanted} for another reason.
   */
  public Map<TabletId, TabletRecord> open(
      Set<ServerId> live, Set<TableId> dropping, Collection<TabletId> wanted) {
    Map<TabletId, TabletRecord> open = new TreeMap<>(system);
    Set<TabletId> ids = new HashSet<>(wanted);
    ids.addAll(loads.away());
    ids.forEach(id -> find(id).ifPresent(record -> open.put(id, record)));
    for (ServerId server : loads.servers()) {
      if (!live.contains(server)) {
        on(server).forEach(record -> open.put(record.id(), record));
      }
    }
    for (TableId table : dropping) {
      of(table, byId).forEach(record -> open.put(record.id(), record));
    }
    return open;
  }

  /** The tablets of a table among {@code tablets}. */
  static Collection<TabletRecord> of(TableId table, NavigableMap<TabletId, TabletRecord> tablets) {
    return tablets.tailMap(TabletId.least(table), true).values().stream()
        .takeWhile(record -> record.id().table().equals(table))
        .toList();
  }

  /** The records whose assignment changed since the last call. */
  List<TabletRecord> takeChanged() {
    List<TabletRecord> taken = changed.stream().flatMap(id -> find(id).stream()).toList();
    changed.clear();
    return taken;
  }
}
