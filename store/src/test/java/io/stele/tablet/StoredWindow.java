package io.stele.tablet;

import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A window of operations as a tablet has it: in memory, in the blocks of its files, in its log. */
final class StoredWindow {
  private final Duration length;
  private final OperationBudget budget;
  private final List<Bytes> blocks = new ArrayList<>();
  private final Map<Long, LoggedOperation> log = new LinkedHashMap<>();
  private OperationWindow window;
  private long sequence;
  private long redoPoint;

  /** Nothing is known yet. */
  StoredWindow(Duration length, OperationBudget budget, ManualClocks clocks) throws Exception {
    this.length = length;
    this.budget = budget;
    open(clocks);
  }

  /** What is in memory. */
  OperationWindow inMemory() {
    return window;
  }

  /** After a crash, or a move: what is stored is read, by a server with these clocks. */
  void open(ManualClocks clocks) throws Exception {
    window = new OperationWindow(clocks, length, budget);
    for (Bytes block : blocks) {
      window.restore(block, 0, false);
    }
    log.forEach((at, operation) -> window.replay(operation, at));
    window.restored();
  }

  void close() {
    window.close();
  }

  /** The same files and log, for a child of its tablet that is open nowhere yet. */
  StoredWindow copy(ManualClocks clocks) throws Exception {
    StoredWindow copy = new StoredWindow(length, budget, clocks);
    copy.close();
    copy.blocks.addAll(blocks);
    copy.log.putAll(log);
    copy.sequence = sequence;
    copy.redoPoint = redoPoint;
    copy.open(clocks);
    return copy;
  }

  /** Logs an operation that was begun, and has it applied. */
  void apply(ClientOperations.Operation operation, Bytes result) {
    window.queued(operation, ++sequence, result);
    log.put(sequence, operation.logged(result));
    window.done(operation);
  }

  void minorCompact() {
    Bytes block = window.encodeRecent(redoPoint, sequence);
    if (!block.isEmpty()) {
      blocks.add(block);
    }
    window.moveToWritten(sequence);
    redoPoint = sequence;
    log.clear();
  }

  int blocks() {
    return blocks.size();
  }

  /** Makes one block of the first ones, without what may be forgotten. */
  void compactBlocks(int count) throws Exception {
    OperationWindow some = window.ofSameLength();
    List<Bytes> chosen = blocks.subList(0, count);
    for (Bytes block : chosen) {
      some.restore(block, 0, false);
    }
    some.forgetAs(window);
    chosen.clear();
    Bytes block = some.encodeWritten();
    if (!block.isEmpty()) {
      blocks.add(0, block);
    }
  }
}
