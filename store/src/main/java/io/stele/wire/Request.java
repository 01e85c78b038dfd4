package io.stele.wire;

import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.data.DataProtos.RequestProto;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A request as it reached a server. Immutable except for the read position in the body. */
public final class Request {
  private final RequestProto header;
  private final ByteBuffer body;
  private final Peer peer;
  private final Deadline deadline;

  /**
   * A request received now.
   *
   * @param runtime whose clock tells how long the caller still waits
   * @param body must not change any more
   * @param peer the sender
   */
  public Request(ProcessRuntime runtime, RequestProto header, ByteBuffer body, Peer peer) {
    this.header = header;
    this.body = body;
    this.peer = peer;
    this.deadline =
        Deadline.after(
            runtime, Duration.ofMillis(Integer.toUnsignedLong(header.getRemainingMillis())));
  }

  /** The request's header. */
  public RequestProto header() {
    return header;
  }

  /** The request's body: a view of its own for every caller, backed by an array. */
  public ByteBuffer body() {
    return body.duplicate();
  }

  /** Who sent it. */
  public Peer peer() {
    return peer;
  }

  /** How long the caller still waits; zero when it no longer does. */
  public Duration remaining() {
    return deadline.remaining();
  }

  /** Whether the caller no longer waits, so that work on the request is wasted. */
  public boolean isExpired() {
    return deadline.isOver();
  }
}
