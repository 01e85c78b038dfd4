package io.stele.tablet;

import io.stele.log.LogRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A commit log in memory whose flushes are calls of the test. */
final class ManualLog implements TabletLog {
  private record PendingAppend(LogRecord record, CompletableFuture<Void> done) {}

  private final ArrayDeque<PendingAppend> waiting = new ArrayDeque<>();
  private final List<LogRecord> durable = new ArrayList<>();

  /** The most that a record may take. */
  int recordBytesMax = LogRecord.BYTES_MAX;

  private boolean holding;
  private long released;

  /** Whether records wait for {@link #flush}, or are durable at once. */
  void hold(boolean on) {
    holding = on;
    if (!on) {
      flush(Integer.MAX_VALUE);
    }
  }

  @Override
  public CompletableFuture<Void> append(LogRecord record, LogNeed need) {
    PendingAppend next = new PendingAppend(record, new CompletableFuture<>());
    waiting.add(next);
    if (!holding) {
      flush(Integer.MAX_VALUE);
    }
    return next.done;
  }

  @Override
  public int recordBytesMax() {
    return recordBytesMax;
  }

  /** Makes up to {@code count} records durable. */
  void flush(int count) {
    for (int i = 0; i < count && !waiting.isEmpty(); i++) {
      PendingAppend first = waiting.remove();
      durable.add(first.record);
      first.done.complete(null);
    }
  }

  /** Makes all records durable, and tells of the last one first. */
  void flushLastFirst() {
    waiting.forEach(one -> durable.add(one.record));
    while (!waiting.isEmpty()) {
      waiting.removeLast().done.complete(null);
    }
  }

  /** Up to {@code count} records reach the disk, and nobody learns of it; the rest is lost. */
  List<LogRecord> crash(int count) {
    List<LogRecord> all = new ArrayList<>(durable);
    waiting.stream().limit(count).forEach(one -> all.add(one.record));
    return all;
  }

  int waiting() {
    return waiting.size();
  }

  long released() {
    return released;
  }

  @Override
  public void release(long sequence) {
    released = Math.max(released, sequence);
    durable.removeIf(record -> record.sequence() <= released);
  }
}
