package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.Layout;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.runtime.ProcessRuntime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what no record needs: SSTables by mark and sweep, and the logs of fenced servers.
 *
 * <p>For each table it lists the files, then reads the records (the mark), then deletes of the
 * files listed those that no record has and that were either recorded as dropped, longer ago than
 * the grace, or are orphans of an epoch that is over. A mark whose tablets do not cover the table
 * once was made while a split went on and is void. What was dropped is deleted by its name, listed
 * or not, before its record forgets it.
 *
 * <p>Safe for use by any number of threads: one sweep at a time.
 */
final class Sweeper {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

  private final TabletRecords records;
  private final Schemas schemas;
  private final FileSystem fs;
  private final Layout layout;
  private final Duration grace;
  private final InstantSource clock;
  private final Lock sweeping;

  Sweeper(
      ProcessRuntime runtime,
      TabletRecords records,
      Schemas schemas,
      FileSystem fs,
      Layout layout,
      Duration grace) {
    this.records = records;
    this.schemas = schemas;
    this.fs = fs;
    this.layout = layout;
    this.grace = grace;
    this.clock = runtime.wallClock();
    this.sweeping = runtime.newLock();
  }

  /**
   * Sweeps once.
   *
   * @return how many files and log directories it deleted
   */
  int sweep() throws IOException {
    sweeping.lock();
    try {
      return sweepAll();
    } finally {
      sweeping.unlock();
    }
  }

  private int sweepAll() throws IOException {
    List<Path> fencedLogs = list(layout.recovery()).stream().map(FileStatus::getPath).toList();
    List<TableId> tables = new ArrayList<>(List.of(TableId.ROOT, TableId.METADATA));
    Schemas.Listing listing = schemas.list();
    boolean settled = listing.damaged().isEmpty();
    for (StoredTable table : listing.tables()) {
      if (table.state() == StoredTable.State.READY) {
        tables.add(table.id());
      } else {
        settled = false; // Its records may come and go while they are read.
      }
    }
    int deleted = 0;
    Set<ServerId> named = new HashSet<>();
    for (TableId table : tables) {
      List<FileStatus> files = files(table);
      List<TabletRecord> mark;
      try {
        mark = records.readAll(table);
      } catch (CorruptionException e) {
        LOG.error("Table {} is not swept, nor are logs", table, e);
        settled = false;
        continue;
      }
      if (!TabletRecords.tile(mark)) {
        LOG.info("Table {} was split while it was swept: next time, then", table);
        settled = false;
        continue;
      }
      for (TabletRecord record : mark) {
        named.addAll(record.logs());
        record.assignment().server().ifPresent(named::add);
      }
      deleted += sweep(mark, files);
    }
    return settled ? deleted + sweepLogs(fencedLogs, named) : deleted;
  }

  private int sweep(List<TabletRecord> mark, List<FileStatus> files) throws IOException {
    Set<String> needed = new HashSet<>();
    Map<String, Long> dropped = new TreeMap<>();
    Map<String, TabletRecord> tablets = new HashMap<>();
    for (TabletRecord record : mark) {
      record.files().stream().map(FileRef::path).forEach(needed::add);
      record.dropped().forEach((path, millis) -> dropped.merge(path, millis, Math::max));
      tablets.put(record.id().name(), record);
    }
    long before = clock.millis() - grace.toMillis();
    int deleted = 0;
    Set<String> gone = new HashSet<>();
    for (Map.Entry<String, Long> file : dropped.entrySet()) {
      if (file.getValue() <= before && !needed.contains(file.getKey())) {
        // Whether it was listed or not: it may have come after the listing.
        deleted += delete(layout.resolve(file.getKey())) ? 1 : 0;
        gone.add(file.getKey());
      }
    }
    for (FileStatus file : files) {
      String path = relative(file.getPath());
      boolean named = needed.contains(path) || dropped.containsKey(path);
      if (!named
          && file.getModificationTime() <= before
          && isOrphan(file.getPath(), tablets)
          && delete(file.getPath())) {
        deleted++;
      }
    }
    for (TabletRecord record : mark) {
      List<String> forgotten = record.dropped().keySet().stream().filter(gone::contains).toList();
      if (!forgotten.isEmpty()) {
        forget(record, forgotten);
      }
    }
    return deleted;
  }

  private boolean delete(Path file) throws IOException {
    boolean deleted = fs.delete(file, false);
    if (deleted) {
      LOG.info("Deleted {}, which no tablet needs any more", file);
    }
    return deleted;
  }

  private void forget(TabletRecord record, List<String> gone) throws IOException {
    try {
      records.forgetDropped(record, gone);
    } catch (RecordChangedException e) {
      LOG.debug("{} was changed meanwhile: next time, then", record, e);
    }
  }

  /** Whether a file that no record names can never be named by one any more. */
  private static boolean isOrphan(Path file, Map<String, TabletRecord> tablets) {
    TabletRecord tablet = tablets.get(file.getParent().getName());
    if (tablet == null) {
      return true; // Of a tablet that was split: its children write into directories of their own.
    }
    Optional<Long> epoch = epoch(file.getName());
    return epoch.isPresent()
        && (epoch.get() < tablet.assignment().epoch()
            || (epoch.get() == tablet.assignment().epoch()
                && tablet.assignment().state() == Assignment.State.NONE));
  }

  /** The epoch under which a file of that name was written; none where it is not an SSTable. */
  private static Optional<Long> epoch(String name) {
    int dash = name.indexOf('-');
    if (dash < 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(Long.parseLong(name.substring(0, dash)));
    } catch (NumberFormatException e) {
      LOG.debug("{} is not named as an SSTable is", name, e);
      return Optional.empty();
    }
  }

  private int sweepLogs(List<Path> fencedLogs, Set<ServerId> named) throws IOException {
    int deleted = 0;
    for (Path directory : fencedLogs) {
      ServerId server;
      try {
        server = ServerId.parse(directory.getName());
      } catch (IllegalArgumentException e) {
        LOG.warn("{} is no log directory of a tablet server", directory, e);
        continue;
      }
      if (!named.contains(server) && fs.delete(directory, true)) {
        LOG.info("Deleted {}: no tablet needs the log of that server any more", directory);
        deleted++;
      }
    }
    return deleted;
  }

  private List<FileStatus> files(TableId table) throws IOException {
    List<FileStatus> files = new ArrayList<>();
    for (FileStatus tablet : list(layout.table(table))) {
      for (FileStatus file : list(tablet.getPath())) {
        if (file.isFile()) {
          files.add(file);
        }
      }
    }
    return files;
  }

  private List<FileStatus> list(Path directory) throws IOException {
    try {
      return List.of(fs.listStatus(directory));
    } catch (FileNotFoundException e) {
      LOG.debug("{} is not there", directory, e);
      return List.of();
    }
  }

  private String relative(Path file) {
    Path tablet = file.getParent();
    return "tables/" + tablet.getParent().getName() + "/" + tablet.getName() + "/" + file.getName();
  }
}
