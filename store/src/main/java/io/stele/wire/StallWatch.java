package io.stele.wire;

import io.netty.channel.ChannelHandlerContext;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Closes a connection whose peer stops halfway: in a request that it sends, or in the answers that
 * it is sent. It would keep their memory for ever. A slow peer goes on.
 *
 * <p>Runs a timer only while there is something to watch. Used by the event loop of its connection
 * only.
 */
final class StallWatch {
  /**
   * How long a peer may be silent in the middle of a request about METADATA, at most: all processes
   * of the cluster share the little memory there is for those.
   */
  private static final Duration SYSTEM_STALL_MAX = Duration.ofSeconds(5);

  private final ProcessRuntime runtime;
  private final Duration stallMax;
  private final Duration systemStallMax;
  private final BooleanSupplier idle;
  private boolean watching;
  private SendProgress sent = SendProgress.NOTHING;
  private long sentNanos;
  private long readNanos; // Until then nothing was read, so that nothing could come.

  /**
   * Watches one connection.
   *
   * @param stallMax how long a peer may take or send nothing
   * @param idle whether no request is waiting for its answer, and no answer to be sent
   */
  StallWatch(ProcessRuntime runtime, Duration stallMax, BooleanSupplier idle) {
    this.runtime = runtime;
    this.stallMax = stallMax;
    this.systemStallMax = stallMax.compareTo(SYSTEM_STALL_MAX) < 0 ? stallMax : SYSTEM_STALL_MAX;
    this.idle = idle;
  }

  /**
   * To be called after each read: watches until all that has come is answered. Costs nothing while
   * it watches, which it does for a look at least.
   */
  void watch(ChannelHandlerContext context) {
    if (watching || !context.channel().isActive()) {
      return;
    }
    watching = true;
    sent = SendProgress.of(context.channel());
    sentNanos = runtime.nanoTime();
    readNanos = sentNanos;
    schedule(context);
  }

  /** To be called when reading goes on after a while in which nothing was read. */
  void readsAgain() {
    readNanos = runtime.nanoTime();
  }

  private boolean isQuiet(ChannelHandlerContext context) {
    return idle.getAsBoolean()
        && SendProgress.of(context.channel()).equals(SendProgress.NOTHING)
        && decoder(context).filter(FrameDecoder::isInsideFrame).isEmpty();
  }

  private static Optional<FrameDecoder> decoder(ChannelHandlerContext context) {
    return Optional.ofNullable(context.pipeline().get(FrameDecoder.class));
  }

  private void schedule(ChannelHandlerContext context) {
    context
        .executor()
        .schedule(() -> check(context), systemStallMax.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void check(ChannelHandlerContext context) {
    if (!context.channel().isActive()) {
      return;
    }
    Optional<String> stall = stall(context);
    if (stall.isPresent()) {
      context.pipeline().fireExceptionCaught(new IOException(stall.get()));
    } else if (isQuiet(context)) {
      watching = false;
    } else {
      schedule(context);
    }
  }

  private Optional<String> stall(ChannelHandlerContext context) {
    long now = runtime.nanoTime();
    SendProgress before = sent;
    sent = SendProgress.of(context.channel());
    if (!sent.equals(before) || sent.equals(SendProgress.NOTHING)) {
      sentNanos = now;
    } else if (now - sentNanos >= stallMax.toNanos()) {
      return Optional.of("it does not read the answers it is sent");
    }
    if (!context.channel().isWritable()) {
      readNanos = now;
    }
    Optional<FrameDecoder> inside = decoder(context).filter(FrameDecoder::isInsideFrame);
    if (inside.isPresent()) {
      Duration silentMax =
          inside.get().trafficClass() == TrafficClass.SYSTEM ? systemStallMax : stallMax;
      long silent = Math.min(now - readNanos, now - inside.get().lastReceivedNanos());
      if (silent >= silentMax.toNanos()) {
        return Optional.of("the client stopped in the middle of a request");
      }
    }
    return Optional.empty();
  }
}
