package io.stele.tabletserver;

import io.stele.format.CellBlockWriter;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.OperationSize;
import io.stele.model.Outstanding;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.model.TaskProgress;
import io.stele.runtime.Futures;
import io.stele.runtime.WorkerPool;
import io.stele.sstable.NotInMemoryException;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.OperationResult;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.ReadResult;
import io.stele.tablet.RowOutOfRangeException;
import io.stele.tablet.RowParts;
import io.stele.tablet.RowSample;
import io.stele.tablet.Tablet;
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
import io.stele.wire.RowOrder;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.OperationsProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SampleProto;
import io.stele.wire.data.DataProtos.SampleRowKeysProto;
import io.stele.wire.data.DataProtos.SettleProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data plane of a tablet server: finds the tablet that a request names, calls it, and answers.
 *
 * <p>An answer leaves only under a valid lease, checked after the request was evaluated: a server
 * that was cut off must not say what its successor contradicts. A read of one row that memory can
 * answer is answered on the event loop that decoded it; all else goes to a handler. A write is
 * answered from the commit log's completion; no thread waits for it.
 */
final class DataService implements RequestHandler {
  private static final Logger LOG = LoggerFactory.getLogger(DataService.class);
  private static final int SAMPLES = 64;

  /** Most samples of a tablet: an answer is small, and is found in a moment. */
  private static final int SAMPLES_MAX = 1024;

  /** What a message has, it has beside its frame, and so has what is made of it. */
  private static final long MESSAGE_COPIES = 2;

  private final HostedTablets tablets;
  private final ServerResources resources;
  private final WriteDelay writeDelay;
  private final BooleanSupplier mayAnswer;
  private final JobOutcomes outcomes;

  /** Who finds out what became of jobs. */
  interface JobOutcomes {
    /**
     * Completes when the tablet may answer a request that has come by now; fails where it may not.
     */
    CompletableFuture<Void> mayAnswer(HostedTablet hosted);

    /** Completes when the tablet takes operations of a job's tasks; fails where it may not. */
    CompletableFuture<Void> admit(HostedTablet hosted, String job);
  }

  /** The tablets that may answer a request although files wait in them. */
  private static final class Passage {
    private volatile List<HostedTablet> passed = List.of();

    /**
     * Passes where no file waits, or it was asked since the request came what became of their jobs.
     *
     * @throws FilesWaitException where that must be asked first
     */
    void check(HostedTablet hosted) {
      if (!hosted.tablet().pending().isEmpty() && !passed.contains(hosted)) {
        throw new FilesWaitException(hosted);
      }
    }

    void pass(HostedTablet hosted) {
      List<HostedTablet> more = new ArrayList<>(passed);
      more.add(hosted);
      passed = more;
    }
  }

  /** A request cannot be answered before it is known what became of a job. */
  private static final class FilesWaitException extends SteleException {
    private static final long serialVersionUID = 1L;

    private final transient HostedTablet hosted;

    FilesWaitException(HostedTablet hosted) {
      super(
          Code.RETRY_LATER,
          "tablet " + hosted.id() + " cannot answer before it knows what became of a job");
      this.hosted = hosted;
    }
  }

  /**
   * A service over {@code tablets}.
   *
   * @param resources threads for what may wait, and the budgets of memtables
   * @param writeDelay has writes wait while a budget is nearly used up
   * @param mayAnswer whether the server lives and its lease is valid; asked just before each answer
   *     leaves
   * @param outcomes asked before a tablet answers in which files of jobs wait, and before the first
   *     operation of a job's task
   */
  DataService(
      HostedTablets tablets,
      ServerResources resources,
      WriteDelay writeDelay,
      BooleanSupplier mayAnswer,
      JobOutcomes outcomes) {
    this.outcomes = outcomes;
    this.tablets = tablets;
    this.resources = resources;
    this.writeDelay = writeDelay;
    this.mayAnswer = mayAnswer;
  }

  /** An operation of a job's task cannot be applied before it is known that the job lives. */
  private static final class JobUnknownException extends SteleException {
    private static final long serialVersionUID = 1L;

    private final transient HostedTablet hosted;
    private final String job;

    JobUnknownException(HostedTablet hosted, String job) {
      super(Code.RETRY_LATER, "tablet " + hosted.id() + " does not know yet whether a job lives");
      this.hosted = hosted;
      this.job = job;
    }
  }

  /** Answers one request; may block. */
  private interface Work {
    /**
     * Answers.
     *
     * @throws FilesWaitException before anything was done, where it is to be run again when it is
     *     known what became of a job
     * @throws JobUnknownException before anything was done, where it is to be run again when the
     *     tablet has admitted a job
     */
    void run(Passage passage) throws IOException;
  }

  @Override
  public void handle(Request request, Responder responder) {
    var header = request.header();
    requireMember(request);
    switch (header.getMethodCase()) {
      case PING -> responder.answer(ResponseProto.getDefaultInstance());
      case READ -> read(header.getRead(), request, responder);
      case MUTATE -> {
        MutateProto mutate = header.getMutate();
        if (mutate.getTabletsCount() == 0) {
          throw SteleException.refused("a batch of mutations names no tablet");
        }
        afterDelay(
            mutate.getTablets(0),
            request,
            responder,
            passage -> mutate(mutate, request.body(), responder, passage));
      }
      case CHECK_AND_MUTATE ->
          afterDelay(
              header.getCheckAndMutate().getTablet(),
              request,
              responder,
              passage -> checkAndMutate(header.getCheckAndMutate(), responder, passage));
      case READ_MODIFY_WRITE ->
          afterDelay(
              header.getReadModifyWrite().getTablet(),
              request,
              responder,
              passage -> readModifyWrite(header.getReadModifyWrite(), responder, passage));
      case SAMPLE_ROW_KEYS ->
          onHandler(
              handlers(header.getSampleRowKeys().getTablet()).scans(),
              request,
              responder,
              passage -> sampleRowKeys(header.getSampleRowKeys(), responder));
      case SETTLE ->
          onHandler(
              resources.of(TabletKind.USER).threads().handlers().writes(),
              request,
              responder,
              passage -> settle(header.getSettle(), responder));
      case METHOD_NOT_SET ->
          throw SteleException.refused(
              "a request has a part that this server does not know: upgrade the server");
    }
  }

  /** METADATA says who owns what: one wrong write to it, and acknowledged ones are lost. */
  private static void requireMember(Request request) {
    if (!request.peer().isMember() && writesMetadata(request.header())) {
      throw SteleException.refused(
          "METADATA and the root tablet are written by masters and tablet servers alone; "
              + request.peer()
              + " has not proved to be one");
    }
  }

  private static boolean writesMetadata(RequestProto header) {
    return switch (header.getMethodCase()) {
      case MUTATE -> header.getMutate().getTabletsList().stream().anyMatch(DataService::isSystem);
      case CHECK_AND_MUTATE -> isSystem(header.getCheckAndMutate().getTablet());
      case READ_MODIFY_WRITE -> isSystem(header.getReadModifyWrite().getTablet());
      case PING, READ, SAMPLE_ROW_KEYS, SETTLE, METHOD_NOT_SET -> false;
    };
  }

  private static boolean isSystem(TabletProto tablet) {
    return TabletKind.of(QueryCodec.decode(tablet)) == TabletKind.SYSTEM;
  }

  /** As {@link #onHandler}, for writes. */
  private void afterDelay(TabletProto tablet, Request request, Responder responder, Work work) {
    TabletId id = QueryCodec.decode(tablet);
    if (id.equals(TabletId.ROOT)) { // As there: METADATA's memtables are written out by it.
      onHandler(handlers(tablet).writes(), request, responder, work);
      return;
    }
    writeDelay.pass(
        resources.of(id).memtables(),
        request.body().remaining(),
        () -> onHandler(handlers(tablet).writes(), request, responder, work),
        responder::fail);
  }

  private KindResources.Threads.Handlers handlers(TabletProto tablet) {
    return resources.of(QueryCodec.decode(tablet)).threads().handlers();
  }

  private void onHandler(WorkerPool pool, Request request, Responder responder, Work work) {
    onHandler(pool, request, responder, work, new Passage());
  }

  private void onHandler(
      WorkerPool pool, Request request, Responder responder, Work work, Passage passage) {
    try {
      pool.execute(
          () -> {
            try {
              if (request.isExpired()) {
                throw SteleException.retryLater("the request waited until its caller had given up");
              }
              work.run(passage);
            } catch (FilesWaitException e) {
              Runnable again = () -> onHandler(pool, request, responder, work, passage);
              CompletableFuture<Void> may = outcomes.mayAnswer(e.hosted);
              after(may.thenRun(() -> passage.pass(e.hosted)), again, responder);
            } catch (JobUnknownException e) {
              Runnable again = () -> onHandler(pool, request, responder, work, passage);
              after(outcomes.admit(e.hosted, e.job), again, responder);
            } catch (IOException | RuntimeException e) {
              fail(responder, e);
            } catch (Error e) {
              LOG.error("A request of {} failed", request.peer(), e);
              fail(responder, e);
            }
          });
    } catch (RejectedExecutionException e) {
      throw new SteleException(
          SteleException.Code.RETRY_LATER, "this server is stopping or full", e);
    }
  }

  private void after(CompletableFuture<Void> first, Runnable again, Responder responder) {
    first.whenComplete(
        (done, failure) -> {
          if (failure != null) {
            fail(responder, failure);
            return;
          }
          try {
            again.run();
          } catch (RuntimeException full) {
            fail(responder, full);
          }
        });
  }

  /** Here and now where that takes no waiting, otherwise by a handler. */
  private void read(ReadProto read, Request request, Responder responder) {
    if (read.hasPosition() && read.getRowPartBytes() == 0) {
      throw SteleException.refused(
          "a read continues inside a row but does not accept parts of rows");
    }
    ReadRequest wanted =
        new ReadRequest(
            QueryCodec.decode(read.getQuery()),
            read.getReadPoint() == 0 ? OptionalLong.empty() : OptionalLong.of(read.getReadPoint()),
            read.getAllowFreshReadPoint(),
            read.getBytesMax(),
            false,
            new RowParts(
                read.getRowPartBytes(),
                read.hasPosition()
                    ? Optional.of(ByteStrings.bytes(read.getPosition()))
                    : Optional.empty()),
            responder::take,
            read.hasPin() ? Optional.of(read.getPin()) : Optional.empty());
    if (request.isExpired()) {
      throw SteleException.retryLater("the request waited until its caller had given up");
    }
    boolean quick = isQuick(wanted.query()) && !read.hasPosition();
    if (!quick || !readInMemory(read, wanted.inMemoryOnly(), responder)) {
      boolean single = isSingle(wanted.query()) && !read.hasPosition();
      KindResources.Threads.Handlers handlers = handlers(read.getTablet());
      onHandler(
          single ? handlers.reads() : handlers.scans(),
          request,
          responder,
          passage -> read(read, wanted, responder, passage));
    }
  }

  /** Whether a read costs little, given that all it needs is in memory: a row, and no filter. */
  private static boolean isQuick(RowQuery query) {
    return isSingle(query) && query.filter().isEmpty();
  }

  private static boolean isSingle(RowQuery query) {
    return query.ranges().size() == 1 && query.ranges().get(0).isSingle();
  }

  /**
   * Answers a read from memory, on the event loop that decoded it.
   *
   * @return false if something is not in memory: there was no answer
   */
  private boolean readInMemory(ReadProto read, ReadRequest wanted, Responder responder) {
    try {
      read(read, wanted, responder, new Passage());
      return true;
    } catch (NotInMemoryException | FilesWaitException e) {
      return false;
    } catch (IOException | RuntimeException | Error e) {
      fail(responder, e);
      return true;
    }
  }

  private void read(ReadProto read, ReadRequest wanted, Responder responder, Passage passage)
      throws IOException {
    HostedTablet hosted = tablets.require(read.getTablet());
    passage.check(hosted);
    ReadResult page = hosted.tablet().read(wanted);
    ResponseProto.Builder answer =
        ResponseProto.newBuilder()
            .setReadPoint(page.readPoint())
            .setMore(page.nextRow().isPresent())
            .setRows(page.rows().size());
    page.nextRow().ifPresent(row -> answer.setNextRow(ByteStrings.of(row)));
    page.position().ifPresent(place -> answer.setNextPosition(ByteStrings.of(place)));
    CellBlockWriter block = CellBlockWriter.sequential(4096);
    for (Row row : page.rows()) {
      RowCodec.write(row, block);
    }
    answerRead(responder, answer, RowCodec.body(block));
  }

  private void sampleRowKeys(SampleRowKeysProto request, Responder responder) throws IOException {
    ResponseProto.Builder answer = ResponseProto.newBuilder();
    Tablet tablet = tablets.require(request.getTablet()).tablet();
    List<RowSample> samples =
        request.hasPieceBytes()
            ? tablet.sampleRows(Math.max(1, request.getPieceBytes()), SAMPLES_MAX)
            : tablet.sampleRows(SAMPLES);
    samples.forEach(
        sample ->
            answer.addSamples(
                SampleProto.newBuilder()
                    .setRow(
                        org.apache.hadoop.thirdparty.protobuf.ByteString.copyFrom(
                            sample.row().toByteArray()))
                    .setOffsetBytes(sample.offsetBytes())));
    answerRead(responder, answer, DataPlane.EMPTY);
  }

  /** Before anything of a write is done: it may have to be done again from the start. */
  private void check(TabletProto named, OperationsProto operations, Passage passage) {
    Optional<HostedTablet> found = tablets.find(QueryCodec.decode(named));
    if (found.isPresent()) {
      passage.check(found.get());
      if (operations.hasJob() && !found.get().tablet().jobs().admits(operations.getJob())) {
        throw new JobUnknownException(found.get(), operations.getJob());
      }
    }
  }

  /** A task has come to its end: what is settled is forgotten in all tablets of the table. */
  private void settle(SettleProto request, Responder responder) {
    OperationId task = OperationCodec.task(request);
    Optional<TaskProgress> said = OperationCodec.outstanding(request.getOperations()).task();
    for (HostedTablet hosted : tablets.all()) {
      if (said.isPresent() && hosted.id().table().value().equals(request.getTableId())) {
        hosted.tablet().jobs().settle(task, said.get());
      }
    }
    responder.answer(ResponseProto.getDefaultInstance());
  }

  private void mutate(MutateProto batch, ByteBuffer body, Responder responder, Passage passage) {
    batch.getTabletsList().forEach(named -> check(named, batch.getOperations(), passage));
    List<CompletableFuture<Optional<Throwable>>> failures =
        new ArrayList<>(batch.getMutationsCount());
    Queue<Settled> settled = new ConcurrentLinkedQueue<>();
    RowOrder order = new RowOrder();
    Outstanding outstanding = OperationCodec.outstanding(batch.getOperations());
    for (MutateBatch.Entry entry : MutateBatch.decode(batch, body, responder::take)) {
      failures.add(
          apply(entry, outstanding, order, passage)
              .handle(
                  (result, failure) -> {
                    if (failure == null) {
                      result.settled().ifPresent(settled::add);
                    }
                    return Optional.ofNullable(failure).map(DataService::meaning);
                  }));
    }
    CompletableFuture.allOf(failures.toArray(CompletableFuture[]::new))
        .whenComplete(
            (done, failure) ->
                answerWrite(
                    responder,
                    () ->
                        new Answer(
                            withSettled(
                                OperationCodec.encode(
                                    failures.stream()
                                        .map(one -> one.getNow(Optional.empty()))
                                        .toList()),
                                settled))));
  }

  /** Says what the task is to compare, each but once. */
  private static ResponseProto withSettled(ResponseProto answer, Collection<Settled> settled) {
    if (settled.isEmpty()) {
      return answer;
    }
    ResponseProto.Builder more = answer.toBuilder();
    new LinkedHashSet<>(settled).forEach(one -> more.addSettled(OperationCodec.encode(one)));
    return more.build();
  }

  private CompletableFuture<OperationResult> apply(
      MutateBatch.Entry entry, Outstanding outstanding, RowOrder order, Passage passage) {
    Bytes row = entry.mutation().row();
    Optional<SteleException> held = order.check(row);
    if (held.isPresent()) {
      return CompletableFuture.failedFuture(held.get());
    }
    CompletableFuture<OperationResult> outcome =
        apply(
            entry.tablet(),
            new OperationRequest(entry.mutation(), entry.id(), outstanding, entry.durability()),
            passage);
    if (outcome.isCompletedExceptionally()) {
      outcome.whenComplete((result, failure) -> order.failed(row, meaning(failure)));
    }
    return outcome;
  }

  private void checkAndMutate(CheckAndMutateProto request, Responder responder, Passage passage) {
    check(request.getTablet(), request.getOperations(), passage);
    responder.take(MESSAGE_COPIES * request.getSerializedSize());
    apply(
            request.getTablet(),
            new OperationRequest(
                OperationCodec.decode(request, responder::take),
                OperationCodec.id(request),
                OperationCodec.outstanding(request.getOperations()),
                OperationCodec.decode(request.getDurability()),
                responder::take),
            passage)
        .whenComplete(
            (result, failure) -> {
              if (failure != null) {
                fail(responder, failure);
              } else {
                answerWrite(
                    responder,
                    () ->
                        new Answer(
                            withSettled(
                                ResponseProto.newBuilder().setMatched(result.matched()).build(),
                                result.settled().stream().toList())));
              }
            });
  }

  private void readModifyWrite(ReadModifyWriteProto request, Responder responder, Passage passage) {
    check(request.getTablet(), request.getOperations(), passage);
    responder.take(MESSAGE_COPIES * request.getSerializedSize());
    apply(
            request.getTablet(),
            new OperationRequest(
                OperationCodec.decode(request),
                OperationCodec.id(request),
                OperationCodec.outstanding(request.getOperations()),
                OperationCodec.decode(request.getDurability()),
                responder::take),
            passage)
        .whenComplete(
            (result, failure) -> {
              if (failure != null) {
                fail(responder, failure);
                return;
              }
              answerWrite(
                  responder,
                  () -> {
                    CellBlockWriter block = CellBlockWriter.sequential(256);
                    result.row().ifPresent(row -> RowCodec.write(row, block));
                    return new Answer(
                        withSettled(
                            ResponseProto.getDefaultInstance(), result.settled().stream().toList()),
                        RowCodec.body(block));
                  });
            });
  }

  /** Never throws: what is refused at the door is a failed future too, so that a batch goes on. */
  private CompletableFuture<OperationResult> apply(
      TabletProto tablet, OperationRequest request, Passage passage) {
    try {
      HostedTablet hosted = tablets.require(tablet);
      passage.check(hosted); // Again: it may have come after the request.
      // Not of the root tablet: METADATA's memtables become smaller only by writes to it.
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

  private void answerRead(Responder responder, ResponseProto.Builder answer, ByteBuffer body) {
    if (mayAnswer.getAsBoolean()) {
      responder.answer(answer.build(), body);
    } else {
      responder.fail(
          SteleException.retryLater(
              "this server's lease has run out, so its answer may be out of date: try again"));
    }
  }

  /** Called by the completion of a write, whose exceptions would be lost. */
  private void answerWrite(Responder responder, Supplier<Answer> answer) {
    try {
      if (mayAnswer.getAsBoolean()) {
        Answer made = answer.get();
        responder.answer(made.header(), made.body());
      } else {
        responder.fail(
            new SteleException(
                SteleException.Code.OUTCOME_UNKNOWN,
                "this server's lease has run out: the write may or may not have been applied"));
      }
    } catch (RuntimeException | Error e) {
      LOG.error("Cannot encode the answer to a write", e);
      responder.fail(
          new SteleException(
              SteleException.Code.OUTCOME_UNKNOWN,
              "the write was applied, but its answer could not be sent: " + e,
              e));
    }
  }

  private record Answer(ResponseProto header, ByteBuffer body) {
    Answer(ResponseProto header) {
      this(header, DataPlane.EMPTY);
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
              "the request failed after this server's lease had run out",
              why));
    }
  }

  /** What a failure within a tablet means to the client. */
  private static Throwable meaning(Throwable failure) {
    Throwable cause = Futures.cause(failure);
    return cause instanceof RowOutOfRangeException
        ? new NotServingTabletException(String.valueOf(cause.getMessage()))
        : cause;
  }
}
