package io.stele.log;

import io.stele.model.ServerId;

/**
 * What a segment says of itself.
 *
 * @param kind whose records it holds
 * @param server the process that wrote it
 * @param number its place among the segments of its kind, from 1 on
 * @param previous the number of the segment before it; 0 for the first
 * @param previousAcknowledgedBytes how far the segment before it was acknowledged when this one was
 *     begun: what it has less than that has been lost
 */
record SegmentHeader(
    LogKind kind, ServerId server, long number, long previous, long previousAcknowledgedBytes) {}
