package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An operation that is sent in a request of its own: one that looks at the row first.
 *
 * @param operation conditional or read-modify-write
 * @param id the same for each attempt
 * @param operations whose id it is
 */
record SingleOperation(
    TableRef table,
    RowOperation operation,
    OperationId id,
    Durability durability,
    Operations operations) {
  /** The request, for {@link Tablets#send}. */
  TabletAccess.RowRequest request() {
    return new TabletAccess.RowRequest(
        table.id(),
        operation.row(),
        table.purpose(
            Effect.CHANGE_WITH_ID,
            () -> "changing row \"" + operation.row() + "\" of table " + table.name()),
        at -> TabletAccess.Message.of(message(at)));
  }

  /**
   * What a row has after a read-modify-write operation that was answered: it was applied.
   *
   * @throws SteleException OUTCOME_UNKNOWN if the answer does not tell
   */
  static Row newCells(TabletAccess.Answer answer, TableRef table, ReadModifyWrite operation) {
    List<Row> rows;
    try {
      rows = Scan.rows(answer);
    } catch (SteleException e) {
      throw SteleException.outcomeUnknown(lost(table, operation, e.getMessage()), e);
    }
    return rows.stream()
        .findFirst()
        .orElseThrow(
            () ->
                new SteleException(
                    SteleException.Code.OUTCOME_UNKNOWN,
                    lost(
                        table,
                        operation,
                        "the first answer was lost, and the server does not keep results that"
                            + " large")));
  }

  private static String lost(TableRef table, ReadModifyWrite operation, @Nullable String why) {
    return "the change of row \""
        + operation.row()
        + "\" of table "
        + table.name()
        + " was applied, but "
        + why
        + ": read the row";
  }

  private RequestProto.Builder message(TabletLocation at) {
    TabletProto tablet = QueryCodec.encode(at.tablet(), at.epoch());
    RequestProto.Builder request = RequestProto.newBuilder();
    return switch (operation.kind()) {
      case CHECK_AND_MUTATE ->
          request.setCheckAndMutate(
              OperationCodec.encode(
                  tablet,
                  Optional.of(id),
                  operations.outstanding(),
                  durability,
                  (CheckAndMutate) operation));
      case READ_MODIFY_WRITE ->
          request.setReadModifyWrite(
              OperationCodec.encode(
                  tablet,
                  Optional.of(id),
                  operations.outstanding(),
                  durability,
                  (ReadModifyWrite) operation));
      case MUTATION ->
          throw new IllegalStateException(
              "mutations go in batches: " + ((Mutation) operation).row());
    };
  }
}
