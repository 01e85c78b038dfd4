package io.stele.benchmarks;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One row of a tablet, written again and again: numbers that count up, one write after the other
 * with a short pause, until it is stopped or one fails. Safe for use by any number of threads.
 */
final class RowWrites {
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Table table;
  private final Bytes tablet;
  private final Bytes row;

  @GuardedBy("this")
  private long acknowledged;

  @GuardedBy("this")
  private boolean failed;

  @GuardedBy("this")
  private boolean stopped;

  @GuardedBy("this")
  private long longestNanos;

  private RowWrites(Table table, Bytes tablet) {
    this.table = table;
    this.tablet = tablet;
    this.row = tablet.isEmpty() ? Bytes.of("0") : tablet;
  }

  /** Begins to write to a row of each tablet. */
  static List<RowWrites> toEachTablet(Table table) throws IOException {
    List<RowWrites> writes = new ArrayList<>();
    for (TabletInfo one : table.tablets()) {
      writes.add(new RowWrites(table, one.rows().start()));
    }
    writes.forEach(one -> one.write(1));
    return writes;
  }

  /** The longest that each took, ascending, in milliseconds. */
  static List<Long> longestMillis(List<RowWrites> writes) {
    return writes.stream().map(RowWrites::longestMillis).sorted().toList();
  }

  private void write(long number) {
    if (isStopped()) {
      return;
    }
    long began = System.nanoTime();
    table
        .mutateAsync(Mutation.of(row).put("f", "q", Long.toString(number)))
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                failed(number, failure);
                return;
              }
              acknowledged(number, System.nanoTime() - began);
              SystemRuntime.INSTANCE.after(PAUSE, () -> write(number + 1));
            });
  }

  private synchronized void acknowledged(long number, long nanos) {
    acknowledged = number;
    longestNanos = Math.max(longestNanos, nanos);
  }

  /** Begins no further write; the last may be under way, or about to begin. */
  synchronized void stop() {
    stopped = true;
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  private synchronized void failed(long number, Throwable why) {
    failed = true;
    System.out.printf("write %d of row %s failed: %s%n", number, row, why);
  }

  /** The first row of its tablet when it began. */
  Bytes tablet() {
    return tablet;
  }

  /** Forgets how long writes took. */
  synchronized void reset() {
    longestNanos = 0;
  }

  /** The longest that a write took which is done, since the last reset. */
  private synchronized long longestMillis() {
    return longestNanos / 1_000_000;
  }

  /** How many writes were acknowledged. */
  synchronized long acknowledged() {
    return acknowledged;
  }

  /**
   * Whether no write has failed, and what is read is at least what was acknowledged before, and at
   * most one write ahead of what is acknowledged after.
   */
  boolean isSound() throws IOException {
    long before = acknowledged();
    long read =
        table
            .readRow(row)
            .map(found -> Long.parseLong(found.cells().get(0).value().toUtf8()))
            .orElse(0L);
    synchronized (this) {
      return !failed && before <= read && read <= acknowledged + 1;
    }
  }
}
