package io.stele.sstable;

import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;

/**
 * What an SSTable records about itself.
 *
 * @param cells number of cells, tombstones included
 * @param tombstones number of tombstones
 * @param rowTombstones number of tombstones of whole rows
 * @param familyTombstones number of tombstones of families in a row
 * @param rows number of different rows
 * @param firstKey column key of the first cell; empty if there is none
 * @param lastKey column key of the last cell; empty if there is none
 * @param minSequence lowest sequence number; 0 if there are no cells
 * @param maxSequence highest sequence number; -1 where there are no cells
 * @param minTimestamp lowest timestamp of a put, in microseconds; 0 if there are no puts
 * @param maxTimestamp highest timestamp of a put, in microseconds; -1 where there are no puts
 * @param highestServerTimestamp what {@link SSTableWriter#highestServerTimestamp} was told, in
 *     microseconds; 0 if it was not
 * @param rawBytes length of all column keys and values together
 * @param dataBytes length of all data blocks in the file
 * @param dataBlocks number of data blocks
 * @param codec how the writer was asked to compress
 * @param bloom what the file's Bloom filter can be asked about
 * @param createdBy version of the program that wrote the file
 */
public record SSTableProperties(
    long cells,
    long tombstones,
    long rowTombstones,
    long familyTombstones,
    long rows,
    Bytes firstKey,
    Bytes lastKey,
    long minSequence,
    long maxSequence,
    long minTimestamp,
    long maxTimestamp,
    long highestServerTimestamp,
    long rawBytes,
    long dataBytes,
    long dataBlocks,
    Codec codec,
    Bloom bloom,
    String createdBy) {}
