package io.stele.client;

import io.stele.model.Bytes;

/**
 * A point in a table at which work on it can be divided.
 *
 * @param row a row key, not necessarily of a row that exists; empty: the table's end
 * @param offsetBytes about how many bytes the rows before it take on disk
 */
public record RowKeySample(Bytes row, long offsetBytes) {}
