package io.stele.client;

import io.stele.model.OperationRules;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Refuses what a table's servers would refuse, before anything is sent, by the rules of {@link
 * OperationRules}.
 *
 * <p>The schema held here may be older than the table's. So it is read again before a family is
 * said not to exist, and only then. Safe for use by any number of threads.
 */
final class SchemaCheck {
  private static final CompletableFuture<Void> GOOD = CompletableFuture.completedFuture(null);

  private final Source source;
  private final long valueBytesMax;
  private volatile OperationRules rules;

  /** Where the schema comes from. */
  @FunctionalInterface
  interface Source {
    /** The schema as it is now, within a time limit; fails with NOT_FOUND if the table is gone. */
    CompletableFuture<TableSchema> read(Deadline deadline);
  }

  /**
   * A check against {@code schema}.
   *
   * @param valueBytesMax the largest value, in bytes
   */
  SchemaCheck(TableSchema schema, Source source, long valueBytesMax) {
    this.rules = new OperationRules(schema);
    this.source = source;
    this.valueBytesMax = valueBytesMax;
  }

  /** The schema as it was last read. */
  TableSchema schema() {
    return rules.schema();
  }

  /**
   * Completes where {@code operation} may be sent, fails with a {@link SteleException} that says
   * why not: never OUTCOME_UNKNOWN. Usually it completes at once, and always by {@code deadline}.
   */
  CompletableFuture<Void> operation(RowOperation operation, Deadline deadline) {
    return check(current -> current.check(operation, valueBytesMax), deadline);
  }

  /** Like {@link #operation}, for {@code query}. */
  CompletableFuture<Void> query(RowQuery query, Deadline deadline) {
    return check(current -> current.check(query), deadline);
  }

  private CompletableFuture<Void> check(Consumer<OperationRules> check, Deadline deadline) {
    try {
      check.accept(rules);
      return GOOD;
    } catch (SteleException e) {
      return e.code() == SteleException.Code.NOT_FOUND
          ? readAgain(check, deadline)
          : CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<Void> readAgain(Consumer<OperationRules> check, Deadline deadline) {
    return source
        .read(deadline)
        .handle(
            (schema, failure) -> {
              if (failure != null) {
                throw notSent(Futures.cause(failure));
              }
              OperationRules fresh = new OperationRules(schema);
              rules = fresh;
              check.accept(fresh);
              return null;
            });
  }

  /** Whatever kept the schema from being read, nothing was sent: the outcome is known. */
  private static SteleException notSent(Throwable cause) {
    return cause instanceof SteleException known
        ? known
        : new SteleException(
            SteleException.Code.RETRY_LATER,
            "nothing was sent, as the table's schema could not be read: " + cause,
            cause);
  }
}
