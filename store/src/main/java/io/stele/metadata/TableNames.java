package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.avro.ChangeValue;
import io.stele.metadata.avro.EndedValue;
import io.stele.metadata.avro.NameValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The names of tables, in the lock service. Each name is one node, which also has the schema
 * changes made under the name. So one conditional write changes the owner of the name, the change
 * in progress and the ended changes together.
 *
 * <p>Safe for use by any number of threads.
 */
public final class TableNames {
  private static final int ATTEMPTS_MAX = 100;

  private final ProcessRuntime runtime;
  private final LockService locks;

  TableNames(ProcessRuntime runtime, LockService locks) {
    this.runtime = runtime;
    this.locks = locks;
  }

  /** The table that has the name. The changes made to the table need not be understood. */
  public Optional<TableId> holder(String name) throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.tableName(name));
    return node.isEmpty() ? Optional.empty() : holder(name, value(name, node.get()));
  }

  /**
   * Whether the change of that number is in progress under a name. The change need not be
   * understood.
   */
  public boolean isRunning(String name, long change) throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.tableName(name));
    if (node.isEmpty()) {
      return false;
    }
    Bytes running = Avro.bytes(value(name, node.get()).getRunning());
    return !running.isEmpty()
        && Avro.decode(running, ChangeValue.class, where(name), ChangeValue::getSequence) == change;
  }

  /**
   * The number of the last change under a name, or up to which changes may be forgotten if it has
   * no node. The changes need not be understood.
   */
  public long sequence(String name) throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.tableName(name));
    return node.isEmpty() ? forgotten() : value(name, node.get()).getSequence();
  }

  /**
   * The name, if it has a node: for who may change it.
   *
   * @throws NewerFormatException if its node requires features that this version does not know, or
   *     has changes of kinds that it does not know
   */
  public Optional<TableName> find(String name) throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.tableName(name));
    return node.isEmpty() ? Optional.empty() : Optional.of(decode(name, node.get()));
  }

  /** As {@link #find}; a name without a table if it has no node. */
  public TableName read(String name) throws IOException {
    Optional<TableName> found = find(name);
    if (found.isPresent()) {
      return found.get();
    }
    long forgotten = forgotten();
    return new TableName(
        name,
        Optional.empty(),
        Optional.empty(),
        List.of(),
        forgotten,
        forgotten,
        TableName.NO_NODE);
  }

  /** All names that have nodes. */
  public List<String> all() throws IOException {
    return locks.children(LockPaths.NAMES);
  }

  /**
   * Replaces {@code before} by {@code after}.
   *
   * @return whether it did; false if somebody else wrote the name meanwhile
   */
  public boolean write(TableName before, TableName after) throws IOException {
    String path = LockPaths.tableName(before.name());
    Bytes data = encode(after);
    if (before.version() != TableName.NO_NODE) {
      return locks.write(path, data, before.version()).isPresent();
    }
    try {
      locks.create(path, data);
      return true;
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.ALREADY_EXISTS) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Removes the node of a name without a table, and the changes remembered with it. First it raises
   * the number up to which changes may be forgotten, so that none of them is made again.
   */
  public void forget(TableName name) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Optional<VersionedData> node = locks.read(LockPaths.FORGOTTEN_CHANGES);
      Bytes raised = forgotten(name.sequence());
      if (node.isEmpty()) {
        try {
          locks.create(LockPaths.FORGOTTEN_CHANGES, raised);
        } catch (SteleException e) {
          if (e.code() != SteleException.Code.ALREADY_EXISTS) {
            throw e;
          }
        } // Whoever made it: look.
      } else if (number(node.get()) >= name.sequence()) {
        locks.delete(LockPaths.tableName(name.name()), name.version());
        return;
      } else {
        locks.write(LockPaths.FORGOTTEN_CHANGES, raised, node.get().version());
      }
    }
    throw SteleException.retryLater(
        "too many processes are forgetting schema changes at once: try again");
  }

  private long forgotten() throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.FORGOTTEN_CHANGES);
    return node.isEmpty() ? 0 : number(node.get());
  }

  /** The table that has the name, of the data of the name's node. */
  static Optional<TableId> holder(String name, Bytes data) throws CorruptionException {
    return holder(name, value(name, new VersionedData(data, 0)));
  }

  /** The number of the last change under the name, of the data of the name's node. */
  static long sequence(String name, Bytes data) throws CorruptionException {
    return value(name, new VersionedData(data, 0)).getSequence();
  }

  /**
   * The data of a name's node after so many more changes, none of which is remembered.
   *
   * @param data of the node
   */
  Bytes skip(String name, Bytes data, long changes) throws CorruptionException {
    TableName now = decode(name, new VersionedData(data, 0));
    long last = now.sequence() + changes;
    return encode(
        new TableName(name, now.table(), now.running(), now.ended(), last, last, now.version()));
  }

  /** The number in the node up to which changes may be forgotten. */
  static long forgotten(Bytes data) throws CorruptionException {
    return number(new VersionedData(data, 0));
  }

  /** The data of the node that says up to which number changes may be forgotten. */
  Bytes forgotten(long number) {
    return Bytes.of(number + " " + UniqueName.of(runtime));
  }

  // The second word distinguishes writers of the same number.
  private static long number(VersionedData node) throws CorruptionException {
    String text = node.data().toUtf8();
    try {
      return Long.parseLong(text.substring(0, Math.max(0, text.indexOf(' '))));
    } catch (NumberFormatException e) {
      CorruptionException damaged =
          new CorruptionException(
              "ZooKeeper node " + LockPaths.FORGOTTEN_CHANGES, 0, "it has no number: " + text);
      damaged.initCause(e);
      throw damaged;
    }
  }

  private Bytes encode(TableName name) {
    return Avro.encode(
        NameValue.newBuilder()
            .setTable(name.table().map(TableId::value).orElse(""))
            .setSequence(name.sequence())
            .setForgotten(name.forgotten())
            .setRunning(Avro.buffer(name.running().map(TableNames::encode).orElse(Bytes.EMPTY)))
            .setEnded(name.ended().stream().map(one -> Avro.buffer(encode(one))).toList())
            .setWrite(UniqueName.of(runtime))
            .build());
  }

  private static Bytes encode(SchemaChange change) {
    return Avro.encode(
        ChangeValue.newBuilder()
            .setId(change.id())
            .setSequence(change.sequence())
            .setStep(change.step().name())
            .setTable(change.table().value())
            .setWanted(Avro.buffer(change.wanted().map(TableCodec::encode).orElse(Bytes.EMPTY)))
            .setSplitRows(change.splitRows().stream().map(Avro::buffer).toList())
            .setBegunMillis(change.begunMillis())
            .setStart(Avro.buffer(change.rows().start()))
            .setEnd(Avro.buffer(change.rows().end()))
            .build());
  }

  private static Bytes encode(EndedChange change) {
    return Avro.encode(
        EndedValue.newBuilder()
            .setId(change.id())
            .setSequence(change.sequence())
            .setTable(change.table().map(TableId::value).orElse(""))
            .setCode(change.failure().map(failure -> written(failure.code()).name()).orElse(""))
            .setMessage(change.failure().map(EndedChange.Failure::message).orElse(""))
            .setExists(
                change
                    .failure()
                    .filter(failure -> failure.code() == SteleException.Code.ALREADY_EXISTS)
                    .isPresent())
            .build());
  }

  /** The master may be followed by one of an older version, which must be able to read it. */
  private static SteleException.Code written(SteleException.Code code) {
    return code == SteleException.Code.ALREADY_EXISTS ? SteleException.Code.REFUSED : code;
  }

  private static String where(String name) {
    return "name " + name + " in ZooKeeper";
  }

  private static NameValue value(String name, VersionedData node) throws CorruptionException {
    return Avro.decode(node.data(), NameValue.class, where(name), read -> read);
  }

  private static Optional<TableId> holder(String name, NameValue value) {
    try {
      return Optional.of(value.getTable()).filter(id -> !id.isEmpty()).map(TableId::new);
    } catch (IllegalArgumentException e) {
      throw new NewerFormatException(where(name), "table \"" + value.getTable() + "\"", e);
    }
  }

  private static TableName decode(String name, VersionedData node) throws CorruptionException {
    String where = where(name);
    NameValue value = value(name, node);
    Features.checkChange(value.getRequires(), where);
    Bytes running = Avro.bytes(value.getRunning());
    List<EndedChange> ended = new ArrayList<>();
    for (ByteBuffer change : value.getEnded()) {
      ended.add(Avro.decode(Avro.bytes(change), EndedValue.class, where, TableNames::ended));
    }
    return new TableName(
        name,
        holder(name, value),
        running.isEmpty() ? Optional.empty() : Optional.of(change(where, running)),
        ended,
        value.getSequence(),
        value.getForgotten(),
        node.version());
  }

  private static SchemaChange change(String where, Bytes bytes) throws CorruptionException {
    ChangeValue value = Avro.decode(bytes, ChangeValue.class, where, read -> read);
    Bytes schema = Avro.bytes(value.getWanted());
    Optional<TableSchema> wanted =
        schema.isEmpty() ? Optional.empty() : Optional.of(TableCodec.decodeStored(schema, where));
    return Avro.decode(
        bytes,
        ChangeValue.class,
        where,
        read ->
            new SchemaChange(
                read.getId(),
                read.getSequence(),
                SchemaChange.Step.valueOf(read.getStep()),
                new TableId(read.getTable()),
                wanted,
                read.getSplitRows().stream().map(Avro::bytes).toList(),
                read.getBegunMillis(),
                new RowRange(Avro.bytes(read.getStart()), Avro.bytes(read.getEnd()))));
  }

  private static EndedChange ended(EndedValue value) {
    Optional<SteleException.Code> code =
        Optional.of(value.getCode())
            .filter(text -> !text.isEmpty())
            .map(
                text ->
                    value.getExists()
                        ? SteleException.Code.ALREADY_EXISTS
                        : SteleException.Code.valueOf(text));
    return new EndedChange(
        value.getId(),
        value.getSequence(),
        Optional.of(value.getTable()).filter(id -> !id.isEmpty()).map(TableId::new),
        code.map(why -> new EndedChange.Failure(why, value.getMessage())));
  }
}
