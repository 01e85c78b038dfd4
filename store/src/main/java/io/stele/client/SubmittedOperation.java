package io.stele.client;

import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.TabletLocation;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.OperationSize;
import io.stele.model.RowOperation;
import io.stele.runtime.Timer;
import io.stele.wire.FilterCodec;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** An operation on its way through a {@link Batcher}. */
final class SubmittedOperation {
  /** A mutation, or an edit, without row, qualifier and value. */
  private static final long OBJECT_BYTES = 64;

  /** What a request of its own costs, in bytes of a buffer. */
  private static final long SINGLE_BYTES = 4 << 10;

  final Batcher.Writer writer;
  final RowQueue row;
  final RowOperation operation;
  final OperationId id;
  final Durability durability;
  final long bytes;
  final Attempts attempts;
  final CompletableFuture<Void> done = new CompletableFuture<>();

  // Guarded by the sender, while it has it.
  Optional<TabletLocation> tablet = Optional.empty(); // Where it was last sent.
  Optional<ServerQueue> queue = Optional.empty(); // In which it waits.
  List<SubmittedOperation> followers = List.of(); // Of its row, in the same batch.

  /**
   * Removes it from a queue when its deadline is over. Cancelled at its end: until then the timer
   * keeps it in memory. Set by whoever takes its next step, which is one thread at a time.
   */
  Optional<Timer> expiry = Optional.empty();

  SubmittedOperation(
      Batcher.Writer writer, RowQueue row, BegunOperation begun, Durability durability) {
    TableRef table = writer.table();
    this.writer = writer;
    this.row = row;
    this.operation = begun.operation();
    this.id = begun.id();
    this.durability = durability;
    this.bytes = bytes(operation);
    this.attempts =
        table.attempts(
            Effect.CHANGE_WITH_ID,
            () -> "changing row \"" + operation.row() + "\" of table " + table.name(),
            begun.deadline());
  }

  /** Ends it: it has been applied. */
  void applied() {
    expiry.ifPresent(Timer::cancel);
    writer.operations().complete(id);
    done.complete(null);
  }

  /** Ends it with the reason why it was not applied, or why that is not known. */
  void failed(Throwable why) {
    try {
      expiry.ifPresent(Timer::cancel);
      writer.operations().fail(id);
    } finally {
      done.completeExceptionally(why); // Whatever is thrown: its caller waits.
    }
  }

  /** Whether it does not travel with others. */
  boolean isSingle() {
    return operation.kind() != RowOperation.Kind.MUTATION;
  }

  /**
   * Roughly the bytes of an operation on the wire; at least its bytes in memory. One that is sent
   * alone counts for what a request costs, so that a buffer does not have thousands under way.
   */
  static long bytes(RowOperation operation) {
    return switch (operation.kind()) {
      case MUTATION -> OBJECT_BYTES + operation.row().length() + bytes((Mutation) operation);
      case CHECK_AND_MUTATE -> {
        CheckAndMutate conditional = (CheckAndMutate) operation;
        yield SINGLE_BYTES
            + operation.row().length()
            + FilterCodec.encode(conditional.predicate()).getSerializedSize()
            + bytes(conditional.ifTrue())
            + bytes(conditional.ifFalse());
      }
      case READ_MODIFY_WRITE -> SINGLE_BYTES + OperationSize.of(operation);
    };
  }

  /** Of its edits, without the row. */
  private static long bytes(Mutation mutation) {
    long bytes = 0;
    for (Edit edit : mutation.edits()) {
      bytes +=
          OBJECT_BYTES
              + switch (edit.kind()) {
                case PUT -> {
                  Edit.Put put = (Edit.Put) edit;
                  yield (long) put.qualifier().length() + put.value().length();
                }
                case DELETE_CELL -> ((Edit.DeleteCell) edit).qualifier().length();
                case DELETE_COLUMN -> ((Edit.DeleteColumn) edit).qualifier().length();
                case DELETE_FAMILY, DELETE_ROW -> 0;
              };
    }
    return bytes;
  }
}
