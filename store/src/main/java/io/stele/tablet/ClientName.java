package io.stele.tablet;

import io.stele.model.OperationId;

/**
 * The client of an {@link OperationId}: a random number of 128 bits. Names are ordered by this
 * number.
 */
record ClientName(long high, long low) implements Comparable<ClientName> {
  static ClientName of(OperationId id) {
    return new ClientName(id.clientHigh(), id.clientLow());
  }

  @Override
  public int compareTo(ClientName other) {
    int byHigh = Long.compare(high, other.high);
    return byHigh != 0 ? byHigh : Long.compare(low, other.low);
  }
}
