package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether linked lists are whole. Each row is a node; its value is the key of the node before it,
 * which was acknowledged before this one was written, or empty for the first. Nodes are never
 * changed. At the end every acknowledged node is there, and every reference leads to one that is.
 */
public final class LinkedListChecker {
  private LinkedListChecker() {}

  /** What is wrong, going by the {@link Action.Write}s and each whole scan that reads back. */
  public static List<Violation> check(List<Call> calls) {
    Findings findings = new Findings("linked list");
    List<Call> writes = new ArrayList<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Write) {
        writes.add(call);
      }
    }
    History.wholeScansReadBack(calls).forEach(rows -> check(writes, rows, findings));
    return findings.violations();
  }

  private static void check(List<Call> writes, List<Row> rows, Findings findings) {
    Map<Bytes, Bytes> nodes = new HashMap<>();
    for (Row row : rows) {
      nodes.put(row.key(), row.cells().get(0).value());
    }
    for (Call call : writes) {
      Action.Write write = (Action.Write) call.action();
      if (call.isAnswered() && !write.value().equals(nodes.get(write.row()))) {
        String there = nodes.containsKey(write.row()) ? "has another value" : "is not there";
        findings.add("node " + write.row() + " " + there + " at the end: " + call);
      }
    }
    for (Row row : rows) {
      Bytes before = row.cells().get(0).value();
      if (!before.isEmpty() && !nodes.containsKey(before)) {
        String text = " refers to node " + before + ", which is not there at the end";
        findings.add("node " + row.key() + text);
      }
    }
  }
}
