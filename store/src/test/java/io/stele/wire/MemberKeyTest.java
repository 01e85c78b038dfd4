package io.stele.wire;

import static io.stele.wire.RawPeer.REQUEST;
import static io.stele.wire.RawPeer.frame;
import static io.stele.wire.RawPeer.readAnswer;
import static io.stele.wire.RawPeer.readHello;
import static io.stele.wire.RawPeer.writeHello;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.data.DataProtos.HelloProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How masters and tablet servers prove to be members of their cluster, over loopback. */
@Timeout(60)
final class MemberKeyTest {
  private static final MemberKey KEY = MemberKey.draw(new Random(1));
  private static final MemberKey OTHER = MemberKey.draw(new Random(2));

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable closeable : open) {
      closeable.close();
    }
  }

  @Test
  void whoHasTheKeyIsAMemberAndWhoHasNoneIsAClient() throws IOException {
    DataServer server = server(Optional.of(KEY));
    DataClient member = client();
    DataClient client = client();
    member.join(KEY);
    assertThat(isMember(member, server)).isTrue();
    assertThat(isMember(client, server)).isFalse();
    client.join(KEY);
    assertThat(isMember(client, server)).as("joined later").isTrue();
  }

  @Test
  void whoHasAnotherKeyIsToldSoAndNotServed() throws IOException {
    DataServer server = server(Optional.of(KEY));
    DataClient stranger = client();
    stranger.join(OTHER);
    assertThatThrownBy(() -> isMember(stranger, server))
        .hasMessageContaining("does not have this cluster's member key");
    DataServer alone = server(Optional.empty());
    assertThatThrownBy(() -> isMember(stranger, alone)).hasMessageContaining("is not known");
  }

  @Test
  void aProofOfAnotherConnectionOrOfTheServerProvesNothing() throws IOException {
    DataServer server = server(Optional.of(KEY));
    byte[] drawn = MemberKey.drawBytes(new Random(3));
    HelloProto first = exchange(server, drawn, Hello.member(new byte[MemberKey.BYTES]));
    byte[] drawnByServer = Hello.memberData(first, 0, 2);
    byte[] serverProof = Hello.memberData(first, 1, 2);
    byte[] proof = KEY.proof(MemberKey.Side.CLIENT, drawn, drawnByServer);
    for (byte[] replayed : List.of(proof, serverProof)) {
      exchange(server, drawn, Hello.member(replayed));
    }
    for (HelloProto wrong : List.of(Hello.ours(), Hello.member(), Hello.member(proof, proof))) {
      exchange(server, drawn, wrong);
    }
  }

  /** Answers a server's challenge with {@code second}, and is refused. */
  private static HelloProto exchange(DataServer server, byte[] drawn, HelloProto second)
      throws IOException {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      writeHello(out, Hello.member(drawn));
      HelloProto challenge = readHello(in);
      writeHello(out, second);
      byte[] request = frame(7);
      out.write(request);
      byte[] rest = in.readAllBytes();
      if (rest.length > 0) {
        assertThat(readHello(new DataInputStream(new ByteArrayInputStream(rest))).getRefusal())
            .isNotEmpty();
      }
      return challenge;
    }
  }

  @Test
  void framesMayFollowTheProofAtOnce() throws IOException {
    DataServer server = server(Optional.of(KEY));
    byte[] drawn = MemberKey.drawBytes(new Random(4));
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      writeHello(out, Hello.member(drawn));
      byte[] drawnByServer = Hello.memberData(readHello(in), 0, 2);
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      writeHello(
          new DataOutputStream(all),
          Hello.member(KEY.proof(MemberKey.Side.CLIENT, drawn, drawnByServer)));
      all.write(frame(7));
      out.write(all.toByteArray());
      assertThat(readAnswer(in).getMatched()).isTrue();
    }
  }

  private DataServer server(Optional<MemberKey> key) throws IOException {
    DataServer server =
        DataServer.start(
            SystemRuntime.INSTANCE,
            new Address("127.0.0.1", 0),
            1,
            DataServer.Limits.DEFAULT,
            (request, responder) ->
                responder.answer(
                    ResponseProto.newBuilder().setMatched(request.peer().isMember()).build()),
            () -> key);
    open.add(server);
    return server;
  }

  private DataClient client() {
    DataClient client = new DataClient(SystemRuntime.INSTANCE, DataClient.Options.DEFAULT);
    open.add(client);
    return client;
  }

  private static boolean isMember(DataClient client, DataServer server) throws IOException {
    Response answer =
        Futures.await(
            SystemRuntime.INSTANCE,
            client.call(
                new Address("127.0.0.1", server.port()),
                REQUEST,
                DataPlane.EMPTY,
                Duration.ofSeconds(10)),
            "waiting for an answer");
    return answer.header().getMatched();
  }
}
