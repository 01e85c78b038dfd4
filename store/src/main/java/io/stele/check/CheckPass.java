package io.stele.check;

import io.stele.log.LogRepair;
import io.stele.metadata.Assignment;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.LoadTrouble;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Amount;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at a cluster. Call its steps in the order in which they are declared: each compares with
 * the findings of those before. The cluster keeps changing meanwhile, so a finding of a single look
 * may be normal.
 *
 * <p>For one thread.
 */
final class CheckPass {
  private static final Logger LOG = LoggerFactory.getLogger(CheckPass.class);

  private static final String WAIT = "the master cures it; if it stays, see the master's log";

  private static final String RESTORE_NODE =
      "end all masters and tablet servers, delete the cluster's node in ZooKeeper, and run `stele"
          + " restore-zookeeper`";

  private final FileSystem fs;
  private final Layout layout;
  private final List<Problem> problems = new ArrayList<>();
  private final Map<TableId, StoredTable> tables = new TreeMap<>();
  private final Set<String> unreadTables = new HashSet<>();
  private final Map<ServerId, Optional<ServedTablets.Of>> servers = new TreeMap<>();
  private final Map<TabletId, TabletRecord> tablets = new TreeMap<>();
  private final Map<String, FileRef> named = new TreeMap<>();
  private final Map<String, List<FileRef>> waiting = new TreeMap<>(); // By job.
  private boolean complete = true; // All records could be read.
  private int unnamedFiles;
  private long unnamedBytes;

  CheckPass(FileSystem fs, Layout layout) {
    this.fs = fs;
    this.layout = layout;
  }

  /** The tables in the lock service. */
  void readTables(Schemas.Listing listing) {
    unreadTables.addAll(listing.unread());
    for (String damaged : listing.damaged()) {
      add(
          "table " + damaged,
          "its node in ZooKeeper is damaged",
          RESTORE_NODE + "; until then no file is swept");
    }
    for (String newer : listing.newer()) {
      add(
          "table " + newer,
          "its node in ZooKeeper is of a newer version of Stele, and not damaged",
          "check with that version, and upgrade all masters; a master of this version sweeps no"
              + " file until then");
    }
    listing.tables().forEach(table -> tables.put(table.id(), table));
  }

  /** The tablet servers. */
  void readServers(Map<ServerId, Optional<ServedTablets.Of>> live) {
    servers.putAll(live);
    live.forEach(
        (server, answer) -> {
          if (answer.isEmpty()) {
            add(
                "server " + server,
                "it holds its lock, but does not answer",
                "see whether this host can reach it, and its log; if it hangs, kill it: its tablets"
                    + " are then served elsewhere",
                new Repair(Repair.Kind.EVICT_SILENT_SERVER, server.toString()));
          }
        });
    if (live.isEmpty()) {
      add("cluster", "no tablet server holds its lock", "start tablet servers");
    }
  }

  /**
   * The records in METADATA. What can be read of them is compared with the servers and the logs
   * even if the rest cannot be read: that may be for want of a log.
   */
  void readRecords(TabletRecordReader records) throws IOException {
    complete =
        read(records, TableId.ROOT) && read(records, TableId.METADATA) && readAllTables(records);
    checkServed();
    checkLogs();
  }

  private boolean readAllTables(TabletRecordReader records) throws IOException {
    List<TabletRecord> all;
    try {
      all =
          records.readUndamaged(
              RowRange.ALL,
              Integer.MAX_VALUE,
              damage ->
                  add(
                      "METADATA",
                      "a record cannot be read",
                      damage,
                      "see `stele log check`; do not drop the table"));
    } catch (IOException | SteleException e) {
      add("METADATA", "it cannot be read", String.valueOf(e.getMessage()), WAIT);
      return false;
    }
    Map<TableId, List<TabletRecord>> byTable = new TreeMap<>();
    all.forEach(
        record ->
            byTable.computeIfAbsent(record.id().table(), any -> new ArrayList<>()).add(record));
    for (StoredTable table : tables.values()) {
      if (table.state() == StoredTable.State.READY) {
        checkTiles(table.id(), byTable.getOrDefault(table.id(), List.of()));
      }
    }
    byTable.forEach(this::takeRecords);
    return true;
  }

  private boolean read(TabletRecordReader records, TableId table) throws IOException {
    try {
      List<TabletRecord> all =
          records.readUndamaged(
              table,
              damage ->
                  add(
                      "METADATA",
                      "a record cannot be read",
                      damage,
                      "its tablet cannot be served"));
      checkTiles(table, all);
      all.forEach(this::take);
      return true;
    } catch (IOException | SteleException e) {
      add("table " + table, "its records cannot be read", String.valueOf(e.getMessage()), WAIT);
      return false;
    }
  }

  private void takeRecords(TableId table, List<TabletRecord> records) {
    if (!tables.containsKey(table) && !unreadTables.contains(table.value())) {
      add(
          "table " + table,
          "METADATA has tablets of it, but ZooKeeper has no such table",
          records.size() + " tablets",
          "if it was not dropped, its node was lost: " + RESTORE_NODE,
          Optional.of(new Repair(Repair.Kind.FORGET_TABLE, table.value(), lossOf(records))));
    }
    records.forEach(this::take);
  }

  /** What is given up with the records of a table. */
  private static String lossOf(List<TabletRecord> records) {
    Map<String, Long> files = new HashMap<>();
    records.forEach(
        record -> record.files().forEach(file -> files.put(file.path(), file.length())));
    return String.format(
        Locale.ROOT,
        "it gives up %s with %s of %,d bytes; its files are deleted, not moved to the trash",
        Amount.of(records.size(), "tablet"),
        Amount.of(files.size(), "SSTable"),
        files.values().stream().mapToLong(Long::longValue).sum());
  }

  private void take(TabletRecord record) {
    tablets.put(record.id(), record);
    record.files().forEach(file -> named.put(file.path(), file));
    for (Pending pending : record.pending()) {
      if (pending instanceof PendingFile file) {
        waiting.computeIfAbsent(file.job(), any -> new ArrayList<>()).add(file.file());
      }
    }
    Optional<LoadTrouble> trouble = record.trouble();
    if (trouble.isPresent()) {
      add(
          "tablet " + record.id(),
          record.isQuarantined() ? "it is in quarantine" : "it could not be loaded",
          trouble.get().reason(),
          "remove the cause, then: stele tablet release " + record.id(),
          Optional.of(new Repair(Repair.Kind.RELEASE_TABLET, record.id().toString()))
              .filter(any -> record.isQuarantined()));
    }
  }

  /** The tablets of a table must follow one another, from the first row to the last. */
  private void checkTiles(TableId table, List<TabletRecord> records) {
    Bytes next = Bytes.EMPTY; // The first row after those covered.
    boolean begun = false;
    for (TabletRecord record : records) {
      Bytes start = record.extent().start();
      boolean overlaps = begun && (next.isEmpty() || start.compareTo(next) < 0);
      if (overlaps) {
        add("tablet " + record.id(), "it overlaps the one before it", "report this as a bug");
      } else if (!start.equals(next)) {
        gap(table, new RowRange(next, start));
      }
      next = record.extent().end();
      begun = true;
    }
    if (!begun || !next.isEmpty()) {
      gap(table, new RowRange(next, Bytes.EMPTY));
    }
  }

  private void gap(TableId table, RowRange rows) {
    add(
        "table " + table,
        "no tablet has the rows " + rows,
        "a record is lost or damaged; see the other problems, and `stele log check`");
  }

  private void checkServed() {
    for (TabletRecord record : tablets.values()) {
      boolean dropping =
          Optional.ofNullable(tables.get(record.id().table()))
              .filter(table -> table.state() != StoredTable.State.READY)
              .isPresent();
      if (!dropping && record.trouble().isEmpty()) {
        checkServed(record);
      }
    }
    servers.forEach(
        (server, answer) ->
            answer.ifPresent(
                of -> {
                  of.served().forEach(id -> checkOwner(server, id));
                  of.troubles().forEach((id, trouble) -> tell(server, id, trouble));
                }));
  }

  private void tell(ServerId server, TabletId tablet, ServedTablets.Trouble trouble) {
    add(
        "tablet " + tablet,
        "its server reports trouble",
        server + ": " + trouble.text(),
        trouble.stopped()
            ? "report this as a bug, with that server's log; another server loads it when this one"
                + " has ended"
            : "remove the cause; that server's log says more",
        Optional.of(new Repair(Repair.Kind.EVICT_SERVER, server.toString()))
            .filter(any -> trouble.stopped()));
  }

  private void checkServed(TabletRecord record) {
    String subject = "tablet " + record.id();
    Assignment assignment = record.assignment();
    Optional<ServerId> server = assignment.server();
    if (assignment.state() != Assignment.State.LOADED || server.isEmpty()) {
      add(subject, "it is not served", assignment.toString(), WAIT);
      return;
    }
    Optional<ServedTablets.Of> answer = servers.get(server.get());
    if (answer == null) {
      add(subject, "it is not served", server.get() + " has no lock any more", WAIT);
    } else if (answer.isPresent()
        && !answer.get().served().contains(record.id())
        && !answer.get().moving().contains(record.id())) {
      add(
          subject,
          "its server, " + server.get() + ", does not have it",
          WAIT,
          new Repair(Repair.Kind.EVICT_SERVER, server.get().toString()));
    }
  }

  /** Whoever serves a tablet must be named by its record. */
  private void checkOwner(ServerId server, TabletId tablet) {
    TabletRecord record = tablets.get(tablet);
    boolean owner =
        record != null
            && record.assignment().isTo(server)
            && record.assignment().state() == Assignment.State.LOADED;
    if (complete && !owner) {
      add(
          "tablet " + tablet,
          server + " serves it, but its record does not name that server",
          "report this as a bug, with the logs of the master and of that server");
    }
  }

  /** What is above a tablet's redo point may be in any log that its record names. */
  private void checkLogs() {
    Map<ServerId, List<TabletRecord>> needed = new TreeMap<>();
    for (TabletRecord record : tablets.values()) {
      for (ServerId server : record.logs()) {
        needed.computeIfAbsent(server, any -> new ArrayList<>()).add(record);
      }
    }
    needed.keySet().removeAll(servers.keySet());
    needed.forEach(this::checkLog);
  }

  private void checkLog(ServerId server, List<TabletRecord> needing) {
    try {
      if (fs.exists(layout.recovery(server))) {
        checkSegments(server);
      } else if (!fs.exists(layout.logs(server))) {
        Repair giveUp =
            new Repair(Repair.Kind.GIVE_UP_LOG, server.toString(), lossWithoutLog(needing));
        for (TabletRecord record : needing) {
          add(
              "tablet " + record.id(),
              "it needs the log of " + server + ", which is not there",
              "bring " + layout.recovery(server) + " back from the trash or a snapshot",
              giveUp);
        }
      }
    } catch (IOException e) {
      add("log " + server, "it cannot be looked for", String.valueOf(e.getMessage()), WAIT);
    }
  }

  /** What is given up by going on without a log. */
  private String lossWithoutLog(List<TabletRecord> needing) {
    boolean system =
        needing.stream().anyMatch(record -> TabletKind.of(record.id()) == TabletKind.SYSTEM);
    return "it gives up what only that log has of "
        + (complete ? "" : "at least ")
        + Amount.of(needing.size(), "tablet")
        + (system ? ", of METADATA too" : "");
  }

  /** The segments that were listed when the server was fenced must all be there, and whole. */
  private void checkSegments(ServerId server) throws IOException {
    String remedy = "`stele log check` shows whose records it had; ";
    try {
      for (CorruptionException damage : LogRepair.changedFiles(fs, layout.recovery(server))) {
        add(
            "log segment " + damage.file(),
            "it is missing, or not as long as it was",
            damage.detail(),
            remedy + "bring it back from the trash or a snapshot");
      }
    } catch (CorruptionException e) {
      add(
          "log " + server,
          "the list of its segments is damaged",
          String.valueOf(e.getMessage()),
          "bring the list back from the trash or a snapshot");
    }
  }

  /**
   * The jobs whose files wait in tablets. If a job has committed, its files are the tablets' from
   * then on: a tablet answers nothing until it has taken them. Otherwise they may be gone, as
   * nobody needs those of a job that ends without a commit.
   */
  void checkJobs(JobNodes jobs) throws IOException {
    for (Map.Entry<String, List<FileRef>> of : waiting.entrySet()) {
      try {
        if (jobs.state(of.getKey()) == JobNodes.State.COMMITTED) {
          of.getValue().forEach(file -> named.put(file.path(), file));
        }
      } catch (CorruptionException | SteleException e) {
        add(
            "job " + of.getKey(),
            "its node in ZooKeeper is damaged",
            String.valueOf(e.getMessage()),
            RESTORE_NODE);
      }
    }
  }

  /** What a lock service that loses its data would be restored from. */
  void checkCopy(LockServiceCopy copy, TabletRecordReader records) throws IOException {
    Optional<TabletRecord> root = records.readRoot();
    if (root.isPresent()) {
      copy.trouble(root.get())
          .ifPresent(
              why ->
                  add(
                      "copy of ZooKeeper's nodes",
                      "it could not be restored",
                      why,
                      "the logs of the master and of the root tablet's server say why it is not"
                          + " copied again"));
    }
  }

  /** The SSTables. */
  void checkFiles() throws IOException {
    Map<String, Long> lengths = new HashMap<>();
    Set<String> known = new HashSet<>(named.keySet());
    tablets.values().forEach(record -> known.addAll(record.dropped().keySet()));
    try {
      for (Map.Entry<String, Long> file : below(layout.tables()).entrySet()) {
        lengths.put(file.getKey(), file.getValue());
        if (complete && !known.contains(file.getKey())) {
          unnamedFiles++;
          unnamedBytes += file.getValue();
        }
      }
    } catch (FileNotFoundException e) {
      add("files", layout.tables() + " is not there", "bring it back from the trash or a snapshot");
      return;
    }
    try {
      lengths.putAll(below(layout.bulk())); // What no record names may be a running job's.
    } catch (FileNotFoundException e) {
      LOG.debug("No job has written files", e);
    }
    for (FileRef file : named.values()) {
      Long length = lengths.get(file.path());
      if (length == null) {
        add("SSTable " + file.path(), "it is not there", restore(file.path()));
      } else if (length != file.length()) {
        add(
            "SSTable " + file.path(),
            "it has " + length + " bytes, but had " + file.length() + " when it was written",
            restore(file.path()));
      }
    }
  }

  /** The lengths of the files below a directory, by their paths relative to the root directory. */
  private Map<String, Long> below(Path directory) throws IOException {
    Map<String, Long> lengths = new TreeMap<>();
    RemoteIterator<LocatedFileStatus> all = fs.listFiles(directory, true);
    int prefix = layout.root().toUri().getPath().length() + 1;
    while (all.hasNext()) {
      LocatedFileStatus file = all.next();
      lengths.put(file.getPath().toUri().getPath().substring(prefix), file.getLen());
    }
    return lengths;
  }

  private String restore(String path) {
    return "bring " + layout.resolve(path) + " back from the trash, a snapshot or a backup";
  }

  /** An SSTable whose contents are damaged. */
  static Problem damaged(String path, String damage) {
    return new Problem(
        "SSTable " + path,
        "it is damaged",
        damage,
        "`hdfs fsck` shows whether a replica is sound; else restore it from a snapshot");
  }

  /** An SSTable that cannot be read. */
  static Problem unreadable(String path, IOException why) {
    return new Problem(
        "SSTable " + path,
        "it cannot be read",
        String.valueOf(why.getMessage()),
        "`hdfs fsck` shows whether a replica is there; else restore it from a snapshot");
  }

  /** An SSTable that this version of Stele cannot check. */
  static Problem unchecked(String path, SteleException why) {
    return new Problem(
        "SSTable " + path,
        "it cannot be checked",
        why.getMessage(),
        "check it with the version of Stele that wrote it");
  }

  private void add(String subject, String wrong, String remedy) {
    add(subject, wrong, "", remedy);
  }

  private void add(String subject, String wrong, String remedy, Repair repair) {
    add(subject, wrong, "", remedy, Optional.of(repair));
  }

  private void add(String subject, String wrong, String detail, String remedy) {
    add(subject, wrong, detail, remedy, Optional.empty());
  }

  private void add(
      String subject, String wrong, String detail, String remedy, Optional<Repair> repair) {
    problems.add(new Problem(subject, wrong, detail, remedy, repair));
  }

  List<Problem> problems() {
    return problems;
  }

  /** The SSTables that tablets have, by their paths relative to the root directory. */
  Map<String, FileRef> named() {
    return Collections.unmodifiableMap(named);
  }

  /** What was found in all. */
  CheckReport report(boolean verified, List<Problem> counting) {
    return new CheckReport(
        servers.size(),
        tables.size(),
        tablets.size(),
        named.size(),
        named.values().stream().mapToLong(FileRef::length).sum(),
        unnamedFiles,
        unnamedBytes,
        verified,
        counting);
  }
}
