package io.stele.tabletserver;

import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.sstable.NotInMemoryException;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.ReadResult;
import io.stele.tablet.RowParts;
import io.stele.tablet.RowSample;
import io.stele.tablet.Tablet;
import io.stele.tablet.UnsettledException;
import io.stele.wire.ByteStrings;
import io.stele.wire.DataPlane;
import io.stele.wire.QueryCodec;
import io.stele.wire.Request;
import io.stele.wire.RequestHandler;
import io.stele.wire.Responder;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SampleProto;
import io.stele.wire.data.DataProtos.SampleRowKeysProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data plane of a tablet server: finds the tablet that a request names, calls it, and answers.
 *
 * <p>An answer leaves only under a valid lease, checked after the request was evaluated: a server
 * that was cut off must not give an answer that its successor contradicts. Answers that tell
 * nothing about rows need none: those to PING and SETTLE, RETRY_LATER, and refusals that do not
 * depend on any tablet. A read of one row that memory can answer is answered on the event loop that
 * decoded it; everything else goes to a handler. A write is answered from the commit log's
 * completion; no thread waits for it. A request that a tablet cannot answer yet waits without a
 * thread, until its deadline at most.
 *
 * <p>Safe for use by any number of threads: event loops and handlers call it.
 */
final class DataService implements RequestHandler {
  private static final Logger LOG = LoggerFactory.getLogger(DataService.class);
  private static final int SAMPLES = 64;

  /** Most samples per tablet: keeps answers small and quick to find. */
  private static final int SAMPLES_MAX = 1024;

  /** Most families and columns of a read that an event loop answers: others wait for it. */
  private static final int QUICK_COLUMNS_MAX = 100;

  /** Most bytes of the keys of all columns of such a read: each file's filter hashes them. */
  private static final int QUICK_KEY_BYTES_MAX = 256 << 10;

  private final ProcessRuntime runtime;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final WriteDelay writeDelay;
  private final JobOutcomes outcomes;
  private final LeasedAnswers answers;
  private final WriteRequests writes;
  private final RequestTimes times;

  /**
   * A service over {@code tablets}.
   *
   * @param runtime whose timers end the waits of requests
   * @param resources threads for work that may wait, and the budgets of memtables
   * @param writeDelay delays writes while a budget is nearly used up
   * @param mayAnswer whether the server is alive and its lease is valid; asked just before each
   *     answer leaves
   * @param outcomes asked before a tablet with waiting files of jobs answers, and before the first
   *     operation of a job's task
   */
  DataService(
      ProcessRuntime runtime,
      HostedTablets tablets,
      ServerResources resources,
      WriteDelay writeDelay,
      BooleanSupplier mayAnswer,
      JobOutcomes outcomes) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.resources = resources;
    this.writeDelay = writeDelay;
    this.outcomes = outcomes;
    this.answers = new LeasedAnswers(mayAnswer);
    this.writes = new WriteRequests(tablets, resources, answers);
    this.times = new RequestTimes(runtime);
  }

  /** Answers one request; may block. */
  private interface RequestTask {
    /**
     * Answers.
     *
     * @param memory asked for the memory of the work, and now and then whether to go on
     * @throws UnsettledException if nothing was done; run this again when the tablet is settled
     * @throws RequestPermissions.FilesPendingException if nothing was done; run this again when the
     *     job's outcome is known
     * @throws RequestPermissions.JobUnknownException if nothing was done; run this again when the
     *     tablet has admitted the job
     */
    void run(Responder answer, RequestPermissions permissions, MemoryClaim memory)
        throws IOException;
  }

  /** Counts of its answers, by kind of outcome. */
  RequestCounts counts() {
    return answers.counts();
  }

  /** How long its answers took. */
  RequestTimes times() {
    return times;
  }

  @Override
  public void handle(Request request, Responder responder) {
    try {
      begin(request, responder);
    } catch (RuntimeException | Error e) { // The caller answers.
      counts().notServed(e);
      throw e;
    }
  }

  private void begin(Request request, Responder responder) {
    RequestProto header = request.header();
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
            times.begin(RequestTimes.Kind.MUTATE, responder),
            (answer, permissions, memory) ->
                writes.mutate(mutate, request.body(), answer, permissions));
      }
      case CHECK_AND_MUTATE ->
          afterDelay(
              header.getCheckAndMutate().getTablet(),
              request,
              times.begin(RequestTimes.Kind.CHECK_AND_MUTATE, responder),
              (answer, permissions, memory) ->
                  writes.checkAndMutate(header.getCheckAndMutate(), answer, permissions, memory));
      case READ_MODIFY_WRITE ->
          afterDelay(
              header.getReadModifyWrite().getTablet(),
              request,
              times.begin(RequestTimes.Kind.READ_MODIFY_WRITE, responder),
              (answer, permissions, memory) ->
                  writes.readModifyWrite(header.getReadModifyWrite(), answer, permissions, memory));
      case SAMPLE_ROW_KEYS ->
          onHandler(
              handlers(header.getSampleRowKeys().getTablet()).scans(),
              request,
              responder,
              (answer, permissions, memory) ->
                  sampleRowKeys(header.getSampleRowKeys(), answer, memory));
      case SETTLE ->
          onHandler(
              resources.of(TabletKind.USER).threads().handlers().writes(),
              request,
              responder,
              (answer, permissions, memory) -> writes.settle(header.getSettle(), answer));
      case METHOD_NOT_SET ->
          throw SteleException.refused(
              "a request has a part that this server does not know: upgrade the server");
    }
  }

  /**
   * METADATA says which server owns which tablet: one wrong write to it, and acknowledged writes
   * are lost.
   */
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

  /** Has a handler do a write, after the delay that the memtables require of it. */
  private void afterDelay(
      TabletProto tablet, Request request, Responder responder, RequestTask task) {
    TabletId id = QueryCodec.decode(tablet);
    KindResources ofKind = resources.of(id);
    WorkerPool writers = ofKind.threads().handlers().writes();
    // METADATA's memtables are written out by writes to the root tablet: those are never delayed.
    if (id.equals(TabletId.ROOT)) {
      onHandler(writers, request, responder, task);
      return;
    }
    writeDelay.pass(
        ofKind.memtables(),
        request.body().remaining(),
        () -> onHandler(writers, request, responder, task),
        failure -> answers.fail(responder, failure));
  }

  private KindResources.Threads.Handlers handlers(TabletProto tablet) {
    return resources.of(QueryCodec.decode(tablet)).threads().handlers();
  }

  private void onHandler(WorkerPool pool, Request request, Responder responder, RequestTask task) {
    onHandler(pool, request, responder, task, new RequestPermissions());
  }

  private void onHandler(
      WorkerPool pool,
      Request request,
      Responder responder,
      RequestTask task,
      RequestPermissions permissions) {
    try {
      pool.execute(
          () -> {
            try {
              requireNotExpired(request);
              runOrWait(pool, request, responder, task, permissions);
            } catch (IOException | RuntimeException e) {
              answers.fail(responder, e);
            } catch (Error e) {
              LOG.error("A request of {} failed", request.peer(), e);
              answers.fail(responder, e);
            }
          });
    } catch (RejectedExecutionException e) {
      throw new SteleException(SteleException.Code.RETRY_LATER, "this server is stopping", e);
    }
  }

  private static void requireNotExpired(Request request) {
    if (request.isExpired()) {
      throw SteleException.retryLater("the request waited until its caller had given up");
    }
  }

  /** Answers, or does so later if the tablet cannot answer yet. */
  private void runOrWait(
      WorkerPool pool,
      Request request,
      Responder responder,
      RequestTask task,
      RequestPermissions permissions)
      throws IOException {
    try {
      task.run(responder, permissions, claim(request, responder));
    } catch (UnsettledException e) {
      RequestWait.begin(
          runtime,
          request.remaining(),
          e.settled(),
          () -> onHandler(pool, request, responder, task, permissions),
          failure -> answers.fail(responder, failure));
    } catch (RequestPermissions.FilesPendingException | RequestPermissions.JobUnknownException e) {
      RequestWait.begin(
          runtime,
          request.remaining(),
          awaited(e, permissions),
          () -> onHandler(pool, request, responder, task, permissions),
          failure -> answers.fail(responder, failure));
    }
  }

  /** Nothing of the request was done: what must be over before it can be tried again. */
  private CompletableFuture<Void> awaited(SteleException why, RequestPermissions permissions) {
    if (why instanceof RequestPermissions.FilesPendingException files) {
      return outcomes.mayAnswer(files.hosted()).thenRun(() -> permissions.permit(files.hosted()));
    }
    RequestPermissions.JobUnknownException unknown = (RequestPermissions.JobUnknownException) why;
    return outcomes.admit(unknown.hosted(), unknown.job());
  }

  /** Answers at once if that takes no waiting; otherwise a handler answers. */
  private void read(ReadProto read, Request request, Responder caller) {
    if (read.hasPosition() && read.getRowPartBytes() == 0) {
      throw SteleException.refused(
          "a read continues inside a row but does not accept parts of rows");
    }
    RowQuery query = QueryCodec.decode(read.getQuery());
    boolean single = isSingle(query) && !read.hasPosition();
    Responder responder =
        times.begin(single ? RequestTimes.Kind.READ : RequestTimes.Kind.SCAN, caller);
    ReadRequest wanted =
        new ReadRequest(
            query,
            read.getReadPoint() == 0 ? OptionalLong.empty() : OptionalLong.of(read.getReadPoint()),
            read.getAllowFreshReadPoint(),
            read.getBytesMax(),
            false,
            new RowParts(
                read.getRowPartBytes(),
                read.hasPosition()
                    ? Optional.of(ByteStrings.bytes(read.getPosition()))
                    : Optional.empty()),
            claim(request, responder),
            read.getOnce(),
            read.hasPin() ? Optional.of(read.getPin()) : Optional.empty());
    requireNotExpired(request);
    boolean quick = single && isQuick(query);
    if (!quick || !readInMemory(read, wanted.inMemoryOnly(), responder)) {
      KindResources.Threads.Handlers handlers = handlers(read.getTablet());
      onHandler(
          single ? handlers.reads() : handlers.scans(),
          request,
          responder,
          (answer, permissions, memory) -> read(read, wanted, answer, permissions));
    }
  }

  /** Memory from {@code responder}, as long as somebody waits for the answer. */
  private static MemoryClaim claim(Request request, Responder responder) {
    return new MemoryClaim() {
      @Override
      public void take(long bytes) {
        responder.take(bytes);
      }

      @Override
      public void requireWanted() {
        requireNotExpired(request);
      }
    };
  }

  /**
   * Whether a read of a row is cheap once all its data is in memory: no filter, and not so many
   * columns, or so long a row, that it takes long to ask each file for each column.
   */
  private static boolean isQuick(RowQuery query) {
    int columns = query.families().size() + query.columns().size();
    return query.filter().isEmpty()
        && columns <= QUICK_COLUMNS_MAX
        && columns * query.ranges().get(0).start().length() <= QUICK_KEY_BYTES_MAX;
  }

  private static boolean isSingle(RowQuery query) {
    return query.ranges().size() == 1 && query.ranges().get(0).isSingle();
  }

  /**
   * Answers a read from memory, on the event loop that decoded it.
   *
   * @return false if something is not in memory: then no answer was sent
   */
  private boolean readInMemory(ReadProto read, ReadRequest wanted, Responder responder) {
    try {
      read(read, wanted, responder, new RequestPermissions());
      return true;
    } catch (NotInMemoryException
        | RequestPermissions.FilesPendingException
        | UnsettledException e) {
      return false;
    } catch (IOException | RuntimeException | Error e) {
      answers.fail(responder, e);
      return true;
    }
  }

  private void read(
      ReadProto read, ReadRequest wanted, Responder responder, RequestPermissions permissions)
      throws IOException {
    HostedTablet hosted = tablets.require(read.getTablet());
    permissions.check(hosted);
    ReadResult page = hosted.tablet().read(wanted);
    ResponseProto.Builder answer =
        ResponseProto.newBuilder()
            .setReadPoint(page.readPoint())
            .setMore(page.nextRow().isPresent())
            .setRows(page.rowCount());
    if (page.restarted()) {
      answer.setRestarted(true);
    }
    page.nextRow().ifPresent(row -> answer.setNextRow(ByteStrings.of(row)));
    page.position().ifPresent(place -> answer.setNextPosition(ByteStrings.of(place)));
    answers.read(responder, answer, page.block());
  }

  private void sampleRowKeys(SampleRowKeysProto request, Responder responder, MemoryClaim memory)
      throws IOException {
    ResponseProto.Builder answer = ResponseProto.newBuilder();
    Tablet tablet = tablets.require(request.getTablet()).tablet();
    List<RowSample> samples =
        request.hasPieceBytes()
            ? tablet.sampleRows(Math.max(1, request.getPieceBytes()), SAMPLES_MAX, memory)
            : tablet.sampleRows(SAMPLES, memory);
    samples.forEach(
        sample ->
            answer.addSamples(
                SampleProto.newBuilder()
                    .setRow(ByteStrings.of(sample.row()))
                    .setOffsetBytes(sample.offsetBytes())));
    answers.read(responder, answer, DataPlane.EMPTY);
  }
}
