package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.model.SteleException;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * A change of a table that the master makes. It continues whether or not a client waits for it.
 * When the process that began it is gone, {@link Admin#tableChange} finds it by its {@link #id}.
 *
 * <p>Safe for use by any number of threads.
 */
public final class TableChange {
  private static final String SEPARATOR = "/";

  private final ClusterCalls calls;
  private final String table;
  private final String change;
  private final String what;
  private final ControlPlane.Call<MasterProtocol, TableChangeProto> ask;

  /**
   * How far a change is.
   *
   * @param done whether it was made; a change that cannot be made fails instead
   * @param waitsFor what it waits for, in words; empty if it is done
   * @param tabletsDone how many tablets have been changed
   * @param tablets how many tablets must be changed; 0 if the number is not known, or no tablet
   *     must be
   */
  public record Progress(boolean done, String waitsFor, int tabletsDone, int tablets) {
    @Override
    public String toString() {
      return done
          ? "done"
          : waitsFor + (tablets > 0 ? " (" + tabletsDone + " of " + tablets + " tablets)" : "");
    }
  }

  /**
   * A change; nothing is asked yet.
   *
   * @param change the id that the master knows
   * @param what it does, in words
   * @param ask asks for the change, or for its progress; when repeated it joins the change that it
   *     began
   */
  TableChange(
      ClusterCalls calls,
      String table,
      String change,
      String what,
      ControlPlane.Call<MasterProtocol, TableChangeProto> ask) {
    this.calls = calls;
    this.table = table;
    this.change = change;
    this.what = what;
    this.ask = ask;
  }

  /** The id under which users and servers name a change. */
  static String id(String table, String change) {
    return table + SEPARATOR + change;
  }

  /** The parts of an id: table and change. */
  static Optional<String[]> parts(String id) {
    int at = id.indexOf(SEPARATOR);
    return at < 1 || at == id.length() - 1
        ? Optional.empty()
        : Optional.of(new String[] {id.substring(0, at), id.substring(at + 1)});
  }

  /** Its name, which no other change ever has; another process can find the change by it. */
  public String id() {
    return id(table, change);
  }

  /** The name of the table that it changes. */
  public String table() {
    return table;
  }

  /** The same, once the master has recorded it. */
  TableChange begun() throws IOException {
    progress();
    return this;
  }

  /**
   * Its current progress. Waits only for the master.
   *
   * @throws SteleException why it is not and will not be made; NOT_FOUND if the master no longer
   *     remembers it; RETRY_LATER if no master answers within {@code stele.client.timeout}
   */
  public Progress progress() throws IOException {
    TableChangeProto answer = calls.ask(Effect.CHANGE_WITH_ID, what, ask);
    if (answer.hasFailure()) {
      throw failure(answer);
    }
    return progress(answer);
  }

  private static Progress progress(TableChangeProto answer) {
    return new Progress(
        answer.getDone(), answer.getWaitsFor(), answer.getTabletsDone(), answer.getTablets());
  }

  /**
   * Waits until it is made, at most for {@code stele.client.timeout}.
   *
   * @throws SteleException why it is not and will not be made; OUTCOME_UNKNOWN if it may still be
   */
  public void await() throws IOException {
    await(calls.connection().timeout());
  }

  /**
   * Waits until it is made.
   *
   * @param timeout how long to wait at most
   * @throws SteleException why it is not and will not be made; OUTCOME_UNKNOWN if it may still be
   */
  public void await(Duration timeout) throws IOException {
    calls.untilDone(
        what,
        "`stele table change " + id() + "` shows how far it is, or why it cannot be made",
        timeout,
        attempts -> {
          TableChangeProto answer = calls.ask(attempts, ask);
          if (answer.hasFailure()) {
            return ClusterCalls.Progress.failed(failure(answer));
          }
          return ClusterCalls.Progress.of(answer.getDone(), progress(answer).toString());
        });
  }

  private SteleException failure(TableChangeProto answer) {
    SteleException.Code code;
    try {
      code = SteleException.Code.valueOf(answer.getFailure());
    } catch (IllegalArgumentException e) {
      code = SteleException.Code.REFUSED; // A later version's.
    }
    return new SteleException(code, what + ": " + answer.getWhy());
  }

  @Override
  public String toString() {
    return what;
  }
}
