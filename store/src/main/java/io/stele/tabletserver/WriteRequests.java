package io.stele.tabletserver;

import io.stele.format.CellBlockWriter;
import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.OperationSize;
import io.stele.model.Outstanding;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.model.TaskProgress;
import io.stele.runtime.MemoryClaim;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.OperationResult;
import io.stele.tabletserver.LeasedAnswers.Answer;
import io.stele.wire.MutateBatch;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Responder;
import io.stele.wire.RowOrder;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.OperationsProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SettleProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The requests of the data plane that write. A write is answered from the commit log's completion;
 * no thread waits for it.
 *
 * <p>Each method throws {@link RequestPermissions.FilesPendingException} or {@link
 * RequestPermissions.JobUnknownException} before it has done anything; call it again when more is
 * known about the job. Safe for use by any number of threads.
 */
final class WriteRequests {
  /** A decoded message takes memory beside its frame, and so do the objects made from it. */
  private static final long MESSAGE_COPIES = 2;

  private final HostedTablets tablets;
  private final ServerResources resources;
  private final LeasedAnswers answers;

  WriteRequests(HostedTablets tablets, ServerResources resources, LeasedAnswers answers) {
    this.tablets = tablets;
    this.resources = resources;
    this.answers = answers;
  }

  /** Ends a task: forgets its settled records in all tablets of the table. */
  void settle(SettleProto request, Responder responder) {
    OperationId task = OperationCodec.task(request);
    Optional<TaskProgress> said = OperationCodec.outstanding(request.getOperations()).task();
    for (HostedTablet hosted : tablets.all()) {
      if (said.isPresent() && hosted.id().table().value().equals(request.getTableId())) {
        hosted.tablet().jobs().settle(task, said.get());
      }
    }
    responder.answer(ResponseProto.getDefaultInstance());
  }

  /** Applies a batch, each mutation separately. */
  void mutate(
      MutateProto batch, ByteBuffer body, Responder responder, RequestPermissions permissions) {
    batch.getTabletsList().forEach(named -> check(named, batch.getOperations(), permissions));
    Outstanding outstanding = OperationCodec.outstanding(batch.getOperations());
    RowOrder order = new RowOrder(outstanding);
    List<MutateBatch.Entry> entries = MutateBatch.decode(batch, body, responder::take);
    BatchOutcomes outcomes = new BatchOutcomes(entries.size(), answers.counts());
    try {
      for (int i = 0; i < entries.size(); i++) {
        int place = i;
        apply(entries.get(i), outstanding, order, permissions)
            .whenComplete((result, failure) -> outcomes.add(place, result, failure));
      }
    } finally { // Whatever was thrown: nothing else need write what is in the log's queue.
      batch.getTabletsList().stream()
          .map(named -> TabletKind.of(QueryCodec.decode(named)))
          .distinct()
          .forEach(kind -> resources.of(kind).log().flushSoon());
    }
    outcomes
        .all()
        .whenComplete(
            (done, failure) ->
                answers.write(
                    responder,
                    () ->
                        new Answer(
                            withSettled(
                                OperationCodec.encode(outcomes.failures()), outcomes.settled()))));
  }

  /** Adds the values that the task must compare, each only once. */
  private static ResponseProto withSettled(ResponseProto answer, Collection<Settled> settled) {
    if (settled.isEmpty()) {
      return answer;
    }
    ResponseProto.Builder more = answer.toBuilder();
    new LinkedHashSet<>(settled).forEach(one -> more.addSettled(OperationCodec.encode(one)));
    return more.build();
  }

  private CompletableFuture<OperationResult> apply(
      MutateBatch.Entry entry,
      Outstanding outstanding,
      RowOrder order,
      RequestPermissions permissions) {
    Bytes row = entry.mutation().row();
    Optional<SteleException> held = order.check(row);
    if (held.isPresent()) {
      return CompletableFuture.failedFuture(held.get());
    }
    CompletableFuture<OperationResult> outcome =
        apply(
            entry.tablet(),
            new OperationRequest(entry.mutation(), entry.id(), outstanding, entry.durability())
                .ofBatch(),
            permissions);
    if (outcome.isCompletedExceptionally()) {
      outcome.whenComplete((result, failure) -> order.failed(row, LeasedAnswers.meaning(failure)));
    }
    return outcome;
  }

  /**
   * Changes a row if a condition holds, unless {@code memory} says before anything is changed that
   * nobody waits for it.
   */
  void checkAndMutate(
      CheckAndMutateProto request,
      Responder responder,
      RequestPermissions permissions,
      MemoryClaim memory) {
    check(request.getTablet(), request.getOperations(), permissions);
    memory.take(MESSAGE_COPIES * request.getSerializedSize());
    OperationRequest operation =
        new OperationRequest(
            OperationCodec.decode(request, memory),
            OperationCodec.id(request),
            OperationCodec.outstanding(request.getOperations()),
            OperationCodec.decode(request.getDurability()),
            memory);
    answer(
        apply(request.getTablet(), operation, permissions),
        responder,
        result -> new Answer(ResponseProto.newBuilder().setMatched(result.matched()).build()));
  }

  /** Changes a row by what is in it; as {@link #checkAndMutate}. */
  void readModifyWrite(
      ReadModifyWriteProto request,
      Responder responder,
      RequestPermissions permissions,
      MemoryClaim memory) {
    check(request.getTablet(), request.getOperations(), permissions);
    memory.take(MESSAGE_COPIES * request.getSerializedSize());
    OperationRequest operation =
        new OperationRequest(
            OperationCodec.decode(request),
            OperationCodec.id(request),
            OperationCodec.outstanding(request.getOperations()),
            OperationCodec.decode(request.getDurability()),
            memory);
    answer(
        apply(request.getTablet(), operation, permissions)
            .thenApply(result -> requireCells(request, result)),
        responder,
        result -> {
          CellBlockWriter block = CellBlockWriter.sequential(256);
          result.row().ifPresent(row -> RowCodec.write(row, block));
          return new Answer(ResponseProto.getDefaultInstance(), RowCodec.body(block));
        });
  }

  /** A client of an earlier version would take an answer without cells for a row without any. */
  private static OperationResult requireCells(
      ReadModifyWriteProto request, OperationResult result) {
    if (result.row().isEmpty() && result.settled().isEmpty() && !request.getTakesNoResult()) {
      throw SteleException.refused(
          "the change was applied the first time; its result was too large to be kept: read the"
              + " row");
    }
    return result;
  }

  private void answer(
      CompletableFuture<OperationResult> outcome,
      Responder responder,
      Function<OperationResult, Answer> encode) {
    outcome.whenComplete(
        (result, failure) -> {
          if (failure != null) {
            answers.fail(responder, failure);
            return;
          }
          answers.counts().applied();
          answers.write(
              responder,
              () -> {
                Answer answer = encode.apply(result);
                return new Answer(
                    withSettled(answer.header(), result.settled().stream().toList()),
                    answer.body());
              });
        });
  }

  /**
   * Never throws: an early refusal is a failed future too, so that the rest of a batch continues.
   */
  private CompletableFuture<OperationResult> apply(
      TabletProto tablet, OperationRequest request, RequestPermissions permissions) {
    try {
      HostedTablet hosted = tablets.require(tablet);
      permissions.check(hosted); // Again: it may have come after the request.
      // Not for the root tablet: METADATA's memtables become smaller only by writes to it.
      if (hosted.id().equals(TabletId.ROOT)) {
        return hosted.tablet().apply(request);
      }
      hosted.requireRoom();
      MemtableBudget memtables = resources.of(hosted.id()).memtables();
      MemtableBudget.Reservation room =
          memtables.reserve(hosted.kind(), OperationSize.of(request.operation()));
      try {
        return hosted.tablet().apply(request.within(room));
      } finally {
        room.close();
      }
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Checked before anything of a write is done: the write may have to start again from the
   * beginning.
   */
  private void check(
      TabletProto named, OperationsProto operations, RequestPermissions permissions) {
    Optional<HostedTablet> found = tablets.find(QueryCodec.decode(named));
    if (found.isPresent()) {
      permissions.check(found.get());
      if (operations.hasJob()) {
        permissions.checkJob(found.get(), operations.getJob());
      }
    }
  }
}
