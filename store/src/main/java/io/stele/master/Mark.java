package io.stele.master;

import io.stele.metadata.MetadataKeys;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The contents of all records, each read once. A file that a record named before that, and no
 * longer names, will never be named by any record again.
 *
 * @param tables the records of each table that is READY
 * @param partial the records of each table that is being created or dropped, or was while the
 *     others were read: some may be missing
 * @param hasOthers whether METADATA has tablets of tables without a node in the lock service, or
 *     damaged records that are of no known table: they may need any log and any file of a job
 */
record Mark(
    Map<TableId, List<TabletRecord>> tables,
    Map<TableId, List<TabletRecord>> partial,
    boolean hasOthers) {
  private static final Logger LOG = LoggerFactory.getLogger(Mark.class);
  private static final int READS_MAX = 3;

  /**
   * Paths of the SSTables that records name, including those that wait for the end of their job.
   */
  Set<String> neededFiles() {
    Set<String> needed = new HashSet<>();
    for (TabletRecord record : all()) {
      record.files().forEach(file -> needed.add(file.path()));
      for (Pending pending : record.pending()) {
        if (pending instanceof PendingFile waiting) {
          needed.add(waiting.file().path());
        }
      }
    }
    return needed;
  }

  /** Paths of the SSTables that tablets have dropped. */
  Set<String> droppedFiles() {
    Set<String> dropped = new HashSet<>();
    all().forEach(record -> dropped.addAll(record.dropped().keySet()));
    return dropped;
  }

  /** The jobs whose files wait. */
  Set<String> awaitedJobs() {
    Set<String> awaited = new HashSet<>();
    all().forEach(record -> record.pending().forEach(pending -> awaited.add(pending.job())));
    return awaited;
  }

  /** The servers whose logs are needed. */
  Set<ServerId> neededLogs() {
    Set<ServerId> needed = new HashSet<>();
    for (TabletRecord record : all()) {
      needed.addAll(record.logs());
      record.assignment().server().ifPresent(needed::add);
    }
    return needed;
  }

  private Iterable<TabletRecord> all() {
    return () ->
        Stream.concat(tables.values().stream(), partial.values().stream())
            .flatMap(List::stream)
            .iterator();
  }

  /** Reads all records; empty if some cannot be known now: then nothing may be deleted. */
  static Optional<Mark> read(TabletRecordReader records, Schemas schemas) throws IOException {
    Schemas.Listing listing = schemas.list();
    if (!listing.unread().isEmpty()) {
      LOG.error(
          "Nothing is deleted while these tables' nodes cannot be read, as the tables may need any"
              + " file: {}",
          listing.unread());
      return Optional.empty();
    }
    Map<TableId, List<TabletRecord>> tables = new TreeMap<>();
    Map<TableId, List<TabletRecord>> partial = new TreeMap<>();
    List<String> damaged = new ArrayList<>();
    List<TableId> ready = new ArrayList<>(List.of(TableId.ROOT, TableId.METADATA));
    for (StoredTable table : listing.tables()) {
      switch (table.state()) {
        case READY -> ready.add(table.id());
        case CREATING, DROPPING ->
            partial.put(table.id(), records.readUndamaged(table.id(), damaged::add));
      }
    }
    for (TableId table : ready) {
      Optional<List<TabletRecord>> whole = whole(records, table);
      if (whole.isPresent()) {
        tables.put(table, whole.get());
      } else if (!table.isSystem() && !isReady(schemas, table)) {
        LOG.info("Table {} is dropped just now: its own files stay for this sweep", table);
        partial.put(table, records.readUndamaged(table, damaged::add));
      } else {
        LOG.warn("This sweep deletes nothing, as table {} may need any file", table);
        return Optional.empty();
      }
    }
    Others others = others(records, schemas, listing.tables());
    for (TableId table : others.created()) {
      Optional<List<TabletRecord>> known =
          isReady(schemas, table)
              ? whole(records, table)
              : Optional.of(records.readUndamaged(table, damaged::add));
      if (known.isEmpty()) {
        LOG.warn("This sweep deletes nothing, as table {}, a new one, may need any file", table);
        return Optional.empty();
      }
      LOG.info("Table {} was created just now: its own files stay for this sweep", table);
      partial.put(table, known.get());
    }
    return Optional.of(new Mark(tables, partial, others.areLost() || !damaged.isEmpty()));
  }

  /**
   * Whether the table is READY still. A drop writes the table's node before it removes records, so
   * one that is READY after its records were read had all of them.
   */
  private static boolean isReady(Schemas schemas, TableId table) throws IOException {
    try {
      return schemas.table(table).filter(now -> now.state() == StoredTable.State.READY).isPresent();
    } catch (CorruptionException | NewerFormatException e) {
      LOG.error("The node of table {} cannot be decoded", table, e);
      return true; // Whatever is in it.
    }
  }

  /**
   * Tablets of tables that were not listed.
   *
   * @param created tables that have a node now. Nothing that was listed for deletion before them
   *     can be theirs, any more than of a table that is created after the mark
   * @param areLost whether there are others, or damaged records of no known table
   */
  private record Others(Set<TableId> created, boolean areLost) {}

  private static Others others(
      TabletRecordReader records, Schemas schemas, List<StoredTable> listed) throws IOException {
    List<RowRange> known =
        listed.stream()
            .map(table -> MetadataKeys.table(table.id()))
            .sorted(Comparator.comparing(RowRange::start))
            .toList();
    List<TabletRecord> others = new ArrayList<>();
    List<String> damaged = new ArrayList<>();
    Bytes next = Bytes.EMPTY;
    for (RowRange rows : known) {
      others.addAll(
          records.readUndamaged(new RowRange(next, rows.start()), Integer.MAX_VALUE, damaged::add));
      next = rows.end();
    }
    others.addAll(
        records.readUndamaged(new RowRange(next, Bytes.EMPTY), Integer.MAX_VALUE, damaged::add));
    Set<TableId> without = new TreeSet<>();
    others.forEach(other -> without.add(other.id().table()));
    Set<TableId> created = new TreeSet<>();
    Set<TableId> lost = new TreeSet<>();
    for (TableId table : without) {
      if (OrphanRecords.isThere(schemas, table)) {
        created.add(table);
      } else if (!records.readUndamaged(table, damage -> {}).stream()
          .allMatch(OrphanRecords::isUntouched)) {
        lost.add(table); // It was not created and dropped meanwhile.
      }
    }
    if (lost.isEmpty() && damaged.isEmpty()) {
      return new Others(created, false);
    }
    LOG.error(
        "METADATA has tablets of tables that have no node in ZooKeeper, {}, or damaged"
            + " records, {}: all logs and all files of jobs are kept",
        lost,
        damaged);
    return new Others(created, true);
  }

  /** The records of a table; empty if they are damaged or do not cover it exactly once. */
  private static Optional<List<TabletRecord>> whole(TabletRecordReader records, TableId table)
      throws IOException {
    try {
      for (int i = 0; i < READS_MAX; i++) {
        List<TabletRecord> all = records.readAll(table);
        if (TabletRecordReader.tile(all)) {
          return Optional.of(all);
        } // Otherwise it may have been split meanwhile.
      }
    } catch (CorruptionException | SteleException e) {
      LOG.error("The records of table {} cannot be read", table, e);
      return Optional.empty();
    }
    LOG.info("The tablets of table {} have a gap or overlap", table);
    return Optional.empty();
  }
}
