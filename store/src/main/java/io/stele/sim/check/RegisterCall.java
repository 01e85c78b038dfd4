package io.stele.sim.check;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A call of a register as {@link RegisterSearch} needs it, with numbers for values: {@link #ABSENT}
 * for none, {@link #UNSEEN} for all those that no answer tells apart.
 *
 * @param call the call
 * @param kind what it did
 * @param value what it read or would write
 * @param expected what a compare-and-set expects, else {@link #ABSENT}
 * @param end before which moment, by {@link Moment#order}, it certainly took effect; {@link #NEVER}
 *     where it did after its beginning or not at all
 */
record RegisterCall(Call call, Kind kind, int value, int expected, long end) {
  static final long NEVER = Long.MAX_VALUE;
  static final int ABSENT = 0;
  static final int UNSEEN = 1;

  /** What calls do. */
  enum Kind {
    READ,
    WRITE,
    REMOVE,
    SET_MATCHED,
    SET_UNMATCHED,
    SET_UNKNOWN
  }

  /** The register's value after this, where it has {@code state} before it; -1: impossible. */
  int after(int state) {
    return switch (kind) {
      case READ -> state == value ? state : -1;
      case WRITE -> value;
      case REMOVE -> state == ABSENT ? -1 : value;
      case SET_MATCHED, SET_UNKNOWN -> state == expected ? value : -1;
      case SET_UNMATCHED -> state == expected ? -1 : state;
    };
  }

  /** Whether it certainly took effect. */
  boolean isCertain() {
    return end != NEVER;
  }

  /** Whether the call's answer shows that the register had {@link #observed} before it. */
  boolean isObserver() {
    return kind == Kind.READ || kind == Kind.SET_MATCHED;
  }

  /** When it began, by {@link Moment#order}. */
  long start() {
    return call.start().order();
  }

  /** The values that the register certainly had during this, if it took effect. */
  List<Integer> values() {
    return switch (kind) {
      case READ, WRITE, REMOVE -> List.of(value);
      case SET_MATCHED, SET_UNKNOWN -> List.of(expected, value);
      case SET_UNMATCHED -> List.of();
    };
  }

  /** The value that an observer shows. */
  int observed() {
    return kind == Kind.READ ? value : expected;
  }

  private boolean isWriter() {
    return kind != Kind.READ && kind != Kind.SET_UNMATCHED;
  }

  /** The calls that have or may have an effect or an answer, in the same order. */
  static List<RegisterCall> of(List<Call> calls) {
    Map<Optional<Bytes>, Integer> numbers = numbers(calls);
    List<RegisterCall> taken = new ArrayList<>();
    for (Call call : calls) {
      Kind kind = kind(call);
      if (call.isRejected() || didNothing(call) || (kind == Kind.READ && !call.isAnswered())) {
        continue;
      }
      int value = numbers.getOrDefault(value(call), UNSEEN);
      int expected =
          call.action() instanceof Action.CompareAndSet set
              ? Objects.requireNonNull(numbers.get(set.expected()))
              : ABSENT;
      long end = call.isAnswered() ? call.end().order() : NEVER;
      taken.add(new RegisterCall(call, kind, value, expected, end));
    }
    bringForward(taken);
    return taken;
  }

  /** Whether a call whose answer shows nothing says that it had no effect. */
  private static boolean didNothing(Call call) {
    return (call.action() instanceof Action.Write || call.action() instanceof Action.Clear)
        && call.outcome() instanceof CallOutcome.Answered answer
        && answer.result() instanceof Result.Matched result
        && !result.matched();
  }

  /** A number for each value that an answer may tell apart. */
  private static Map<Optional<Bytes>, Integer> numbers(List<Call> calls) {
    Map<Optional<Bytes>, Integer> numbers = new HashMap<>();
    numbers.put(Optional.empty(), ABSENT);
    for (Call call : calls) {
      if (call.action() instanceof Action.CompareAndSet set) {
        numbers.putIfAbsent(set.expected(), numbers.size() + UNSEEN);
      } else if (call.action() instanceof Action.Read && call.isAnswered()) {
        numbers.putIfAbsent(valueRead(call), numbers.size() + UNSEEN);
      }
    }
    return numbers;
  }

  /** How often the register may come to have each value, by the value's number. */
  static Map<Integer, Integer> comings(List<RegisterCall> calls) {
    Map<Integer, Integer> comings = new HashMap<>();
    comings.put(ABSENT, 1); // There is nothing at first.
    for (RegisterCall call : calls) {
      if (call.isWriter()) {
        comings.merge(call.value, 1, Integer::sum);
      }
    }
    return comings;
  }

  /**
   * Has the only writer of a value take effect before the first call that shows this value ended:
   * an unknown call whose effect was seen is then certain, and may show another one to be.
   */
  private static void bringForward(List<RegisterCall> calls) {
    Map<Integer, Integer> comings = comings(calls);
    boolean changed = true;
    while (changed) {
      changed = false;
      Map<Integer, Long> firstEnds = new HashMap<>();
      for (RegisterCall call : calls) {
        if (call.isObserver()) {
          firstEnds.merge(call.observed(), call.end, Math::min);
        }
      }
      for (int i = 0; i < calls.size(); i++) {
        RegisterCall call = calls.get(i);
        long latest = firstEnds.getOrDefault(call.value, NEVER);
        if (call.isWriter() && comings.getOrDefault(call.value, 0) == 1 && latest < call.end) {
          Kind seen = call.kind == Kind.SET_UNKNOWN ? Kind.SET_MATCHED : call.kind;
          calls.set(i, new RegisterCall(call.call, seen, call.value, call.expected, latest));
          changed = true;
        }
      }
    }
  }

  private static Kind kind(Call call) {
    Optional<Boolean> matched =
        call.outcome() instanceof CallOutcome.Answered answer
                && answer.result() instanceof Result.Matched result
            ? Optional.of(result.matched())
            : Optional.empty();
    if (call.action() instanceof Action.Read) {
      return Kind.READ;
    } else if (call.action() instanceof Action.Remove && matched.isPresent()) {
      return matched.get() ? Kind.REMOVE : Kind.READ; // It saw that there was nothing.
    } else if (!(call.action() instanceof Action.CompareAndSet)) {
      return Kind.WRITE;
    }
    return matched.map(yes -> yes ? Kind.SET_MATCHED : Kind.SET_UNMATCHED).orElse(Kind.SET_UNKNOWN);
  }

  private static Optional<Bytes> value(Call call) {
    if (call.action() instanceof Action.Write write) {
      return Optional.of(write.value());
    } else if (call.action() instanceof Action.CompareAndSet set) {
      return Optional.of(set.value());
    }
    return call.action() instanceof Action.Read ? valueRead(call) : Optional.empty();
  }

  private static Optional<Bytes> valueRead(Call call) {
    return call.outcome() instanceof CallOutcome.Answered answer
            && answer.result() instanceof Result.Rows rows
        ? rows.rows().stream().findFirst().map(row -> row.cells().get(0).value())
        : Optional.empty();
  }
}
