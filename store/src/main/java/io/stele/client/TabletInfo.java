package io.stele.client;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import java.util.Optional;

/**
 * A tablet as its record in METADATA tells of it, at the moment the record was read.
 *
 * @param id the tablet
 * @param rows the rows it holds
 * @param server who serves it; empty while it is being moved or recovered
 * @param bytes the size of its SSTables on disk. An SSTable that two tablets share since a split
 *     counts for both, until a compaction has written it anew; what is in memory does not count
 * @param sstables how many SSTables it has
 */
public record TabletInfo(
    TabletId id, RowRange rows, Optional<ServerId> server, long bytes, int sstables) {}
