package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.io.serializer.WritableSerialization;
import org.apache.hadoop.util.ReflectionUtils;
import org.junit.jupiter.api.Test;

class ModelSerializationTest {
  private static SerializationFactory factory() {
    Configuration conf = new Configuration(false);
    ModelSerialization.register(conf);
    return new SerializationFactory(conf);
  }

  private static <T> byte[] write(Class<T> type, T value) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    Serializer<T> serializer = factory().getSerializer(type);
    serializer.open(out);
    serializer.serialize(value);
    return Arrays.copyOf(out.getData(), out.getLength());
  }

  private static <T> T throughAStream(Class<T> type, T value) throws IOException {
    return read(type, write(type, value));
  }

  private static <T> T read(Class<T> type, byte[] bytes) throws IOException {
    DataInputBuffer in = new DataInputBuffer();
    in.reset(bytes, bytes.length);
    Deserializer<T> deserializer = factory().getDeserializer(type);
    deserializer.open(in);
    T read = deserializer.deserialize(null);
    assertThat(in.getPosition()).isEqualTo(bytes.length);
    return read;
  }

  @Test
  void bytesRowsAndMutationsComeThroughAsTheyWere() throws IOException {
    Bytes bytes = Bytes.of(new byte[] {0, 1, -1});
    assertThat(throughAStream(Bytes.class, bytes)).isEqualTo(bytes);
    assertThat(throughAStream(Bytes.class, Bytes.EMPTY)).isEqualTo(Bytes.EMPTY);

    Row row =
        new Row(
            bytes,
            List.of(
                new Cell("a", Bytes.of("q"), 5, Bytes.of("new"), List.of("label")),
                new Cell("a", Bytes.of("q"), 4, Bytes.of("old"))));
    assertThat(throughAStream(Row.class, row)).isEqualTo(row);
    assertThat(throughAStream(Row.class, new Row(bytes, List.of())))
        .isEqualTo(new Row(bytes, List.of()));

    Mutation mutation =
        Mutation.of(bytes)
            .put("a", "q", "v")
            .put("a", Bytes.of("q"), 7, Bytes.of("w"))
            .deleteCell("a", Bytes.of("q"), 3)
            .deleteColumn("a", Bytes.of("q"), new TimeRange(1, 9))
            .deleteFamily("b")
            .deleteRow();
    assertThat(throughAStream(Mutation.class, mutation)).isEqualTo(mutation);
    ReadModifyWrite increment = ReadModifyWrite.increment(bytes, "f", Bytes.of("n"), 7);
    assertThat(throughAStream(ReadModifyWrite.class, increment)).isEqualTo(increment);
    CheckAndMutate check =
        CheckAndMutate.ifNone(Filter.newestIs(Column.of("a", "q"), Bytes.of("x")), mutation);
    assertThat(throughAStream(CheckAndMutate.class, check)).isEqualTo(check);
  }

  private static int firstByte(AnyOperation operation) {
    try {
      return write(AnyOperation.class, operation)[0];
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void operationsOfAllKindsComeThroughAsOneClass() throws IOException {
    Mutation mutation = Mutation.of("row").put("a", "q", "v");
    List<RowOperation> operations =
        List.of(
            mutation,
            ReadModifyWrite.increment(Bytes.of("row"), "f", Bytes.of("n"), 7),
            CheckAndMutate.ifNone(Filter.newestIs(Column.of("a", "q"), Bytes.of("x")), mutation));
    assertThat(operations.stream().map(RowOperation::kind))
        .containsExactlyInAnyOrder(RowOperation.Kind.values());
    for (RowOperation operation : operations) {
      AnyOperation any = new AnyOperation(operation);
      assertThat(throughAStream(AnyOperation.class, any)).isEqualTo(any);
    }
    assertThat(operations.stream().map(one -> firstByte(new AnyOperation(one))))
        .as("numbers of kinds that files have")
        .containsExactly(0, 2, 1);
    assertThatThrownBy(() -> read(AnyOperation.class, new byte[] {3}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("its kind has number 3");
    assertThatThrownBy(() -> new AnyOperation(null)).hasMessage("operation");
  }

  @Test
  void anInterfaceAsTheClassOfMapOutputIsRefused() {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.job.output.value.class", RowOperation.class.getName());
    assertThatThrownBy(() -> ModelSerialization.checkMapOutput(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("setMapOutputValueClass(Mutation.class)")
        .hasMessageContaining("new AnyOperation(operation)");
    conf.set("mapreduce.map.output.value.class", Mutation.class.getName());
    ModelSerialization.checkMapOutput(conf); // The other is what reducers write.

    conf.set("mapreduce.map.output.value.class", RowOperation.class.getName());
    conf.setInt("mapreduce.job.reduces", 0);
    ModelSerialization.checkMapOutput(conf); // Nothing is sent.
  }

  @Test
  void operationsThatNobodyTakesOutAreRefused() {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.map.output.value.class", AnyOperation.class.getName());
    ModelSerialization.checkMapOutput(conf); // Perhaps it writes them to a file.
    assertThatThrownBy(() -> ModelSerialization.checkMapOutputForTables(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("a reducer that writes value.operation()");
    conf.set("mapreduce.job.reduce.class", "a.reducer.of.its.own");
    ModelSerialization.checkMapOutputForTables(conf);
  }

  @Test
  void aValueThatDidNotFitIsWrittenAgain() throws IOException {
    Mutation mutation = Mutation.of("row").put("f", "q", "v");
    Serializer<Mutation> serializer = factory().getSerializer(Mutation.class);
    DataOutputBuffer out = new DataOutputBuffer();
    OutputStream full =
        new FilterOutputStream(out) {
          private boolean failed;

          @Override
          public void write(byte[] bytes, int offset, int length) throws IOException {
            if (!failed && length > "row".length()) {
              failed = true;
              throw new IOException("full");
            }
            out.write(bytes, offset, length);
          }
        };
    serializer.open(full);
    assertThatThrownBy(() -> serializer.serialize(mutation)).hasMessage("full");
    out.reset();
    serializer.serialize(mutation);
    assertThat(Arrays.copyOf(out.getData(), out.getLength()))
        .isEqualTo(write(Mutation.class, mutation));
  }

  @Test
  void aJobWithBytesAsKeysIsSortedAsRowsAreUnlessItSaysOtherwise() throws IOException {
    Configuration conf = new Configuration();
    ModelSerialization.register(conf);
    ModelSerialization.register(conf);
    assertThat(conf.getStrings("io.serializations"))
        .contains(WritableSerialization.class.getName())
        .containsOnlyOnce(ModelSerialization.class.getName());
    assertThat(conf.get("mapreduce.job.output.key.comparator.class")).isNull();

    conf.set("mapreduce.map.output.key.class", Bytes.class.getName());
    ModelSerialization.register(conf);
    assertThat(conf.get("mapreduce.job.output.key.comparator.class"))
        .isEqualTo(KeyOrder.class.getName());
    assertThat(conf.get("mapreduce.job.output.group.comparator.class"))
        .isEqualTo(KeyOrder.Groups.class.getName());
    assertThat(conf.get("mapreduce.job.combiner.group.comparator.class"))
        .isEqualTo(KeyOrder.Groups.class.getName());

    conf.setClass(
        "mapreduce.job.output.key.comparator.class", FirstByte.class, RawComparator.class);
    KeyOrder.Groups groups = ReflectionUtils.newInstance(KeyOrder.Groups.class, conf);
    byte[] a1 = write(Bytes.class, Bytes.of("a1"));
    byte[] a2 = write(Bytes.class, Bytes.of("a2"));
    assertThat(groups.compare(a1, 0, a1.length, a2, 0, a2.length))
        .as("who sorts in another order groups by it")
        .isZero();
    ModelSerialization.register(conf);
    assertThat(conf.get("mapreduce.job.output.key.comparator.class"))
        .isEqualTo(FirstByte.class.getName());
    assertThat(conf.get("mapreduce.job.output.group.comparator.class")).isNull();
    assertThat(conf.get("mapreduce.job.combiner.group.comparator.class")).isNull();
  }

  /** Compares the first bytes of keys. */
  static final class FirstByte implements RawComparator<Bytes> {
    @Override
    public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
      return Byte.compare(a[aStart + 1], b[bStart + 1]);
    }

    @Override
    public int compare(Bytes a, Bytes b) {
      return Integer.compare(a.at(0), b.at(0));
    }
  }

  @Test
  void serializedBytesSortAsRowsDo() throws IOException {
    long seed = Seeds.one();
    Random random = new Random(seed);
    KeyOrder comparator = new KeyOrder();
    for (int i = 0; i < 200; i++) {
      Bytes a = randomBytes(random);
      Bytes b = randomBytes(random);
      byte[] x = write(Bytes.class, a);
      byte[] y = write(Bytes.class, b);
      assertThat(Integer.signum(comparator.compare(x, 0, x.length, y, 0, y.length)))
          .as("%s and %s, seed %d", a, b, seed)
          .isEqualTo(Integer.signum(a.compareTo(b)));
    }
  }

  @Test
  void aCopyOfTheConfigurationForOtherKeysIsNotSortedAsRowsAre() {
    Configuration conf = new Configuration();
    conf.set("mapreduce.map.output.key.class", Bytes.class.getName());
    ModelSerialization.register(conf);
    Configuration copy = new Configuration(conf);
    copy.set("mapreduce.map.output.key.class", LongWritable.class.getName());
    for (Class<?> type : List.of(KeyOrder.class, KeyOrder.Groups.class)) {
      assertThatThrownBy(() -> ReflectionUtils.newInstance(type, copy))
          .as("without a format for tables")
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("copy of another job's");
      assertThat(ReflectionUtils.newInstance(type, conf)).isInstanceOf(KeyOrder.class);
    }
    ModelSerialization.register(copy);
    assertThat(copy.get("mapreduce.job.output.key.comparator.class")).isNull();
    assertThat(copy.get("mapreduce.job.output.group.comparator.class")).isNull();
    assertThat(copy.get("mapreduce.job.combiner.group.comparator.class")).isNull();
  }

  /** Whoever wrote them: MapReduce makes another writer for a record that is too large. */
  @Test
  void equalKeysSortInTheOrderOfTheirTasksAndAsTheyWereWritten() throws IOException {
    Bytes row = Bytes.of("row");
    byte[] first = number(7, row);
    byte[] second = number(7, row);
    byte[] before = number(6, row);
    byte[] after = number(7, Bytes.of("row0"));
    List<byte[]> sorted = new ArrayList<>(List.of(after, second, first, before));
    sorted.sort((a, b) -> new KeyOrder().compare(a, 0, a.length, b, 0, b.length));
    assertThat(sorted).containsExactly(before, first, second, after);
    assertThat(new KeyOrder.Groups().compare(first, 0, first.length, before, 0, before.length))
        .isZero();
    byte[] plain = write(Bytes.class, row);
    assertThat(new KeyOrder().compare(first, 0, first.length, plain, 0, plain.length)).isZero();
    assertThat(read(Bytes.class, first)).isEqualTo(row);
  }

  private static byte[] number(int task, Bytes key) throws IOException {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.map.output.key.class", Bytes.class.getName());
    ModelSerialization.register(conf);
    conf.setInt("mapreduce.task.partition", task);
    DataOutputBuffer out = new DataOutputBuffer();
    Serializer<Bytes> serializer = new SerializationFactory(conf).getSerializer(Bytes.class);
    serializer.open(out);
    serializer.serialize(key);
    return Arrays.copyOf(out.getData(), out.getLength());
  }

  private static Bytes randomBytes(Random random) {
    byte[] bytes = new byte[random.nextInt(random.nextBoolean() ? 4 : 300)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (random.nextInt(3) - 1);
    }
    return Bytes.wrap(bytes);
  }
}
