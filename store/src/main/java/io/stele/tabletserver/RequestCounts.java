package io.stele.tabletserver;

import io.stele.wire.StatusCodec;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a server has answered to the requests of the data plane since it began, whatever became of
 * the tablets. Safe for use by any number of threads.
 */
final class RequestCounts {
  private final LongAdder rowsRead = new LongAdder();
  private final LongAdder operations = new LongAdder();
  private final LongAdder retryLater = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /** Counts rows that a read returned. */
  void read(long rows) {
    rowsRead.add(rows);
  }

  /** Counts a row operation that was applied. */
  void applied() {
    operations.increment();
  }

  /** Counts a request, or an operation of a batch, that was not served because of {@code why}. */
  void notServed(Throwable why) {
    switch (StatusCodec.status(why)) {
      case RETRY_LATER -> retryLater.increment();
      case NOT_FOUND, REFUSED -> refused.increment();
      case OUTCOME_UNKNOWN, CORRUPTION, INTERNAL -> failed.increment();
      case OK, NOT_SERVING_TABLET -> {} // It only says that the tablet is elsewhere.
    }
  }

  /** Rows returned. */
  long rowsRead() {
    return rowsRead.sum();
  }

  /** Row operations applied. */
  long operations() {
    return operations.sum();
  }

  /** What may succeed later. */
  long retryLater() {
    return retryLater.sum();
  }

  /** What was wrong with the request itself. */
  long refused() {
    return refused.sum();
  }

  /** What failed because of the server or its data, or has an unknown outcome. */
  long failed() {
    return failed.sum();
  }
}
