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
import io.stele.model.RowOperation;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.util.Optional;

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
