package io.stele.wire;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.MutationBlock;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TaskProgress;
import io.stele.runtime.MemoryClaim;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.DurabilityProto;
import io.stele.wire.data.DataProtos.OperationsProto;
import io.stele.wire.data.DataProtos.OutcomeProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteRuleProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SettleProto;
import io.stele.wire.data.DataProtos.SettledProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Operations on one row, their ids and their outcomes as messages; {@link MutateBatch} has the
 * batches of mutations.
 *
 * <p>What cannot be decoded is REFUSED, and by then nothing was changed.
 */
public final class OperationCodec {
  private OperationCodec() {}

  /**
   * The message for {@code operation}.
   *
   * @param id by which a retry is told; none: a retry may be applied again
   * @param outstanding the client's operations still without an answer
   * @param durability what an acknowledgement must promise at least
   */
  public static CheckAndMutateProto encode(
      TabletProto tablet,
      Optional<OperationId> id,
      Outstanding outstanding,
      Durability durability,
      CheckAndMutate operation) {
    CheckAndMutateProto.Builder to =
        CheckAndMutateProto.newBuilder()
            .setTablet(tablet)
            .setRow(ByteStrings.of(operation.row()))
            .setPredicate(FilterCodec.encode(operation.predicate()))
            .setIfTrue(encode(operation.ifTrue()))
            .setIfFalse(encode(operation.ifFalse()))
            .setDurability(encode(durability));
    id.ifPresent(i -> to.setOperations(operations(i, outstanding)).setOperation(i.number()));
    return to.build();
  }

  /**
   * The operation in {@code message}.
   *
   * @param memory asked for what the operation takes
   */
  public static CheckAndMutate decode(CheckAndMutateProto message, MemoryClaim memory) {
    Bytes row = ByteStrings.bytes(message.getRow());
    MemoryClaim small = memory.inSteps();
    return new CheckAndMutate(
        row,
        FilterCodec.decode(message.getPredicate()),
        decode(row, message.getIfTrue(), small),
        decode(row, message.getIfFalse(), small));
  }

  /**
   * The message for {@code operation}.
   *
   * @param id by which a retry is told; none: a retry may be applied again
   * @param outstanding the client's operations still without an answer
   * @param durability what an acknowledgement must promise at least
   */
  public static ReadModifyWriteProto encode(
      TabletProto tablet,
      Optional<OperationId> id,
      Outstanding outstanding,
      Durability durability,
      ReadModifyWrite operation) {
    ReadModifyWriteProto.Builder to =
        ReadModifyWriteProto.newBuilder()
            .setTablet(tablet)
            .setRow(ByteStrings.of(operation.row()))
            .setTakesNoResult(true)
            .setDurability(encode(durability));
    operation.rules().forEach(rule -> to.addRules(encode(rule)));
    id.ifPresent(i -> to.setOperations(operations(i, outstanding)).setOperation(i.number()));
    return to.build();
  }

  /** The operation in {@code message}. */
  public static ReadModifyWrite decode(ReadModifyWriteProto message) {
    Bytes row = ByteStrings.bytes(message.getRow());
    Limits.checkRules(row, message.getRulesCount()); // Before objects are made of them.
    return new ReadModifyWrite(
        row, message.getRulesList().stream().map(OperationCodec::decode).toList());
  }

  /** The id of {@code message}'s operation, if it has one. */
  public static Optional<OperationId> id(CheckAndMutateProto message) {
    return message.hasOperation()
        ? Optional.of(id(message.getOperations(), message.getOperation()))
        : Optional.empty();
  }

  /** The id of {@code message}'s operation, if it has one. */
  public static Optional<OperationId> id(ReadModifyWriteProto message) {
    return message.hasOperation()
        ? Optional.of(id(message.getOperations(), message.getOperation()))
        : Optional.empty();
  }

  /** What {@code message} says of durability. */
  public static Durability decode(DurabilityProto message) {
    return switch (message) {
      case HFLUSH -> Durability.HFLUSH;
      case HSYNC -> Durability.HSYNC;
    };
  }

  static DurabilityProto encode(Durability durability) {
    return switch (durability) {
      case HFLUSH -> DurabilityProto.HFLUSH;
      case HSYNC -> DurabilityProto.HSYNC;
    };
  }

  /**
   * The outcomes of the mutations of a batch, in order; an empty entry means applied.
   *
   * @param outcomes what to say of each mutation
   */
  public static ResponseProto encode(List<Optional<Throwable>> outcomes) {
    ResponseProto.Builder to = ResponseProto.newBuilder().setStatus(StatusProto.OK);
    if (outcomes.stream().anyMatch(Optional::isPresent)) {
      outcomes.forEach(outcome -> to.addOutcomes(encode(outcome)));
    }
    return to.build();
  }

  /**
   * The outcomes of the {@code count} mutations of a batch, in order; an empty entry means applied.
   *
   * @param response an answer of status OK
   * @throws IOException if the answer is not about {@code count} mutations
   */
  public static List<Optional<SteleException>> outcomes(ResponseProto response, int count)
      throws IOException {
    if (response.getOutcomesCount() == 0) {
      return Collections.nCopies(count, Optional.empty());
    }
    if (response.getOutcomesCount() != count) {
      throw new IOException(
          "the answer to " + count + " mutations has " + response.getOutcomesCount() + " outcomes");
    }
    List<Optional<SteleException>> outcomes = new ArrayList<>(count);
    for (OutcomeProto outcome : response.getOutcomesList()) {
      outcomes.add(
          outcome.getStatus() == StatusProto.OK
              ? Optional.empty()
              : Optional.of(StatusCodec.exception(outcome.getStatus(), outcome.getMessage())));
    }
    return outcomes;
  }

  static OperationsProto operations(OperationId id, Outstanding outstanding) {
    OperationsProto.Builder to =
        OperationsProto.newBuilder()
            .setClientHigh(id.clientHigh())
            .setClientLow(id.clientLow())
            .setFirstIncomplete(outstanding.firstIncomplete());
    outstanding.age().ifPresent(age -> to.setAgeMillis(age.toMillis() + 1)); // Rounded up.
    outstanding
        .task()
        .ifPresent(
            task -> {
              to.setSettled(encode(task.settled()));
              task.job().ifPresent(to::setJob);
            });
    return to.build();
  }

  /** What {@code message} says of operations still without an answer. */
  public static Outstanding outstanding(OperationsProto message) {
    return new Outstanding(
        message.getFirstIncomplete(),
        message.hasAgeMillis()
            ? Optional.of(Duration.ofMillis(Math.max(0, message.getAgeMillis())))
            : Optional.empty(),
        message.hasSettled()
            ? Optional.of(
                new TaskProgress(
                    message.hasJob() ? Optional.of(message.getJob()) : Optional.empty(),
                    decode(message.getSettled())))
            : Optional.empty());
  }

  /** A request in which a task says how far it has come; {@code task} is any of its operations. */
  public static RequestProto settle(TableId table, OperationId task, Outstanding outstanding) {
    return RequestProto.newBuilder()
        .setSettle(
            SettleProto.newBuilder()
                .setTableId(table.value())
                .setOperations(operations(task, outstanding)))
        .build();
  }

  /** Some operation of the task in {@code message}. */
  public static OperationId task(SettleProto message) {
    return id(message.getOperations(), message.getOperations().getFirstIncomplete());
  }

  /** What {@code response} says is settled, for a task to compare. */
  public static List<Settled> settled(ResponseProto response) {
    return response.getSettledList().stream().map(OperationCodec::decode).toList();
  }

  /** The message for {@code settled}. */
  public static SettledProto encode(Settled settled) {
    return SettledProto.newBuilder().setBelow(settled.below()).setDigest(settled.digest()).build();
  }

  /** What {@code message} says is settled. */
  public static Settled decode(SettledProto message) {
    try {
      return new Settled(message.getBelow(), message.getDigest());
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }

  static OperationId id(OperationsProto operations, long number) {
    if (number > OperationId.NUMBER_MAX) {
      throw SteleException.refused(
          "the highest operation number is " + OperationId.NUMBER_MAX + ", not " + number);
    }
    try {
      return new OperationId(operations.getClientHigh(), operations.getClientLow(), number);
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }

  /** The mutation of {@code row} whose edits {@code cells} holds. */
  static Mutation decode(Bytes row, CellBlockCursor cells, MemoryClaim memory) {
    try {
      return MutationBlock.read(row, cells, memory);
    } catch (IOException | IllegalArgumentException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          "a mutation of row \"" + row + "\" cannot be decoded: " + e.getMessage(),
          e);
    }
  }

  private static Mutation decode(Bytes row, ByteString block, MemoryClaim memory) {
    return decode(row, CellBlockCursor.sequential(block.toByteArray(), 0, block.size()), memory);
  }

  private static ByteString encode(Mutation mutation) {
    CellBlockWriter block = CellBlockWriter.sequential(256);
    MutationBlock.write(mutation, 0, Edit.SERVER_TIMESTAMP, block);
    return ByteString.copyFrom(block.finish().array(), 0, block.size());
  }

  private static ReadModifyWriteRuleProto encode(ReadModifyWrite.Rule rule) {
    ReadModifyWriteRuleProto.Builder to =
        ReadModifyWriteRuleProto.newBuilder()
            .setColumn(QueryCodec.encode(new Column(rule.family(), rule.qualifier())));
    switch (rule.kind()) {
      case APPEND -> to.setAppend(ByteStrings.of(((ReadModifyWrite.Append) rule).suffix()));
      case INCREMENT -> to.setIncrement(((ReadModifyWrite.Increment) rule).amount());
    }
    return to.build();
  }

  private static ReadModifyWrite.Rule decode(ReadModifyWriteRuleProto rule) {
    Column column = QueryCodec.decode(rule.getColumn());
    return switch (rule.getRuleCase()) {
      case APPEND ->
          new ReadModifyWrite.Append(
              column.family(), column.qualifier(), ByteStrings.bytes(rule.getAppend()));
      case INCREMENT ->
          new ReadModifyWrite.Increment(column.family(), column.qualifier(), rule.getIncrement());
      case RULE_NOT_SET ->
          throw SteleException.refused(
              "a rule for "
                  + column
                  + " is of a kind that this server does not know: upgrade the server");
    };
  }

  private static OutcomeProto encode(Optional<Throwable> outcome) {
    OutcomeProto.Builder to = OutcomeProto.newBuilder().setStatus(StatusProto.OK);
    outcome.ifPresent(
        failure ->
            to.setStatus(StatusCodec.status(failure)).setMessage(StatusCodec.message(failure)));
    return to.build();
  }
}
