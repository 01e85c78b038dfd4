package io.stele.tabletserver;

import io.stele.format.CellBlockWriter;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.OperationResult;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.ReadResult;
import io.stele.tablet.RowOutOfRangeException;
import io.stele.wire.ByteStrings;
import io.stele.wire.DataPlane;
import io.stele.wire.MutateBatch;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Request;
import io.stele.wire.RequestHandler;
import io.stele.wire.Responder;
import io.stele.wire.RowCodec;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.OperationsProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SampleProto;
import io.stele.wire.data.DataProtos.SampleRowKeysProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;

/**
 * The data plane of a tablet server: finds the tablet a request names, has it do the work, and
 * answers.
 *
 * <p>No answer leaves but under a valid lease, looked at after the request was evaluated: a server
 * that was cut off must not say what its successor contradicts. A write is answered from the commit
 * log's completion; no thread waits for it.
 */
final class DataService implements RequestHandler {
  private static final int SAMPLES = 64;

  private final HostedTablets tablets;
  private final ServerResources resources;
  private final WriteDelay writeDelay;
  private final BooleanSupplier mayAnswer;

  /**
   * A service over {@code tablets}.
   *
   * @param resources threads for what may wait, and the budgets of memtables
   * @param writeDelay has writes wait while a budget is nearly used up
   * @param mayAnswer whether the server lives and its lease is valid; asked just before each answer
   *     leaves
   */
  DataService(
      HostedTablets tablets,
      ServerResources resources,
      WriteDelay writeDelay,
      BooleanSupplier mayAnswer) {
    this.tablets = tablets;
    this.resources = resources;
    this.writeDelay = writeDelay;
    this.mayAnswer = mayAnswer;
  }

  /** Answers one request; may block. */
  private interface Work {
    void run() throws IOException;
  }

  @Override
  public void handle(Request request, Responder responder) {
    var header = request.header();
    switch (header.getMethodCase()) {
      case PING -> responder.answer(ResponseProto.getDefaultInstance());
      case READ ->
          onHandler(
              header.getRead().getTablet(),
              request,
              responder,
              () -> read(header.getRead(), responder));
      case MUTATE -> {
        MutateProto mutate = header.getMutate();
        if (mutate.getTabletsCount() == 0) {
          throw SteleException.refused("a batch of mutations names no tablet");
        }
        afterDelay(
            mutate.getTablets(0),
            request,
            responder,
            () -> mutate(mutate, request.body(), responder));
      }
      case CHECK_AND_MUTATE ->
          afterDelay(
              header.getCheckAndMutate().getTablet(),
              request,
              responder,
              () -> checkAndMutate(header.getCheckAndMutate(), responder));
      case READ_MODIFY_WRITE ->
          afterDelay(
              header.getReadModifyWrite().getTablet(),
              request,
              responder,
              () -> readModifyWrite(header.getReadModifyWrite(), responder));
      case SAMPLE_ROW_KEYS ->
          onHandler(
              header.getSampleRowKeys().getTablet(),
              request,
              responder,
              () -> sampleRowKeys(header.getSampleRowKeys(), responder));
      case METHOD_NOT_SET ->
          throw SteleException.refused(
              "a request asks for what this server does not know: upgrade it");
    }
  }

  /** As {@link #onHandler}, for writes. */
  private void afterDelay(TabletProto tablet, Request request, Responder responder, Work work) {
    TabletId id = QueryCodec.decode(tablet);
    if (id.equals(TabletId.ROOT)) { // As there: METADATA's memtables are written out by it.
      onHandler(tablet, request, responder, work);
      return;
    }
    writeDelay.pass(
        resources.of(id).memtables(),
        request.body().remaining(),
        () -> onHandler(tablet, request, responder, work),
        responder::fail);
  }

  private void onHandler(TabletProto tablet, Request request, Responder responder, Work work) {
    try {
      resources
          .of(QueryCodec.decode(tablet))
          .threads()
          .handlers()
          .execute(
              () -> {
                try {
                  if (request.isExpired()) {
                    throw SteleException.retryLater(
                        "the request waited longer than its caller does");
                  }
                  work.run();
                } catch (IOException | RuntimeException | Error e) {
                  fail(responder, e);
                }
              });
    } catch (RejectedExecutionException e) {
      throw new SteleException(
          SteleException.Code.RETRY_LATER, "this server is stopping or full", e);
    }
  }

  private void read(ReadProto read, Responder responder) throws IOException {
    ReadRequest request =
        new ReadRequest(
            QueryCodec.decode(read.getQuery()),
            read.getReadPoint() == 0 ? OptionalLong.empty() : OptionalLong.of(read.getReadPoint()),
            read.getAllowFreshReadPoint(),
            read.getBytesMax(),
            false);
    ReadResult page = tablets.require(read.getTablet()).tablet().read(request);
    ResponseProto.Builder answer =
        ResponseProto.newBuilder()
            .setReadPoint(page.readPoint())
            .setMore(page.nextRow().isPresent())
            .setRows(page.rows().size());
    page.nextRow().ifPresent(row -> answer.setNextRow(ByteStrings.of(row)));
    CellBlockWriter block = CellBlockWriter.sequential(4096);
    for (Row row : page.rows()) {
      RowCodec.write(row, block);
    }
    answerRead(responder, answer, RowCodec.body(block));
  }

  private void sampleRowKeys(SampleRowKeysProto request, Responder responder) throws IOException {
    ResponseProto.Builder answer = ResponseProto.newBuilder();
    tablets
        .require(request.getTablet())
        .tablet()
        .sampleRows(SAMPLES)
        .forEach(
            sample ->
                answer.addSamples(
                    SampleProto.newBuilder()
                        .setRow(
                            org.apache.hadoop.thirdparty.protobuf.ByteString.copyFrom(
                                sample.row().toByteArray()))
                        .setOffsetBytes(sample.offsetBytes())));
    answerRead(responder, answer, DataPlane.EMPTY);
  }

  private void mutate(MutateProto batch, ByteBuffer body, Responder responder) {
    List<CompletableFuture<Optional<Throwable>>> failures =
        new ArrayList<>(batch.getMutationsCount());
    for (MutateBatch.Entry entry : MutateBatch.decode(batch, body)) {
      failures.add(
          apply(
                  entry.tablet(),
                  entry.mutation(),
                  entry.id(),
                  batch.getOperations(),
                  entry.durability())
              .handle((result, failure) -> Optional.ofNullable(failure).map(DataService::meaning)));
    }
    CompletableFuture.allOf(failures.toArray(CompletableFuture[]::new))
        .whenComplete(
            (done, failure) ->
                answerWrite(
                    responder,
                    () ->
                        responder.answer(
                            OperationCodec.encode(
                                failures.stream()
                                    .map(one -> one.getNow(Optional.empty()))
                                    .toList()))));
  }

  private void checkAndMutate(CheckAndMutateProto request, Responder responder) {
    apply(
            request.getTablet(),
            OperationCodec.decode(request),
            OperationCodec.id(request),
            request.getOperations(),
            OperationCodec.decode(request.getDurability()))
        .whenComplete(
            (result, failure) -> {
              if (failure != null) {
                fail(responder, failure);
              } else {
                answerWrite(
                    responder,
                    () ->
                        responder.answer(
                            ResponseProto.newBuilder().setMatched(result.matched()).build()));
              }
            });
  }

  private void readModifyWrite(ReadModifyWriteProto request, Responder responder) {
    apply(
            request.getTablet(),
            OperationCodec.decode(request),
            OperationCodec.id(request),
            request.getOperations(),
            OperationCodec.decode(request.getDurability()))
        .whenComplete(
            (result, failure) -> {
              if (failure != null) {
                fail(responder, failure);
                return;
              }
              CellBlockWriter block = CellBlockWriter.sequential(256);
              result.row().ifPresent(row -> RowCodec.write(row, block));
              answerWrite(
                  responder,
                  () -> responder.answer(ResponseProto.getDefaultInstance(), RowCodec.body(block)));
            });
  }

  /** Never throws: what is refused at the door is a failed future too, so that a batch goes on. */
  private CompletableFuture<OperationResult> apply(
      TabletProto tablet,
      RowOperation operation,
      Optional<OperationId> id,
      OperationsProto client,
      Durability durability) {
    try {
      HostedTablet hosted = tablets.require(tablet);
      // Not of the root tablet: METADATA's memtables become smaller only by writes to it.
      if (!hosted.id().equals(TabletId.ROOT)) {
        resources.of(hosted.id()).memtables().requireRoom(hosted.kind());
      }
      return hosted
          .tablet()
          .apply(new OperationRequest(operation, id, client.getFirstIncomplete(), durability));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void answerRead(Responder responder, ResponseProto.Builder answer, ByteBuffer body) {
    if (mayAnswer.getAsBoolean()) {
      responder.answer(answer.build(), body);
    } else {
      responder.fail(
          SteleException.retryLater(
              "this server's lease has run out: it may not say what the tablet holds"));
    }
  }

  private void answerWrite(Responder responder, Runnable answer) {
    if (mayAnswer.getAsBoolean()) {
      answer.run();
    } else {
      responder.fail(
          new SteleException(
              SteleException.Code.OUTCOME_UNKNOWN,
              "this server's lease has run out: it may not say whether the write holds"));
    }
  }

  private void fail(Responder responder, Throwable failure) {
    Throwable why = meaning(failure);
    boolean saysNothing =
        why instanceof SteleException known && known.code() == SteleException.Code.RETRY_LATER;
    if (saysNothing || mayAnswer.getAsBoolean()) {
      responder.fail(why);
    } else {
      // A refusal or damage tells what the tablet holds, too.
      responder.fail(
          new SteleException(
              SteleException.Code.OUTCOME_UNKNOWN,
              "this server's lease has run out: it may not say why it failed",
              why));
    }
  }

  /** What a failure within a tablet means to the client. */
  private static Throwable meaning(Throwable failure) {
    Throwable cause = Futures.cause(failure);
    return cause instanceof RowOutOfRangeException
        ? new NotServingTabletException(cause.getMessage())
        : cause;
  }
}
