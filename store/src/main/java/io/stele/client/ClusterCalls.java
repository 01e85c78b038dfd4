package io.stele.client;

import io.stele.config.Keys;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Calls of the active master, which are made again until one answers, and of tablet servers.
 *
 * <p>Safe for use by any number of threads.
 */
final class ClusterCalls {
  private static final Duration POLL_FIRST = Duration.ofMillis(10);
  private static final int POLLS_LONGER = 5;

  /** A look with less time than this would say only that nobody answered in time. */
  private static final Duration POLL_LEAST = Duration.ofMillis(100);

  /** Short, as another master is elected within a second or so, and few calls need one. */
  private static final Duration ASK_PAUSE_MAX = Duration.ofMillis(100);

  private final Connection connection;

  ClusterCalls(Connection connection) {
    this.connection = connection;
  }

  Connection connection() {
    return connection;
  }

  /**
   * The table of that name.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none
   */
  StoredTable stored(String name) throws IOException {
    return connection.readLocks(
        "looking up table " + name, () -> connection.schemas().require(name));
  }

  /**
   * How far something is that the master does.
   *
   * @param waitsFor what it waits for, in words
   * @param failure why it cannot be done
   * @param server where it was done, if it is the move of a tablet
   */
  record Progress(
      boolean done, String waitsFor, Optional<SteleException> failure, Optional<ServerId> server) {
    static final Progress DONE = new Progress(true, "", Optional.empty(), Optional.empty());

    static Progress of(boolean done, String waitsFor) {
      return done ? DONE : waiting(waitsFor);
    }

    static Progress doneAt(ServerId server) {
      return new Progress(true, "", Optional.empty(), Optional.of(server));
    }

    static Progress waiting(String waitsFor) {
      return new Progress(false, waitsFor, Optional.empty(), Optional.empty());
    }

    static Progress failed(SteleException failure) {
      return new Progress(false, "", Optional.of(failure), Optional.empty());
    }
  }

  /**
   * Asks for something, again and again until it is done.
   *
   * @param toFindOut how an operator can tell the outcome
   */
  void untilDone(String what, String toFindOut, Duration timeout, ClusterChange.Step step)
      throws IOException {
    Attempts attempts = attempts(Effect.CHANGE_WITH_ID, what, timeout);
    int polls = 0;
    while (true) {
      Progress progress;
      try {
        progress = step.take(attempts);
      } catch (SteleException e) {
        boolean saysUnknown = e.code() == SteleException.Code.OUTCOME_UNKNOWN;
        if (!attempts.mayHaveBegun() && !saysUnknown) {
          throw e;
        }
        String begun = saysUnknown ? "" : "The change was begun and may still be done: ";
        throw SteleException.outcomeUnknown(e.getMessage() + ". " + begun + toFindOut, e);
      }
      if (progress.failure().isPresent()) {
        throw progress.failure().get();
      }
      if (progress.done()) {
        return;
      }
      attempts.begun();
      Duration pause = POLL_FIRST.multipliedBy(1L << Math.min(polls++, POLLS_LONGER));
      Duration left = attempts.deadline().remaining();
      pause(Durations.min(pause, left));
      if (attempts.deadline().remaining().compareTo(POLL_LEAST) < 0) {
        throw notDone(what, progress, timeout, toFindOut);
      }
    }
  }

  private SteleException notDone(
      String what, Progress progress, Duration timeout, String toFindOut) {
    return new SteleException(
        SteleException.Code.OUTCOME_UNKNOWN,
        what
            + ": not done within "
            + timeout.toMillis()
            + " ms"
            + (timeout.equals(connection.timeout()) ? " (" + Keys.CLIENT_TIMEOUT.name() + ")" : "")
            + ". The change was begun and continues: "
            + progress.waitsFor()
            + ". "
            + toFindOut);
  }

  /** The live tablet servers. */
  static Map<ServerId, ServerInfo> servers(Connection connection) throws IOException {
    return connection.readLocks("looking for servers", () -> ServerInfo.all(connection.locks()));
  }

  /**
   * Calls a tablet server once.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  <R> R call(ServerId server, ControlPlane.Call<TabletServerProtocol, R> call) throws IOException {
    return connection
        .controlPlane()
        .call(controlOf(server), TabletServerProtocol.class, connection.timeout(), call);
  }

  /** Whether a tablet that is located again may answer where one failed so. */
  static boolean mayPass(Exception failure) {
    return failure instanceof SteleException known
        ? known.code() == SteleException.Code.RETRY_LATER
            || known.code() == SteleException.Code.NOT_FOUND // The server ended meanwhile.
        : !Futures.isInterruption(failure);
  }

  /** The tablet as it was located. */
  static TabletRefProto ref(TabletLocation at) {
    Bytes row = MetadataKeys.row(at.tablet().table(), at.extent().end());
    return TabletRefs.of(at.tablet(), row, at.epoch());
  }

  /** Attempts at a request of the master; none is later than {@code timeout} from now. */
  Attempts attempts(Effect effect, String what, Duration timeout) {
    return new Attempts(
        connection.runtime(),
        Purpose.of(effect, () -> what).limitedBy(Keys.CLIENT_TIMEOUT.name()),
        Deadline.after(connection.runtime(), timeout));
  }

  /** Calls the active master; waits for one to be elected if there is none. */
  <R> R ask(Effect effect, String what, ControlPlane.Call<MasterProtocol, R> call)
      throws IOException {
    return ask(attempts(effect, what, connection.timeout()), call);
  }

  /** Like {@link #ask(Effect, String, ControlPlane.Call)}, with these attempts. */
  <R> R ask(Attempts attempts, ControlPlane.Call<MasterProtocol, R> call) throws IOException {
    return ask(
        attempts,
        "no master answers yet",
        () -> activeMaster(attempts.deadline()),
        MasterProtocol.class,
        call);
  }

  /**
   * Calls a tablet server until it answers, as {@code attempts} say.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is no such server
   */
  <R> R ask(Attempts attempts, ServerId server, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    return ask(
        attempts,
        "server " + server + " does not answer yet",
        () -> controlOf(server),
        TabletServerProtocol.class,
        call);
  }

  private <P, R> R ask(
      Attempts attempts,
      String clause,
      IoCallable<Address> lookup,
      Class<P> protocol,
      ControlPlane.Call<P, R> call)
      throws IOException {
    Optional<R> answer = attempt(attempts, lookup, protocol, call);
    LongWaits.Wait wait = connection.waiting().waits().begin();
    while (answer.isEmpty()) {
      wait.goesOn(attempts.elapsed(), () -> waitsFor(clause, attempts));
      answer = attempt(attempts, lookup, protocol, call);
    }
    return answer.get();
  }

  private static String waitsFor(String clause, Attempts attempts) {
    return clause
        + "; waiting up to "
        + attempts.deadline().limit().plusMillis(999).toSeconds()
        + " s ("
        + attempts.lastFailure()
        + ")";
  }

  /**
   * Calls a tablet server once.
   *
   * @return false if another attempt may be made, perhaps of another server
   */
  <R> boolean askOnce(
      Attempts attempts, ServerId server, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    IoCallable<Address> lookup =
        () -> {
          try {
            return controlOf(server);
          } catch (SteleException e) { // It ended: another will have the tablet.
            throw e.code() == SteleException.Code.NOT_FOUND
                ? SteleException.retryLater(e.getMessage())
                : e;
          }
        };
    return attempt(attempts, lookup, TabletServerProtocol.class, call).isPresent();
  }

  /** Makes one attempt; empty, after a pause, if another may be made. */
  private <P, R> Optional<R> attempt(
      Attempts attempts,
      IoCallable<Address> lookup,
      Class<P> protocol,
      ControlPlane.Call<P, R> call)
      throws IOException {
    boolean sent = false;
    Decision decision;
    try {
      Address address = lookup.call();
      sent = true;
      return Optional.of(
          connection.controlPlane().call(address, protocol, attempts.attemptTimeout(), call));
    } catch (IOException | SteleException e) {
      decision = sent ? attempts.sent(e) : attempts.notSent(e);
      if (Futures.isInterruption(e)) {
        throw e;
      }
    }
    if (decision instanceof Decision.End end) {
      throw end.failure();
    }
    Duration pause = ((Decision.Again) decision).pause();
    pause(Durations.min(ASK_PAUSE_MAX, pause));
    return Optional.empty();
  }

  private Address activeMaster(Deadline deadline) throws IOException {
    return connection
        .lockReads()
        .read("looking for the master", deadline, () -> MasterInfo.address(connection.locks()))
        .orElseThrow(() -> SteleException.retryLater("no master is active"));
  }

  private Address controlOf(ServerId server) throws IOException {
    return require(servers(connection), server).control();
  }

  /**
   * The server of that name.
   *
   * @throws SteleException NOT_FOUND if it is not among {@code live}
   */
  static ServerInfo require(Map<ServerId, ServerInfo> live, ServerId server) {
    ServerInfo info = live.get(server);
    if (info == null) {
      throw SteleException.notFound(
          "there is no server " + server + "; `stele server list` shows those that run");
    }
    return info;
  }

  /** Waits before something is asked again. */
  void pause(Duration pause) throws InterruptedIOException {
    try {
      connection.runtime().sleep(pause);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting to ask again");
    }
  }
}
