package io.stele.model;

import java.util.random.RandomGenerator;

/**
 * The identity of one row operation. It tells a retry from a new operation, so that the operation
 * is applied once.
 *
 * <p>A client draws {@code clientHigh} and {@code clientLow} once, at random, and numbers its
 * operations from 1 on. A task of a job derives all three from the job, the task and the record, so
 * that another attempt uses the same ids.
 *
 * @param clientHigh upper half of the client's 128-bit name
 * @param clientLow lower half of the client's 128-bit name
 * @param number the operation's number at its client, from 1 on
 */
public record OperationId(long clientHigh, long clientLow, long number) {
  /** The highest number in a request: all operations of its client are below the next number. */
  public static final long NUMBER_MAX = Long.MAX_VALUE - 1;

  public OperationId {
    if (number < 1) {
      throw new IllegalArgumentException("operation numbers start at 1, not " + number);
    }
  }

  /** The first operation of a new client. */
  public static OperationId first(RandomGenerator random) {
    return new OperationId(random.nextLong(), random.nextLong(), 1);
  }

  @Override
  public String toString() {
    return String.format("%016x%016x-%d", clientHigh, clientLow, number);
  }
}
