package io.stele.wire;

import static io.stele.SteleErrors.assertFails;
import static io.stele.wire.RawPeer.REQUEST;
import static io.stele.wire.RawPeer.frame;
import static io.stele.wire.RawPeer.hello;
import static io.stele.wire.RawPeer.readHello;
import static io.stele.wire.RawPeer.writeHello;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.SteleException;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.data.DataProtos.PingProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The data plane over loopback, with peers that behave and peers that do not. */
@Timeout(60)
final class DataPlaneTest extends DataPlaneFixture {
  private static final RequestProto PING =
      RequestProto.newBuilder().setPing(PingProto.getDefaultInstance()).build();

  @Test
  void anAnswerCarriesHeaderAndBody() throws IOException {
    DataServer server =
        server(
            (request, responder) ->
                responder.answer(
                    ResponseProto.newBuilder().setReadPoint(7).build(), request.body()));
    Response answer = await(call(client(), server, "hello".getBytes()));
    assertThat(answer.status()).isEqualTo(StatusProto.OK);
    assertThat(answer.header().getReadPoint()).isEqualTo(7);
    assertThat(bytes(answer.body())).isEqualTo("hello".getBytes());
  }

  @Test
  void bodiesOfAllSizesArriveWhole() throws IOException {
    DataServer server = server(ECHO);
    DataClient client = client();
    Random random = new Random(1);
    for (int size : new int[] {0, 1, 127, 128, 65_535, 1 << 20, (1 << 20) + 1, 9_999_999}) {
      byte[] body = new byte[size];
      random.nextBytes(body);
      assertThat(bytes(await(call(client, server, body)).body())).isEqualTo(body);
    }
  }

  @Test
  void manyCallsShareAConnection() throws Exception {
    ExecutorService pool = pool(4);
    DataServer server =
        server((request, responder) -> pool.execute(() -> ECHO.handle(request, responder)));
    DataClient client = client();
    ExecutorService callers = pool(8);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int caller = 0; caller < 8; caller++) {
      int seed = caller;
      all.add(
          CompletableFuture.runAsync(
              () -> {
                Random random = new Random(seed);
                for (int i = 0; i < 100; i++) {
                  List<byte[]> bodies = new ArrayList<>();
                  List<CompletableFuture<Response>> answers = new ArrayList<>();
                  for (int j = 0; j < 10; j++) {
                    byte[] body = new byte[random.nextInt(3000)];
                    random.nextBytes(body);
                    bodies.add(body);
                    answers.add(call(client, server, body));
                  }
                  for (int j = 0; j < 10; j++) {
                    assertThat(bytes(answers.get(j).join().body())).isEqualTo(bodies.get(j));
                  }
                }
              },
              callers));
    }
    all.forEach(CompletableFuture::join);
    assertThat(server.connections()).isEqualTo(1);
    await(() -> server.requestsInFlight() == 0 && server.bytesInFlight() == 0);
  }

  @Test
  void failuresOfTheHandlerAreAnsweredAsStatuses() throws IOException {
    Queue<RuntimeException> failures = new ConcurrentLinkedQueue<>();
    DataServer server =
        server(
            (request, responder) -> {
              throw failures.remove();
            });
    DataClient client = client();
    for (SteleException.Code code : SteleException.Code.values()) {
      failures.add(new SteleException(code, "what and where"));
      Response answer = await(call(client, server, new byte[0]));
      SteleException.Code told = // Here, nothing is created.
          code == SteleException.Code.ALREADY_EXISTS ? SteleException.Code.REFUSED : code;
      assertThatThrownBy(answer::check)
          .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(told))
          .hasMessage("what and where");
    }
    failures.add(new NotServingTabletException("t1/x moved"));
    Response moved = await(call(client, server, new byte[0]));
    assertThatThrownBy(moved::check).isInstanceOf(NotServingTabletException.class);
    failures.add(new IllegalStateException("a bug"));
    Response bug = await(call(client, server, new byte[0]));
    assertThat(bug.status()).isEqualTo(StatusProto.INTERNAL);
    assertThat(bug.header().getMessage()).contains("a bug");
  }

  @Test
  void theTransportItselfAnswersPingsAndRefusesUnknownMethods() throws IOException {
    DataServer server =
        server(
            (request, responder) -> {
              throw new AssertionError("not for the handler");
            });
    DataClient client = client();
    assertThat(await(client.call(at(server), PING, DataPlane.EMPTY, LONG)).status())
        .isEqualTo(StatusProto.OK);
    RequestProto unknown = RequestProto.getDefaultInstance();
    assertThat(await(client.call(at(server), unknown, DataPlane.EMPTY, LONG)).status())
        .isEqualTo(StatusProto.REFUSED);
  }

  @Test
  void aCallWithoutAnAnswerInTimeFailsAndItsLateAnswerIsDropped() throws Exception {
    Queue<Responder> held = new ConcurrentLinkedQueue<>();
    DataServer server = server((request, responder) -> held.add(responder));
    DataClient client = client();
    var slow = client.call(at(server), REQUEST, DataPlane.EMPTY, Duration.ofMillis(100));
    assertThatThrownBy(() -> await(slow))
        .isInstanceOfSatisfying(CallException.class, e -> assertThat(e.mayHaveExecuted()).isTrue())
        .hasMessageContaining("100 ms");
    var next = client.call(at(server), REQUEST, DataPlane.EMPTY, LONG);
    await(() -> held.size() == 2);
    held.remove().answer(ResponseProto.newBuilder().setReadPoint(1).build());
    held.remove().answer(ResponseProto.newBuilder().setReadPoint(2).build());
    assertThat(await(next).header().getReadPoint()).isEqualTo(2);
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void theHandlerSeesHowLongTheCallerWaits() throws IOException {
    CompletableFuture<Request> seen = new CompletableFuture<>();
    DataServer server =
        server(
            (request, responder) -> {
              seen.complete(request);
              ECHO.handle(request, responder);
            });
    await(call(client(), server, new byte[0]));
    assertThat(seen.join().remaining()).isBetween(Duration.ofSeconds(1), LONG);
    assertThat(seen.join().isExpired()).isFalse();
    assertThat(seen.join().peer().name()).contains("127.0.0.1");
  }

  @Test
  void aServerThatDiesInMidCallLeavesTheOutcomeUnknownAndTheNextCallConnectsAnew()
      throws Exception {
    CountDownLatch received = new CountDownLatch(3);
    DataServer dying = server((request, responder) -> received.countDown());
    DataClient client = client();
    List<CompletableFuture<Response>> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(call(client, dying, new byte[10]));
    }
    received.await();
    dying.close();
    for (var call : calls) {
      assertThatThrownBy(() -> await(call))
          .isInstanceOfSatisfying(
              CallException.class, e -> assertThat(e.mayHaveExecuted()).isTrue());
    }
    assertThatThrownBy(() -> await(call(client, dying, new byte[0])))
        .isInstanceOfSatisfying(CallException.class, e -> assertThat(e.mayHaveExecuted()).isFalse())
        .hasMessageContaining("cannot connect to 127.0.0.1:" + dying.port());
    DataServer successor =
        DataServer.start(SystemRuntime.INSTANCE, at(dying), 1, DataServer.Limits.DEFAULT, ECHO);
    open.add(successor);
    await(call(client, successor, new byte[0])).check();
  }

  @Test
  void aHostThatDoesNotExistIsACleanFailure() {
    Address nowhere = new Address("no-such-host.invalid", 1);
    assertThatThrownBy(() -> await(client().call(nowhere, REQUEST, DataPlane.EMPTY, LONG)))
        .isInstanceOfSatisfying(CallException.class, e -> assertThat(e.mayHaveExecuted()).isFalse())
        .hasMessageContaining("no-such-host.invalid");
  }

  @Test
  void closingTheClientFailsWhatWaitsAndRefusesWhatComes() throws Exception {
    CountDownLatch received = new CountDownLatch(1);
    DataServer server = server((request, responder) -> received.countDown());
    DataClient client = client();
    var waiting = call(client, server, new byte[0]);
    received.await();
    client.close();
    assertThatThrownBy(() -> await(waiting)).isInstanceOf(CallException.class);
    assertThatThrownBy(() -> await(call(client, server, new byte[0])))
        .isInstanceOfSatisfying(
            CallException.class, e -> assertThat(e.mayHaveExecuted()).isFalse());
  }

  @Test
  void aGracefulCloseWaitsForAnswers() throws Exception {
    CompletableFuture<Responder> held = new CompletableFuture<>();
    DataServer server = server((request, responder) -> held.complete(responder));
    DataClient client = client();
    var answer = call(client, server, new byte[0]);
    held.join();
    var closed = CompletableFuture.runAsync(() -> server.close(LONG), pool(1));
    await(
        () ->
            client.call(at(server), PING, DataPlane.EMPTY, LONG).join().status()
                == StatusProto.RETRY_LATER);
    assertThat(closed).isNotDone();
    held.join().answer(OK);
    await(answer).check();
    closed.join();
  }

  @Test
  void aRequestOverTheFrameLimitIsRefusedBeforeItIsSent() {
    DataClient client = client(new DataClient.Options(1, 1000, Duration.ofSeconds(5)));
    Address nowhere = new Address("127.0.0.1", 1);
    assertFails(
            SteleException.Code.REFUSED,
            () -> await(client.call(nowhere, REQUEST, ByteBuffer.wrap(new byte[1000]), LONG)))
        .hasMessageContaining("1000");
  }

  @Test
  void anAnswerOverTheFrameLimitIsRefused() throws IOException {
    DataServer server =
        server(
            new DataServer.Limits(1000, 10, 10_000, LONG),
            (request, responder) -> responder.answer(OK, ByteBuffer.wrap(new byte[1000])));
    assertThat(await(call(client(), server, new byte[0])).status()).isEqualTo(StatusProto.REFUSED);
  }

  @Test
  void requestsAboveTheLimitAreToldToRetryLater() throws Exception {
    Queue<Responder> held = new ConcurrentLinkedQueue<>();
    DataServer server =
        server(
            new DataServer.Limits(1 << 20, 2, 1 << 20, LONG),
            (request, responder) -> held.add(responder));
    DataClient client = client();
    var first = call(client, server, new byte[0]);
    var second = call(client, server, new byte[0]);
    var third = call(client, server, new byte[0]);
    assertThat(await(third).status()).isEqualTo(StatusProto.RETRY_LATER);
    assertThat(server.requestsRefused()).isEqualTo(1);
    held.forEach(responder -> responder.answer(OK));
    await(first).check();
    await(second).check();
    var fourth = call(client, server, new byte[0]);
    await(() -> held.size() == 3);
    assertThat(fourth).isNotDone();
  }

  @Test
  void aPeerThatDoesNotReadItsAnswersIsNotReadFromAndThenClosed() throws Exception {
    AtomicInteger handled = new AtomicInteger();
    ByteBuffer answer = ByteBuffer.wrap(new byte[1 << 19]);
    DataServer server =
        server(
            new DataServer.Limits(1 << 20, 10_000, 1L << 30, Duration.ofMillis(500)),
            (request, responder) -> {
              handled.incrementAndGet();
              responder.answer(OK, answer.duplicate());
            });
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(socket, 1);
      byte[] frame = frame(1);
      for (int i = 0; i < 2_000; i++) {
        out.write(frame);
      }
      await(() -> server.connections() == 0 && server.bytesInFlight() == 0);
    }
    // What the sockets' buffers hold (some MB), and the high-water mark.
    assertThat(handled.get()).isBetween(1, 200);
  }

  @Test
  void aPeerThatLeavesOneAnswerUnreadIsClosed() throws Exception {
    ByteBuffer answer = ByteBuffer.wrap(new byte[1 << 19]); // Below the high-water mark.
    AtomicInteger handled = new AtomicInteger();
    DataServer server =
        server(
            new DataServer.Limits(1 << 20, 10_000, 1L << 30, Duration.ofMillis(500)),
            (request, responder) -> {
              handled.incrementAndGet();
              responder.answer(OK, answer.duplicate());
            });
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(socket, 1);
      AtomicInteger sent = new AtomicInteger();
      await(
          () -> {
            if (handled.get() == sent.get() && server.bytesInFlight() == 0) {
              send(out, frame(sent.incrementAndGet())); // The sockets' buffers took all so far.
            }
            return server.connections() == 0;
          });
      await(() -> server.bytesInFlight() == 0); // Its answer fails just after it is closed.
    }
  }

  private static void send(DataOutputStream out, byte[] frame) {
    try {
      out.write(frame);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatASlowReaderAskedForComesWhenItReads() throws Exception {
    ByteBuffer answer = ByteBuffer.wrap(new byte[1 << 19]);
    DataServer server = server((request, responder) -> responder.answer(OK, answer.duplicate()));
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(socket, 1);
      int count = 300;
      for (int i = 0; i < count; i++) {
        out.write(frame(i));
      }
      await(() -> server.bytesInFlight() > 0);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      for (int i = 0; i < count; i++) {
        byte[] payload = new byte[in.readInt()];
        in.readLong();
        in.readFully(payload);
        ResponseProto header = new Frame(payload).header(ResponseProto.parser());
        assertThat(header.getCallId()).isEqualTo(i);
        assertThat(header.getStatus()).isEqualTo(StatusProto.OK);
      }
    }
    await(() -> server.bytesInFlight() == 0);
  }

  @Test
  void aDamagedRequestEndsItsConnectionUnhandled() throws Exception {
    AtomicInteger handled = new AtomicInteger();
    DataServer server = server((request, responder) -> handled.incrementAndGet());
    byte[] good = frame(1);
    for (int bit = 0; bit < good.length * 8; bit += 3) {
      byte[] bad = good.clone();
      bad[bit / 8] ^= (byte) (1 << bit % 8);
      try (Socket socket = new Socket("127.0.0.1", server.port())) {
        DataOutputStream out = hello(socket, 1);
        out.write(bad);
        socket.shutdownOutput(); // A longer length would wait for more.
        assertThat(socket.getInputStream().readAllBytes()).as("bit %d", bit).isEmpty();
      }
    }
    assertThat(handled).hasValue(0);
  }

  @Test
  void truncatedAndRandomBytesNeitherHangNorKillTheServer() throws Exception {
    DataServer server = server(ECHO);
    long seed = Seeds.one();
    Random random = new Random(seed);
    byte[] good = frame(1);
    for (int i = 0; i < 200; i++) {
      byte[] bad;
      if (i % 2 == 0) {
        bad = Arrays.copyOf(good, random.nextInt(good.length));
      } else {
        bad = new byte[random.nextInt(100)];
        random.nextBytes(bad);
      }
      try (Socket socket = new Socket("127.0.0.1", server.port())) {
        DataOutputStream out = hello(socket, 1);
        out.write(bad);
        socket.shutdownOutput();
        assertThat(socket.getInputStream().readAllBytes()).as("seed %d", seed).isEmpty();
      }
    }
    await(call(client(), server, new byte[0])).check();
  }

  @Test
  void aFrameThatClaimsTooMuchEndsItsConnection() throws Exception {
    DataServer server = server(new DataServer.Limits(1000, 10, 10_000, LONG), ECHO);
    for (int claimed : new int[] {0, -1, 1001, Integer.MAX_VALUE}) {
      try (Socket socket = new Socket("127.0.0.1", server.port())) {
        DataOutputStream out = hello(socket, 1);
        out.writeInt(claimed);
        out.writeLong(0);
        assertThat(socket.getInputStream().readAllBytes()).isEmpty();
      }
    }
  }

  @Test
  void aDamagedAnswerFailsWhatIsInFlightAsUnknown() throws Exception {
    byte[] answer = frame(ResponseProto.newBuilder().setCallId(1).build());
    answer[answer.length - 1] ^= 1;
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      CompletableFuture.runAsync(() -> serveOnce(listener, 1, answer), pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      assertThatThrownBy(() -> await(client.call(address, REQUEST, DataPlane.EMPTY, LONG)))
          .isInstanceOfSatisfying(
              CallException.class, e -> assertThat(e.mayHaveExecuted()).isTrue())
          .hasMessageContaining("checksum");
    }
  }

  @Test
  void aStatusFromALaterServerIsNotTakenForOk() throws Exception {
    byte[] answer = frame(ResponseProto.newBuilder().setCallId(1).build());
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      CompletableFuture.runAsync(() -> serveOnce(listener, 1, answer), pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      Response response = await(client.call(address, REQUEST, DataPlane.EMPTY, LONG));
      assertThat(response.status()).isEqualTo(StatusProto.INTERNAL);
    }
  }

  @Test
  void otherVersionsAndOtherProtocolsAreToldApart() throws Exception {
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      CompletableFuture.runAsync(() -> serveOnce(listener, 2, new byte[0]), pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      assertThatThrownBy(() -> await(client.call(address, REQUEST, DataPlane.EMPTY, LONG)))
          .isInstanceOfSatisfying(
              CallException.class, e -> assertThat(e.mayHaveExecuted()).isFalse())
          .hasMessageContaining("speaks version 2");
    }
    DataServer server = server(ECHO);
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      hello(socket, 7);
      assertThat(socket.getInputStream().readAllBytes()).as("nothing after the hello").isEmpty();
    }
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());
      assertThat(socket.getInputStream().readAllBytes()).isEmpty();
    }
  }

  @Test
  void aServerThatFellSilentLosesItsConnectionSoThatLaterCallsNeedNotWait() throws Exception {
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      CompletableFuture<Void> end = new CompletableFuture<>();
      open.add(() -> end.complete(null));
      var unused =
          CompletableFuture.runAsync(
              () -> {
                try (Socket socket = listener.accept()) {
                  writeHello(socket, 1);
                  end.join();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              },
              pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      var patient = client.call(address, REQUEST, DataPlane.EMPTY, LONG);
      var hasty = client.call(address, REQUEST, DataPlane.EMPTY, Duration.ofMillis(50));
      assertThatThrownBy(() -> await(hasty)).hasMessageContaining("50 ms");
      assertThatThrownBy(() -> await(patient)).hasMessageContaining("did not answer a ping");
    }
  }

  /** A ping comes after what is being sent, which may take longer than an answer is waited for. */
  @Test
  void aServerThatTakesALargeRequestSlowlyKeepsItsConnection() throws Exception {
    DataClient client = client();
    ByteBuffer body = ByteBuffer.allocate(64 << 20);
    byte[] answer = frame(ResponseProto.newBuilder().setCallId(2).setReadPoint(9).build());
    try (ServerSocket listener = new ServerSocket(0)) {
      listener.setReceiveBufferSize(64 << 10);
      var unused =
          CompletableFuture.runAsync(
              () -> {
                try (Socket socket = listener.accept()) {
                  DataOutputStream out = writeHello(socket, 1);
                  for (int part = 0; part < 128; part++) {
                    socket.getInputStream().readNBytes(body.capacity() / 128);
                    Thread.sleep(5_000 / 128); // Longer than a sign of life is waited for.
                  }
                  out.write(answer);
                  socket.getInputStream().readAllBytes();
                } catch (IOException | InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              },
              pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      var hasty = client.call(address, REQUEST, DataPlane.EMPTY, Duration.ofMillis(500));
      var large = client.call(address, REQUEST, body, LONG);
      assertThatThrownBy(() -> await(hasty)).hasMessageContaining("500 ms");
      assertThat(await(large).header().getReadPoint()).isEqualTo(9);
    }
  }

  /** What a server finds when it reads again after a pause is not acted on: its caller gave up. */
  @Test
  void whatWasNotSentWhenItsCallFailedIsNeverSent() throws Exception {
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket()) {
      listener.setReceiveBufferSize(4 << 10);
      listener.bind(new InetSocketAddress("127.0.0.1", 0));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      ByteBuffer body = ByteBuffer.allocate(256 << 10);
      var hasty = client.call(address, REQUEST, body, Duration.ofMillis(500));
      try (Socket socket = listener.accept()) {
        writeHello(socket, 1);
        assertThatThrownBy(() -> await(hasty)).hasMessageContaining("500 ms");
        client.close();
        assertThatThrownBy(() -> socket.getInputStream().readNBytes(body.capacity()))
            .isInstanceOf(SocketException.class)
            .hasMessageContaining("reset");
      }
    }
  }

  @Test
  void aLargeAnswerThatComesSlowlyKeepsItsConnection() throws Exception {
    byte[] answer = frame(ResponseProto.newBuilder().setCallId(1).setReadPoint(9).build());
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      var unused =
          CompletableFuture.runAsync(
              () -> {
                try (Socket socket = listener.accept()) {
                  DataOutputStream out = writeHello(socket, 1);
                  for (byte part : answer) {
                    out.write(part);
                    Thread.sleep(
                        3_000 / answer.length); // Longer than a sign of life is waited for.
                  }
                  socket.getInputStream().readAllBytes();
                } catch (IOException | InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              },
              pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      var patient = client.call(address, REQUEST, DataPlane.EMPTY, LONG);
      var hasty = client.call(address, REQUEST, DataPlane.EMPTY, Duration.ofMillis(1));
      assertThatThrownBy(() -> await(hasty)).isInstanceOf(CallException.class);
      assertThat(await(patient).header().getReadPoint()).isEqualTo(9);
    }
  }

  /** A server that sends its hello and, after the first bytes of a request, {@code answer}. */
  private static void serveOnce(ServerSocket listener, int version, byte[] answer) {
    try (Socket socket = listener.accept()) {
      DataOutputStream out = writeHello(socket, version);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      readHello(in);
      if (version == 1) {
        in.readLong();
        out.write(answer);
      }
      in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Look-ups that never end, during the first of which {@code closer} closes the client. */
  private static final class ClosedMeanwhile implements WorkerPool {
    final CountDownLatch closing = new CountDownLatch(1);
    final CountDownLatch called = new CountDownLatch(1);
    Thread closer = Thread.currentThread();

    @Override
    public void execute(Runnable lookup) {
      closer.start();
      pass(closing);
    }

    @Override
    public void close() {
      closing.countDown();
      pass(called);
    }

    private static void pass(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void aCallFailsWhoseClientIsClosedWhileItsConnectionIsMade() throws Exception {
    ClosedMeanwhile lookups = new ClosedMeanwhile();
    DataClient client =
        new DataClient(
            new ForwardingRuntime() {
              @Override
              public WorkerPool pool(String name, int threadsMax) {
                return lookups;
              }
            },
            DataClient.Options.DEFAULT);
    lookups.closer = new Thread(client::close);
    CompletableFuture<Response> answer =
        client.call(new Address("127.0.0.1", 1), REQUEST, DataPlane.EMPTY, LONG);
    lookups.called.countDown();
    lookups.closer.join();
    assertThatThrownBy(() -> answer.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(CallException.class)
        .hasMessageContaining("closed");
  }
}
