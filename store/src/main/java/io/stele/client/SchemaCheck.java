package io.stele.client;

import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Refuses what a table's servers would refuse, before anything is sent: families that it does not
 * have, values that are too large, mutations without edits.
 *
 * <p>The schema may be older than the table's; so it is read again before a family is said not to
 * exist. Safe for use by any number of threads.
 */
final class SchemaCheck {
  private static final CompletableFuture<Void> GOOD = CompletableFuture.completedFuture(null);

  private final Source source;
  private final Executor executor;
  private final long valueBytesMax;
  private volatile TableSchema schema;

  /** Where the schema comes from; reading it blocks. */
  @FunctionalInterface
  interface Source {
    /** The schema as it is now; throws NOT_FOUND where the table is gone. */
    TableSchema read() throws IOException;
  }

  /**
   * A check against {@code schema}.
   *
   * @param executor on which the schema may be read again
   * @param valueBytesMax the largest value, in bytes
   */
  SchemaCheck(TableSchema schema, Source source, Executor executor, long valueBytesMax) {
    this.schema = schema;
    this.source = source;
    this.executor = executor;
    this.valueBytesMax = valueBytesMax;
  }

  /** The schema as it was last read. */
  TableSchema schema() {
    return schema;
  }

  /**
   * Completes where {@code operation} may be sent, fails with why not. Mostly it is done at once.
   */
  CompletableFuture<Void> operation(RowOperation operation) {
    Optional<SteleException> refusal = refusal(operation);
    return refusal.isPresent()
        ? CompletableFuture.failedFuture(refusal.get())
        : families(families(operation));
  }

  /** Completes where {@code query} may be sent, fails with why not. */
  CompletableFuture<Void> query(RowQuery query) {
    if (query.families().isEmpty() && query.columns().isEmpty()) {
      return GOOD;
    }
    return unknown(query.families()).isEmpty()
            && unknown(query.columns().stream().map(Column::family).toList()).isEmpty()
        ? GOOD
        : readAgain(
            () -> {
              requireKnown(query.families());
              requireKnown(query.columns().stream().map(Column::family).toList());
            });
  }

  private CompletableFuture<Void> families(List<String> families) {
    return unknown(families).isEmpty() ? GOOD : readAgain(() -> requireKnown(families));
  }

  private CompletableFuture<Void> readAgain(Runnable check) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            schema = source.read();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          check.run();
        },
        executor);
  }

  private void requireKnown(List<String> families) {
    unknown(families)
        .ifPresent(
            family -> {
              throw SteleException.notFound(
                  "table "
                      + schema.name()
                      + " has no family \""
                      + Bytes.of(family)
                      + "\": it has "
                      + String.join(
                          ", ", schema.families().stream().map(ColumnFamily::name).toList())
                      + ". Add the family to the table first");
            });
  }

  private Optional<String> unknown(List<String> families) {
    TableSchema known = schema;
    for (String family : families) {
      if (known.family(family).isEmpty()) {
        return Optional.of(family);
      }
    }
    return Optional.empty();
  }

  private static List<String> families(RowOperation operation) {
    if (operation instanceof Mutation mutation) {
      return mutation.edits().stream().flatMap(edit -> family(edit).stream()).distinct().toList();
    }
    if (operation instanceof ReadModifyWrite change) {
      return change.rules().stream().map(ReadModifyWrite.Rule::family).distinct().toList();
    }
    CheckAndMutate conditional = (CheckAndMutate) operation;
    List<String> ifTrue = families(conditional.ifTrue());
    List<String> ifFalse = families(conditional.ifFalse());
    return java.util.stream.Stream.concat(ifTrue.stream(), ifFalse.stream()).distinct().toList();
  }

  private static Optional<String> family(Edit edit) {
    if (edit instanceof Edit.Put put) {
      return Optional.of(put.family());
    } else if (edit instanceof Edit.DeleteCell delete) {
      return Optional.of(delete.family());
    } else if (edit instanceof Edit.DeleteColumn delete) {
      return Optional.of(delete.family());
    } else if (edit instanceof Edit.DeleteFamily delete) {
      return Optional.of(delete.family());
    }
    return Optional.empty(); // A deleted row.
  }

  private Optional<SteleException> refusal(RowOperation operation) {
    if (operation instanceof Mutation mutation) {
      return mutation.edits().isEmpty()
          ? Optional.of(
              SteleException.refused(
                  "a mutation of row \""
                      + mutation.row()
                      + "\" of table "
                      + schema.name()
                      + " has no edits: put or delete something"))
          : oversize(mutation);
    }
    if (operation instanceof CheckAndMutate conditional) {
      return oversize(conditional.ifTrue()).or(() -> oversize(conditional.ifFalse()));
    }
    return ((ReadModifyWrite) operation)
        .rules().stream()
            .filter(rule -> rule instanceof ReadModifyWrite.Append)
            .map(rule -> (ReadModifyWrite.Append) rule)
            .flatMap(a -> oversize(operation.row(), a.family(), a.qualifier(), a.suffix()).stream())
            .findFirst();
  }

  private Optional<SteleException> oversize(Mutation mutation) {
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put && put.value().length() > valueBytesMax) {
        return oversize(mutation.row(), put.family(), put.qualifier(), put.value());
      }
    }
    return Optional.empty();
  }

  private Optional<SteleException> oversize(
      Bytes row, String family, Bytes qualifier, Bytes value) {
    return value.length() <= valueBytesMax
        ? Optional.empty()
        : Optional.of(
            SteleException.refused(
                "the value of "
                    + new Column(family, qualifier)
                    + " in row \""
                    + row
                    + "\" of table "
                    + schema.name()
                    + " has "
                    + value.length()
                    + " bytes: the limit is "
                    + valueBytesMax
                    + " ("
                    + Keys.VALUE_BYTES_MAX.name()
                    + ")"));
  }
}
