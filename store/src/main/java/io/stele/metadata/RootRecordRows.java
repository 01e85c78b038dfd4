package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.avro.RootColumnValue;
import io.stele.metadata.avro.RootRecordValue;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.CorruptionException;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The root tablet's record: one row in a node of the lock service, changed by version.
 *
 * <p>The node names its latest updates, so that one whose answer was lost is found there. Safe for
 * use by any number of threads.
 */
final class RootRecordRows implements RecordRows {
  /** The one row. */
  static final Bytes ROW = Bytes.of("root<");

  private static final String WHERE = "ZooKeeper node " + LockPaths.ROOT;
  private static final int UPDATES_REMEMBERED = 32;
  private static final int EVENTS_REMEMBERED = 20;
  private static final Duration LOOK_AGAIN = Duration.ofMillis(100);

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final Duration timeout;

  /**
   * The record in {@code locks}.
   *
   * @param timeout how long an update whose outcome is in doubt may take: it is in doubt while the
   *     lock service is unavailable
   */
  RootRecordRows(ProcessRuntime runtime, LockService locks, Duration timeout) {
    this.runtime = runtime;
    this.locks = locks;
    this.timeout = timeout;
  }

  /** The contents of the node. */
  private record Node(Map<Key, Cell> cells, List<String> updates, int version) {
    Row row() {
      return new Row(ROW, List.copyOf(cells.values()));
    }
  }

  /** Columns in order of family and qualifier; events also by timestamp, newest first. */
  private record Key(String family, Bytes qualifier, long reversed) implements Comparable<Key> {
    static Key of(Cell cell) {
      boolean event = cell.family().equals(RecordCodec.EVENTS);
      return new Key(cell.family(), cell.qualifier(), event ? -cell.timestampMicros() : 0);
    }

    @Override
    public int compareTo(Key other) {
      int byFamily = family.compareTo(other.family);
      int byQualifier = byFamily != 0 ? byFamily : qualifier.compareTo(other.qualifier);
      return byQualifier != 0 ? byQualifier : Long.compare(reversed, other.reversed);
    }
  }

  @Override
  public List<Row> scan(RowRange range, int limit) throws IOException {
    Optional<Node> node = read();
    return node.isPresent() && range.contains(ROW) && limit > 0
        ? List.of(node.get().row())
        : List.of();
  }

  /** Writes the first record, if there is none. */
  void create(Mutation mutation) throws IOException {
    if (read().isPresent()) {
      return;
    }
    String update = UniqueName.of(runtime);
    try {
      locks.create(
          LockPaths.ROOT, encode(apply(runtime, new TreeMap<>(), mutation), List.of(update)));
    } catch (SteleException e) {
      if (read().isEmpty()) {
        throw e;
      } // Otherwise another master was faster, or this one was without knowing.
    }
  }

  @Override
  public boolean update(Condition condition, Mutation mutation) throws IOException {
    String update = UniqueName.of(runtime);
    Deadline deadline = Deadline.after(runtime, timeout);
    boolean inDoubt = false;
    do {
      try {
        Optional<Node> node = read();
        if (node.isPresent() && node.get().updates().contains(update)) {
          return true;
        }
        inDoubt = false;
        if (node.isEmpty() || !holds(condition, node.get().row())) {
          return false;
        }
        if (write(node.get(), mutation, update)) {
          return true;
        }
      } catch (SteleException e) {
        if (e.code() != SteleException.Code.OUTCOME_UNKNOWN) {
          if (!inDoubt) {
            throw e; // Nothing was changed.
          }
          pause(e, deadline);
        }
        inDoubt = true; // The next read tells.
      } catch (IOException e) {
        if (!inDoubt) {
          throw e; // Nothing was changed.
        }
        pause(e, deadline);
      }
    } while (inDoubt || !deadline.isOver());
    throw SteleException.retryLater(
        "the root tablet's record was not changed: another writer won every attempt");
  }

  /**
   * The node's data, with the tablet loaded by the server to which it is assigned, if that server
   * has a log: it may have loaded it, and its log counts then.
   */
  static Bytes asLoaded(ProcessRuntime runtime, Bytes data, IoFunction<ServerId, Boolean> hasLog)
      throws IOException {
    Node node = decode(data, 0);
    TabletRecord record =
        RecordCodec.decode(node.row(), WHERE)
            .orElseThrow(() -> new CorruptionException(WHERE, 0, "it has no record"));
    if (record.assignment().state() != Assignment.State.ASSIGNED
        || !hasLog.apply(record.assignment().server().orElseThrow())) {
      return data;
    }
    Mutation.Builder row = Mutation.builder(ROW);
    RecordCodec.putState(row, record.withAssignment(record.assignment().loaded(), record.logs()));
    return encode(apply(runtime, node.cells(), row.build()), node.updates());
  }

  private boolean write(Node node, Mutation mutation, String update) throws IOException {
    List<String> updates = new ArrayList<>(node.updates());
    updates.add(update);
    Bytes changed =
        encode(
            apply(runtime, node.cells(), mutation),
            updates.subList(Math.max(0, updates.size() - UPDATES_REMEMBERED), updates.size()));
    return locks.write(LockPaths.ROOT, changed, node.version()).isPresent();
  }

  /** Pauses before it is looked again whether an update was made. */
  private void pause(Exception last, Deadline deadline) throws IOException {
    if (deadline.isOver() || Futures.isInterruption(last)) {
      throw doubt(last);
    }
    try {
      runtime.sleep(LOOK_AGAIN);
    } catch (InterruptedException e) {
      throw doubt(Futures.interrupted(e, "waiting for ZooKeeper"));
    }
  }

  private static SteleException doubt(Exception cause) {
    return SteleException.outcomeUnknown(
        "the root tablet's record may or may not have been changed", cause);
  }

  private static boolean holds(Condition condition, Row row) {
    Column column = condition.column();
    return row.cell(column.family(), column.qualifier()).map(Cell::value).equals(condition.value());
  }

  private Optional<Node> read() throws IOException {
    Optional<VersionedData> data = locks.read(LockPaths.ROOT);
    return data.isEmpty()
        ? Optional.empty()
        : Optional.of(decode(data.get().data(), data.get().version()));
  }

  private static Map<Key, Cell> apply(
      ProcessRuntime runtime, Map<Key, Cell> before, Mutation mutation) {
    Map<Key, Cell> cells = new TreeMap<>(before);
    long now = runtime.wallClock().millis() * 1000;
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        Cell cell = new Cell(put.family(), put.qualifier(), now, put.value());
        cells.put(Key.of(cell), cell);
      } else if (edit instanceof Edit.DeleteColumn delete) {
        cells
            .keySet()
            .removeIf(
                key ->
                    key.family().equals(delete.family())
                        && key.qualifier().equals(delete.qualifier()));
      } else {
        throw new IllegalArgumentException("the root tablet's record does not allow " + edit);
      }
    }
    cells.keySet().stream()
        .filter(key -> key.family().equals(RecordCodec.EVENTS))
        .skip(EVENTS_REMEMBERED)
        .toList()
        .forEach(cells::remove);
    return cells;
  }

  private static Bytes encode(Map<Key, Cell> cells, List<String> updates) {
    List<RootColumnValue> columns = new ArrayList<>();
    for (Cell cell : cells.values()) {
      columns.add(
          RootColumnValue.newBuilder()
              .setFamily(cell.family())
              .setQualifier(Avro.buffer(cell.qualifier()))
              .setTimestamp(cell.timestampMicros())
              .setValue(Avro.buffer(cell.value()))
              .build());
    }
    return Avro.encode(
        RootRecordValue.newBuilder().setColumns(columns).setUpdates(List.copyOf(updates)).build());
  }

  private static Node decode(Bytes data, int version) throws CorruptionException {
    return Avro.decode(
        data,
        RootRecordValue.class,
        WHERE,
        value -> {
          Map<Key, Cell> cells = new TreeMap<>();
          for (RootColumnValue column : value.getColumns()) {
            Cell cell =
                new Cell(
                    column.getFamily(),
                    Avro.bytes(column.getQualifier()),
                    column.getTimestamp(),
                    Avro.bytes(column.getValue()));
            cells.put(Key.of(cell), cell);
          }
          return new Node(cells, value.getUpdates(), version);
        });
  }
}
