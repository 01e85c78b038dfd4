package io.stele.sim.check;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The calls of a run, in the order in which they began. Where one task runs at a time, as in the
 * simulator, the same run gives the same history.
 *
 * <p>A beginning is recorded before its call is made and an end after it has returned, so that what
 * the history has in order was in order.
 *
 * <p>Calls that saw the same version of a row share it: what a history takes grows with the calls
 * and with what was written, not with how much of it each call saw.
 *
 * <p>Safe for use by any number of threads; never waits.
 */
public final class History {
  /** The client that reads back what there is when all others have ended. */
  public static final int READ_BACK = -1;

  private static final CallOutcome UNENDED = new CallOutcome.Unknown("it has not returned");

  @GuardedBy("this")
  private final List<Call> calls = new ArrayList<>();

  /** Each version of a row that was seen, by itself. */
  @GuardedBy("this")
  private final Map<Row, Row> seen = new HashMap<>();

  @GuardedBy("this")
  private long order;

  /** Records that a call begins, and gives its number. */
  public synchronized int begin(int client, Action action, long nanos) {
    int number = calls.size();
    Moment start = new Moment(order++, nanos);
    calls.add(new Call(number, client, action, start, Moment.NEVER, 0, UNENDED));
    return number;
  }

  /** Records that the call of that number ended, having waited for its answer all the time. */
  public synchronized void end(int number, CallOutcome outcome, long nanos) {
    end(number, outcome, nanos, nanos - calls.get(number).start().nanos());
  }

  /**
   * Records that the call of that number ended.
   *
   * @param longestWaitNanos see {@link Call#longestWaitNanos()}
   */
  public synchronized void end(int number, CallOutcome outcome, long nanos, long longestWaitNanos) {
    Call begun = calls.get(number);
    if (begun.hasEnded()) {
      throw new IllegalStateException("ended twice: " + begun);
    }
    Moment end = new Moment(order++, nanos);
    calls.set(
        number,
        new Call(
            number,
            begun.client(),
            begun.action(),
            begun.start(),
            end,
            longestWaitNanos,
            shared(outcome)));
  }

  private CallOutcome shared(CallOutcome outcome) {
    if (outcome instanceof CallOutcome.Answered answer
        && answer.result() instanceof Result.Rows rows) {
      List<Row> shared = rows.rows().stream().map(this::shared).toList();
      return new CallOutcome.Answered(new Result.Rows(shared, rows.cutShort()));
    }
    return outcome;
  }

  /**
   * What to keep of a row that a call saw: the same object for all equal rows. A call that sees
   * many may ask while it reads, so that it holds no copies of them until it ends.
   */
  public synchronized Row shared(Row row) {
    Row before = seen.putIfAbsent(row, row);
    return before == null ? row : before;
  }

  /** The calls so far, in the order in which they began. */
  public synchronized List<Call> calls() {
    return List.copyOf(calls);
  }

  /** The rows of each scan among {@code calls} that read back, and was not cut short. */
  public static List<List<Row>> wholeScansReadBack(List<Call> calls) {
    List<List<Row>> scans = new ArrayList<>();
    for (Call call : calls) {
      if (call.client() == READ_BACK
          && call.action() instanceof Action.Scan
          && call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen
          && seen.cutShort().isEmpty()) {
        scans.add(seen.rows());
      }
    }
    return scans;
  }
}
