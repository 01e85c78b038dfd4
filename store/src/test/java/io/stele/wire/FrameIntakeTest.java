package io.stele.wire;

import static io.stele.SteleErrors.assertFails;
import static io.stele.wire.RawPeer.REQUEST;
import static io.stele.wire.RawPeer.frame;
import static io.stele.wire.RawPeer.hello;
import static io.stele.wire.RawPeer.readAnswer;
import static io.stele.wire.RawPeer.readHello;
import static io.stele.wire.RawPeer.withEncoding;
import static io.stele.wire.RawPeer.writeHello;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.FilterProto;
import io.stele.wire.data.DataProtos.HelloProto;
import io.stele.wire.data.DataProtos.QueryProto;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.RowRangeProto;
import io.stele.wire.data.DataProtos.SampleRowKeysProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is taken in, what is sent, and how versions of the wire meet. */
@Timeout(60)
final class FrameIntakeTest extends DataPlaneFixture {
  /** Length, CRC, flags, header's length, call id 7, 1000 ms, sample of t1/x, body. */
  private static final String FRAME_7 =
      "00000013"
          + "04576ebc"
          + "00000000"
          + "10"
          + "0807"
          + "10e807"
          + "6a090a070a027431120178"
          + "0102";

  @Test
  void aRequestForWhichThereIsNoRoomIsNotTakenIn() throws Exception {
    HeldRequests held = new HeldRequests();
    DataServer server = server(new DataServer.Limits(10 << 20, 10, 1 << 20, LONG), held);
    DataClient client = client();
    var first = call(client, server, new byte[1000]);
    held.await(1);
    long before = server.bytesInFlight();
    Response refused = await(call(client, server, new byte[9 << 20]));
    assertThatThrownBy(refused::check)
        .isInstanceOfSatisfying(RetryAfterException.class, e -> assertThat(e.pause()).isPositive());
    assertThat(server.bytesInFlight()).isEqualTo(before);
    held.first().answer(OK);
    await(first).check();
    await(() -> server.bytesInFlight() == 0);
    var alone = call(client, server, new byte[9 << 20]);
    held.await(1);
    held.first().answer(OK);
    await(alone).check();
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void aRequestTooLargeForThisServerIsRefusedForGoodAndItsConnectionGoesOn() throws Exception {
    DataServer server = server(limits(1 << 20, 8 << 20, 8 << 20), ECHO);
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      writeHello(out, HelloProto.newBuilder().setVersionMin(1).setVersionMax(1).build());
      assertThat(readHello(in).getRequestBytesMax()).isEqualTo(1 << 20);
      RequestProto large =
          REQUEST.toBuilder()
              .setCallId(1)
              .setSampleRowKeys(
                  SampleRowKeysProto.newBuilder()
                      .setTablet(
                          TabletProto.newBuilder().setTableId("t1").setTablet("x".repeat(2 << 20))))
              .build();
      out.write(frame(large));
      ResponseProto refused = readAnswer(in);
      assertThat(refused.getStatus()).isEqualTo(StatusProto.REFUSED);
      assertThat(refused.getMessage()).contains("allows 1048576").contains("nothing was changed");
      out.write(frame(2));
      assertThat(readAnswer(in).getStatus()).isEqualTo(StatusProto.OK);
    }
    await(() -> server.bytesInFlight() == 0);
  }

  @Test
  void aClientDoesNotSendWhatTheServerHasSaidItWillNotTake() throws Exception {
    DataServer server = server(limits(1 << 20, 8 << 20, 8 << 20), ECHO);
    DataClient client = client();
    assertFails(Code.REFUSED, () -> await(call(client, server, new byte[2 << 20])))
        .hasMessageContaining("allows 1048576")
        .hasMessageContaining("not sent");
    await(call(client, server, new byte[1 << 19])).check();
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void aFrameCountsAsManyTimesAsItIsInMemory() throws Exception {
    HeldRequests held = new HeldRequests();
    DataServer server = server(limits(1 << 20, 2 << 20, 8 << 20), held);
    DataClient client = client();
    var first = call(client, server, new byte[600 << 10]);
    held.await(1);
    assertThat(await(call(client, server, new byte[600 << 10])).status())
        .isEqualTo(StatusProto.RETRY_LATER);
    held.first().answer(OK);
    await(first).check();
  }

  @Test
  void whatARequestTakesBesideItsFrameCountsUntilItIsAnswered() throws Exception {
    HeldRequests held = new HeldRequests();
    DataServer server = server(limits(1 << 20, 2 << 20, 8 << 20), held);
    DataClient client = client();
    var first = call(client, server, new byte[0]);
    var second = call(client, server, new byte[0]);
    held.await(2);
    Responder greedy = held.first();
    Responder modest = held.first();
    greedy.take(3 << 19);
    assertThat(server.bytesInFlight()).isGreaterThan(3 << 19);
    assertFails(Code.RETRY_LATER, () -> modest.take(1 << 20));
    assertFails(Code.REFUSED, () -> modest.take(5 << 20));
    greedy.answer(OK);
    modest.take(1 << 20);
    modest.answer(OK);
    await(first).check();
    await(second).check();
    await(() -> server.bytesInFlight() == 0);
  }

  @Test
  void anAnswerToAReadForWhichThereIsNoMemoryIsToBeAskedForAgain() throws Exception {
    ByteBuffer answer = ByteBuffer.wrap(new byte[40 << 20]);
    RequestProto read = read("t1", false).toBuilder().setCallId(1).build();
    DataServer server =
        server(
            limits(1 << 20, 8 << 20, 48 << 20),
            (request, responder) -> responder.answer(OK, answer.duplicate()));
    try (Socket slow = new Socket("127.0.0.1", server.port())) {
      hello(slow, 1).write(frame(read));
      await(() -> server.bytesInFlight() > 40 << 20);
      Response later = await(send(client(), server, read));
      assertThat(later.status()).isEqualTo(StatusProto.RETRY_LATER);
      assertThat(later.header().getMessage()).contains("answers wait to be sent");
    }
    await(() -> server.bytesInFlight() == 0);
    assertThat(await(send(client(), server, read)).check().body()).isEqualTo(answer);
  }

  @Test
  void aConnectionThatDoesNotReadItsAnswersTakesTheRoomOfNoOther() throws Exception {
    ByteBuffer large = ByteBuffer.wrap(new byte[1 << 20]);
    ByteBuffer small = ByteBuffer.wrap(new byte[8 << 10]);
    HeldRequests held = new HeldRequests();
    DataServer server =
        server(
            limits(1 << 20, 64 << 20, 48 << 20),
            (request, responder) -> {
              if (request.header().getRead().getOnce()) {
                held.handle(request, responder);
              } else {
                responder.answer(OK, small.duplicate());
              }
            });
    try (Socket stalled = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(stalled, 1);
      for (int i = 1; i <= 100; i++) {
        out.write(frame(read("t1", true).toBuilder().setCallId(i).build()));
      }
      held.await(100);
      held.answerAll(OK, large);
      assertThat(server.bytesInFlight()).isBetween(8L << 20, 26L << 20);
      DataClient other = client();
      for (String table : List.of("t1", TableId.METADATA.value(), TableId.ROOT.value())) {
        Response answer = await(send(other, server, read(table, false)));
        assertThat(answer.check().body()).as(table).isEqualTo(small);
      }
    }
    await(() -> server.bytesInFlight() == 0);
  }

  @Test
  void answersToUsersLeaveThoseAboutMetadataTheirRoom() throws Exception {
    ByteBuffer whole = ByteBuffer.wrap(new byte[48 << 20]);
    ByteBuffer small = ByteBuffer.wrap(new byte[8 << 10]);
    DataServer server =
        server(
            limits(1 << 20, 8 << 20, 48 << 20),
            (request, responder) ->
                responder.answer(
                    OK, (request.header().getRead().getOnce() ? whole : small).duplicate()));
    try (Socket stalled = new Socket("127.0.0.1", server.port())) {
      hello(stalled, 1).write(frame(read("t1", true).toBuilder().setCallId(1).build()));
      await(() -> server.bytesInFlight() > 48 << 20);
      DataClient other = client();
      assertThat(await(send(other, server, read("t1", false))).status())
          .isEqualTo(StatusProto.RETRY_LATER);
      RequestProto metadata = read(TableId.METADATA.value(), false);
      await(send(other, server, metadata)).check();
    }
  }

  @Test
  void noReadIsBegunForAConnectionThatIsBehindWithItsAnswers() throws Exception {
    ByteBuffer large = ByteBuffer.wrap(new byte[40 << 20]);
    HeldRequests held = new HeldRequests();
    DataServer server = server(limits(1 << 20, 8 << 20, 80 << 20), held);
    try (Socket stalled = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(stalled, 1);
      for (int i = 1; i <= 2; i++) {
        out.write(frame(read("t1", true).toBuilder().setCallId(i).build()));
      }
      held.await(2);
      Responder second = held.second();
      second.take(64 << 10);
      held.first().answer(OK, large.duplicate());
      assertFails(Code.RETRY_LATER, () -> second.take(64 << 10))
          .hasMessageContaining("does not read its answers");
      var another = send(client(), server, read("t1", true));
      held.await(2);
      Responder ofAnother = held.second();
      ofAnother.take(64 << 10);
      ofAnother.answer(OK);
      await(another).check();
    }
  }

  /** Sends a request without a body. */
  private static CompletableFuture<Response> send(
      DataClient client, DataServer server, RequestProto request) {
    return client.call(at(server), request, DataPlane.EMPTY, LONG);
  }

  private static RequestProto read(String table, boolean once) {
    return RequestProto.newBuilder()
        .setRemainingMillis(1000)
        .setRead(
            ReadProto.newBuilder()
                .setTablet(TabletProto.newBuilder().setTableId(table).setTablet("x"))
                .setQuery(QueryProto.getDefaultInstance())
                .setOnce(once))
        .build();
  }

  private static DataServer.Limits limits(int requestBytes, long memoryBytes, long answerBytes) {
    return DataServer.Limits.DEFAULT.within(
        requestBytes, new DataServer.Memory(2, memoryBytes, 1 << 20, answerBytes, 4 << 20));
  }

  @Test
  void aRequestThatNeverComesWholeGivesItsRoomBack() throws Exception {
    DataServer server =
        server(new DataServer.Limits(1 << 20, 10, 1 << 20, Duration.ofMillis(300)), ECHO);
    byte[] half = Arrays.copyOf(frame(1), frame(1).length - 2);
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(socket, 1);
      out.write(half);
      await(() -> server.bytesInFlight() > 0);
    }
    await(() -> server.bytesInFlight() == 0 && server.requestsInFlight() == 0);
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = hello(socket, 1);
      out.write(half);
      assertThat(socket.getInputStream().readAllBytes()).as("closed by the server").isEmpty();
    }
    await(() -> server.bytesInFlight() == 0 && server.requestsInFlight() == 0);
  }

  @Test
  void whatAHeaderTakesWhenDecodedIsCountedBeforeItIs() throws Exception {
    HeldRequests held = new HeldRequests();
    DataServer server = server(limits(8 << 20, 8 << 20, 8 << 20), held);
    DataClient client = client();
    var first = call(client, server, new byte[0]);
    held.await(1);
    long before = server.bytesInFlight();
    RequestProto many = manyRanges(150_000);
    assertThat(await(send(client, server, many)).status()).isEqualTo(StatusProto.RETRY_LATER);
    await(() -> server.bytesInFlight() == before);
    RequestProto tooMany = manyRanges(300_000);
    assertThat(await(send(client, server, tooMany)).status()).isEqualTo(StatusProto.REFUSED);
    held.first().answer(OK);
    await(first).check();
    await(() -> server.bytesInFlight() == 0);
  }

  @Test
  void aLargeValueInAHeaderCountsNoMoreThanItsFrame() throws Exception {
    HeldRequests held = new HeldRequests();
    DataServer server = server(limits(8 << 20, 8 << 20, 8 << 20), held);
    DataClient client = client();
    var first = call(client, server, new byte[0]);
    held.await(1);
    RequestProto large =
        RequestProto.newBuilder()
            .setCheckAndMutate(
                CheckAndMutateProto.newBuilder()
                    .setTablet(TabletProto.newBuilder().setTableId("t1").setTablet("x"))
                    .setRow(ByteString.copyFromUtf8("r"))
                    .setPredicate(FilterProto.newBuilder().setPassAll(true))
                    .setIfTrue(ByteString.copyFrom(new byte[7 << 18])))
            .build();
    var second = send(client, server, large);
    held.await(2);
    held.answerAll(OK);
    await(first).check();
    await(second).check();
  }

  /** A read whose every range is a message of no bytes. */
  private static RequestProto manyRanges(int count) {
    QueryProto query =
        QueryProto.newBuilder()
            .addAllRanges(Collections.nCopies(count, RowRangeProto.getDefaultInstance()))
            .build();
    TabletProto tablet = TabletProto.newBuilder().setTableId("t1").setTablet("x").build();
    return RequestProto.newBuilder()
        .setRead(ReadProto.newBuilder().setTablet(tablet).setQuery(query))
        .build();
  }

  @Test
  void aClientMayNotTakeTheMemoryThatRequestsAboutMetadataHave() throws Exception {
    DataServer server = server(ECHO);
    RequestProto large =
        RequestProto.newBuilder()
            .setSampleRowKeys(
                SampleRowKeysProto.newBuilder()
                    .setTablet(
                        TabletProto.newBuilder()
                            .setTableId(TableId.METADATA.value())
                            .setTablet("x".repeat(300 << 10))))
            .build();
    Response refused = await(send(client(), server, large));
    assertThat(refused.status()).isEqualTo(StatusProto.REFUSED);
    assertThat(refused.header().getMessage()).contains("METADATA").contains("at most 262144");
  }

  @Test
  void aServerFullOfUsersRequestsStillTakesThoseForMetadata() throws Exception {
    HeldRequests held = new HeldRequests();
    RequestProto metadata =
        RequestProto.newBuilder()
            .setSampleRowKeys(
                SampleRowKeysProto.newBuilder()
                    .setTablet(
                        TabletProto.newBuilder()
                            .setTableId(TableId.METADATA.value())
                            .setTablet("x")))
            .build();
    DataServer server =
        server(
            new DataServer.Limits(1 << 20, 2, 1 << 20, LONG),
            (request, responder) -> {
              if (request
                  .header()
                  .equals(
                      metadata.toBuilder()
                          .setCallId(request.header().getCallId())
                          .setRemainingMillis(request.header().getRemainingMillis())
                          .build())) {
                responder.answer(OK);
              } else {
                held.handle(request, responder);
              }
            });
    DataClient client = client();
    for (int i = 0; i < 2; i++) {
      var unused = call(client, server, new byte[0]);
    }
    assertThat(await(call(client, server, new byte[0])).status())
        .isEqualTo(StatusProto.RETRY_LATER);
    await(send(client, server, metadata)).check();
  }

  @Test
  void aCallWhoseTimeIsOverBeforeTheSocketTookItIsNotSent() throws Exception {
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      CompletableFuture<Void> readOn = new CompletableFuture<>();
      CompletableFuture<List<Long>> seen =
          CompletableFuture.supplyAsync(() -> serveLate(listener, readOn, 40), pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      List<CompletableFuture<Response>> large = new ArrayList<>();
      for (int i = 0; i < 39; i++) { // More than the sockets' buffers take.
        large.add(client.call(address, REQUEST, ByteBuffer.wrap(new byte[1 << 20]), LONG));
      }
      var hasty = client.call(address, REQUEST, DataPlane.EMPTY, Duration.ofMillis(200));
      assertThatThrownBy(() -> await(hasty))
          .isInstanceOfSatisfying(
              CallException.class, e -> assertThat(e.mayHaveExecuted()).isFalse());
      var last = client.call(address, REQUEST, DataPlane.EMPTY, LONG);
      readOn.complete(null);
      for (var call : large) {
        await(call).check();
      }
      await(last).check();
      assertThat(seen.get()).hasSize(40).doesNotContain(40L).contains(41L);
    }
  }

  /** Answers so many calls, but reads the first of them only when told to; gives their ids. */
  private static List<Long> serveLate(
      ServerSocket listener, CompletableFuture<Void> readOn, int count) {
    try (Socket socket = listener.accept()) {
      DataOutputStream out = writeHello(socket, 1);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      readHello(in);
      readOn.join();
      List<Long> ids = new ArrayList<>();
      while (ids.size() < count) {
        byte[] payload = new byte[in.readInt()];
        in.readLong();
        in.readFully(payload);
        long id = new Frame(payload).header(RequestProto.parser()).getCallId();
        ids.add(id);
        out.write(
            frame(ResponseProto.newBuilder().setCallId(id).setStatus(StatusProto.OK).build()));
      }
      return ids;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatALaterClientOffersIsPassedOverAndWhatItRequiresIsRefusedClearly() throws Exception {
    DataServer server = server(ECHO);
    HelloProto later =
        HelloProto.newBuilder().setVersionMin(1).setVersionMax(9).setFeatures(~0L).build();
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      writeHello(out, later);
      assertThat(readHello(in).hasRefusal()).isFalse();
      out.write(frame(1));
      assertThat(readAnswer(in).getStatus()).isEqualTo(StatusProto.OK);
      out.write(frame(REQUEST.toBuilder().setCallId(2).setFeaturesRequired(1L << 40).build()));
      ResponseProto refused = readAnswer(in);
      assertThat(refused.getStatus()).isEqualTo(StatusProto.REFUSED);
      assertThat(refused.getMessage()).contains("bits 10000000000");
      out.write(withEncoding(frame(3), 7));
      refused = readAnswer(in);
      assertThat(refused.getCallId()).isEqualTo(3);
      assertThat(refused.getStatus()).isEqualTo(StatusProto.REFUSED);
      assertThat(refused.getMessage()).contains("encoding 7");
    }
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      writeHello(out, later.toBuilder().setFeaturesRequired(1L << 40).build());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      assertThat(readHello(in).getRefusal()).contains("requires features");
      assertThat(in.readAllBytes()).isEmpty();
    }
  }

  @Test
  void aClientSaysWhyALaterServerTurnsItAway() throws Exception {
    DataClient client = client();
    try (ServerSocket listener = new ServerSocket(0)) {
      var unused =
          CompletableFuture.runAsync(
              () -> {
                try (Socket socket = listener.accept()) {
                  HelloProto.Builder hello =
                      HelloProto.newBuilder().setVersionMin(1).setVersionMax(3);
                  writeHello(
                      new DataOutputStream(socket.getOutputStream()),
                      hello.setRefusal("it wants a token").build());
                  socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              },
              pool(1));
      Address address = new Address("127.0.0.1", listener.getLocalPort());
      assertThatThrownBy(() -> await(client.call(address, REQUEST, DataPlane.EMPTY, LONG)))
          .isInstanceOfSatisfying(
              CallException.class, e -> assertThat(e.mayHaveExecuted()).isFalse())
          .hasMessageContaining("refuses this client: it wants a token");
    }
  }

  @Test
  void helloAndFrameHaveTheBytesOfTheirPage() {
    ByteBuf hello = Hello.encode(Hello.ours(), UnpooledByteBufAllocator.DEFAULT);
    assertThat(ByteBufUtil.hexDump(hello))
        .isEqualTo("5354454c" + "000f" + "0801" + "1001" + "190100000000000000" + "2800");
    hello.release();
    assertThat(HexFormat.of().formatHex(frame(7))).isEqualTo(FRAME_7);
  }
}
