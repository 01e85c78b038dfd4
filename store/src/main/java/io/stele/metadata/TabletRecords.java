package io.stele.metadata;

import io.stele.lock.LockService;
import io.stele.metadata.TabletRecord.Tentative;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.Pin;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Changes tablet records wherever they are stored: the root tablet's in the lock service,
 * METADATA's in the root tablet, all others in METADATA. {@link #reader} reads them.
 *
 * <p>Every change is one write of one row, conditional on the exact bytes of the assignment (state,
 * server, epoch) in the given record, and returns the changed record. If the condition does not
 * hold, it throws {@link RecordChangedException}: nothing was changed, because the caller no longer
 * has the tablet. If no answer came in time, it throws a {@link SteleException} of OUTCOME_UNKNOWN:
 * the caller must not act on the tablet until it has read the record again.
 *
 * <p>Only a tablet's server changes its record, with these exceptions, which belong to the master:
 * {@link #assign}, {@link #reassign}, {@link #release}, {@link #notLoaded}, {@link
 * #releaseFromQuarantine}, {@link #forgetDropped}, {@link #createTable}, {@link #delete}, and
 * {@link MergeRecords}. {@link SplitRecords} has the changes of a split.
 *
 * <p>Safe for use by any number of threads. All calls block.
 */
public final class TabletRecords {
  /**
   * How many dropped files a record names at most, not counting those of jobs. There are so many
   * only if nothing has been swept for a long time. What is dropped then is swept once the tablet
   * has moved.
   */
  static final int DROPPED_MAX = 2_000;

  private static final int FORGOTTEN_AT_ONCE = 500;

  private final ProcessRuntime runtime;
  private final RootRecordRows root;
  private final TabletRecordReader reader;

  /**
   * Records over the data plane.
   *
   * @param timeout how long one call may take
   */
  public TabletRecords(
      ProcessRuntime runtime, LockService locks, TabletAccess access, Duration timeout) {
    this(runtime, locks, access, timeout, RequestGuard.NONE);
  }

  /**
   * Records over the data plane; requests fail early when waiting for them is pointless.
   *
   * @param timeout how long one call may take
   * @param guard of all requests
   */
  public TabletRecords(
      ProcessRuntime runtime,
      LockService locks,
      TabletAccess access,
      Duration timeout,
      RequestGuard guard) {
    this(
        runtime,
        new RootRecordRows(runtime, locks, timeout),
        new TableRecordRows(runtime, access, TableId.ROOT, timeout, guard),
        new TableRecordRows(runtime, access, TableId.METADATA, timeout, guard));
  }

  TabletRecords(
      ProcessRuntime runtime, RootRecordRows root, RecordRows ofMetadata, RecordRows ofTables) {
    this.runtime = runtime;
    this.root = root;
    this.reader = new TabletRecordReader(root, ofMetadata, ofTables);
  }

  /** Reads records. */
  public TabletRecordReader reader() {
    return reader;
  }

  /** Assigns an unassigned tablet to {@code server}, under the next epoch. */
  public TabletRecord assign(TabletRecord record, ServerId server) throws IOException {
    require(record, Assignment.State.NONE, "assignment");
    requireNotMerging(record, "assignment");
    Set<ServerId> logs = new TreeSet<>(record.logs());
    addLog(record, logs, server);
    TabletRecord next = record.withAssignment(record.assignment().assignedTo(server), logs);
    Mutation.Builder row = change(record, "assigned", next.assignment());
    RecordCodec.putState(row, next);
    RecordCodec.putLog(row, server);
    apply("assignment", record, row);
    return next;
  }

  /**
   * Assigns a tablet that a fenced server has, or was assigned to load, to {@code server}, under
   * the next epoch. If the fenced server had loaded the tablet, its log stays in the record.
   */
  public TabletRecord reassign(TabletRecord record, ServerId server) throws IOException {
    ServerId fenced =
        record
            .assignment()
            .server()
            .orElseThrow(() -> new IllegalStateException("no server has " + record));
    Mutation.Builder row = change(record, "assigned", record.assignment().assignedTo(server));
    Set<ServerId> logs = logsWithoutUnused(record, row);
    addLog(record, logs, server);
    TabletRecord next = record.withAssignment(record.assignment().assignedTo(server), logs);
    RecordCodec.putState(row, next);
    RecordCodec.putLog(row, server);
    apply("assignment from " + fenced, record, row);
    return next;
  }

  /** Records that the assigned server has loaded the tablet and is about to serve it. */
  public TabletRecord loaded(TabletRecord record) throws IOException {
    require(record, Assignment.State.ASSIGNED, "loading");
    TabletRecord next = record.withAssignment(record.assignment().loaded(), record.logs());
    Mutation.Builder row = change(record, "loaded", next.assignment());
    if (record.trouble().isPresent()) {
      row.deleteColumn(RecordCodec.TROUBLE, "");
    }
    RecordCodec.putState(row, next);
    apply("loading", record, row);
    return next;
  }

  /**
   * Releases the tablet; its server calls this after its last write to it. The tablet is then
   * unassigned, and every record ever logged for it is in its SSTables or not needed. So the same
   * write removes every log: the tablet's next server finds only logs of fenced servers in the
   * record.
   */
  public TabletRecord unloaded(TabletRecord record, String why) throws IOException {
    require(record, Assignment.State.LOADED, "unloading");
    TabletRecord next = record.withAssignment(record.assignment().released(), Set.of());
    Mutation.Builder row = change(record, why, record.assignment());
    record.logs().forEach(server -> deleteLog(row, server));
    RecordCodec.putState(row, next);
    apply("unloading", record, row);
    return next;
  }

  /**
   * Takes the tablet from a server that is fenced or cannot load it: the tablet is then unassigned.
   * If the server had loaded the tablet, its log stays in the record.
   */
  public TabletRecord release(TabletRecord record, String why) throws IOException {
    return release(record, why, record.trouble());
  }

  /** Takes the tablet from a server that could not load it, and records the reason. */
  public TabletRecord notLoaded(TabletRecord record, LoadTrouble trouble) throws IOException {
    require(record, Assignment.State.ASSIGNED, "failure to load");
    String what = trouble.quarantined() ? "quarantined" : "not loaded";
    return release(record, what + ": " + trouble.reason(), Optional.of(trouble));
  }

  /** Lets servers retry an unassigned tablet, as if it had never failed to load. */
  public TabletRecord releaseFromQuarantine(TabletRecord record) throws IOException {
    require(record, Assignment.State.NONE, "release from quarantine");
    requireNotMerging(record, "release from quarantine");
    Mutation.Builder row = change(record, "released from quarantine", record.assignment());
    row.deleteColumn(RecordCodec.TROUBLE, "");
    apply("release from quarantine", record, row);
    return record.withTrouble(Optional.empty());
  }

  private TabletRecord release(TabletRecord record, String why, Optional<LoadTrouble> trouble)
      throws IOException {
    Mutation.Builder row = change(record, why, record.assignment());
    Set<ServerId> logs = logsWithoutUnused(record, row);
    TabletRecord next =
        record.withAssignment(record.assignment().released(), logs).withTrouble(trouble);
    RecordCodec.putState(row, next);
    trouble.ifPresent(found -> RecordCodec.putTrouble(row, found));
    apply("release", record, row);
    return next;
  }

  /**
   * Adds the log of a server that has logged records of the tablet. Such a server is fenced, or has
   * given up the tablet and all logs with it. If it were assigned the tablet again, its log could
   * not be told from that of a server that never loaded it.
   */
  private static void addLog(TabletRecord record, Set<ServerId> logs, ServerId server) {
    if (!logs.add(server)) {
      throw new IllegalArgumentException(
          record + " may have records in the log of " + server + " and cannot be assigned to it");
    }
  }

  /**
   * The logs without that of a server that was assigned the tablet but never loaded it, and so
   * logged nothing for it. That log may even have been deleted already, if the tablet was assigned
   * late to a server that was no longer needed.
   */
  private static Set<ServerId> logsWithoutUnused(TabletRecord record, Mutation.Builder row) {
    Set<ServerId> logs = new TreeSet<>(record.logs());
    if (record.assignment().state() == Assignment.State.ASSIGNED) {
      record.assignment().server().filter(logs::remove).ifPresent(server -> deleteLog(row, server));
    }
    return logs;
  }

  /**
   * Records the changes made by a compaction. Removed files are named as dropped, until the sweep.
   *
   * @param record with few swept files among its dropped ones ({@link #withoutSwept}): they count
   *     as if they were there
   */
  public TabletRecord edit(TabletRecord record, ManifestEdit edit) throws IOException {
    List<FileRef> files = new ArrayList<>(record.files());
    Map<String, Long> dropped = new TreeMap<>(record.dropped());
    Mutation.Builder row = change(record, edit.reason(), record.assignment());
    long now = runtime.wallClock().millis();
    for (FileRef file : edit.removed()) {
      if (!files.remove(file)) {
        throw new IllegalArgumentException(record + " has no file " + file + " to remove");
      }
      RecordCodec.deleteFile(row, record, file);
    }
    for (FileRef file : edit.added()) {
      RecordCodec.putFile(row, file);
      files.add(file);
    }
    long own = dropped.keySet().stream().filter(path -> !PendingFile.isOfJob(path)).count();
    for (FileRef file : edit.removed()) {
      if (files.stream().noneMatch(other -> other.path().equals(file.path()))) {
        boolean ofJob = PendingFile.isOfJob(file);
        if (ofJob || own < DROPPED_MAX) {
          RecordCodec.putDropped(row, file.path(), now);
          own += dropped.put(file.path(), now) == null && !ofJob ? 1 : 0;
        }
      }
    }
    edit.cleared().ifPresent(cleared -> RecordCodec.putCleared(row, cleared));
    List<Pin> pins = editPins(row, record, edit);
    List<Pending> pending = editPending(row, record, edit);
    Redo redo = new Redo(edit.redoPoint(), edit.highestTimestamp());
    RecordCodec.putRedo(row, redo);
    Set<ServerId> logs = new TreeSet<>(record.logs());
    if (edit.coversReplay()) {
      logs.removeIf(server -> !record.assignment().isTo(server));
      record.logs().stream()
          .filter(server -> !logs.contains(server))
          .forEach(server -> deleteLog(row, server));
    }
    TabletRecord next =
        record.toBuilder()
            .files(files)
            .logs(logs)
            .redo(redo)
            .dropped(dropped)
            .tentative(Optional.empty())
            .trouble(Optional.empty())
            .pins(pins)
            .pending(pending)
            .cleared(edit.cleared().orElse(record.cleared()))
            .build();
    requireFeatures(row, record, next);
    apply(edit.reason(), record, row);
    return next;
  }

  private static List<Pin> editPins(Mutation.Builder row, TabletRecord record, ManifestEdit edit) {
    List<Pin> pins = new ArrayList<>(record.pins());
    for (String name : edit.unpinned()) {
      row.deleteColumn(RecordCodec.PINS, name);
      pins.removeIf(pin -> pin.name().equals(name));
    }
    for (Pin pin : edit.pinned()) {
      RecordCodec.putPin(row, pin);
      pins.add(pin);
    }
    return pins;
  }

  private static List<Pending> editPending(
      Mutation.Builder row, TabletRecord record, ManifestEdit edit) {
    List<Pending> pending = new ArrayList<>();
    for (Pending one : record.pending()) {
      if (edit.resolved().contains(one.job())) {
        RecordCodec.deletePending(row, record, one);
      } else {
        pending.add(one);
      }
    }
    for (Pending one : edit.pending()) {
      RecordCodec.putPending(row, one);
      pending.add(one);
    }
    return pending;
  }

  /** Records the features that {@code next} requires of its readers and {@code before} did not. */
  static void requireFeatures(Mutation.Builder row, TabletRecord before, TabletRecord next) {
    Set<String> required = Features.of(next);
    if (required.equals(Features.of(before))) {
      return;
    }
    if (required.isEmpty()) {
      row.deleteColumn(RecordCodec.REQUIRES.family(), "requires");
    } else {
      RecordCodec.putRequired(row, required);
    }
  }

  /**
   * Writes the records of a new table's tablets, except existing ones.
   *
   * <p>All but the last are tentative. If a deposed master writes one late, when its tablet has
   * long been merged with the next, it is ignored like the leftovers of splits.
   *
   * @param splitRows the rows at which the table is split, ascending
   */
  public void createTable(TableId table, List<Bytes> splitRows) throws IOException {
    List<RecordRows.Update> lower = new ArrayList<>();
    Bytes start = Bytes.EMPTY;
    for (Bytes end : splitRows) {
      TabletRecord record = newTablet(table, new RowRange(start, end));
      lower.add(creation(record.withTentative(new Tentative(record.id(), 0, record.id()))));
      start = end;
    }
    reader.rowsOf(table).updateAll(lower);
    create(newTablet(table, new RowRange(start, Bytes.EMPTY)));
  }

  private TabletRecord newTablet(TableId table, RowRange rows) {
    return TabletRecord.created(TabletId.random(table, runtime.random()), rows);
  }

  /** Writes the root tablet's first record, unless there is one. */
  public void createRoot() throws IOException {
    create(TabletRecord.created(TabletId.ROOT, RowRange.ALL));
  }

  /** Removes the record of an unassigned tablet of a dropped table. */
  public void delete(TabletRecord record) throws IOException {
    require(record, Assignment.State.NONE, "removal");
    Mutation gone = Mutation.of(record.row()).deleteRow();
    if (!rowsOf(record).update(state(record), gone)) {
      throw new RecordChangedException("removal", record);
    }
  }

  /** Removes deleted SSTables from the dropped ones, some at a time. */
  public TabletRecord forgetDropped(TabletRecord record, Collection<String> paths)
      throws IOException {
    Iterator<String> rest = paths.iterator();
    while (rest.hasNext()) {
      Mutation.Builder row = Mutation.builder(RecordCodec.rowOf(record));
      for (int i = 0; i < FORGOTTEN_AT_ONCE && rest.hasNext(); i++) {
        row.deleteColumn(RecordCodec.DROPPED, rest.next());
      }
      apply("sweep", record, row);
    }
    Map<String, Long> dropped = new TreeMap<>(record.dropped());
    dropped.keySet().removeAll(new HashSet<>(paths));
    return record.withDropped(dropped);
  }

  /**
   * The record without the dropped files that the master has swept since it was read. A server
   * calls it now and then for each of its tablets, because nothing else tells it of sweeps.
   *
   * @return {@code record} itself if its row now has another assignment
   */
  public TabletRecord withoutSwept(TabletRecord record) throws IOException {
    return reader
        .read(record.id().table(), record.row())
        .filter(stored -> stored.state().equals(record.state()))
        .map(stored -> record.withDropped(stored.dropped()))
        .orElse(record);
  }

  private void create(TabletRecord record) throws IOException {
    RecordRows.Update creation = creation(record);
    if (record.id().equals(TabletId.ROOT)) {
      root.create(creation.mutation());
    } else {
      rowsOf(record).update(creation.condition(), creation.mutation());
    }
  }

  private static RecordRows.Update creation(TabletRecord record) {
    return new RecordRows.Update(
        new RecordRows.Condition(RecordCodec.STATE, Optional.empty()),
        RecordCodec.putAll(record, "created").build());
  }

  /**
   * Starts a change of {@code record}'s row. The change also makes a tentative record plain if its
   * split is done.
   */
  static Mutation.Builder change(TabletRecord record, String what, Assignment assignment) {
    Mutation.Builder row = Mutation.builder(RecordCodec.rowOf(record));
    if (record.tentative().isPresent()) {
      row.deleteColumn(RecordCodec.SPLIT, "");
    }
    return RecordCodec.putEvent(row, what, assignment);
  }

  void apply(String what, TabletRecord record, Mutation.Builder row) throws IOException {
    if (!rowsOf(record).update(state(record), row.build())) {
      throw new RecordChangedException(what, record);
    }
  }

  private static void deleteLog(Mutation.Builder row, ServerId server) {
    row.deleteColumn(RecordCodec.LOGS, server.toString());
  }

  private static RecordRows.Condition state(TabletRecord record) {
    return new RecordRows.Condition(RecordCodec.STATE, Optional.of(record.state()));
  }

  static RecordRows.Condition still(Tentative tentative) {
    return new RecordRows.Condition(RecordCodec.TENTATIVE, Optional.of(tentative.value()));
  }

  /**
   * Refuses a change during a merge: until the merge is given up, another master may still make it.
   */
  private static void requireNotMerging(TabletRecord record, String what) {
    if (record.isMerging()) {
      throw new IllegalStateException(what + " while it is being merged: " + record);
    }
  }

  static void require(TabletRecord record, Assignment.State state, String what) {
    if (record.assignment().state() != state) {
      throw new IllegalStateException(what + " needs state " + state + ": " + record);
    }
  }

  RecordRows rowsOf(TabletRecord record) {
    return reader.rowsOf(record.id().table());
  }
}
