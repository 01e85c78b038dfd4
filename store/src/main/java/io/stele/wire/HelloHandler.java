package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import io.stele.wire.data.DataProtos.HelloProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Exchanges {@link Hello}s, then fires {@link Ready} and leaves the pipeline. A peer that is not
 * Stele, of another version, not who it says or silent for too long ends the connection with an
 * exception that says so.
 */
abstract sealed class HelloHandler extends ByteToMessageDecoder {
  private final Duration patience;
  final RandomGenerator random;
  private Optional<Future<?>> timer = Optional.empty();

  /**
   * The event that says that frames may follow.
   *
   * @param isMember whether the other side proved to be a member of the cluster
   * @param requestBytesMax the longest request that it takes, as far as it says
   */
  record Ready(boolean isMember, long requestBytesMax) {
    Ready(boolean isMember) {
      this(isMember, Long.MAX_VALUE);
    }
  }

  private HelloHandler(Duration patience, RandomGenerator random) {
    this.patience = patience;
    this.random = random;
  }

  /** The client's side: speaks first. */
  static final class Client extends HelloHandler {
    private final Optional<MemberKey> key;
    private byte[] drawn = new byte[0];

    /** The side of a member that has {@code key}, or of a client. */
    Client(Duration patience, RandomGenerator random, Optional<MemberKey> key) {
      super(patience, random);
      this.key = key;
    }

    @Override
    void begin(ChannelHandlerContext context) {
      HelloProto hello = Hello.ours();
      if (key.isPresent()) {
        drawn = MemberKey.drawBytes(random);
        hello = Hello.member(drawn);
      }
      context.writeAndFlush(Hello.encode(hello, context.alloc()), context.voidPromise());
    }

    @Override
    Optional<Ready> receive(ChannelHandlerContext context, HelloProto server) throws IOException {
      Optional<String> why =
          server.hasRefusal()
              ? Optional.of("it refuses this client: " + server.getRefusal())
              : Hello.mismatch(server);
      if (why.isEmpty() && key.isEmpty() && server.getAuthentication() != Hello.ANYBODY) {
        why = Optional.of("it " + unknownAuthentication(server));
      }
      if (why.isPresent()) {
        throw new IOException(
            "the tablet server at " + context.channel().remoteAddress() + ": " + why.get());
      }
      if (key.isPresent()) {
        prove(context, server, key.get());
      }
      return Optional.of(
          server.hasRequestBytesMax()
              ? new Ready(key.isPresent(), Integer.toUnsignedLong(server.getRequestBytesMax()))
              : new Ready(key.isPresent()));
    }

    private void prove(ChannelHandlerContext context, HelloProto server, MemberKey ours)
        throws IOException {
      byte[] drawnByServer = Hello.memberData(server, 0, 2);
      byte[] proof = Hello.memberData(server, 1, 2);
      if (!ours.isProof(proof, MemberKey.Side.SERVER, drawn, drawnByServer)) {
        throw new IOException(
            "the tablet server at "
                + context.channel().remoteAddress()
                + " does not have this cluster's member key");
      }
      HelloProto second = Hello.member(ours.proof(MemberKey.Side.CLIENT, drawn, drawnByServer));
      context.writeAndFlush(Hello.encode(second, context.alloc()), context.voidPromise());
    }
  }

  /** The server's side: answers. */
  static final class Server extends HelloHandler {
    private final Optional<MemberKey> key;
    private final int requestBytesMax;
    private boolean challenged;
    private byte[] drawnByClient = new byte[0];
    private byte[] drawnByServer = new byte[0];

    /**
     * The side of a server that has {@code key}, or of one that knows no members.
     *
     * @param requestBytesMax the longest request that it takes
     */
    Server(
        Duration patience, RandomGenerator random, Optional<MemberKey> key, int requestBytesMax) {
      super(patience, random);
      this.key = key;
      this.requestBytesMax = requestBytesMax;
    }

    @Override
    void begin(ChannelHandlerContext context) {}

    @Override
    Optional<Ready> receive(ChannelHandlerContext context, HelloProto client) throws IOException {
      if (challenged) {
        checkProof(context, client);
        return Optional.of(new Ready(true));
      }
      Optional<String> why = Hello.mismatch(client);
      boolean member = client.getAuthentication() == Hello.MEMBER && key.isPresent();
      if (why.isEmpty() && !member && client.getAuthentication() != Hello.ANYBODY) {
        why = Optional.of("it " + unknownAuthentication(client));
      }
      if (why.isPresent()) {
        throw refuse(context, why.get());
      }
      HelloProto answer = Hello.ours();
      if (member) {
        drawnByClient = Hello.memberData(client, 0, 1);
        drawnByServer = MemberKey.drawBytes(random);
        byte[] proof = key.get().proof(MemberKey.Side.SERVER, drawnByClient, drawnByServer);
        answer = Hello.member(drawnByServer, proof);
        challenged = true;
      }
      answer = answer.toBuilder().setRequestBytesMax(requestBytesMax).build();
      context.writeAndFlush(Hello.encode(answer, context.alloc()), context.voidPromise());
      return member ? Optional.empty() : Optional.of(new Ready(false));
    }

    private void checkProof(ChannelHandlerContext context, HelloProto second) throws IOException {
      byte[] proof = Hello.memberData(second, 0, 1);
      if (!key.orElseThrow().isProof(proof, MemberKey.Side.CLIENT, drawnByClient, drawnByServer)) {
        throw refuse(context, "it does not have this cluster's member key");
      }
    }

    private static IOException refuse(ChannelHandlerContext context, String why) {
      HelloProto refusal = Hello.ours().toBuilder().setRefusal(why).build();
      context
          .writeAndFlush(Hello.encode(refusal, context.alloc()))
          .addListener(ChannelFutureListener.CLOSE);
      return new IOException("refused a client: " + why);
    }
  }

  private static String unknownAuthentication(HelloProto theirs) {
    return "wants authentication of kind " + theirs.getAuthentication() + ", which is not known";
  }

  abstract void begin(ChannelHandlerContext context);

  /**
   * Takes a hello.
   *
   * @return empty where another must follow
   */
  abstract Optional<Ready> receive(ChannelHandlerContext context, HelloProto theirs)
      throws IOException;

  @Override
  public void channelActive(ChannelHandlerContext context) {
    timer =
        Optional.of(
            context
                .executor()
                .schedule(
                    () ->
                        context.fireExceptionCaught(
                            new IOException(
                                "the other side sent no hello within "
                                    + patience.toMillis()
                                    + " ms")),
                    patience.toNanos(),
                    TimeUnit.NANOSECONDS));
    begin(context);
    context.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    timer.ifPresent(running -> running.cancel(false));
    super.channelInactive(context);
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    try {
      Optional<HelloProto> theirs = Hello.read(in);
      if (theirs.isEmpty()) {
        return;
      }
      Optional<Ready> ready = receive(context, theirs.get());
      if (ready.isPresent()) {
        timer.ifPresent(running -> running.cancel(false));
        context.fireUserEventTriggered(ready.get());
        context.pipeline().remove(this);
      }
    } catch (IOException e) {
      in.skipBytes(in.readableBytes());
      context.fireExceptionCaught(e);
    }
  }
}
