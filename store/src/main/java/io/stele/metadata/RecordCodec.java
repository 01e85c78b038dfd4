package io.stele.metadata;

import io.stele.metadata.TabletRecord.Tentative;
import io.stele.metadata.avro.ClearedValue;
import io.stele.metadata.avro.DroppedValue;
import io.stele.metadata.avro.EventValue;
import io.stele.metadata.avro.ExtentValue;
import io.stele.metadata.avro.RedoValue;
import io.stele.metadata.avro.TentativeValue;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.CorruptionException;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TimeRange;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.Pin;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Tablet records as rows.
 *
 * <pre>
 * extent:               ExtentValue           which tablet, which rows
 * assignment:state      AssignmentValue       who may serve it; what all changes are conditional on
 * assignment:requires   names                 what a reader of the record must know: {@link Features}
 * files:&lt;path&gt;[;&lt;start&gt;] FileValue           an SSTable, from its first row on; or from another on.
 *                                             "#" and a digest stand for a long start: {@link
 *                                             ColumnNames}
 * logs:&lt;server&gt;         (empty)               a commit log that may hold mutations of it
 * redo:                 RedoValue
 * redo:cleared          ClearedValue          which rows were cleared for the latest such change
 * dropped:&lt;path&gt;        DroppedValue          an SSTable not needed any more
 * split:                TentativeValue        the lower half of a split or merge, see ValidRecords
 * trouble:              TroubleValue          it could not be loaded
 * pins:&lt;name&gt;           PinValue              a point of it that stays readable
 * pending:&lt;path&gt;        PendingValue          an SSTable that waits for the end of its job
 * pending:&lt;job&gt;;&lt;start&gt; PendingValue          rows that a job replaces when it commits, likewise
 * events:               EventValue            what happened, one version an event
 * </pre>
 */
final class RecordCodec {
  static final String EXTENT = "extent";
  static final String ASSIGNMENT = "assignment";
  static final String FILES = "files";
  static final String LOGS = "logs";
  static final String REDO = "redo";
  static final String DROPPED = "dropped";
  static final String SPLIT = "split";
  static final String TROUBLE = "trouble";
  static final String PINS = "pins";
  static final String PENDING = "pending";
  static final String EVENTS = "events";

  static final Column STATE = Column.of(ASSIGNMENT, "state");
  static final Column REQUIRES = Column.of(ASSIGNMENT, "requires");
  static final Column CLEARED = Column.of(REDO, "cleared");
  static final Column TENTATIVE = Column.of(SPLIT, "");

  /** Families that tell where a tablet is. */
  static final Set<String> PLACE = Set.of(EXTENT, ASSIGNMENT, SPLIT);

  /** Families with one column, whose qualifier is empty. */
  private static final Set<String> SINGLE = Set.of(EXTENT, REDO, SPLIT);

  private RecordCodec() {}

  /**
   * The record in {@code row} of {@code table}; empty if it has no state.
   *
   * @throws SteleException REFUSED if it requires a feature that this version does not know
   */
  static Optional<TabletRecord> decode(Row row, String table) throws CorruptionException {
    checkFeatures(row, where(row, table)); // Before any part is misread.
    return decodeAny(row, table);
  }

  /**
   * The same for who only wants to know which tablet has which rows, and its server: whatever
   * features the record requires, these are what they were, and the server knows the rest. The
   * result must not be changed or acted upon otherwise.
   */
  static Optional<TabletRecord> decodePlace(Row row, String table) throws CorruptionException {
    return decodeAny(onlyPlace(row), table);
  }

  /** Without what may be misread: the other families. */
  private static Row onlyPlace(Row row) {
    return new Row(
        row.key(), row.cells().stream().filter(cell -> PLACE.contains(cell.family())).toList());
  }

  private static String where(Row row, String table) {
    return table + " row " + row.key();
  }

  private static Optional<TabletRecord> decodeAny(Row row, String table)
      throws CorruptionException {
    String where = where(row, table);
    Extent extent = null;
    Bytes state = null;
    List<FileRef> files = new ArrayList<>();
    Set<ServerId> logs = new TreeSet<>();
    Redo redo = Redo.START;
    Map<String, Long> dropped = new TreeMap<>();
    Optional<Tentative> tentative = Optional.empty();
    Optional<LoadTrouble> trouble = Optional.empty();
    List<Pin> pins = new ArrayList<>();
    List<Pending> pending = new ArrayList<>();
    Set<Column> formerNames = new HashSet<>();
    ClearedRows cleared = ClearedRows.NONE;
    for (Cell cell : row.cells()) {
      if (cell.isOf(CLEARED)) {
        cleared = cleared(cell.value(), where);
      }
      if (SINGLE.contains(cell.family()) && !cell.qualifier().isEmpty()) {
        continue; // A later version may add it.
      }
      switch (cell.family()) {
        case EXTENT -> extent = extent(cell.value(), where);
        case ASSIGNMENT -> state = cell.isOf(STATE) ? cell.value().compact() : state;
        case FILES -> files.add(file(cell, where, formerNames));
        case LOGS -> logs.add(server(cell.qualifier(), where));
        case REDO -> redo = redo(cell.value(), where);
        case DROPPED ->
            dropped.put(
                cell.qualifier().toUtf8(),
                Avro.decode(
                    cell.value(), DroppedValue.class, where, DroppedValue::getDroppedMillis));
        case TROUBLE -> trouble = Optional.of(LoadTrouble.decode(cell.value(), where));
        case PINS -> pins.add(PinCodec.decode(cell.qualifier().toUtf8(), cell.value(), where));
        case PENDING -> pending.add(pending(cell, where, formerNames));
        case SPLIT -> tentative = Optional.of(tentative(cell.value(), where));
        default -> {} // Events, and what a later version may add.
      }
    }
    if (state == null) {
      return Optional.empty();
    }
    if (extent == null) {
      throw new CorruptionException(where, 0, "a tablet's record has no extent");
    }
    return Optional.of(
        TabletRecord.builder(extent.tablet, extent.rows, row.key())
            .below(extent.below)
            .stored(Assignment.decode(state, where), state)
            .files(files)
            .logs(logs)
            .redo(redo)
            .dropped(dropped)
            .tentative(tentative)
            .trouble(trouble)
            .pins(pins)
            .pending(pending)
            .cleared(cleared)
            .formerNames(formerNames)
            .build());
  }

  private static void checkFeatures(Row row, String where) {
    for (Cell cell : row.cells()) {
      if (cell.isOf(REQUIRES)) {
        Features.check(cell.value(), where);
      }
    }
  }

  private static FileRef file(Cell cell, String where, Set<Column> formerNames)
      throws CorruptionException {
    FileRef file = FileCodec.decode(cell.value(), where);
    noteFormer(cell, ColumnNames.of(file), formerNames);
    return file;
  }

  private static Pending pending(Cell cell, String where, Set<Column> formerNames)
      throws CorruptionException {
    Pending pending = PendingCodec.decode(cell.value(), where);
    noteFormer(cell, ColumnNames.of(pending), formerNames);
    return pending;
  }

  private static void noteFormer(Cell cell, Column name, Set<Column> formerNames) {
    if (!cell.isOf(name)) {
      formerNames.add(new Column(cell.family(), cell.qualifier().compact()));
    }
  }

  /** Puts all of {@code record} into its row. */
  static Mutation.Builder putAll(TabletRecord record, String event) {
    Mutation.Builder row = Mutation.builder(rowOf(record));
    putExtent(row, record);
    putState(row, record);
    record.files().forEach(file -> putFile(row, file));
    record.logs().forEach(server -> putLog(row, server));
    record.pins().forEach(pin -> putPin(row, pin));
    record.pending().forEach(pending -> putPending(row, pending));
    putRequired(row, Features.of(record));
    putRedo(row, record.redo());
    record.trouble().ifPresent(trouble -> putTrouble(row, trouble));
    record.tentative().ifPresent(tentative -> putTentative(row, tentative));
    putCleared(row, record.cleared());
    return putEvent(row, event, record.assignment());
  }

  /** The row a record is changed in; the root tablet's has its own name. */
  static Bytes rowOf(TabletRecord record) {
    return record.row().isEmpty() ? RootRecordRows.ROW : record.row();
  }

  static void putExtent(Mutation.Builder row, TabletRecord record) {
    Bytes extent =
        Avro.encode(
            ExtentValue.newBuilder()
                .setTable(record.id().table().value())
                .setTablet(record.id().name())
                .setStart(Avro.buffer(record.extent().start()))
                .setEnd(Avro.buffer(record.extent().end()))
                .setBelow(record.below().map(TabletId::name).orElse(""))
                .build());
    row.put(EXTENT, Bytes.EMPTY, extent);
  }

  static void putState(Mutation.Builder row, TabletRecord record) {
    row.put(STATE.family(), STATE.qualifier(), record.state());
  }

  static void putFile(Mutation.Builder row, FileRef file) {
    put(row, ColumnNames.of(file), FileCodec.encode(file));
  }

  /** Removes a file of {@code record}. */
  static void deleteFile(Mutation.Builder row, TabletRecord record, FileRef file) {
    delete(row, record, ColumnNames.of(file), ColumnNames.former(file));
  }

  /** Removes what waits for a job in {@code record}. */
  static void deletePending(Mutation.Builder row, TabletRecord record, Pending pending) {
    delete(row, record, ColumnNames.of(pending), ColumnNames.former(pending));
  }

  private static void put(Mutation.Builder row, Column column, Bytes value) {
    row.put(column.family(), column.qualifier(), value);
  }

  private static void delete(
      Mutation.Builder row, TabletRecord record, Column name, Column former) {
    row.deleteColumn(name.family(), name.qualifier(), TimeRange.ALL);
    if (record.formerNames().contains(former)) {
      row.deleteColumn(former.family(), former.qualifier(), TimeRange.ALL);
    }
  }

  static void putLog(Mutation.Builder row, ServerId server) {
    row.put(LOGS, Bytes.of(server.toString()), Bytes.EMPTY);
  }

  static void putRedo(Mutation.Builder row, Redo redo) {
    Bytes value =
        Avro.encode(
            RedoValue.newBuilder()
                .setSequence(redo.sequence())
                .setHighestTimestamp(redo.highestTimestamp())
                .build());
    row.put(REDO, Bytes.EMPTY, value);
  }

  static void putPin(Mutation.Builder row, Pin pin) {
    row.put(PINS, Bytes.of(pin.name()), PinCodec.encode(pin));
  }

  static void putPending(Mutation.Builder row, Pending pending) {
    put(row, ColumnNames.of(pending), PendingCodec.encode(pending));
  }

  static void putCleared(Mutation.Builder row, ClearedRows cleared) {
    if (cleared.change() == 0) {
      return;
    }
    row.put(
        CLEARED.family(),
        CLEARED.qualifier(),
        Avro.encode(
            ClearedValue.newBuilder()
                .setChange(cleared.change())
                .setStarts(cleared.rows().stream().map(one -> Avro.buffer(one.start())).toList())
                .setEnds(cleared.rows().stream().map(one -> Avro.buffer(one.end())).toList())
                .build()));
  }

  private static ClearedRows cleared(Bytes value, String where) throws CorruptionException {
    return Avro.decode(
        value,
        ClearedValue.class,
        where,
        found -> {
          List<RowRange> rows = new ArrayList<>();
          for (int i = 0; i < found.getStarts().size(); i++) {
            rows.add(
                new RowRange(
                    Avro.bytes(found.getStarts().get(i)), Avro.bytes(found.getEnds().get(i))));
          }
          return new ClearedRows(found.getChange(), rows);
        });
  }

  /** Writes the features that a reader of the record must know, if there are any. */
  static void putRequired(Mutation.Builder row, Set<String> features) {
    if (!features.isEmpty()) {
      row.put(REQUIRES.family(), REQUIRES.qualifier(), Bytes.of(String.join(" ", features)));
    }
  }

  static void putTentative(Mutation.Builder row, Tentative tentative) {
    row.put(SPLIT, Bytes.EMPTY, tentative.value());
  }

  static void putTrouble(Mutation.Builder row, LoadTrouble trouble) {
    row.put(TROUBLE, Bytes.EMPTY, trouble.encode());
  }

  static void putDropped(Mutation.Builder row, String path, long millis) {
    row.put(
        DROPPED,
        Bytes.of(path),
        Avro.encode(DroppedValue.newBuilder().setDroppedMillis(millis).build()));
  }

  static Mutation.Builder putEvent(Mutation.Builder row, String what, Assignment assignment) {
    Bytes event =
        Avro.encode(
            EventValue.newBuilder()
                .setWhat(what)
                .setEpoch(assignment.epoch())
                .setServer(assignment.server().map(ServerId::toString).orElse(""))
                .build());
    return row.put(EVENTS, Bytes.EMPTY, event);
  }

  static Bytes encodeTentative(TabletId parent, long parentEpoch, TabletId child, boolean merge) {
    return Avro.encode(
        TentativeValue.newBuilder()
            .setParent(parent.toString())
            .setParentEpoch(parentEpoch)
            .setChild(child.toString())
            .setMerge(merge)
            .build());
  }

  static TabletId tabletOf(Bytes extent, String where) throws CorruptionException {
    return extent(extent, where).tablet;
  }

  private record Extent(TabletId tablet, RowRange rows, Optional<TabletId> below) {}

  private static Extent extent(Bytes value, String where) throws CorruptionException {
    return Avro.decode(
        value,
        ExtentValue.class,
        where,
        extent -> {
          TableId table = new TableId(extent.getTable());
          String below = extent.getBelow();
          return new Extent(
              new TabletId(table, extent.getTablet()),
              new RowRange(Avro.bytes(extent.getStart()), Avro.bytes(extent.getEnd())),
              below.isEmpty() ? Optional.empty() : Optional.of(new TabletId(table, below)));
        });
  }

  private static Redo redo(Bytes value, String where) throws CorruptionException {
    return Avro.decode(
        value,
        RedoValue.class,
        where,
        redo -> new Redo(redo.getSequence(), redo.getHighestTimestamp()));
  }

  private static Tentative tentative(Bytes value, String where) throws CorruptionException {
    return Avro.decode(
        value,
        TentativeValue.class,
        where,
        tentative ->
            new Tentative(
                TabletId.parse(tentative.getParent()),
                tentative.getParentEpoch(),
                TabletId.parse(tentative.getChild()),
                tentative.getMerge(),
                value));
  }

  private static ServerId server(Bytes qualifier, String where) throws CorruptionException {
    try {
      return ServerId.parse(qualifier.toUtf8());
    } catch (IllegalArgumentException e) {
      CorruptionException damaged = new CorruptionException(where, 0, "logs: " + e.getMessage());
      damaged.initCause(e);
      throw damaged;
    }
  }
}
