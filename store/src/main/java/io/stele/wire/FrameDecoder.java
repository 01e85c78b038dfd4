package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Cuts what arrives on a connection into {@link Frame}s, each checked.
 *
 * <p>The bytes of a frame are copied once, from the socket's buffer to the array that the frame
 * keeps. That array grows as bytes arrive, so that a peer that merely claims a large frame gets no
 * memory for it. After damage nothing more is decoded: where the next frame starts is not known.
 *
 * <p>Used by the event loop of its connection only.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
  private static final int FIRST_BYTES_MAX = 1 << 20;

  private final ProcessRuntime runtime;
  private final int payloadBytesMax;
  private final ByteBuffer prefix = ByteBuffer.allocate(Frame.PREFIX_BYTES);
  private byte[] payload = new byte[0];
  private int payloadBytes;
  private int received;
  private boolean damaged;
  private long lastReceivedNanos;

  FrameDecoder(ProcessRuntime runtime, int payloadBytesMax) {
    this.runtime = runtime;
    this.lastReceivedNanos = runtime.nanoTime();
    this.payloadBytesMax = payloadBytesMax;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    lastReceivedNanos = runtime.nanoTime();
    try {
      while (in.isReadable() && !damaged) {
        if (take(in)) {
          context.fireChannelRead(finish());
        }
      }
    } catch (IOException e) {
      damaged = true;
      context.fireExceptionCaught(e);
    } finally {
      in.release();
    }
  }

  /** When bytes last came, by {@link ProcessRuntime#nanoTime()}. */
  long lastReceivedNanos() {
    return lastReceivedNanos;
  }

  /** Takes from {@code in} what belongs to the current frame; whether the frame is complete. */
  private boolean take(ByteBuf in) throws IOException {
    if (prefix.hasRemaining()) {
      int bytes = Math.min(prefix.remaining(), in.readableBytes());
      in.readBytes(prefix.array(), prefix.position(), bytes);
      prefix.position(prefix.position() + bytes);
      if (prefix.hasRemaining()) {
        return false;
      }
      begin();
    }
    int bytes = Math.min(payloadBytes - received, in.readableBytes());
    if (received + bytes > payload.length) {
      long doubled = Math.max(received + bytes, 2L * payload.length);
      payload = Arrays.copyOf(payload, (int) Math.min(payloadBytes, doubled));
    }
    in.readBytes(payload, received, bytes);
    received += bytes;
    return received == payloadBytes;
  }

  private void begin() throws IOException {
    payloadBytes = prefix.getInt(0);
    if (payloadBytes < 1 || payloadBytes > payloadBytesMax) {
      throw new IOException(
          "a frame claims "
              + Integer.toUnsignedLong(payloadBytes)
              + " bytes: the limit is "
              + payloadBytesMax);
    }
    payload = new byte[Math.min(payloadBytes, FIRST_BYTES_MAX)];
    received = 0;
  }

  private Frame finish() throws IOException {
    int stored = prefix.getInt(4);
    int computed = Frame.crc(payloadBytes, ByteBuffer.wrap(payload));
    if (stored != computed) {
      throw new IOException(
          String.format(
              "a frame of %d bytes was damaged on its way: its checksum is %08x, not %08x",
              payloadBytes, computed, stored));
    }
    Frame frame = new Frame(payload);
    payload = new byte[0];
    prefix.clear();
    return frame;
  }
}
