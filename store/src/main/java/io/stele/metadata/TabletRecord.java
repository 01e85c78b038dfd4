package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.Pin;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The durable record of one tablet: its row in METADATA (a METADATA tablet's is in the root tablet,
 * the root tablet's in the lock service) as it was read or last changed.
 *
 * @param id which tablet
 * @param extent its rows
 * @param below the lower child of the split that made the first of its rows the first of a tablet:
 *     {@link ValidRecords} tells that split from others at the same row. Empty if no split did, or
 *     one of an earlier version
 * @param row the key of its row in METADATA; empty for the root tablet
 * @param assignment the server that may serve it
 * @param state the exact bytes of the assignment as they are stored: what every change of the
 *     record is conditional on
 * @param files its SSTables
 * @param logs the servers whose commit logs may hold mutations of it above the redo point
 * @param redo the sequence number above which those logs must be read
 * @param dropped paths of SSTables it does not need any more, and when it dropped them
 *     (milliseconds since 1970)
 * @param tentative the split whose lower child this is, or the merge whose lower tablet, as long as
 *     the record itself says so; the next record decides whether it is valid
 * @param trouble why it could not be loaded; empty once it was
 * @param pins points of it that stay readable
 * @param pending SSTables that become the tablet's if their jobs commit
 * @param cleared which of its rows were cleared for the latest change that cleared any
 * @param formerNames columns of files and waiting changes that an earlier version named otherwise
 *     than {@link ColumnNames} does; those of removed ones may still be here
 */
public record TabletRecord(
    TabletId id,
    RowRange extent,
    Optional<TabletId> below,
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
    List<Pending> pending,
    ClearedRows cleared,
    Set<Column> formerNames) {

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

  public TabletRecord {
    files = List.copyOf(files);
    logs = java.util.Collections.unmodifiableSet(new TreeSet<>(logs));
    dropped = java.util.Collections.unmodifiableMap(new TreeMap<>(dropped));
    pins = pins.stream().sorted(Comparator.comparing(Pin::name)).toList();
    formerNames = Set.copyOf(formerNames);
    pending =
        pending.stream()
            .sorted(Comparator.comparing(one -> ColumnNames.of(one).qualifier()))
            .toList();
  }

  /** The record of a tablet without data that no server has served yet, to be added to. */
  public static Builder builder(TabletId id, RowRange extent, Bytes row) {
    return new Builder(id, extent, row);
  }

  /** The same record, to be changed. */
  public Builder toBuilder() {
    return builder(id, extent, row)
        .below(below)
        .stored(assignment, state)
        .files(files)
        .logs(logs)
        .redo(redo)
        .dropped(dropped)
        .tentative(tentative)
        .trouble(trouble)
        .pins(pins)
        .pending(pending)
        .cleared(cleared)
        .formerNames(formerNames);
  }

  /** A tablet without data that no server has served yet. */
  static TabletRecord created(TabletId id, RowRange extent) {
    Bytes row = id.equals(TabletId.ROOT) ? Bytes.EMPTY : MetadataKeys.row(id.table(), extent.end());
    return builder(id, extent, row).build();
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
    return toBuilder()
        .assignment(next)
        .logs(nextLogs)
        .tentative(Optional.empty())
        .trouble(next.state() == Assignment.State.LOADED ? Optional.empty() : trouble)
        .build();
  }

  TabletRecord withTrouble(Optional<LoadTrouble> next) {
    return toBuilder().trouble(next).build();
  }

  /** Whether it is not assigned until an operator releases it. */
  public boolean isQuarantined() {
    return trouble.filter(LoadTrouble::quarantined).isPresent();
  }

  TabletRecord withDropped(Map<String, Long> next) {
    return toBuilder().dropped(next).build();
  }

  TabletRecord withTentative(Tentative next) {
    return toBuilder().tentative(Optional.of(next)).build();
  }

  @Override
  public String toString() {
    return id + " " + extent + " " + assignment;
  }

  /** Builds a record; what is not set is empty. Not thread safe. */
  public static final class Builder {
    private final TabletId id;
    private final RowRange extent;
    private final Bytes row;
    private Optional<TabletId> below = Optional.empty();
    private Assignment assignment = Assignment.NEVER;
    private Bytes state = Assignment.NEVER.encode();
    private List<FileRef> files = List.of();
    private Set<ServerId> logs = Set.of();
    private Redo redo = Redo.START;
    private Map<String, Long> dropped = Map.of();
    private Optional<Tentative> tentative = Optional.empty();
    private Optional<LoadTrouble> trouble = Optional.empty();
    private List<Pin> pins = List.of();
    private List<Pending> pending = List.of();
    private ClearedRows cleared = ClearedRows.NONE;
    private Set<Column> formerNames = Set.of();

    private Builder(TabletId id, RowRange extent, Bytes row) {
      this.id = id;
      this.extent = extent;
      this.row = row;
    }

    /** {@link TabletRecord#below}. */
    public Builder below(Optional<TabletId> next) {
      below = next;
      return this;
    }

    /** {@link TabletRecord#assignment} as this version writes it. */
    public Builder assignment(Assignment next) {
      return stored(next, next.encode());
    }

    /** An assignment and its bytes as they were read: a later version may have written more. */
    public Builder stored(Assignment read, Bytes bytes) {
      assignment = read;
      state = bytes;
      return this;
    }

    /** {@link TabletRecord#files}. */
    public Builder files(List<FileRef> next) {
      files = next;
      return this;
    }

    /** {@link TabletRecord#logs}. */
    public Builder logs(Set<ServerId> next) {
      logs = next;
      return this;
    }

    /** {@link TabletRecord#redo}. */
    public Builder redo(Redo next) {
      redo = next;
      return this;
    }

    /** {@link TabletRecord#dropped}. */
    public Builder dropped(Map<String, Long> next) {
      dropped = next;
      return this;
    }

    /** {@link TabletRecord#tentative}. */
    public Builder tentative(Optional<Tentative> next) {
      tentative = next;
      return this;
    }

    /** {@link TabletRecord#trouble}. */
    public Builder trouble(Optional<LoadTrouble> next) {
      trouble = next;
      return this;
    }

    /** {@link TabletRecord#pins}. */
    public Builder pins(List<Pin> next) {
      pins = next;
      return this;
    }

    /** {@link TabletRecord#pending}. */
    public Builder pending(List<Pending> next) {
      pending = next;
      return this;
    }

    /** {@link TabletRecord#cleared}. */
    public Builder cleared(ClearedRows next) {
      cleared = next;
      return this;
    }

    /** {@link TabletRecord#formerNames}. */
    Builder formerNames(Set<Column> next) {
      formerNames = next;
      return this;
    }

    /** The record. */
    public TabletRecord build() {
      return new TabletRecord(
          id,
          extent,
          below,
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
          cleared,
          formerNames);
    }
  }
}
