package io.stele.client;

import io.stele.model.RowOperation;
import java.util.Objects;

/**
 * An operation of any kind, as a value of map output. MapReduce compares the class of each value
 * with the one that the job names, exactly. So a job whose mappers send operations of several kinds
 * to reducers names this one, and its reducer takes them out:
 *
 * <pre>{@code
 * job.setMapOutputValueClass(AnyOperation.class);
 * context.write(row, new AnyOperation(increment));         // in the mapper
 * context.write(row, value.operation());                   // in the reducer
 * }</pre>
 *
 * <p>{@link ModelSerialization} serializes it.
 */
public record AnyOperation(RowOperation operation) {
  /** Refuses null where it is made: it could only fail later, when MapReduce writes it. */
  public AnyOperation {
    Objects.requireNonNull(operation, "operation");
  }
}
