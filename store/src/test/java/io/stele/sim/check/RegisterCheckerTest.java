package io.stele.sim.check;

import static io.stele.sim.check.Recorded.DONE;
import static io.stele.sim.check.Recorded.delete;
import static io.stele.sim.check.Recorded.read;
import static io.stele.sim.check.Recorded.row;
import static io.stele.sim.check.Recorded.rows;
import static io.stele.sim.check.Recorded.set;
import static io.stele.sim.check.Recorded.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RegisterCheckerTest {
  private final Recorded history = new Recorded();

  private void assertGood() {
    assertThat(RegisterChecker.check(history.calls(), RegisterChecker.STEPS_MAX)).isEmpty();
  }

  private void assertBad() {
    assertThat(RegisterChecker.check(history.calls(), RegisterChecker.STEPS_MAX))
        .singleElement()
        .satisfies(found -> assertThat(found.text()).contains("not linearizable"));
  }

  private static Result matched(boolean matched) {
    return new Result.Matched(matched);
  }

  @Test
  void callsOneAfterTheOtherPass() {
    history
        .call(read("r"), rows())
        .call(write("r", "1"), DONE)
        .call(set("r", "1", "2"), matched(true));
    history.call(set("r", "1", "3"), matched(false)).call(read("r"), rows(row("r", "2")));
    history.rejected(write("r", "4")).call(delete("r"), DONE).call(read("r"), rows());
    history.call(set("r", "", "5"), matched(true)).call(read("r"), rows(row("r", "5")));
    assertGood();
  }

  @Test
  void aCallThatIsNoneOfARegisterIsNotPassedOver() {
    history.call(new Action.Increment(Bytes.of("r"), 1), DONE);
    assertThatThrownBy(() -> RegisterChecker.check(history.calls(), RegisterChecker.STEPS_MAX))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Increment");
  }

  @Test
  void openingATableIsOfNoRegister() {
    history.call(new Action.Other("open table registers"), DONE);
    assertGood();
  }

  @Test
  void aStaleReadIsFound() {
    history
        .call(write("r", "1"), DONE)
        .call(write("r", "2"), DONE)
        .call(read("r"), rows(row("r", "1")));
    assertBad();
  }

  @Test
  void aLostWriteIsFound() {
    history.call(write("r", "1"), DONE).call(read("r"), rows());
    assertBad();
  }

  @Test
  void concurrentReadsThatGoBackAreFound() {
    history.call(write("r", "1"), DONE);
    int writing = history.begin(1, write("r", "2"));
    history.call(read("r"), rows(row("r", "2")));
    assertGood();
    history.call(read("r"), rows(row("r", "1"))).end(writing, DONE);
    assertBad();
  }

  @Test
  void twoSetsThatBothMatchedAreFound() {
    history.call(write("r", "1"), DONE);
    int one = history.begin(0, set("r", "1", "2"));
    int two = history.begin(1, set("r", "1", "3"));
    history.end(one, matched(true)).end(two, matched(true));
    assertBad();
  }

  @Test
  void aRejectedWriteThatIsSeenIsFound() {
    history.rejected(write("r", "1")).call(read("r"), rows(row("r", "1")));
    assertBad();
  }

  @Test
  void aWriteThatIsAnsweredByThatItWasNotMadeChangesNothing() {
    history.call(write("r", "1"), DONE).call(write("r", "2"), matched(false));
    history
        .call(new Action.Clear(RowRange.ALL), matched(false))
        .call(read("r"), rows(row("r", "1")));
    assertGood();
    history.call(write("r", "3"), matched(false)).call(read("r"), rows(row("r", "3")));
    assertBad();
  }

  @Test
  void unknownCallsTakeEffectLateOrNever() {
    history.unknown(write("r", "1")).call(read("r"), rows()).call(write("r", "2"), DONE);
    history.call(read("r"), rows(row("r", "2"))).call(read("r"), rows(row("r", "1")));
    history.unknown(set("r", "1", "3")).unknown(delete("r")).call(read("r"), rows(row("r", "1")));
    history.call(read("r"), rows(row("r", "3"))).call(read("r"), rows());
    assertGood();
    history.call(read("r"), rows(row("r", "3")));
    assertBad();
  }

  @Test
  void aSetThatDidNotMatchMayTellOfAnUnknownWriteThatNobodySaw() {
    history.call(write("r", "1"), DONE).call(set("r", "1", "2"), matched(false));
    assertBad();
    Recorded other = new Recorded().call(write("r", "1"), DONE).unknown(write("r", "9"));
    other.call(set("r", "1", "2"), matched(false));
    assertThat(RegisterChecker.check(other.calls(), RegisterChecker.STEPS_MAX)).isEmpty();
  }

  @Test
  void aRemovalSaysWhetherThereWasSomething() {
    Action removal = new Action.Remove(Bytes.of("r"));
    history.call(removal, matched(false)).call(set("r", "", "1"), matched(true));
    history.call(removal, matched(true)).call(removal, matched(false));
    history.unknown(set("r", "", "2")).call(removal, matched(true));
    assertGood();
    history.call(removal, matched(true));
    assertBad();
  }

  @Test
  void rowsAreCheckedEachByItself() {
    history.call(write("r", "1"), DONE).call(read("s"), rows());
    history.call(write("s", "2"), DONE).call(read("s"), rows(row("s", "1")));
    assertThat(RegisterChecker.check(history.calls(), RegisterChecker.STEPS_MAX))
        .singleElement()
        .satisfies(found -> assertThat(found.text()).startsWith("row s is not"));
  }

  @Test
  void aSearchThatTakesTooLongIsReportedAsUndecided() {
    history.call(write("r", "1"), DONE).call(write("r", "2"), DONE);
    assertThat(RegisterChecker.check(history.calls(), 1))
        .singleElement()
        .satisfies(found -> assertThat(found.text()).contains("undecided after 1 steps"));
  }

  @Test
  void anAtomicRegisterPassesInFewSteps() {
    Seeds.of(40)
        .forEach(
            seed -> {
              AtomicRegister register = new AtomicRegister(seed, 8, 300, true);
              assertThat(RegisterChecker.check(register.run(), 20_000))
                  .as("seed %d", seed)
                  .isEmpty();
            });
  }

  /** As of hours: a search that remembered all calls at each of its steps would need gigabytes. */
  @Test
  void aRegisterOfVeryManyCallsIsDecided() {
    int writes = 70_000;
    for (int i = 0; i < writes; i++) {
      int reading = history.begin(1, read("r"));
      history.call(write("r", "" + i), DONE).end(reading, rows(row("r", "" + i)));
    }
    assertGood();
    history.call(read("r"), rows(row("r", "" + (writes - 2))));
    assertBad();
  }

  @Test
  void aWrongReadAmongManyCallsIsDecided() {
    int[] found = new int[1];
    Seeds.of(40)
        .forEach(
            seed -> {
              List<Call> calls = new AtomicRegister(seed, 8, 300, true).run();
              List<Call> wrong = withAnotherRead(calls, new Random(seed), 300);
              List<Violation> violations = RegisterChecker.check(wrong, 100_000);
              assertThat(violations.toString()).as("seed %d", seed).doesNotContain("undecided");
              found[0] += violations.size();
            });
    assertThat(found[0]).isGreaterThan(10);
  }

  @Test
  void smallHistoriesAreJudgedAsByTryingEveryOrder() {
    int[] good = new int[1];
    int[] bad = new int[1];
    Seeds.of(3000)
        .forEach(
            seed -> {
              Random random = new Random(seed);
              boolean unique = random.nextBoolean();
              List<Call> calls =
                  withAnotherRead(new AtomicRegister(seed, 3, 7, unique).run(), random, 3);
              boolean expected = EveryOrder.explains(calls);
              assertThat(RegisterChecker.check(calls, 100_000).isEmpty())
                  .as("seed %d: %s", seed, calls)
                  .isEqualTo(expected);
              (expected ? good : bad)[0]++;
            });
    if (System.getProperty("stele.seed") == null) {
      assertThat(good[0]).isPositive();
      assertThat(bad[0]).isPositive();
    }
  }

  /** With a random value as the answer of a random read, if there is one. */
  private static List<Call> withAnotherRead(List<Call> calls, Random random, int values) {
    List<Call> changed = new ArrayList<>(calls);
    List<Call> reads =
        calls.stream().filter(c -> c.action() instanceof Action.Read && c.isAnswered()).toList();
    if (!reads.isEmpty()) {
      Call read = reads.get(random.nextInt(reads.size()));
      int value = random.nextInt(values + 1);
      Result result = value == values ? rows() : rows(row("r", "" + value));
      changed.set(
          read.number(),
          new Call(
              read.number(),
              read.client(),
              read.action(),
              read.start(),
              read.end(),
              read.longestWaitNanos(),
              new CallOutcome.Answered(result)));
    }
    return changed;
  }

  /** A real register whose calls take effect at one moment, at random between beginning and end. */
  private static final class AtomicRegister {
    private final Random random;
    private final int count;
    private final boolean unique;
    private final Recorded history = new Recorded();
    private final Integer[] begun;
    private final Action[] actions;
    private final Result[] results;
    private final List<Action> late = new ArrayList<>();
    private Optional<Bytes> value = Optional.empty();

    AtomicRegister(long seed, int clients, int count, boolean unique) {
      this.random = new Random(seed);
      this.count = count;
      this.unique = unique;
      this.begun = new Integer[clients];
      this.actions = new Action[clients];
      this.results = new Result[clients];
    }

    List<Call> run() {
      int calls = 0;
      while (calls < count) {
        int client = random.nextInt(begun.length);
        if (begun[client] == null) {
          actions[client] = action(calls++);
          begun[client] = history.begin(client, actions[client]);
        } else if (random.nextInt(12) == 0) {
          if (results[client] == null) {
            late.add(actions[client]);
          }
          end(client, new CallOutcome.Unknown("lost"));
        } else if (results[client] == null) {
          results[client] = apply(actions[client]);
        } else {
          end(client, new CallOutcome.Answered(results[client]));
        }
        if (!late.isEmpty() && random.nextInt(30) == 0) {
          apply(late.remove(random.nextInt(late.size())));
        }
      }
      return history.calls();
    }

    private void end(int client, CallOutcome outcome) {
      history.end(begun[client], outcome);
      begun[client] = null;
      results[client] = null;
    }

    private Action action(int number) {
      String fresh = "" + (unique ? number : random.nextInt(3));
      int choice = random.nextInt(20);
      if (choice < 8) {
        return read("r");
      } else if (choice < 13) {
        return write("r", fresh);
      } else if (choice < 14) {
        return delete("r");
      } else if (choice < 15) {
        return new Action.Remove(Bytes.of("r"));
      }
      String other = "" + random.nextInt(unique ? number + 1 : 3);
      String expected = value.map(Bytes::toUtf8).filter(v -> random.nextInt(3) > 0).orElse(other);
      return set("r", random.nextInt(10) == 0 ? "" : expected, fresh);
    }

    private Result apply(Action action) {
      if (action instanceof Action.Write write) {
        value = Optional.of(write.value());
      } else if (action instanceof Action.Delete) {
        value = Optional.empty();
      } else if (action instanceof Action.Remove) {
        Result answer = matched(value.isPresent());
        value = Optional.empty();
        return answer;
      } else if (action instanceof Action.CompareAndSet set) {
        boolean matched = set.expected().equals(value);
        value = matched ? Optional.of(set.value()) : value;
        return matched(matched);
      } else {
        return value.map(there -> rows(row("r", there.toUtf8()))).orElseGet(() -> rows());
      }
      return DONE;
    }
  }

  /** Tries every order of every choice of the unknown calls. */
  private static final class EveryOrder {
    private final List<Call> calls;
    private final boolean[] taken;

    private EveryOrder(List<Call> calls) {
      this.calls = calls;
      this.taken = new boolean[calls.size()];
    }

    static boolean explains(List<Call> calls) {
      return new EveryOrder(calls).explains(Optional.empty());
    }

    private boolean explains(Optional<Bytes> value) {
      boolean isDone = true;
      for (int i = 0; i < taken.length; i++) {
        isDone &= taken[i] || !calls.get(i).isAnswered();
      }
      if (isDone) {
        return true;
      }
      for (int i = 0; i < taken.length; i++) {
        if (!taken[i] && mayBeNext(calls.get(i))) {
          Optional<Optional<Bytes>> after = after(calls.get(i), value);
          if (after.isPresent()) {
            taken[i] = true;
            boolean explained = explains(after.get());
            taken[i] = false;
            if (explained) {
              return true;
            }
          }
        }
      }
      return false;
    }

    private boolean mayBeNext(Call call) {
      for (int i = 0; i < taken.length; i++) {
        if (!taken[i] && calls.get(i).isAnswered() && calls.get(i).isBefore(call)) {
          return false;
        }
      }
      return true;
    }

    private static Optional<Optional<Bytes>> after(Call call, Optional<Bytes> value) {
      Optional<Result> result =
          call.outcome() instanceof CallOutcome.Answered answer
              ? Optional.of(answer.result())
              : Optional.empty();
      Action action = call.action();
      if (action instanceof Action.Write write) {
        return Optional.of(Optional.of(write.value()));
      } else if (action instanceof Action.Delete) {
        return Optional.of(Optional.empty());
      } else if (action instanceof Action.Remove) {
        return result.isEmpty() || result.get().equals(matched(value.isPresent()))
            ? Optional.of(Optional.empty())
            : Optional.empty();
      } else if (action instanceof Action.CompareAndSet set) {
        boolean matches = set.expected().equals(value);
        return result.isEmpty() || result.get().equals(matched(matches))
            ? Optional.of(matches ? Optional.of(set.value()) : value)
            : Optional.empty();
      }
      Result seen = value.map(there -> rows(row("r", there.toUtf8()))).orElseGet(() -> rows());
      return result.isEmpty() || result.get().equals(seen) ? Optional.of(value) : Optional.empty();
    }
  }
}
