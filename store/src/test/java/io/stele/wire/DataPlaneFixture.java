package io.stele.wire;

import static io.stele.wire.RawPeer.REQUEST;

import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;

/** Servers and clients of the data plane over loopback, closed after each test. */
abstract class DataPlaneFixture {
  static final Duration LONG = Duration.ofSeconds(30);
  static final ResponseProto OK = ResponseProto.getDefaultInstance();
  static final RequestHandler ECHO = (request, responder) -> responder.answer(OK, request.body());

  final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  final void closeAll() throws Exception {
    for (AutoCloseable closeable : open) {
      closeable.close();
    }
  }

  final DataServer server(RequestHandler handler) throws IOException {
    return server(DataServer.Limits.DEFAULT, handler);
  }

  final DataServer server(DataServer.Limits limits, RequestHandler handler) throws IOException {
    DataServer server =
        DataServer.start(SystemRuntime.INSTANCE, new Address("127.0.0.1", 0), 1, limits, handler);
    open.add(server);
    return server;
  }

  final DataClient client() {
    return client(DataClient.Options.DEFAULT);
  }

  final DataClient client(DataClient.Options options) {
    DataClient client = new DataClient(SystemRuntime.INSTANCE, options);
    open.add(client);
    return client;
  }

  final ExecutorService pool(int threads) {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    open.add(pool::shutdownNow);
    return pool;
  }

  static Address at(DataServer server) {
    return new Address("127.0.0.1", server.port());
  }

  static CompletableFuture<Response> call(DataClient client, DataServer server, byte[] body) {
    return client.call(at(server), REQUEST, ByteBuffer.wrap(body), LONG);
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  static Response await(CompletableFuture<Response> answer) throws IOException {
    return Futures.await(SystemRuntime.INSTANCE, answer, "waiting for an answer");
  }

  static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within 20 s");
      }
      TimeUnit.MILLISECONDS.sleep(2);
    }
  }
}
