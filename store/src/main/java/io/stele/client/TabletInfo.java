package io.stele.client;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import java.util.Optional;

/**
 * A tablet as described by its record in METADATA when the record was read.
 *
 * @param id the tablet
 * @param rows the rows it holds
 * @param server the server that serves it; empty while it is being moved or recovered
 * @param bytes the size of its rows, in SSTables on disk and in memory. If its server could not be
 *     asked, the length of its SSTables, some of which may be shared with a neighbour
 * @param sstables how many SSTables it has
 */
public record TabletInfo(
    TabletId id, RowRange rows, Optional<ServerId> server, long bytes, int sstables) {}
