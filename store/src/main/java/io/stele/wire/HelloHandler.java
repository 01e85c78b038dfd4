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

/**
 * Exchanges {@link Hello}s, then fires {@link #READY} and leaves the pipeline. A peer that is not
 * Stele, of another version or silent for too long ends the connection with an exception that says
 * so.
 */
abstract sealed class HelloHandler extends ByteToMessageDecoder {
  /** The event that says that frames may follow. */
  static final Object READY = new Object();

  private final Duration patience;
  private Optional<Future<?>> timer = Optional.empty();

  private HelloHandler(Duration patience) {
    this.patience = patience;
  }

  /** The client's side: speaks first. */
  static final class Client extends HelloHandler {
    Client(Duration patience) {
      super(patience);
    }

    @Override
    void begin(ChannelHandlerContext context) {
      context.writeAndFlush(Hello.encode(ours(), context.alloc()), context.voidPromise());
    }

    @Override
    void receive(ChannelHandlerContext context, HelloProto server) throws IOException {
      Optional<String> why =
          server.hasRefusal()
              ? Optional.of("it refuses this client: " + server.getRefusal())
              : Hello.mismatch(ours(), server);
      if (why.isPresent()) {
        throw new IOException(
            "the tablet server at " + context.channel().remoteAddress() + ": " + why.get());
      }
    }
  }

  /** The server's side: answers. */
  static final class Server extends HelloHandler {
    Server(Duration patience) {
      super(patience);
    }

    @Override
    void begin(ChannelHandlerContext context) {}

    @Override
    void receive(ChannelHandlerContext context, HelloProto client) throws IOException {
      Optional<String> why = Hello.mismatch(ours(), client);
      HelloProto.Builder answer = ours().toBuilder();
      why.ifPresent(answer::setRefusal);
      var sent = context.writeAndFlush(Hello.encode(answer.build(), context.alloc()));
      if (why.isPresent()) {
        sent.addListener(ChannelFutureListener.CLOSE);
        throw new IOException("refused a client: " + why.get());
      }
    }
  }

  private static HelloProto ours() {
    return Hello.ours();
  }

  abstract void begin(ChannelHandlerContext context);

  abstract void receive(ChannelHandlerContext context, HelloProto theirs) throws IOException;

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
                                "the client sent no hello within " + patience.toMillis() + " ms")),
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
      if (theirs.isPresent()) {
        timer.ifPresent(running -> running.cancel(false));
        receive(context, theirs.get());
        context.fireUserEventTriggered(READY);
        context.pipeline().remove(this);
      }
    } catch (IOException e) {
      in.skipBytes(in.readableBytes());
      context.fireExceptionCaught(e);
    }
  }
}
