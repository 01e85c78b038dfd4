package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.files.Listings;
import io.stele.log.FencedLog;
import io.stele.log.LogDirectories;
import io.stele.metadata.Assignment;
import io.stele.metadata.Layout;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.PendingFile;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what no record needs: SSTables by mark and sweep, and the logs of fenced servers.
 *
 * <p>It lists all files, then reads the records of all tables (the mark). Of the files that no
 * record needs it deletes those that tablets have dropped, those that are orphans of a past epoch,
 * and those in the directory of a table that is gone. A dropped file is deleted by its name, listed
 * or not, before its record forgets it. The empty directory of a tablet that was split or merged
 * goes too: the NameNode limits how many a table's directory may have.
 *
 * <p>What a tablet has dropped may still be read, so it stays for a grace period. That begins when
 * this sweeper first sees that no record needs the file: no clocks are compared, and a new master
 * only waits longer.
 *
 * <p>A file is needed if any record names it, not only one of its own table: tables may share
 * files, and a file may outlive the table it was written for. So nothing is deleted unless the mark
 * is complete: every table's tablets cover it exactly once. Only a table that is being created or
 * dropped may have any records; its own files stay. Logs and files of jobs stay while METADATA has
 * tablets of tables that are not known, or damaged ones.
 *
 * <p>What cannot be deleted does not hold up anything else: records forget what was deleted, and
 * the grace periods of all other files go on.
 *
 * <p>Safe for use by any number of threads: one sweep at a time.
 */
final class Sweeper {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);
  private static final int FORGET_FAILURES_MAX = 3; // In a row.

  private final TabletRecords records;
  private final Schemas schemas;
  private final FileSystem fs;
  private final Layout layout;
  private final ServerLocks locks;
  private final Lock sweeping;

  /** The files that tablets had dropped when the last mark was read. */
  @GuardedBy("sweeping")
  private Set<String> droppedBefore = Set.of();

  @GuardedBy("sweeping")
  private final GracePeriod grace;

  /**
   * What is swept.
   *
   * @param locks of the servers that may still need their logs
   */
  record Store(FileSystem fs, Layout layout, ServerLocks locks) {}

  /**
   * What is in the directory of a table.
   *
   * @param files in the directories of its tablets
   * @param empty the tablets, of now or earlier, whose directories are empty
   */
  private record Listing(List<FileStatus> files, List<TabletId> empty) {}

  /**
   * A sweeper that has seen nothing yet.
   *
   * @param grace how long what is not needed stays
   */
  Sweeper(
      ProcessRuntime runtime, TabletRecords records, Schemas schemas, Store store, Duration grace) {
    this.records = records;
    this.schemas = schemas;
    this.fs = store.fs();
    this.layout = store.layout();
    this.locks = store.locks();
    this.grace = new GracePeriod(runtime, grace);
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

  @GuardedBy("sweeping")
  private int sweepAll() throws IOException {
    Map<ServerId, Path> fencedLogs = fencedLogs();
    Map<TableId, Listing> listings = new TreeMap<>();
    for (FileStatus directory : Listings.of(fs, layout.tables())) {
      Optional<TableId> table = table(directory.getPath());
      if (table.isPresent()) {
        try {
          listings.put(table.get(), listing(table.get()));
        } catch (AccessControlException e) {
          Deletions.notListed(directory.getPath(), e);
        }
      }
    }
    // After the files: a table that has files but does not exist now is gone.
    Optional<Mark> mark = Mark.read(records.reader(), schemas);
    if (mark.isEmpty()) {
      return 0;
    }
    Set<String> needed = mark.get().neededFiles();
    Set<String> deletable = deletable(mark.get().droppedFiles(), needed);
    if (mark.get().hasOthers()) {
      deletable.removeIf(PendingFile::isOfJob);
    }
    grace.beginSweep(needed);
    Deletions deletions = new Deletions(fs);
    int deleted = 0;
    boolean lost = mark.get().hasOthers();
    for (Map.Entry<TableId, Listing> one : listings.entrySet()) {
      TableId table = one.getKey();
      List<TabletRecord> marked = mark.get().tables().get(table);
      if (marked == null && mark.get().partial().containsKey(table)) {
        continue;
      }
      if (marked == null && records.reader().hasAny(table)) {
        LOG.error(
            "Table {} has tablets but no node in ZooKeeper: its files and all logs are kept",
            table);
        lost = true;
        continue;
      }
      try {
        deleted +=
            marked == null
                ? sweepDropped(table, one.getValue(), needed, deletions)
                : sweep(marked, one.getValue(), new Unneeded(needed, deletable), deletions);
      } catch (IOException | RuntimeException e) { // Other tables are swept, and logs.
        if (Futures.isInterruption(e)) {
          throw e;
        }
        LOG.warn("Table {} cannot be swept now; will retry", table, e);
      }
    }
    grace.endSweep();
    if (!lost) {
      deleted += sweepLogs(fencedLogs, mark.get().neededLogs(), deletions);
    }
    deletions.end();
    return deleted;
  }

  /**
   * The dropped files that no tablet needs, for sure. A job's file comes to several tablets: while
   * the mark was read, it may have come to a tablet read earlier, and a tablet read later may have
   * dropped it. This cannot be so if a tablet had dropped it at the previous mark: by then all of
   * its tablets had it.
   */
  @GuardedBy("sweeping")
  private Set<String> deletable(Set<String> dropped, Set<String> needed) {
    Set<String> before = droppedBefore;
    Set<String> sure = new HashSet<>(dropped);
    sure.removeIf(file -> PendingFile.isOfJob(file) && !before.contains(file));
    sure.removeAll(needed);
    droppedBefore = dropped;
    return sure;
  }

  /**
   * The logs of servers that are given no tablets any more. Of the others a server may be alive,
   * and may be given tablets after the mark. A log that was listed is no proof: another master may
   * have listed it just now, while its server was starting. But a server that takes its lock
   * afterwards finds that its log is gone, and ends.
   */
  private Map<ServerId, Path> fencedLogs() throws IOException {
    Map<ServerId, Path> fenced = new TreeMap<>();
    for (Map.Entry<ServerId, Path> log : LogDirectories.in(fs, layout.recovery()).entrySet()) {
      try {
        if (FencedLog.isListed(fs, log.getValue()) && !locks.hasLock(log.getKey())) {
          fenced.put(log.getKey(), log.getValue());
        }
      } catch (AccessControlException e) {
        Deletions.notListed(log.getValue(), e);
      }
    }
    return fenced;
  }

  /** Sweeps a table that is gone: only files that another table needs stay. */
  private int sweepDropped(TableId table, Listing listing, Set<String> needed, Deletions deletions)
      throws IOException {
    List<FileStatus> files = listing.files();
    List<Path> unneeded = new ArrayList<>();
    for (FileStatus file : files) {
      if (!needed.contains(relative(file.getPath()))) {
        unneeded.add(file.getPath());
      }
    }
    if (unneeded.size() == files.size()
        && deletions.delete(layout.table(table)) != Deletions.Result.FAILED) {
      LOG.info("Deleted {} with {} files: its table is gone", layout.table(table), files.size());
      return files.size();
    }
    int deleted = 0;
    for (Path file : unneeded) {
      deleted += delete(file, deletions) == Deletions.Result.DELETED ? 1 : 0;
    }
    for (TabletId empty : listing.empty()) {
      deletions.deleteIfEmpty(directory(empty));
    }
    return deleted;
  }

  private Path directory(TabletId tablet) {
    return new Path(layout.table(tablet.table()), tablet.name());
  }

  /**
   * What the mark says of files.
   *
   * @param needed those that some tablet needs
   * @param deletable the dropped files of all tables that no tablet needs
   */
  private record Unneeded(Set<String> needed, Set<String> deletable) {}

  /** Sweeps a table. */
  @GuardedBy("sweeping")
  private int sweep(
      List<TabletRecord> mark, Listing listing, Unneeded unneeded, Deletions deletions)
      throws IOException {
    Set<String> dropped = new TreeSet<>();
    Map<String, TabletRecord> tablets = new HashMap<>();
    for (TabletRecord record : mark) {
      dropped.addAll(record.dropped().keySet());
      tablets.put(record.id().name(), record);
    }
    int deleted = 0;
    Set<String> gone = new HashSet<>();
    for (String file : dropped) {
      if (unneeded.deletable().contains(file) && grace.hasPassed(file)) {
        // Deleted whether it was listed or not: it may have been created after the listing.
        Deletions.Result result = delete(layout.resolve(file), deletions);
        deleted += result == Deletions.Result.DELETED ? 1 : 0;
        if (result != Deletions.Result.FAILED) {
          gone.add(file);
        }
      }
    }
    for (FileStatus file : listing.files()) {
      String path = relative(file.getPath());
      boolean unnamed = !unneeded.needed().contains(path) && !dropped.contains(path);
      if (unnamed
          && isOrphan(file.getPath(), tablets)
          && grace.hasPassed(path)
          && delete(file.getPath(), deletions) == Deletions.Result.DELETED) {
        deleted++;
      }
    }
    sweepDirectories(tablets, listing.empty(), deletions);
    forget(mark, gone);
    return deleted;
  }

  /**
   * Deletes the empty directories of tablets that were split or merged. Their names are not used
   * again. If such a tablet's server still writes to it, late, it makes the directory again.
   */
  @GuardedBy("sweeping")
  private void sweepDirectories(
      Map<String, TabletRecord> tablets, List<TabletId> empty, Deletions deletions)
      throws IOException {
    for (TabletId tablet : empty) {
      if (!tablets.containsKey(tablet.name())
          && grace.hasPassed(tablet.toString())
          && deletions.deleteIfEmpty(directory(tablet)) == Deletions.Result.DELETED) {
        LOG.info("Deleted {}: it is empty, and its tablet is gone", directory(tablet));
      }
    }
  }

  private static Deletions.Result delete(Path file, Deletions deletions) throws IOException {
    Deletions.Result result = deletions.deleteFile(file);
    if (result == Deletions.Result.DELETED) {
      LOG.info("Deleted {}, which no tablet needs any more", file);
    }
    return result;
  }

  /** Removes deleted files from the records of their tablets; what fails, the next sweep does. */
  private void forget(List<TabletRecord> mark, Set<String> gone) throws IOException {
    int failures = 0;
    for (TabletRecord record : mark) {
      List<String> forgotten = record.dropped().keySet().stream().filter(gone::contains).toList();
      if (forgotten.isEmpty()) {
        continue;
      }
      try {
        records.forgetDropped(record, forgotten);
        failures = 0;
      } catch (RecordChangedException e) {
        failures = 0;
        LOG.debug("{} was changed by somebody else: left for the next sweep", record, e);
      } catch (IOException | SteleException e) { // Those of other tablets are forgotten.
        failures = isRejected(e) ? 0 : failures + 1;
        if (Futures.isInterruption(e) || failures == FORGET_FAILURES_MAX) {
          throw e; // METADATA is away, and each of the others would wait for it.
        }
        LOG.warn("Files that {} had dropped were deleted, but it still names them", record, e);
      }
    }
  }

  /** Whether METADATA has answered, and would not make that change later either. */
  private static boolean isRejected(Exception failure) {
    return failure instanceof CorruptionException
        || (failure instanceof SteleException known
            && known.code() != SteleException.Code.RETRY_LATER
            && known.code() != SteleException.Code.OUTCOME_UNKNOWN);
  }

  /** Whether a file that no record names can no longer be named by any. */
  private static boolean isOrphan(Path file, Map<String, TabletRecord> tablets) {
    TabletRecord tablet = tablets.get(file.getParent().getName());
    if (tablet == null) {
      return true; // Of a tablet that was split: its children write to their own directories.
    }
    Optional<Long> epoch = epoch(file.getName());
    return epoch.isPresent()
        && (epoch.get() < tablet.assignment().epoch()
            || (epoch.get() == tablet.assignment().epoch()
                && tablet.assignment().state() == Assignment.State.NONE));
  }

  /** The epoch under which a file of that name was written; empty if it is not an SSTable. */
  private static Optional<Long> epoch(String name) {
    int dash = name.indexOf('-');
    if (dash < 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(Long.parseLong(name.substring(0, dash)));
    } catch (NumberFormatException e) {
      LOG.debug("{} does not have the name of an SSTable", name, e);
      return Optional.empty();
    }
  }

  private int sweepLogs(Map<ServerId, Path> fencedLogs, Set<ServerId> named, Deletions deletions)
      throws IOException {
    int deleted = 0;
    for (Map.Entry<ServerId, Path> log : fencedLogs.entrySet()) {
      if (!named.contains(log.getKey())
          && deletions.delete(log.getValue()) == Deletions.Result.DELETED) {
        LOG.info("Deleted {}: no tablet needs that server's log any more", log.getValue());
        deleted++;
      }
    }
    return deleted;
  }

  private static Optional<TabletId> tablet(TableId table, Path directory) {
    try {
      return Optional.of(new TabletId(table, directory.getName()));
    } catch (IllegalArgumentException e) {
      LOG.debug("{} is not the directory of a tablet", directory, e);
      return Optional.empty();
    }
  }

  private static Optional<TableId> table(Path directory) {
    try {
      return Optional.of(new TableId(directory.getName()));
    } catch (IllegalArgumentException e) {
      LOG.warn("{} is not the directory of a table", directory, e);
      return Optional.empty();
    }
  }

  private Listing listing(TableId table) throws IOException {
    Listing listing = new Listing(new ArrayList<>(), new ArrayList<>());
    for (FileStatus tablet : Listings.of(fs, layout.table(table))) {
      List<FileStatus> contents = Listings.of(fs, tablet.getPath());
      contents.stream().filter(FileStatus::isFile).forEach(listing.files()::add);
      if (tablet.isDirectory() && contents.isEmpty()) {
        tablet(table, tablet.getPath()).ifPresent(listing.empty()::add);
      }
    }
    return listing;
  }

  /** The path of a file below {@code tables}, in the form used by records. */
  private static String relative(Path file) {
    String path = file.toUri().getPath(); // Path.getParent parses again, which is expensive.
    int start = path.length();
    for (int i = 0; i < 3; i++) { // Table, tablet, file.
      start = path.lastIndexOf('/', start - 1);
    }
    return "tables" + path.substring(start);
  }
}
