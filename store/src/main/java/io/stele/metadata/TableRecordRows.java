package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records that are rows of a table: the root tablet or METADATA, over the data plane. A write
 * whose answer is given up leaves its outcome unknown.
 *
 * <p>Safe for use by any number of threads.
 */
final class TableRecordRows implements RecordRows {
  private static final Logger LOG = LoggerFactory.getLogger(TableRecordRows.class);
  private static final int UPDATES_UNDER_WAY = 64;
  private static final Duration SAID_EVERY = Duration.ofMinutes(1);
  private static final String GIVEN_UP = " was given up: a server was lost, or METADATA changed";

  private final ProcessRuntime runtime;
  private final TabletAccess access;
  private final TableId table;
  private final Duration timeout;
  private final RequestGuard guard;

  /** The rows of {@code table}. */
  TableRecordRows(
      ProcessRuntime runtime,
      TabletAccess access,
      TableId table,
      Duration timeout,
      RequestGuard guard) {
    this.runtime = runtime;
    this.access = access;
    this.table = table;
    this.timeout = timeout;
    this.guard = guard;
  }

  @Override
  public List<Row> scan(RowRange range, int limit) throws IOException {
    Deadline deadline = Deadline.after(runtime, timeout);
    List<Row> rows = new ArrayList<>();
    Bytes next = range.start();
    while (rows.size() < limit && range.isBeforeEnd(next)) {
      checkServed(next, "nothing was read");
      RowQuery query =
          RowQuery.ALL
              .range(new RowRange(next, range.end()))
              .versions(1)
              .limit(limit - rows.size());
      TabletAccess.Rows page =
          awaitRead(access.rows(table, next, query, deadline), "reading rows of " + table);
      rows.addAll(page.rows());
      if (page.next().isEmpty()) {
        break; // The table's last tablet has no more.
      }
      next = page.next().get();
    }
    return rows;
  }

  private void checkServed(Bytes row, String outcome) throws IOException {
    if (table.equals(TableId.METADATA) && !guard.isServed(row)) {
      throw new IOException(
          "the tablet of METADATA with row \"" + row + "\" is not served now: " + outcome);
    }
  }

  private <T> T awaitRead(CompletableFuture<T> answer, String what) throws IOException {
    if (!isAnswered(answer, what)) {
      throw new IOException(what + GIVEN_UP);
    }
    return Futures.await(runtime, answer, what);
  }

  /** Waits for an answer; whether one came, or it was given up. */
  private boolean isAnswered(CompletableFuture<?> answer, String what)
      throws InterruptedIOException {
    CompletableFuture<Void> end = guard.overtaken();
    CompletableFuture<Object> either =
        CompletableFuture.anyOf(answer.handle((value, failure) -> Boolean.TRUE), end);
    try {
      while (!runtime.await(either, SAID_EVERY)) {
        LOG.warn("Still {}: no answer yet", what);
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, what);
    }
    return answer.isDone() || !answer.cancel(false);
  }

  @Override
  public boolean update(Condition condition, Mutation mutation) throws IOException {
    return outcome(send(new Update(condition, mutation)));
  }

  @Override
  public void updateAll(Collection<Update> updates) throws IOException {
    ArrayDeque<Sent> underWay = new ArrayDeque<>();
    for (Update one : updates) {
      if (underWay.size() == UPDATES_UNDER_WAY) {
        outcome(underWay.remove());
      }
      underWay.add(send(one));
    }
    for (Sent one : underWay) {
      outcome(one);
    }
  }

  /** An update that was sent; {@code matched}: whether its predicate held. */
  private record Sent(Update update, CompletableFuture<Boolean> matched) {}

  private Sent send(Update update) throws IOException {
    checkServed(update.mutation().row(), "it was not changed");
    Condition condition = update.condition();
    Filter newest =
        condition
            .value()
            .map(value -> Filter.newestIs(condition.column(), value))
            .orElse(new Filter.ColumnIs(condition.column()));
    CheckAndMutate operation =
        condition.value().isPresent()
            ? CheckAndMutate.ifAny(newest, update.mutation())
            : CheckAndMutate.ifNone(newest, update.mutation());
    return new Sent(
        update, access.checkAndMutate(table, operation, Deadline.after(runtime, timeout)));
  }

  private boolean outcome(Sent sent) throws IOException {
    Update update = sent.update();
    String what =
        "changing row \""
            + update.mutation().row()
            + "\" of "
            + table
            + " (it may or may not have been applied)";
    if (!isAnswered(sent.matched(), what)) {
      throw new SteleException(SteleException.Code.OUTCOME_UNKNOWN, what + GIVEN_UP);
    }
    boolean matched = Futures.await(runtime, sent.matched(), what);
    return matched == update.condition().value().isPresent();
  }
}
