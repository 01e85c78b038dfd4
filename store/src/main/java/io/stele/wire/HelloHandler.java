package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
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
      context.writeAndFlush(Hello.OURS.encode(context.alloc()), context.voidPromise());
    }

    @Override
    void receive(ChannelHandlerContext context, Hello server) throws IOException {
      if (!server.isStele()) {
        throw new IOException(
            "what listens at " + context.channel().remoteAddress() + " is not a tablet server");
      }
      if (server.version() != Hello.OURS.version()) {
        throw new IOException(
            "the tablet server at "
                + context.channel().remoteAddress()
                + " speaks version "
                + server.version()
                + " of the data plane and this client version "
                + Hello.OURS.version()
                + ": use the client that came with the server");
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
    void receive(ChannelHandlerContext context, Hello client) throws IOException {
      if (!client.isStele()) {
        throw new IOException("what connected is not a client of Stele");
      }
      var sent = context.writeAndFlush(Hello.OURS.encode(context.alloc()));
      if (client.version() != Hello.OURS.version()
          || client.authentication() != Hello.OURS.authentication()) {
        sent.addListener(ChannelFutureListener.CLOSE);
        throw new IOException(
            "a client of version "
                + client.version()
                + " with authentication "
                + client.authentication()
                + " was turned away");
      }
    }
  }

  abstract void begin(ChannelHandlerContext context);

  abstract void receive(ChannelHandlerContext context, Hello theirs) throws IOException;

  @Override
  public void channelActive(ChannelHandlerContext context) {
    timer =
        Optional.of(
            context
                .executor()
                .schedule(
                    () ->
                        context.fireExceptionCaught(
                            new IOException("no hello came within " + patience.toMillis() + " ms")),
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
    if (in.readableBytes() < Hello.BYTES) {
      return;
    }
    timer.ifPresent(running -> running.cancel(false));
    try {
      receive(context, Hello.read(in));
      context.fireUserEventTriggered(READY);
      context.pipeline().remove(this);
    } catch (IOException e) {
      in.skipBytes(in.readableBytes());
      context.fireExceptionCaught(e);
    }
  }
}
