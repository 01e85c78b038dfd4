package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.Task;
import io.stele.tablet.OperationRequest;
import io.stele.wire.Address;
import io.stele.wire.DataClient;
import io.stele.wire.DataPlane;
import io.stele.wire.DataServer;
import io.stele.wire.MutateBatch;
import io.stele.wire.OperationCodec;
import io.stele.wire.Peer;
import io.stele.wire.QueryCodec;
import io.stele.wire.Request;
import io.stele.wire.Responder;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.OutcomeProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DataServiceTest {
  /** A runtime that fails whatever would wait on the test's thread while {@link #forbidden}. */
  private static final class NoWaiting extends ForwardingRuntime {
    final Thread thread = Thread.currentThread();
    final List<String> started = new ArrayList<>();
    volatile boolean forbidden;
    volatile Runnable atClock = () -> {};
    volatile Runnable atSecondLock = () -> {}; // Called where one lock is held.
    private int locked; // By the test's thread.

    void check(String what) {
      if (forbidden && Thread.currentThread() == thread) {
        throw new AssertionError(what + " on the event loop");
      }
    }

    @Override
    public InstantSource wallClock() {
      InstantSource real = super.wallClock();
      return () -> {
        if (Thread.currentThread() == thread) {
          atClock.run();
        }
        return real.instant();
      };
    }

    @Override
    public Task start(String name, Runnable work) {
      synchronized (started) {
        started.add(name);
      }
      return super.start(name, work);
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      check("sleep");
      super.sleep(duration);
    }

    @Override
    public <T> T await(CompletableFuture<T> future)
        throws InterruptedException, ExecutionException {
      check("await");
      return super.await(future);
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout)
        throws InterruptedException {
      check("await");
      return super.await(future, timeout);
    }

    @Override
    public Lock newLock() {
      return new ReentrantLock() {
        @Override
        public void lock() {
          check("lock");
          if (Thread.currentThread() == thread && locked++ == 1) {
            atSecondLock.run();
          }
          super.lock();
        }

        @Override
        public boolean tryLock() {
          boolean taken = super.tryLock();
          if (taken && Thread.currentThread() == thread) {
            locked++;
          }
          return taken;
        }

        @Override
        public void unlock() {
          super.unlock();
          if (Thread.currentThread() == thread) {
            locked--;
          }
        }
      };
    }
  }

  /** Keeps the answer. */
  private static final class Answer implements Responder {
    final CompletableFuture<ResponseProto> header = new CompletableFuture<>();
    private volatile boolean failing;

    @Override
    public void answer(ResponseProto response, ByteBuffer body) {
      if (failing) {
        failing = false;
        throw new OutOfMemoryError("no room for the answer");
      }
      assertThat(header.complete(response)).as("answered once").isTrue();
    }

    StatusProto status() throws Exception {
      ResponseProto response = header.get(30, TimeUnit.SECONDS);
      return response.hasStatus() ? response.getStatus() : StatusProto.OK;
    }
  }

  private final NoWaiting runtime = new NoWaiting();
  private final TestServer.World world = new TestServer.World();
  private volatile boolean leased = true;
  private TestServer server;
  private HostedTablet hosted;
  private DataService service;

  @BeforeEach
  void serve() throws Exception {
    server = new TestServer(world, runtime, new Configuration(false));
    hosted = server.takeNew(TableSchema.of("t", "f"));
    service =
        new DataService(
            runtime,
            server.context.tablets(),
            server.context.resources(),
            new WriteDelay(runtime, 10, 1 << 20),
            () -> leased,
            new Jobs());
    TestServer.put(hosted, "row", "value");
  }

  /** As {@link RequestedWork} does. */
  private final class Jobs implements JobOutcomes {
    @Override
    public CompletableFuture<Void> mayAnswer(HostedTablet tablet) {
      return server.files.mayAnswer(tablet).thenAccept(may -> assertThat(may).isTrue());
    }

    @Override
    public CompletableFuture<Void> admit(HostedTablet tablet, String job) {
      return new JobTasks(server.states).admit(tablet, job);
    }
  }

  @AfterEach
  void close() {
    world.disk.heal();
    server.close();
  }

  private Answer ask(RequestProto request, ByteBuffer body) {
    Answer answer = new Answer();
    ask(request, body, answer);
    return answer;
  }

  private void ask(RequestProto request, ByteBuffer body, Answer answer) {
    ask(request, body, Duration.ofMinutes(1), answer);
  }

  private void ask(RequestProto request, ByteBuffer body, Duration time, Answer answer) {
    RequestProto timed =
        request.toBuilder().setRemainingMillis((int) time.toMillis()).buildPartial();
    service.handle(new Request(runtime, timed, body, Peer.client("a test")), answer);
  }

  private RequestProto read(RowQuery query) {
    return RequestProto.newBuilder()
        .setRead(
            ReadProto.newBuilder()
                .setTablet(QueryCodec.encode(hosted.id(), hosted.tablet().epoch()))
                .setQuery(QueryCodec.encode(query)))
        .build();
  }

  /** Has nothing on this thread wait or do I/O while {@code request} is taken. */
  private Answer askOnEventLoop(RequestProto request) {
    world.disk.inject(
        (operation, path) -> {
          runtime.check(operation + " of " + path);
          return Optional.empty();
        });
    runtime.forbidden = true;
    try {
      return ask(request, DataPlane.EMPTY);
    } finally {
      runtime.forbidden = false;
    }
  }

  @Test
  void aRowOfTheMemtableIsAnsweredWhereItsRequestWasDecoded() throws Exception {
    Answer answer = askOnEventLoop(read(RowQuery.row("row")));
    assertThat(answer.header).isDone();
    assertThat(answer.status()).isEqualTo(StatusProto.OK);
    assertThat(answer.header.get().getRows()).isEqualTo(1);
    assertThat(server.handlers.size()).isZero();
  }

  @Test
  void onlyMembersWriteMetadata() {
    for (TabletId tablet :
        List.of(TabletId.ROOT, new TabletId(TableId.METADATA, "00000000000000ff"))) {
      TabletProto meta = QueryCodec.encode(tablet, 1);
      TabletProto user = QueryCodec.encode(hosted.id(), 1);
      List<RequestProto> writes =
          List.of(
              RequestProto.newBuilder()
                  .setMutate(MutateProto.newBuilder().addTablets(user).addTablets(meta))
                  .build(),
              RequestProto.newBuilder()
                  .setCheckAndMutate(
                      CheckAndMutateProto.newBuilder().setTablet(meta).buildPartial())
                  .buildPartial(),
              RequestProto.newBuilder()
                  .setReadModifyWrite(
                      ReadModifyWriteProto.newBuilder().setTablet(meta).buildPartial())
                  .buildPartial());
      for (RequestProto write : writes) {
        assertThatThrownBy(() -> ask(write, DataPlane.EMPTY))
            .isInstanceOf(SteleException.class)
            .hasMessageContaining("masters and tablet servers alone");
      }
      assertThat(server.handlers.size()).isZero();
    }
  }

  @Test
  void onlyAClientThatKnowsOfResultsThatAreNotKeptGetsAnAnswerWithoutCells() throws Exception {
    ReadModifyWriteProto append =
        OperationCodec.encode(
            QueryCodec.encode(hosted.id(), 1),
            Optional.of(new OperationId(1, 1, 1)),
            Outstanding.from(1),
            Durability.HFLUSH,
            ReadModifyWrite.append(
                Bytes.of("row"), "f", Bytes.of("large"), Bytes.of(new byte[70_000])));
    assertThat(change(append)).isEqualTo(StatusProto.OK);
    assertThat(change(append)).isEqualTo(StatusProto.OK);
    ReadModifyWriteProto old = append.toBuilder().clearTakesNoResult().build();
    assertThat(change(old)).isEqualTo(StatusProto.REFUSED);
  }

  private StatusProto change(ReadModifyWriteProto request) throws Exception {
    Answer answer =
        ask(RequestProto.newBuilder().setReadModifyWrite(request).build(), DataPlane.EMPTY);
    server.handlers.work();
    return answer.status();
  }

  @Test
  void aRowThatIsNotThereIsAnsweredThereToo() throws Exception {
    Answer answer = askOnEventLoop(read(RowQuery.row("other")));
    assertThat(answer.status()).isEqualTo(StatusProto.OK);
    assertThat(answer.header.get().getRows()).isZero();
    assertThat(server.handlers.size()).isZero();
  }

  @Test
  void aRowThatOnlyAFileHasIsReadByAHandlerOnceAndThenFromMemory() throws Exception {
    hosted.tablet().minorCompact();
    Answer first = askOnEventLoop(read(RowQuery.row("row")));
    assertThat(first.header).isNotDone();
    assertThat(server.handlers.size()).isEqualTo(1);
    server.handlers.work();
    assertThat(first.header.get().getRows()).isEqualTo(1);

    Answer second = askOnEventLoop(read(RowQuery.row("row")));
    assertThat(second.header).isDone();
    assertThat(second.header.get().getRows()).isEqualTo(1);
    assertThat(server.handlers.size()).isZero();
  }

  @Test
  void scansFilteredReadsAndThoseOfManyColumnsGoToAHandler() throws Exception {
    RowQuery columns = RowQuery.row("row").column("f", "q");
    for (int i = 0; i < 100; i++) {
      columns = columns.column("f", "absent" + i);
    }
    RowQuery filtered = RowQuery.row("row").filter(new Filter.PassAll());
    for (RowQuery query : List.of(RowQuery.ALL, filtered, columns)) {
      Answer answer = askOnEventLoop(read(query));
      assertThat(answer.header).isNotDone();
      server.handlers.work();
      assertThat(answer.header.get().getRows()).isEqualTo(1);
    }
  }

  @Test
  void filesThatGoWithAReadOnTheEventLoopAreClosedByAnotherThread() throws Exception {
    hosted.tablet().minorCompact();
    TestServer.put(hosted, "row2", "value");
    hosted.tablet().minorCompact();
    ask(read(RowQuery.row("row")), DataPlane.EMPTY);
    server.handlers.work();
    int open = server.fs.openReaders();
    runtime.atClock =
        () -> {
          runtime.atClock = () -> {};
          CompletableFuture<Void> compaction =
              CompletableFuture.runAsync(
                  () -> {
                    try {
                      hosted.tablet().majorCompact();
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
          compaction.join();
        };
    Answer answer = askOnEventLoop(read(RowQuery.row("row")));
    assertThat(answer.header).isDone();
    assertThat(runtime.started).contains("close-files");
    while (server.fs.openReaders() >= open) {
      Thread.onSpinWait(); // Until that thread has run; the test's time is limited.
    }
  }

  @Test
  void aReadWaitsUntilATabletKnowsWhatBecameOfItsOwnChange() throws Exception {
    hosted.tablet().minorCompact();
    Answer answer = new Answer();
    world.metadata.after(
        update -> {
          ask(read(RowQuery.row("row")), DataPlane.EMPTY, answer);
          server.handlers.work();
          assertThat(answer.header).isNotDone();
          assertThat(server.handlers.size()).as("no handler waits").isZero();
        });
    server.beginChange("t", 1);
    server.clearing.clear(hosted, 1, RowRange.ALL);
    world.metadata.after(update -> {});
    assertThat(answer.header).isNotDone();
    server.handlers.work();
    assertThat(answer.header.get().getRows()).isZero();
  }

  @Test
  void aRequestThatATabletCannotAnswerYetLeavesTheServerAtItsDeadline() throws Exception {
    hosted.tablet().minorCompact();
    try (DataServer wire =
            DataServer.start(
                runtime,
                new Address("127.0.0.1", 0),
                1,
                DataServer.Limits.DEFAULT,
                (request, responder) -> service.handle(request, responder));
        DataClient client = new DataClient(runtime, DataClient.Options.DEFAULT)) {
      Address address = new Address("127.0.0.1", wire.port());
      Answer asked = new Answer();
      AtomicBoolean left = new AtomicBoolean();
      world.metadata.after(
          update -> {
            RequestProto read = read(RowQuery.row("row"));
            Duration shortly = Duration.ofMillis(100);
            ask(read, DataPlane.EMPTY, shortly, asked);
            var called = client.call(address, read, DataPlane.EMPTY, shortly);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!left.get() && System.nanoTime() - end < 0) {
              server.handlers.work();
              left.set(asked.header.isDone() && called.isDone() && wire.requestsInFlight() == 0);
            }
          });
      server.beginChange("t", 1);
      server.clearing.clear(hosted, 1, RowRange.ALL);
      world.metadata.after(update -> {});
      assertThat(left).as("both were answered while the tablet was not settled").isTrue();
      assertThat(asked.status()).isEqualTo(StatusProto.RETRY_LATER);
      assertThat(server.handlers.size()).as("none goes on that was answered").isZero();
    }
  }

  @Test
  void withoutALeaseNothingIsSaidOfWhatATabletHolds() throws Exception {
    leased = false;
    assertThat(askOnEventLoop(read(RowQuery.row("row"))).status())
        .isEqualTo(StatusProto.RETRY_LATER);
    Answer write = write("row3");
    server.handlers.work();
    assertThat(write.status()).isEqualTo(StatusProto.OUTCOME_UNKNOWN);
    assertThat(service.counts().retryLater()).isEqualTo(1);
    assertThat(service.counts().failed()).isEqualTo(1);
    assertThat(service.counts().rowsRead()).isZero();
  }

  private Answer write(String row) {
    Answer answer = new Answer();
    write(row, answer);
    return answer;
  }

  private void write(String row, Answer answer) {
    MutateBatch batch =
        new MutateBatch()
            .add(
                QueryCodec.encode(hosted.id(), hosted.tablet().epoch()),
                Optional.empty(),
                Durability.HFLUSH,
                Mutation.of(row).put("f", "q", "value"));
    ask(batch.header(Outstanding.from(0)), batch.body(), answer);
  }

  @Test
  void aWriteIsAnsweredWhenItIsDurable() throws Exception {
    Answer answer = write("row4");
    assertThat(answer.header).isNotDone();
    server.handlers.work();
    assertThat(answer.status()).isEqualTo(StatusProto.OK);
    assertThat(service.counts().operations()).isEqualTo(1);
    assertThat(TestServer.rows(hosted)).isEqualTo(2);
  }

  @Test
  void oneFlushServesABatch() throws Exception {
    long before = flushes();
    MutateBatch batch = new MutateBatch();
    for (int i = 0; i < 200; i++) {
      batch.add(
          QueryCodec.encode(hosted.id(), hosted.tablet().epoch()),
          Optional.empty(),
          Durability.HFLUSH,
          Mutation.of("many" + i).put(i == 199 ? "unknown" : "f", "q", "value"));
    }
    Answer answer = new Answer();
    ask(batch.header(Outstanding.from(0)), batch.body(), answer);
    server.handlers.work();
    assertThat(answer.status()).isEqualTo(StatusProto.OK);
    assertThat(TestServer.rows(hosted)).isEqualTo(200);
    assertThat(flushes()).isEqualTo(before + 1);
  }

  @Test
  void noMutationOvertakesOneOfItsRowThatIsToBeTriedAgain() throws Exception {
    MutateBatch batch = new MutateBatch();
    TabletProto tablet = QueryCodec.encode(hosted.id(), hosted.tablet().epoch());
    for (String row : List.of("first", "twice", "twice")) {
      Mutation mutation = Mutation.of(row).put("f", "q", "value");
      batch.add(tablet, Optional.empty(), Durability.HFLUSH, mutation);
    }
    AtomicInteger sequenced = new AtomicInteger();
    runtime.atSecondLock = // A change is to be put in order, and its row is locked.
        () -> {
          if (sequenced.incrementAndGet() == 2) {
            TestServer.alter(hosted, TableSchema.of("t", "f", "g"));
          }
        };
    Answer answer = new Answer();
    ask(batch.header(Outstanding.from(0)), batch.body(), answer);
    server.handlers.work();
    assertThat(answer.header.get(30, TimeUnit.SECONDS).getOutcomesList())
        .extracting(OutcomeProto::getStatus)
        .containsExactly(StatusProto.OK, StatusProto.RETRY_LATER, StatusProto.RETRY_LATER);
    assertThat(sequenced).hasValue(2);
    assertThat(TestServer.rows(hosted)).isEqualTo(2);
  }

  private long flushes() {
    return server.context.resources().of(hosted.id()).log().statistics().flushes();
  }

  @Test
  void aWriteWhoseAnswerCannotBeMadeIsAnsweredOutcomeUnknown() throws Exception {
    Answer answer = new Answer();
    answer.failing = true;
    write("row5", answer);
    server.handlers.work();
    assertThat(answer.status()).isEqualTo(StatusProto.OUTCOME_UNKNOWN);
  }

  @Test
  void anErrorInAHandlerAnswersTheRequest() throws Exception {
    Answer answer = new Answer();
    answer.failing = true;
    ask(read(RowQuery.ALL), DataPlane.EMPTY, answer);
    server.handlers.work();
    assertThat(answer.status()).isEqualTo(StatusProto.INTERNAL);
  }

  @Test
  void aTabletUnderAnotherEpochIsNotServed() throws Exception {
    RequestProto stale =
        RequestProto.newBuilder()
            .setRead(
                ReadProto.newBuilder()
                    .setTablet(QueryCodec.encode(hosted.id(), hosted.tablet().epoch() + 1))
                    .setQuery(QueryCodec.encode(RowQuery.row("row"))))
            .build();
    assertThat(askOnEventLoop(stale).status()).isEqualTo(StatusProto.NOT_SERVING_TABLET);
    assertThat(service.counts().retryLater()).isZero();
  }

  @Test
  void whatATabletRefusesIsToldToTheCaller() throws Exception {
    RowQuery unknown = RowQuery.row("row").family("g");
    assertThat(askOnEventLoop(read(unknown)).status()).isEqualTo(StatusProto.NOT_FOUND);
    assertThat(service.counts().refused()).isEqualTo(1);
    assertThat(
            hosted
                .tablet()
                .apply(OperationRequest.of(Mutation.of("r").put("g", "q", "v")))
                .isCompletedExceptionally())
        .isTrue();
  }
}
