package io.stele.log;

import io.stele.model.ServerId;
import io.stele.model.TabletKind;

/**
 * What a segment says of itself when it is created, before it is known which segment will precede
 * it: see {@link SegmentLink}.
 *
 * @param kind whose records it holds
 * @param server the process that wrote it
 * @param number its place among the segments of its kind, from 1 on
 */
record SegmentHeader(TabletKind kind, ServerId server, long number) {}
