package io.stele.client;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.MutationBlock;
import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.runtime.MemoryClaim;
import io.stele.wire.OperationCodec;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.Serialization;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.io.serializer.WritableSerialization;

/**
 * Serializes {@link Bytes}, {@link Row}, each kind of {@link RowOperation}, and {@link
 * AnyOperation}, which is one of any kind, for the shuffle of a job. The formats for tables {@link
 * #register} it; a job that uses none of them must register it itself.
 *
 * <p>{@code Bytes} are written as a length and the bytes; a row or a mutation as its key, and a
 * cell block preceded by its length; other operations as the messages of the wire, preceded by
 * their length; an operation of any kind as the number of its kind, and the operation. In a job
 * that sorts its keys by {@link KeyOrder}, {@code Bytes} are also numbered: the length is
 * complemented, so that it is negative, and the number of the task and one of the key follow the
 * bytes. {@code Bytes} that such a job writes elsewhere, as values or to a file, are numbered as
 * well; they are read like others. A comparator of somebody's own must read them by this class.
 */
public final class ModelSerialization extends Configured implements Serialization<Object> {
  private static final String SERIALIZATIONS = CommonConfigurationKeys.IO_SERIALIZATIONS_KEY;
  static final String COMPARATOR = "mapreduce.job.output.key.comparator.class";
  private static final List<String> GROUPINGS =
      List.of(
          "mapreduce.job.output.group.comparator.class",
          "mapreduce.job.combiner.group.comparator.class");
  private static final String MAP_OUTPUT_KEY = "mapreduce.map.output.key.class";
  private static final String OUTPUT_KEY = "mapreduce.job.output.key.class";
  private static final String MAP_OUTPUT_VALUE = "mapreduce.map.output.value.class";
  private static final String OUTPUT_VALUE = "mapreduce.job.output.value.class";
  private static final String REDUCERS = "mapreduce.job.reduces";
  private static final String REDUCER = "mapreduce.job.reduce.class";
  private static final String IDENTITY = "org.apache.hadoop.mapreduce.Reducer";

  /** Set by MapReduce in tasks. */
  private static final String TASK = "mapreduce.task.partition";

  /** Of this process: what a task writes later has a higher number, through whatever writer. */
  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  // What a message says and an operation on its way through a job does not.
  private static final TabletProto NO_TABLET =
      TabletProto.newBuilder().setTableId("").setTablet("").setEpoch(0).build();
  private static final Outstanding ALL = Outstanding.from(1);

  private static final Set<Class<?>> TYPES =
      Set.of(
          Bytes.class,
          Row.class,
          Mutation.class,
          CheckAndMutate.class,
          ReadModifyWrite.class,
          AnyOperation.class);

  /**
   * Sets a job up for these types: adds this to its serializations and, if mappers write {@link
   * Bytes} as keys and no other order is set, has the keys sorted as {@link #registerKeys} says.
   * Repeated calls add nothing.
   */
  public static void register(Configuration conf) {
    Set<String> all = new LinkedHashSet<>(conf.getTrimmedStringCollection(SERIALIZATIONS));
    if (all.isEmpty()) {
      all.add(WritableSerialization.class.getName());
    }
    all.add(ModelSerialization.class.getName());
    conf.set(SERIALIZATIONS, String.join(",", all));
    if (hasBytesAsKeys(conf)) {
      registerKeys(conf);
    } else if (isSortedByKeyOrder(conf)) { // It is that of another job, of which this is a copy.
      conf.unset(COMPARATOR);
      unsetGroups(conf);
    }
  }

  /**
   * Sorts keys as rows are sorted, for a job whose mappers write {@link Bytes} as keys. The values
   * of a key come in the order of the tasks that wrote them, and those of a task as it wrote them:
   * in the same order to every attempt of a reducer. MapReduce itself sorts equal keys in any
   * order.
   */
  public static void registerKeys(Configuration conf) {
    if (conf.get(COMPARATOR, "").isEmpty()) {
      conf.setClass(COMPARATOR, KeyOrder.class, RawComparator.class);
    }
    if (isSortedByKeyOrder(conf)) {
      GROUPINGS.stream()
          .filter(key -> conf.get(key, "").isEmpty())
          .forEach(key -> conf.setClass(key, KeyOrder.Groups.class, RawComparator.class));
    } else {
      unsetGroups(conf); // Somebody has set an order of his own since: it groups, too.
    }
  }

  private static void unsetGroups(Configuration conf) {
    GROUPINGS.stream()
        .filter(key -> conf.get(key, "").equals(KeyOrder.Groups.class.getName()))
        .forEach(conf::unset);
  }

  /**
   * Checks a job that was set up by a copy of its configuration, as {@code MultipleInputs} gives to
   * input formats: what {@link #register} sets there does not reach the job.
   *
   * @throws SteleException REFUSED if its mappers send {@link Bytes} as keys to reducers, and no
   *     order of them is set: MapReduce knows none by itself
   */
  public static void checkKeysAreSorted(Configuration copy) {
    if (copy.getInt(REDUCERS, 1) > 0
        && hasBytesAsKeys(copy)
        && copy.get(COMPARATOR, "").isEmpty()) {
      throw SteleException.refused(
          "the job's mappers send keys of Bytes to reducers, but no order of these is set, and"
              + " MultipleInputs gives no format for tables the chance to set it: call"
              + " SteleJob.setMapOutputKeyToBytes(job) instead of setMapOutputKeyClass and"
              + " setOutputKeyClass, or TableInputFormat.addTable after them");
    }
  }

  /**
   * Checks the values that mappers send to reducers, when MapReduce submits a job. Otherwise each
   * of its tasks would fail, and say nothing of why. Not for other frameworks: they may name
   * classes of output, but send nothing through the shuffle of MapReduce.
   *
   * @throws SteleException REFUSED if their class is {@link RowOperation}, which no value is
   *     exactly
   */
  public static void checkMapOutput(Configuration conf) {
    if (sends(conf, RowOperation.class)) {
      throw SteleException.refused(
          "the job's mappers are to send values of RowOperation to reducers, but MapReduce takes"
              + " values of exactly one class. If all operations are of one kind, name its class,"
              + " such as job.setMapOutputValueClass(Mutation.class). If they are of several, set"
              + " it to AnyOperation.class, write new AnyOperation(operation) in mappers, and"
              + " value.operation() in the reducer");
    }
  }

  /**
   * Checks a job that writes to tables, when MapReduce submits it.
   *
   * @throws SteleException REFUSED as by {@link #checkMapOutput}, or if mappers send values of
   *     {@link AnyOperation} and no reducer takes the operations out
   */
  public static void checkMapOutputForTables(Configuration conf) {
    checkMapOutput(conf);
    if (sends(conf, AnyOperation.class) && conf.get(REDUCER, IDENTITY).equals(IDENTITY)) {
      throw SteleException.refused(
          "the job's mappers send values of AnyOperation, but it has no reducer of its own, so"
              + " these would be written as they are: set a reducer that writes value.operation()");
    }
  }

  private static boolean sends(Configuration conf, Class<?> values) {
    return conf.getInt(REDUCERS, 1) > 0
        && conf.get(MAP_OUTPUT_VALUE, conf.get(OUTPUT_VALUE, "")).equals(values.getName());
  }

  static boolean isSortedByKeyOrder(Configuration conf) {
    return conf.get(COMPARATOR, "").equals(KeyOrder.class.getName());
  }

  /** Whether the job's mappers write {@link Bytes} as keys. */
  static boolean hasBytesAsKeys(Configuration conf) {
    return conf.get(MAP_OUTPUT_KEY, conf.get(OUTPUT_KEY, "")).equals(Bytes.class.getName());
  }

  @Override
  public boolean accept(Class<?> type) {
    return TYPES.contains(type);
  }

  @Override
  public Serializer<Object> getSerializer(Class<Object> type) {
    Configuration conf = getConf();
    boolean numbered =
        conf != null && type.equals((Class<?>) Bytes.class) && isSortedByKeyOrder(conf);
    return new Writer(numbered ? OptionalInt.of(conf.getInt(TASK, 0)) : OptionalInt.empty());
  }

  @Override
  public Deserializer<Object> getDeserializer(Class<Object> type) {
    return new Reader(type);
  }

  /** The number of a kind; it stays, as operations may be in files. */
  private static int number(RowOperation.Kind kind) {
    return switch (kind) {
      case MUTATION -> 0;
      case CHECK_AND_MUTATE -> 1;
      case READ_MODIFY_WRITE -> 2;
    };
  }

  private static RowOperation.Kind kind(int number) throws IOException {
    for (RowOperation.Kind kind : RowOperation.Kind.values()) {
      if (number(kind) == number) {
        return kind;
      }
    }
    throw new IOException(
        "no operation: its kind has number " + number + ", which this version does not know");
  }

  private static final class Writer implements Serializer<Object> {
    private final CellBlockWriter block = CellBlockWriter.sequential(256);
    private final OptionalInt task; // If keys are numbered.
    private DataOutputStream out = new DataOutputStream(OutputStream.nullOutputStream());

    Writer(OptionalInt task) {
      this.task = task;
    }

    @Override
    public void open(OutputStream stream) {
      out = new DataOutputStream(stream);
    }

    @Override
    public void serialize(Object value) throws IOException {
      try {
        if (value instanceof Bytes bytes) {
          writeKey(bytes);
        } else if (value instanceof Row row) {
          write(row.key());
          RowCodec.write(row, block);
          writeBlock();
        } else if (value instanceof AnyOperation any) {
          WritableUtils.writeVInt(out, number(any.operation().kind()));
          write(any.operation());
        } else {
          write((RowOperation) value);
        }
      } finally {
        block.clear(); // MapReduce writes a value again that did not fit into its buffer.
      }
      out.flush();
    }

    private void write(RowOperation operation) throws IOException {
      switch (operation.kind()) {
        case MUTATION -> {
          Mutation mutation = (Mutation) operation;
          write(mutation.row());
          MutationBlock.write(mutation, 0, Edit.SERVER_TIMESTAMP, block);
          writeBlock();
        }
        case CHECK_AND_MUTATE ->
            writeBytes(
                OperationCodec.encode(
                        NO_TABLET,
                        Optional.empty(),
                        ALL,
                        Durability.HFLUSH,
                        (CheckAndMutate) operation)
                    .toByteArray());
        case READ_MODIFY_WRITE ->
            writeBytes(
                OperationCodec.encode(
                        NO_TABLET,
                        Optional.empty(),
                        ALL,
                        Durability.HFLUSH,
                        (ReadModifyWrite) operation)
                    .toByteArray());
      }
    }

    private void writeKey(Bytes key) throws IOException {
      if (task.isEmpty()) {
        write(key);
        return;
      }
      WritableUtils.writeVInt(out, ~key.length());
      key.writeTo(out);
      WritableUtils.writeVInt(out, task.getAsInt());
      WritableUtils.writeVLong(out, LAST_NUMBER.incrementAndGet());
    }

    private void write(Bytes bytes) throws IOException {
      WritableUtils.writeVInt(out, bytes.length());
      bytes.writeTo(out);
    }

    private void writeBytes(byte[] bytes) throws IOException {
      WritableUtils.writeVInt(out, bytes.length);
      out.write(bytes);
    }

    private void writeBlock() throws IOException {
      WritableUtils.writeVInt(out, block.size());
      out.write(block.finish().array(), 0, block.size());
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }

  private static final class Reader implements Deserializer<Object> {
    private final Class<Object> type;
    private DataInputStream in = new DataInputStream(InputStream.nullInputStream());

    Reader(Class<Object> type) {
      this.type = type;
    }

    @Override
    public void open(InputStream stream) {
      in = new DataInputStream(stream);
    }

    @Override
    public Object deserialize(Object reused) throws IOException {
      if (type.equals((Class<?>) CheckAndMutate.class)) {
        return operation(RowOperation.Kind.CHECK_AND_MUTATE);
      }
      if (type.equals((Class<?>) ReadModifyWrite.class)) {
        return operation(RowOperation.Kind.READ_MODIFY_WRITE);
      }
      if (type.equals((Class<?>) Mutation.class)) {
        return operation(RowOperation.Kind.MUTATION);
      }
      if (type.equals((Class<?>) AnyOperation.class)) {
        return new AnyOperation(operation(kind(WritableUtils.readVInt(in))));
      }
      if (type.equals((Class<?>) Bytes.class)) {
        return readKey();
      }
      Bytes key = Bytes.wrap(read());
      List<Row> rows = RowCodec.read(ByteBuffer.wrap(read()));
      return rows.isEmpty() ? new Row(key, List.of()) : rows.get(0);
    }

    private RowOperation operation(RowOperation.Kind kind) throws IOException {
      return switch (kind) {
        case MUTATION -> {
          Bytes row = Bytes.wrap(read());
          byte[] block = read();
          yield MutationBlock.read(row, CellBlockCursor.sequential(block, 0, block.length));
        }
        case CHECK_AND_MUTATE ->
            OperationCodec.decode(CheckAndMutateProto.parseFrom(read()), MemoryClaim.NONE);
        case READ_MODIFY_WRITE -> OperationCodec.decode(ReadModifyWriteProto.parseFrom(read()));
      };
    }

    private Bytes readKey() throws IOException {
      int length = WritableUtils.readVInt(in);
      if (length >= 0) {
        return Bytes.wrap(read(length));
      }
      Bytes key = Bytes.wrap(read(~length));
      WritableUtils.readVInt(in); // The numbers have done their service.
      WritableUtils.readVLong(in);
      return key;
    }

    private byte[] read() throws IOException {
      return read(WritableUtils.readVInt(in));
    }

    private byte[] read(int length) throws IOException {
      byte[] bytes = new byte[length];
      in.readFully(bytes);
      return bytes;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
