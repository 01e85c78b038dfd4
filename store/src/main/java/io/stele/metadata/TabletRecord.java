package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.record.Pin;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is known of one tablet: its row in METADATA (a METADATA tablet's is in the root tablet, the
 * root tablet's in the lock service) as it was read or last changed.
 *
 * @param id which tablet
 * @param extent its rows
 * @param row the key of its row in METADATA; empty for the root tablet
 * @param assignment the server that may serve it
 * @param state the exact bytes of the assignment as they are stored: what every change of the
 *     record is conditional on
 * @param files its SSTables
 * @param logs the servers whose commit logs may hold mutations of it above the redo point
 * @param redo from where on those logs must be read
 * @param dropped paths of SSTables it does not need any more, and when it dropped them
 *     (milliseconds since 1970)
 * @param tentative the split whose lower child this is, or the merge whose lower tablet, as long as
 *     the record itself says so; the record after it decides whether it counts
 * @param trouble why it could not be loaded; empty once it was
 * @param pins points of it that stay readable
 * @param pending SSTables that become the tablet's if their jobs commit
 * @param cleared which of its rows were cleared for the latest change that cleared any
 */
public record TabletRecord(
    TabletId id,
    RowRange extent,
    Bytes row,
    Assignment assignment,
    Bytes state,
    List<FileRef> files,
    Set<ServerId> logs,
    Redo redo,
    Map<String, Long> dropped,
    Optional<Tentative> tentative,
    Optional<LoadTrouble> trouble,
    List<Pin> pins,
    List<PendingFile> pending,
    ClearedRows cleared) {

  /**
   * What makes a record tentative: the split whose lower child it is, or the merge whose lower
   * tablet.
   *
   * @param parent the tablet split; or the upper tablet
   * @param parentEpoch the epoch under which its server splits it; or that of the upper tablet, as
   *     long as the merge can still be made
   * @param child the lower child; or the tablet that both become
   * @param merge whether it is a merge
   * @param value the same as it is, or is to be, in METADATA: a later version may have written more
   */
  public record Tentative(
      TabletId parent, long parentEpoch, TabletId child, boolean merge, Bytes value) {
    /** A split or a merge that begins. */
    public Tentative(TabletId parent, long parentEpoch, TabletId child, boolean merge) {
      this(
          parent,
          parentEpoch,
          child,
          merge,
          RecordCodec.encodeTentative(parent, parentEpoch, child, merge));
    }

    /** A split that begins. */
    public Tentative(TabletId parent, long parentEpoch, TabletId child) {
      this(parent, parentEpoch, child, false);
    }
  }

  /** A tablet of which nothing was cleared. */
  public TabletRecord(
      TabletId id,
      RowRange extent,
      Bytes row,
      Assignment assignment,
      Bytes state,
      List<FileRef> files,
      Set<ServerId> logs,
      Redo redo,
      Map<String, Long> dropped,
      Optional<Tentative> tentative,
      Optional<LoadTrouble> trouble,
      List<Pin> pins,
      List<PendingFile> pending) {
    this(
        id,
        extent,
        row,
        assignment,
        state,
        files,
        logs,
        redo,
        dropped,
        tentative,
        trouble,
        pins,
        pending,
        ClearedRows.NONE);
  }

  public TabletRecord {
    files = List.copyOf(files);
    logs = java.util.Collections.unmodifiableSet(new TreeSet<>(logs));
    dropped = java.util.Collections.unmodifiableMap(new TreeMap<>(dropped));
    pins = pins.stream().sorted(Comparator.comparing(Pin::name)).toList();
    pending = pending.stream().sorted(Comparator.comparing(one -> one.file().path())).toList();
  }

  /** A tablet without data that no server has served yet. */
  static TabletRecord created(TabletId id, RowRange extent) {
    return new TabletRecord(
        id,
        extent,
        id.equals(TabletId.ROOT) ? Bytes.EMPTY : MetadataKeys.row(id.table(), extent.end()),
        Assignment.NEVER,
        Assignment.NEVER.encode(),
        List.of(),
        Set.of(),
        Redo.START,
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        List.of(),
        List.of(),
        ClearedRows.NONE);
  }

  /** Where the tablet is served; empty if it is not. */
  public Optional<TabletLocation> location() {
    return assignment.state() == Assignment.State.LOADED
        ? assignment
            .server()
            .map(server -> new TabletLocation(id, extent, server, assignment.epoch()))
        : Optional.empty();
  }

  /**
   * Whether it is the lower of two tablets that are being merged: it must not be assigned until
   * that is given up.
   */
  public boolean isMerging() {
    return tentative.filter(Tentative::merge).isPresent();
  }

  /** The sum of its SSTables' lengths, in bytes. */
  public long fileBytes() {
    return files.stream().mapToLong(FileRef::length).sum();
  }

  TabletRecord withAssignment(Assignment next, Set<ServerId> nextLogs) {
    return new TabletRecord(
        id,
        extent,
        row,
        next,
        next.encode(),
        files,
        nextLogs,
        redo,
        dropped,
        Optional.empty(),
        next.state() == Assignment.State.LOADED ? Optional.empty() : trouble,
        pins,
        pending,
        cleared);
  }

  TabletRecord withTrouble(Optional<LoadTrouble> next) {
    return new TabletRecord(
        id,
        extent,
        row,
        assignment,
        state,
        files,
        logs,
        redo,
        dropped,
        tentative,
        next,
        pins,
        pending,
        cleared);
  }

  /** Whether it is not assigned until an operator releases it. */
  public boolean isQuarantined() {
    return trouble.filter(LoadTrouble::quarantined).isPresent();
  }

  TabletRecord withDropped(Map<String, Long> next) {
    return new TabletRecord(
        id,
        extent,
        row,
        assignment,
        state,
        files,
        logs,
        redo,
        next,
        tentative,
        trouble,
        pins,
        pending,
        cleared);
  }

  TabletRecord withTentative(Tentative next) {
    return new TabletRecord(
        id,
        extent,
        row,
        assignment,
        state,
        files,
        logs,
        redo,
        dropped,
        Optional.of(next),
        trouble,
        pins,
        pending,
        cleared);
  }

  @Override
  public String toString() {
    return id + " " + extent + " " + assignment;
  }
}
