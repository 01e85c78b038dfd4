package io.stele.metadata;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.wire.Address;

/**
 * Where a tablet was served when its record was read.
 *
 * @param tablet the tablet
 * @param extent its rows
 * @param server the server that served it
 * @param epoch of the assignment
 */
public record TabletLocation(TabletId tablet, RowRange extent, ServerId server, long epoch) {
  /** Where the server's data plane listens. */
  public Address address() {
    return new Address(server.host(), server.port());
  }
}
