package io.stele.tablet;

import io.stele.model.Bytes;

/**
 * A row that cuts a tablet.
 *
 * @param row the row; in the last sample the tablet's end
 * @param offsetBytes about how many bytes of SSTables are in the tablet's rows before it
 */
public record RowSample(Bytes row, long offsetBytes) {}
