package io.stele.sim.check;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Whether each row is linearizable: whether there is one order of its reads, writes, deletes,
 * removals and compare-and-sets, in keeping with which ended before which began, that gives every
 * answer. What was rejected had no effect; what is unknown may have had one at any time since it
 * began.
 */
public final class RegisterChecker {
  /** Enough for any history of some hundred calls a row that was seen so far, in a second. */
  public static final long STEPS_MAX = 1_000_000;

  private RegisterChecker() {}

  /**
   * What is wrong. A row for which the search took too many steps is a violation too: it says that
   * it is undecided.
   *
   * @param stepsMax the most steps to search for the order of one row
   */
  public static List<Violation> check(List<Call> calls, long stepsMax) {
    Findings findings = new Findings("linearizability");
    SortedMap<Bytes, List<Call>> byRow = new TreeMap<>();
    for (Call call : calls) {
      row(call.action())
          .ifPresent(row -> byRow.computeIfAbsent(row, key -> new ArrayList<>()).add(call));
    }
    for (Call call : calls) {
      if (call.action() instanceof Action.Clear clear) {
        byRow.forEach(
            (row, ofRow) -> {
              if (clear.range().contains(row)) {
                ofRow.add(call);
              }
            });
      }
    }
    byRow.values().forEach(ofRow -> ofRow.sort(Comparator.comparingInt(Call::number)));
    byRow.forEach((row, ofRow) -> checkRow(row, RegisterCall.of(ofRow), stepsMax, findings));
    return findings.violations();
  }

  private static void checkRow(
      Bytes row, List<RegisterCall> calls, long stepsMax, Findings findings) {
    Optional<String> conflict = ValueSpans.conflict(calls);
    if (conflict.isPresent()) {
      findings.add("row " + row + " is not linearizable: " + conflict.get());
      return;
    }
    RegisterSearch search = new RegisterSearch(calls, stepsMax);
    RegisterSearch.Verdict verdict = search.run();
    String explanation = search.explanation();
    switch (verdict) {
      case LINEARIZABLE -> {}
      case UNDECIDED ->
          findings.add("row " + row + " is undecided after " + stepsMax + " steps: " + explanation);
      case NOT_LINEARIZABLE -> findings.add("row " + row + " is not linearizable: " + explanation);
    }
  }

  /** The register that a call is of; none for one of many, or that opens a table. */
  private static Optional<Bytes> row(Action action) {
    if (action instanceof Action.Read read) {
      return Optional.of(read.row());
    } else if (action instanceof Action.Write write) {
      return Optional.of(write.row());
    } else if (action instanceof Action.Delete delete) {
      return Optional.of(delete.row());
    } else if (action instanceof Action.Remove remove) {
      return Optional.of(remove.row());
    } else if (action instanceof Action.CompareAndSet set) {
      return Optional.of(set.row());
    } else if (action instanceof Action.Other || action instanceof Action.Clear) {
      return Optional.empty();
    }
    throw new IllegalArgumentException("no call of a register: " + action);
  }
}
