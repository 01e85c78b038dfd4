package io.stele.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Cuts what arrives on a connection into {@link Frame}s, each checked.
 *
 * <p>The first twelve bytes of a frame decide whether it is accepted. One that is not is checked
 * like others but not kept, and is delivered as a {@link Refused}.
 *
 * <p>The bytes of a frame are copied once, from the socket's buffer to the array that the frame
 * keeps. A large frame gets that array once a MiB of it has arrived, so that a peer that merely
 * claims one gets no memory for it. After damage nothing more is decoded: where the next frame
 * starts is not known.
 *
 * <p>Used by the event loop of its connection only.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
  private static final int FIRST_BYTES_MAX = 1 << 20;

  /** How much of a frame that is refused is kept: its header's length and the call's id. */
  private static final int REFUSED_BYTES_KEPT = 24;

  private final ProcessRuntime runtime;
  private final int payloadBytesMax;
  private final Intake intake;
  private final ByteBuffer prefix = ByteBuffer.allocate(Frame.PREFIX_BYTES);
  private byte[] payload = new byte[0];
  private CRC32C crcOfRefused = new CRC32C();
  private int payloadBytes;
  private int received;
  private boolean admitted;
  private boolean damaged;
  private long lastReceivedNanos;

  /** Decides which frames are taken in. */
  interface Intake {
    /** Takes all. */
    Intake ALL =
        new Intake() {
          @Override
          public boolean admit(TrafficClass kind, int bytes) {
            return true;
          }

          @Override
          public void abandon(TrafficClass kind, int bytes) {}
        };

    /** Whether to accept a frame of {@code bytes}: it is then delivered, or abandoned. */
    boolean admit(TrafficClass kind, int bytes);

    /** What was admitted will not come. */
    void abandon(TrafficClass kind, int bytes);
  }

  /** A request that was not taken in, the id of its call, what it was about, and its length. */
  record Refused(long callId, TrafficClass kind, int bytes) {}

  /** Takes in all frames. */
  FrameDecoder(ProcessRuntime runtime, int payloadBytesMax) {
    this(runtime, payloadBytesMax, Intake.ALL);
  }

  FrameDecoder(ProcessRuntime runtime, int payloadBytesMax, Intake intake) {
    this.runtime = runtime;
    this.lastReceivedNanos = runtime.nanoTime();
    this.payloadBytesMax = payloadBytesMax;
    this.intake = intake;
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
      abandon();
      context.fireExceptionCaught(e);
    } catch (RuntimeException | Error e) {
      damaged = true; // There is no telling how much of it was taken.
      abandon();
      throw e;
    } finally {
      in.release();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    abandon();
    context.fireChannelInactive();
  }

  /** When bytes last came, by {@link ProcessRuntime#nanoTime()}. */
  long lastReceivedNanos() {
    return lastReceivedNanos;
  }

  /** Whether part of a frame has come, and the rest not. */
  boolean isInsideFrame() {
    return prefix.position() > 0;
  }

  /** What the frame that is coming says that it is about; USER where that is not known yet. */
  TrafficClass trafficClass() {
    return prefix.hasRemaining() ? TrafficClass.USER : Frame.trafficClass(flags());
  }

  private void abandon() {
    if (admitted) {
      admitted = false;
      intake.abandon(Frame.trafficClass(flags()), payloadBytes);
    }
  }

  private int flags() {
    return prefix.getInt(8);
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
    if (admitted) {
      if (received + bytes > payload.length) {
        payload = Arrays.copyOf(payload, payloadBytes); // Once: a copy of much takes much again.
      }
      in.readBytes(payload, received, bytes);
    } else if (bytes > 0) {
      crcOfRefused.update(in.nioBuffer(in.readerIndex(), bytes));
      int kept = Math.min(bytes, Math.max(0, payload.length - received));
      in.getBytes(in.readerIndex(), payload, Math.min(received, payload.length), kept);
      in.skipBytes(bytes);
    }
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
    received = 0;
    admitted = intake.admit(Frame.trafficClass(flags()), payloadBytes);
    payload = new byte[Math.min(payloadBytes, admitted ? FIRST_BYTES_MAX : REFUSED_BYTES_KEPT)];
    if (!admitted) {
      crcOfRefused = Frame.crc(payloadBytes, flags());
    }
  }

  /** The frame that is complete, or a {@link Refused}. */
  private Object finish() throws IOException {
    int stored = prefix.getInt(4);
    int flags = flags();
    int computed =
        admitted
            ? Frame.crc(payloadBytes, flags, ByteBuffer.wrap(payload))
            : (int) crcOfRefused.getValue();
    if (stored != computed) {
      throw new IOException(
          String.format(
              "a frame of %d bytes was damaged in transit: its checksum is %08x, not %08x",
              payloadBytes, computed, stored));
    }
    Object whole =
        admitted
            ? new Frame(payload, flags)
            : new Refused(Frame.callId(payload), Frame.trafficClass(flags), payloadBytes);
    admitted = false; // Now it is the receiver's.
    payload = new byte[0];
    prefix.clear();
    return whole;
  }
}
