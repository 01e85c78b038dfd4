package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.format.CellBlockWriter;
import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Filter;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TaskProgress;
import io.stele.model.TimeRange;
import io.stele.runtime.MemoryClaim;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.DurabilityProto;
import io.stele.wire.data.DataProtos.FilterProto;
import io.stele.wire.data.DataProtos.FiltersProto;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.MutationProto;
import io.stele.wire.data.DataProtos.QueryProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteRuleProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is encoded is what is decoded, and what cannot be decoded says so. */
final class CodecTest {
  private static final OperationId ID = new OperationId(1, 2, 3);
  private static final Outstanding OUTSTANDING =
      new Outstanding(
          5,
          Optional.empty(),
          Optional.of(new TaskProgress(Optional.of("job"), new Settled(7, -8))));
  private static final TabletProto TABLET =
      QueryCodec.encode(new TabletId(new TableId("t1"), "0123456789abcdef"), 3);

  static Stream<Long> seeds() {
    return Seeds.of(4).boxed();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void queriesAndFiltersRoundTrip(long seed) throws Exception {
    Values values = new Values(seed);
    for (int i = 0; i < 500; i++) {
      RowQuery query = values.query();
      QueryProto message = QueryCodec.encode(query);
      assertThat(QueryCodec.decode(QueryProto.parseFrom(message.toByteArray()))).isEqualTo(query);
    }
  }

  @Test
  void aRequestWithTooManyPartsIsRefused() throws Exception {
    RowQuery query = RowQuery.ALL.withRanges(Collections.nCopies(10_001, RowRange.ALL));
    assertThat(QueryCodec.ofText(QueryCodec.toText(query))).isEqualTo(query); // Not a request.
    QueryProto ranges = QueryCodec.encode(query);
    QueryProto columns =
        QueryProto.newBuilder().addAllFamilies(Collections.nCopies(10_001, "f")).build();
    ReadModifyWriteProto rules =
        ReadModifyWriteProto.newBuilder()
            .setRow(ByteStrings.of(Bytes.of("r")))
            .addAllRules(Collections.nCopies(10_001, ReadModifyWriteRuleProto.getDefaultInstance()))
            .buildPartial();
    List<ThrowingCallable> all =
        List.of(
            () -> QueryCodec.decode(ranges),
            () -> QueryCodec.decode(columns),
            () -> OperationCodec.decode(rules));
    for (ThrowingCallable one : all) {
      assertThatThrownBy(one)
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("10001")
          .hasMessageContaining("10000");
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void conditionalMutationsRoundTrip(long seed) throws Exception {
    Values values = new Values(seed);
    for (int i = 0; i < 500; i++) {
      Bytes row = values.row();
      CheckAndMutate operation =
          new CheckAndMutate(
              row, values.filter(3), values.mutation(row, 0), values.mutation(row, 0));
      Optional<OperationId> id = values.id();
      Durability durability = values.durability();
      CheckAndMutateProto message =
          CheckAndMutateProto.parseFrom(
              OperationCodec.encode(TABLET, id, Outstanding.from(1), durability, operation)
                  .toByteArray());
      assertThat(OperationCodec.decode(message, MemoryClaim.NONE)).isEqualTo(operation);
      assertThat(OperationCodec.decode(message.getDurability())).isEqualTo(durability);
      assertThat(OperationCodec.id(message)).isEqualTo(id);
      assertThat(QueryCodec.decode(message.getTablet()))
          .isEqualTo(new TabletId(new TableId("t1"), "0123456789abcdef"));
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void readModifyWritesRoundTrip(long seed) throws Exception {
    Values values = new Values(seed);
    for (int i = 0; i < 500; i++) {
      ReadModifyWrite operation =
          new ReadModifyWrite(values.row(), values.list(1, 4, values::rule));
      Optional<OperationId> id = values.id();
      Durability durability = values.durability();
      ReadModifyWriteProto message =
          ReadModifyWriteProto.parseFrom(
              OperationCodec.encode(TABLET, id, Outstanding.from(1), durability, operation)
                  .toByteArray());
      assertThat(OperationCodec.decode(message)).isEqualTo(operation);
      assertThat(OperationCodec.decode(message.getDurability())).isEqualTo(durability);
      assertThat(OperationCodec.id(message)).isEqualTo(id);
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void batchesRoundTrip(long seed) throws Exception {
    Values values = new Values(seed);
    for (int i = 0; i < 200; i++) {
      List<MutateBatch.Entry> entries = values.list(1, 20, values::entry);
      MutateBatch batch = new MutateBatch();
      entries.forEach(
          entry -> batch.add(entry.tablet(), entry.id(), entry.durability(), entry.mutation()));
      assertThat(batch.bodyBytes()).isEqualTo(batch.body().remaining());
      MutateProto message =
          RequestProto.parseFrom(batch.header(OUTSTANDING).toByteArray()).getMutate();
      assertThat(MutateBatch.decode(message, batch.body(), MemoryClaim.NONE)).isEqualTo(entries);
      if (message.hasOperations()) {
        assertThat(OperationCodec.outstanding(message.getOperations())).isEqualTo(OUTSTANDING);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void rowsRoundTrip(long seed) throws Exception {
    Values values = new Values(seed);
    for (int i = 0; i < 200; i++) {
      List<Row> rows = values.list(0, 10, values::readRow);
      // Neighbours with the same key would be one row.
      for (int j = rows.size() - 1; j > 0; j--) {
        if (rows.get(j).key().equals(rows.get(j - 1).key())) {
          rows.remove(j);
        }
      }
      CellBlockWriter block = CellBlockWriter.sequential(16);
      rows.forEach(row -> RowCodec.write(row, block));
      assertThat(RowCodec.read(RowCodec.body(block))).isEqualTo(rows);
    }
  }

  @Test
  void outcomesRoundTrip() throws Exception {
    List<Optional<Throwable>> outcomes =
        List.of(
            Optional.empty(),
            Optional.of(SteleException.refused("no family \"x\"")),
            Optional.of(new NotServingTabletException("moved")),
            Optional.of(new IllegalStateException("a bug")));
    ResponseProto message = ResponseProto.parseFrom(OperationCodec.encode(outcomes).toByteArray());
    var decoded = OperationCodec.outcomes(message, 4);
    assertThat(decoded.get(0)).isEmpty();
    assertThat(decoded.get(1).orElseThrow()).hasMessage("no family \"x\"");
    assertThat(decoded.get(1).orElseThrow().code()).isEqualTo(SteleException.Code.REFUSED);
    assertThat(decoded.get(2)).containsInstanceOf(NotServingTabletException.class);
    assertThat(decoded.get(3).orElseThrow().code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN);
    assertThatThrownBy(() -> OperationCodec.outcomes(message, 5)).isInstanceOf(IOException.class);
  }

  @Test
  void whenAllWereAppliedTheAnswerSaysNothingOfEach() throws Exception {
    ResponseProto message =
        OperationCodec.encode(
            IntStream.range(0, 9).mapToObj(i -> Optional.<Throwable>empty()).toList());
    assertThat(message.getOutcomesCount()).isZero();
    assertThat(OperationCodec.outcomes(message, 9)).hasSize(9).allMatch(Optional::isEmpty);
  }

  @Test
  void filtersNestedTooDeeplyAreRefusedAtBothEnds() {
    Filter deep = new Filter.PassAll();
    FilterProto message = FilterCodec.encode(deep);
    for (int i = 1; i < Limits.FILTER_DEPTH_MAX; i++) {
      deep = Filter.chain(deep);
    }
    assertThat(FilterCodec.decode(FilterCodec.encode(deep))).isEqualTo(deep);
    Filter tooDeep = Filter.chain(deep);
    assertThatThrownBy(() -> FilterCodec.encode(tooDeep)).isInstanceOf(SteleException.class);
    for (int i = 0; i < Limits.FILTER_DEPTH_MAX; i++) {
      message = FilterProto.newBuilder().setChain(chainOf(message)).build();
    }
    FilterProto deepMessage = message;
    assertThatThrownBy(() -> FilterCodec.decode(deepMessage)).isInstanceOf(SteleException.class);
  }

  @Test
  void theDeepestFilterAllowedCanBeReadFromTheWire() throws Exception {
    Filter deep = new Filter.PassAll();
    for (int i = 1; i < Limits.FILTER_DEPTH_MAX; i++) {
      deep = Filter.chain(deep);
    }
    RequestProto request =
        RequestProto.newBuilder()
            .setCheckAndMutate(
                OperationCodec.encode(
                    TABLET,
                    Optional.empty(),
                    Outstanding.from(1),
                    Durability.HFLUSH,
                    CheckAndMutate.ifAny(deep, Mutation.of("r").deleteRow())))
            .build();
    assertThat(RequestProto.parseFrom(request.toByteArray())).isEqualTo(request);
  }

  @Test
  void aDurabilityThatIsMissingOrNotKnownHereIsTakenForTheStrongest() throws Exception {
    MutationProto none = MutationProto.newBuilder().setBlockBytes(1).build();
    assertThat(OperationCodec.decode(none.getDurability())).isEqualTo(Durability.HSYNC);
    byte[] weak = none.toBuilder().setDurability(DurabilityProto.HFLUSH).build().toByteArray();
    assertThat(weak[weak.length - 1]).isZero();
    weak[weak.length - 1] = 77;
    assertThat(OperationCodec.decode(MutationProto.parseFrom(weak).getDurability()))
        .isEqualTo(Durability.HSYNC);
  }

  @Test
  void aBatchIsOneClients() {
    Mutation mutation = Mutation.of("r").deleteRow();
    MutateBatch batch =
        new MutateBatch()
            .add(TABLET, Optional.of(new OperationId(1, 2, 3)), Durability.HFLUSH, mutation);
    assertThatThrownBy(
            () ->
                batch.add(
                    TABLET, Optional.of(new OperationId(1, 3, 3)), Durability.HFLUSH, mutation))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> batch.add(TABLET, Optional.empty(), Durability.HFLUSH, Mutation.of("r")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("no edits");
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void damagedRequestsAreRefused(long seed) {
    Values values = new Values(seed);
    for (int i = 0; i < 3000; i++) {
      byte[] header = header(values);
      byte[] body = values.batchBody;
      values.damage(header);
      values.damage(body);
      try {
        decodeAll(RequestProto.parseFrom(header), ByteBuffer.wrap(body));
      } catch (InvalidProtocolBufferException e) {
        continue; // The transport closes the connection for this.
      } catch (SteleException e) {
        assertThat(e.code()).as("seed %d", seed).isEqualTo(SteleException.Code.REFUSED);
        assertThat(e).hasMessageNotContaining("null");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void damagedRowsAreMalformed(long seed) {
    Values values = new Values(seed);
    for (int i = 0; i < 3000; i++) {
      CellBlockWriter block = CellBlockWriter.sequential(16);
      values.list(1, 5, values::readRow).forEach(row -> RowCodec.write(row, block));
      byte[] bytes = block.finish().toByteArray();
      values.damage(bytes);
      try {
        assertThat(RowCodec.read(ByteBuffer.wrap(bytes))).as("seed %d", seed).isNotNull();
      } catch (IOException e) {
        assertThat(e).as("seed %d", seed).hasMessageContaining("at byte");
      }
    }
  }

  private static byte[] header(Values values) {
    Bytes row = values.row();
    RequestProto.Builder to = RequestProto.newBuilder();
    switch (values.random.nextInt(5)) {
      case 4 -> to.mergeFrom(OperationCodec.settle(new TableId("t1"), ID, OUTSTANDING));
      case 0 -> {
        MutateBatch batch = new MutateBatch();
        values
            .list(1, 5, values::entry)
            .forEach(
                entry ->
                    batch.add(entry.tablet(), entry.id(), entry.durability(), entry.mutation()));
        ByteBuffer body = batch.body();
        values.batchBody = new byte[body.remaining()];
        body.get(values.batchBody);
        to.mergeFrom(batch.header(Outstanding.from(1)));
      }
      case 1 ->
          to.setCheckAndMutate(
              OperationCodec.encode(
                  TABLET,
                  values.id(),
                  Outstanding.from(1),
                  values.durability(),
                  new CheckAndMutate(
                      row, values.filter(3), values.mutation(row, 0), values.mutation(row, 0))));
      case 2 ->
          to.setReadModifyWrite(
              OperationCodec.encode(
                  TABLET,
                  values.id(),
                  Outstanding.from(1),
                  values.durability(),
                  new ReadModifyWrite(row, values.list(1, 4, values::rule))));
      default -> to.getReadBuilder().setTablet(TABLET).setQuery(QueryCodec.encode(values.query()));
    }
    return to.build().toByteArray();
  }

  private static void decodeAll(RequestProto request, ByteBuffer body) {
    switch (request.getMethodCase()) {
      case MUTATE -> {
        for (MutateBatch.Entry entry :
            MutateBatch.decode(request.getMutate(), body, MemoryClaim.NONE)) {
          QueryCodec.decode(entry.tablet());
        }
      }
      case CHECK_AND_MUTATE -> {
        OperationCodec.id(request.getCheckAndMutate());
        OperationCodec.decode(request.getCheckAndMutate(), MemoryClaim.NONE);
      }
      case READ_MODIFY_WRITE -> {
        OperationCodec.id(request.getReadModifyWrite());
        OperationCodec.decode(request.getReadModifyWrite());
      }
      case READ -> QueryCodec.decode(request.getRead().getQuery());
      case SETTLE -> {
        OperationCodec.task(request.getSettle());
        OperationCodec.outstanding(request.getSettle().getOperations());
      }
      case PING, SAMPLE_ROW_KEYS, METHOD_NOT_SET -> {}
    }
  }

  private static FiltersProto chainOf(FilterProto filter) {
    return FiltersProto.newBuilder().addFilters(filter).build();
  }

  /** Random values of the model. */
  private static final class Values {
    final Random random;
    byte[] batchBody = {};

    Values(long seed) {
      random = new Random(seed);
    }

    Bytes bytes(int lengthMin, int lengthMax) {
      byte[] bytes = new byte[lengthMin + random.nextInt(lengthMax - lengthMin + 1)];
      for (int i = 0; i < bytes.length; i++) {
        // Zeros and 0xff are what key encodings stumble over.
        bytes[i] = (byte) (random.nextInt(3) == 0 ? -random.nextInt(2) : random.nextInt(256));
      }
      return Bytes.wrap(bytes);
    }

    Bytes row() {
      return bytes(1, 6);
    }

    String family() {
      return List.of("f", "anchor", "contents", "x-y_z").get(random.nextInt(4));
    }

    String text() {
      return List.of("", "a.*b", "\u00e9[\\x00-\\xff]", "\u20ac").get(random.nextInt(4));
    }

    long timestamp() {
      return random.nextBoolean() ? random.nextInt(10) : random.nextLong() >>> 2;
    }

    TimeRange times() {
      long a = timestamp();
      long b = timestamp();
      return random.nextInt(5) == 0 ? TimeRange.ALL : new TimeRange(Math.min(a, b), Math.max(a, b));
    }

    RowRange range() {
      Bytes a = bytes(0, 3);
      Bytes b = bytes(0, 3);
      return a.compareTo(b) <= 0 || b.isEmpty() ? new RowRange(a, b) : new RowRange(b, a);
    }

    Column column() {
      return new Column(family(), bytes(0, 5));
    }

    <T> List<T> list(int min, int max, Supplier<T> element) {
      List<T> list = new ArrayList<>();
      for (int i = min + random.nextInt(max - min + 1); i > 0; i--) {
        list.add(element.get());
      }
      return list;
    }

    RowQuery query() {
      return new RowQuery(
          list(0, 3, this::range),
          list(0, 3, this::family),
          list(0, 3, this::column),
          random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(5),
          times(),
          random.nextBoolean() ? Long.MAX_VALUE : 1 + random.nextInt(1000),
          random.nextBoolean() ? Optional.empty() : Optional.of(filter(4)));
    }

    Filter filter(int depth) {
      return switch (random.nextInt(depth == 0 ? 17 : 20)) {
        case 0 -> new Filter.PassAll();
        case 1 -> new Filter.BlockAll();
        case 2 -> new Filter.RowKeyRegex(text());
        case 3 -> new Filter.RowSample(random.nextDouble());
        case 4 -> new Filter.FamilyRegex(text());
        case 5 -> new Filter.QualifierRegex(text());
        case 6 -> new Filter.ColumnRange(family(), bytes(0, 3), bytes(0, 3));
        case 7 -> new Filter.ColumnIs(column());
        case 8 -> new Filter.ValueRegex(text());
        case 9 -> new Filter.ValueRange(bytes(0, 3), bytes(0, 3));
        case 10 -> new Filter.ValueIs(bytes(0, 3));
        case 11 -> new Filter.TimestampRange(times());
        case 12 -> new Filter.CellsPerRowLimit(random.nextInt(9));
        case 13 -> new Filter.CellsPerRowOffset(random.nextInt(9));
        case 14 -> new Filter.CellsPerColumnLimit(random.nextInt(9));
        case 15 -> new Filter.StripValue();
        case 16 -> new Filter.Label(text());
        case 17 -> new Filter.Chain(list(0, 3, () -> filter(depth - 1)));
        case 18 -> new Filter.Interleave(list(0, 3, () -> filter(depth - 1)));
        default -> new Filter.Condition(filter(depth - 1), filter(depth - 1), filter(depth - 1));
      };
    }

    Edit edit() {
      return switch (random.nextInt(6)) {
        case 0 -> new Edit.Put(family(), bytes(0, 5), Edit.SERVER_TIMESTAMP, bytes(0, 20));
        case 1 -> new Edit.Put(family(), bytes(0, 5), timestamp(), bytes(0, 20));
        case 2 -> new Edit.DeleteCell(family(), bytes(0, 5), timestamp());
        case 3 -> new Edit.DeleteColumn(family(), bytes(0, 5), times());
        case 4 -> new Edit.DeleteFamily(family());
        default -> new Edit.DeleteRow();
      };
    }

    Mutation mutation(Bytes row, int editsMin) {
      return new Mutation(row, list(editsMin, 6, this::edit));
    }

    MutateBatch.Entry entry() {
      TabletId tablet = new TabletId(new TableId("t1"), "000000000000000" + random.nextInt(3));
      return new MutateBatch.Entry(
          QueryCodec.encode(tablet, 7),
          random.nextInt(4) == 0
              ? Optional.empty()
              : Optional.of(new OperationId(-1, 1, 1 + random.nextInt(1000))),
          durability(),
          mutation(row(), 1));
    }

    Durability durability() {
      return Durability.values()[random.nextInt(Durability.values().length)];
    }

    Optional<OperationId> id() {
      return random.nextBoolean()
          ? Optional.empty()
          : Optional.of(
              new OperationId(random.nextLong(), random.nextLong(), 1 + random.nextInt(1000)));
    }

    ReadModifyWrite.Rule rule() {
      return random.nextBoolean()
          ? new ReadModifyWrite.Append(family(), bytes(0, 5), bytes(0, 20))
          : new ReadModifyWrite.Increment(family(), bytes(0, 5), random.nextLong());
    }

    Row readRow() {
      return new Row(
          row(),
          list(
              1,
              8,
              () ->
                  new Cell(
                      family(),
                      bytes(0, 5),
                      timestamp(),
                      bytes(0, 20),
                      random.nextInt(4) == 0 ? list(0, 2, this::text) : List.of())));
    }

    void damage(byte[] bytes) {
      for (int i = random.nextInt(4); i > 0 && bytes.length > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
    }
  }
}
