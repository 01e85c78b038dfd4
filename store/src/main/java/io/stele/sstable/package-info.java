/**
 * SSTables: immutable files of sorted cells; their writer, reader, block index, Bloom filter and
 * block cache. Internal.
 *
 * <p>A file is written once, front to back, and read by any number of threads. Whatever is read is
 * checked before it is used: damage becomes a {@link io.stele.model.CorruptionException}, never a
 * wrong cell. The layout is in {@link io.stele.sstable.SSTableFormat}.
 */
package io.stele.sstable;
