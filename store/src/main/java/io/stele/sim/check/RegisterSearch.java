package io.stele.sim.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Searches for an order of a register's calls that explains every answer: the algorithm of Wing and
 * Gong with the memory of Lowe ("Testing for linearizability", 2017).
 *
 * <p>It takes one call after the other. A call may be next if none that is not yet taken ended
 * before it began, and the register's value allows its answer. Where none may, the last one taken
 * is given back. A set of calls taken and the value they led to is tried once.
 *
 * <p>A value that comes but once does not go before all calls that show it are taken.
 *
 * <p>Calls of unknown outcome need not be taken, which by itself would double the work with each of
 * them. So:
 *
 * <ul>
 *   <li>one that changed the value is followed by a call that was not possible before it: otherwise
 *       it could as well come later, or, before a blind write, not at all;
 *   <li>of those that no answer tells apart, the one begun first is taken first;
 *   <li>compare-and-sets that expect a value which comes but once are left out of what is
 *       remembered: whether one was taken makes no difference once that value is gone.
 * </ul>
 *
 * <p>Not thread-safe; runs once.
 */
final class RegisterSearch {
  /** What a search can come to. */
  enum Verdict {
    LINEARIZABLE,
    NOT_LINEARIZABLE,
    UNDECIDED
  }

  private static final int NONE = -1;

  /** In the order of their beginnings, the certain ones first. */
  private final List<RegisterCall> calls;

  private final int certain;
  private final long stepsMax;
  private final Map<Integer, Integer> comings;

  /** How many certain calls that show a value are not taken. */
  private final Map<Integer, Integer> observersLeft = new HashMap<>();

  private final BitSet taken = new BitSet();

  /** The unknown calls taken that make a difference to what may come. */
  private final BitSet unknownsTaken = new BitSet();

  private final Set<Key> tried = new HashSet<>();
  private final Deque<Step> path = new ArrayDeque<>();
  private int certainTaken;
  private int firstUntaken;
  private int state = RegisterCall.ABSENT;
  private Unknowns unknowns = Unknowns.NO;
  private long steps;
  private int longest = NONE;
  private String explanation = "";

  /**
   * What the calls of unknown outcome that were just taken started from, {@link #NONE} where none
   * were: the next call is one that was possible at neither value.
   *
   * @param first the value before the first of them
   * @param last the value before the last of them
   */
  private record Unknowns(int first, int last) {
    static final Unknowns NO = new Unknowns(NONE, NONE);

    Unknowns and(int state) {
      return new Unknowns(first == NONE ? state : first, state);
    }

    boolean mayBeBefore(RegisterCall call) {
      return (first == NONE || call.after(first) < 0) && (last == NONE || call.after(last) < 0);
    }
  }

  /** A call taken, and what was before. */
  private record Step(int call, int state, Unknowns unknowns, int firstUntaken) {}

  /**
   * A set of calls taken, and what they led to. Of the certain calls all before {@code
   * firstUntaken} are taken; so a key has the size of what is under way at one time, however many
   * calls there are.
   *
   * @param ahead the certain calls taken after it, counted from it
   * @param unknowns {@link #unknownsTaken}
   */
  private record Key(int firstUntaken, BitSet ahead, BitSet unknowns, int state, Unknowns before) {}

  RegisterSearch(List<RegisterCall> unordered, long stepsMax) {
    this.calls = new ArrayList<>(unordered);
    calls.sort(
        Comparator.comparing((RegisterCall call) -> !call.isCertain())
            .thenComparing(call -> call.start()));
    this.certain = (int) calls.stream().filter(RegisterCall::isCertain).count();
    this.stepsMax = stepsMax;
    this.comings = RegisterCall.comings(calls);
    calls.stream().filter(RegisterCall::isCertain).forEach(call -> countObserver(call, 1));
  }

  Verdict run() {
    int next = NONE;
    while (certainTaken < certain) {
      int candidate = candidateAfter(next);
      if (candidate != NONE) {
        if (++steps > stepsMax) {
          return Verdict.UNDECIDED;
        }
        next = take(candidate) ? NONE : candidate;
      } else {
        if (certainTaken > longest) {
          longest = certainTaken;
          explanation = explain();
        }
        if (path.isEmpty()) {
          return Verdict.NOT_LINEARIZABLE;
        }
        next = giveBack();
      }
    }
    return Verdict.LINEARIZABLE;
  }

  /** How far the search came, and what could not come next. */
  String explanation() {
    return explanation;
  }

  /** The first call after {@code previous} that may be taken now. */
  private int candidateAfter(int previous) {
    // Until this no call that has not begun can come next: one that is not yet taken ended.
    long horizon = Long.MAX_VALUE;
    for (int i = firstUntaken; i < certain; i++) {
      if (calls.get(i).start() > horizon) {
        break;
      }
      if (!taken.get(i)) {
        horizon = Math.min(horizon, calls.get(i).end());
      }
    }
    int from = Math.max(previous + 1, firstUntaken);
    for (int i = from; i < calls.size(); i++) {
      boolean begun = calls.get(i).start() < horizon;
      if (!begun && i >= certain) {
        return NONE;
      }
      if (!begun) {
        i = certain - 1;
      } else if (!taken.get(i) && isAllowed(i)) {
        return i;
      }
    }
    return NONE;
  }

  private boolean comesOnce(int value) {
    return comings.getOrDefault(value, 0) <= 1;
  }

  private int observersLeft(int value) {
    return observersLeft.getOrDefault(value, 0);
  }

  private boolean isAllowed(int index) {
    RegisterCall call = calls.get(index);
    int after = call.after(state);
    if (after < 0 || !unknowns.mayBeBefore(call)) {
      return false;
    }
    if (after != state && comesOnce(state)) {
      boolean isLastObserver = call.isCertain() && call.isObserver();
      if (observersLeft(state) > (isLastObserver ? 1 : 0)) {
        return false;
      }
    }
    if (call.isCertain()) {
      return true;
    }
    return after != state && isFirstOfItsLike(index);
  }

  private boolean isFirstOfItsLike(int index) {
    RegisterCall call = calls.get(index);
    for (int i = certain; i < index; i++) {
      RegisterCall other = calls.get(i);
      if (!taken.get(i)
          && other.kind() == call.kind()
          && other.value() == call.value()
          && other.expected() == call.expected()) {
        return false;
      }
    }
    return true;
  }

  private boolean take(int index) {
    RegisterCall call = calls.get(index);
    int after = call.after(state);
    Unknowns nextUnknowns = call.isCertain() ? Unknowns.NO : unknowns.and(state);
    mark(index, true);
    int nextUntaken = Math.min(taken.nextClearBit(firstUntaken), certain);
    Key key =
        new Key(
            nextUntaken,
            taken.get(nextUntaken, certain),
            (BitSet) unknownsTaken.clone(),
            after,
            nextUnknowns);
    if (!tried.add(key)) {
      mark(index, false);
      return false;
    }
    path.push(new Step(index, state, unknowns, firstUntaken));
    state = after;
    unknowns = nextUnknowns;
    if (call.isCertain()) {
      certainTaken++;
      countObserver(call, -1);
      firstUntaken = nextUntaken;
    }
    return true;
  }

  private int giveBack() {
    Step last = path.pop();
    if (calls.get(last.call()).isCertain()) {
      certainTaken--;
      countObserver(calls.get(last.call()), 1);
    }
    mark(last.call(), false);
    state = last.state();
    unknowns = last.unknowns();
    firstUntaken = last.firstUntaken();
    return last.call();
  }

  private void countObserver(RegisterCall call, int change) {
    if (call.isObserver()) {
      observersLeft.merge(call.observed(), change, Integer::sum);
    }
  }

  private void mark(int index, boolean isTaken) {
    taken.set(index, isTaken);
    RegisterCall call = calls.get(index);
    boolean forgettable =
        call.kind() == RegisterCall.Kind.SET_UNKNOWN && comesOnce(call.expected());
    if (index >= certain && !forgettable) {
      unknownsTaken.set(index - certain, isTaken);
    }
  }

  private String explain() {
    StringBuilder text = new StringBuilder();
    text.append(certainTaken).append(" of ").append(certain).append(" calls fit, the last first");
    path.stream().limit(4).forEach(step -> text.append("\n  ").append(call(step.call())));
    text.append("\nnone of these can be next");
    int shown = 0;
    for (int i = firstUntaken; i < certain && shown < 4; i++) {
      if (!taken.get(i)) {
        text.append("\n  ").append(call(i));
        shown++;
      }
    }
    return text.toString();
  }

  private Call call(int index) {
    return calls.get(index).call();
  }
}
