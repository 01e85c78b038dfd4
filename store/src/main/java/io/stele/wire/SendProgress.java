package io.stele.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * How far a connection has come with what it sends: if it differs from what it was before, the
 * other side has taken something meanwhile. For the event loop of the connection.
 *
 * @param current identifies the buffer that is being sent; 0: none
 * @param bytes sent of it
 */
record SendProgress(int current, long bytes) {
  /** Nothing is waiting to be sent. */
  static final SendProgress NOTHING = new SendProgress(0, 0);

  static SendProgress of(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    return buffer == null || buffer.current() == null
        ? NOTHING
        : new SendProgress(System.identityHashCode(buffer.current()), buffer.currentProgress());
  }
}
