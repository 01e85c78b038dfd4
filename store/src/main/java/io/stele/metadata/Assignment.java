package io.stele.metadata;

import io.stele.metadata.avro.AssignmentStateValue;
import io.stele.metadata.avro.AssignmentValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import java.util.Optional;

/**
 * Which server may serve a tablet. Its states are none -> assigned -> loaded -> none; each is
 * written before it is acted on.
 *
 * @param state the step it has reached
 * @param server the server; none in state NONE
 * @param epoch 0 before the first assignment, one more at each
 * @param lastHost in state NONE, the host of the last server, which probably has the tablet's
 *     files; empty if there was none, or a version released the tablet that did not write it
 */
public record Assignment(
    State state, Optional<ServerId> server, long epoch, Optional<String> lastHost) {
  /** The steps of an assignment. */
  public enum State {
    /** No server has the tablet. */
    NONE,
    /** The server must load the tablet. */
    ASSIGNED,
    /** The server serves the tablet. */
    LOADED
  }

  /** A tablet that no server has served yet. */
  public static final Assignment NEVER = new Assignment(State.NONE, Optional.empty(), 0);

  public Assignment {
    if (server.isPresent() == (state == State.NONE)
        || epoch < 0
        || (lastHost.isPresent() && state != State.NONE)) {
      throw new IllegalArgumentException(
          "an assignment needs a server unless its state is NONE, and an epoch of 0 or more, not "
              + state
              + " "
              + server
              + " "
              + epoch);
    }
  }

  /** An assignment that does not say which host the last server had. */
  public Assignment(State state, Optional<ServerId> server, long epoch) {
    this(state, server, epoch, Optional.empty());
  }

  /** Assigned to {@code next} for loading, under the next epoch. */
  public Assignment assignedTo(ServerId next) {
    return new Assignment(State.ASSIGNED, Optional.of(next), epoch + 1);
  }

  /** Loaded by the server it was assigned to. */
  public Assignment loaded() {
    return new Assignment(State.LOADED, server, epoch);
  }

  /** No longer assigned to any server. */
  public Assignment released() {
    return released(epoch);
  }

  /** The same under another epoch. */
  Assignment released(long nextEpoch) {
    return new Assignment(State.NONE, Optional.empty(), nextEpoch, host());
  }

  /** The host of its server, or of the last one in state NONE. */
  public Optional<String> host() {
    return server.map(ServerId::host).or(() -> lastHost);
  }

  /** Whether it names {@code who}, assigned or loaded. */
  public boolean isTo(ServerId who) {
    return server.isPresent() && server.get().equals(who);
  }

  Bytes encode() {
    return Avro.encode(
        AssignmentValue.newBuilder()
            .setState(AssignmentStateValue.valueOf(state.name()))
            .setServer(server.map(ServerId::toString).orElse(""))
            .setEpoch(epoch)
            .setLastHost(lastHost.orElse(""))
            .build());
  }

  static Assignment decode(Bytes bytes, String where) throws CorruptionException {
    return Avro.decode(
        bytes,
        AssignmentValue.class,
        where,
        value ->
            new Assignment(
                State.valueOf(value.getState().name()),
                value.getServer().isEmpty()
                    ? Optional.empty()
                    : Optional.of(ServerId.parse(value.getServer())),
                value.getEpoch(),
                Optional.of(value.getLastHost()).filter(host -> !host.isEmpty())));
  }

  @Override
  public String toString() {
    return state + server.map(s -> " " + s).orElse("") + " epoch " + epoch;
  }
}
