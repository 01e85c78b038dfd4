package io.stele.sstable;

import java.util.Optional;

/**
 * The layout of an SSTable, version 1. Numbers are little-endian; varints are those of {@link
 * io.stele.format.ByteWriter}. The same is drawn in {@code docs/formats/sstable.md}.
 *
 * <pre>
 * file       := header block* footer
 * header     := magic:u64 version:u32 file-id:u64 crc:u32             crc of the 20 bytes before it
 * block      := length:u32 raw-length:u32 kind:u8 codec:u8 contents crc:u32
 *                                                                    contents: length bytes; raw-length when uncompressed
 *                                                                    crc of all before it, then file-id:u64, block-offset:u64
 * kind       := 1 data | 2 index | 3 Bloom filter | 4 Bloom filter index | 5 properties | 6 meta
 * codec      := 0 none | 1 Snappy | 2 deflate | 3 LZ4 | 4, 5 Zstandard  see io.stele.format.Compression
 *
 * data       := a cell block with restarts                           see io.stele.format.CellBlockWriter
 * index      := level:u8 count:varint entry*                         level 0: of data or Bloom filter blocks; n: of index blocks n - 1
 * entry      := shared:varint unshared:varint bytes                  the entry's key; its first bytes are the last entry's
 *               gap-and-flag:varlong length:varint                   where the block is: gap * 2 + continues
 * Bloom      := probes:u8 bits                                       see io.stele.sstable.BloomBlock
 * properties := schema:prefixed-bytes record                         Avro: the writer's schema as JSON, the record in binary
 * meta       := opaque bytes
 *
 * footer     := properties:handle index:handle bloom:handle file-id:u64 size:u32 version:u32 crc:u32 magic:u64
 *                                                                    crc of all before it; bloom all 0: there is none
 * handle     := offset:u64 length:u32                                a whole block
 * </pre>
 *
 * <p>The key of an index entry is the shortest that is above the last key before the block and not
 * above its first; of the first entry it is empty. Where one column's versions go over from the
 * block before, it is that column's key and the entry <em>continues</em>. So a lookup begins in the
 * last block whose key is not above the one looked for (the one before that if it is equal and
 * continues), and a row that is in one block is found, or not, with that block alone. The gap is
 * the distance from the end of the block of the entry before, or from the file's start.
 *
 * <p>Index and Bloom filter blocks are written between the data blocks as they fill up, so that a
 * writer's memory is bounded; their roots, the properties and the footer are last, so that a reader
 * opens the file with one read of its tail. A block's checksum covers its file and place, so that
 * an intact block in the wrong place is noticed. Headers and footers of all versions end as this
 * one's do from {@code size} on, so that any version is recognized by all.
 */
final class SSTableFormat {
  /** What a header begins and a footer ends with: "SteleSST". */
  static final long MAGIC = 0x5453_5365_6c65_7453L;

  /** The version written; also the newest that can be read. */
  static final int VERSION = 1;

  static final int HEADER_BYTES = 24;
  static final int FOOTER_BYTES = 64;
  static final int BLOCK_HEADER_BYTES = 10;
  static final int CRC_BYTES = 4;

  /** What a block takes beside its contents. */
  static final int BLOCK_OVERHEAD_BYTES = BLOCK_HEADER_BYTES + CRC_BYTES;

  /**
   * More bytes than any block has of contents: the largest has a single cell, whose value has at
   * most 1 GiB, as {@code stele.value.bytes.max} could once be that much. A block whose own header,
   * not checked yet, says more is damaged: memory is not taken for it.
   */
  static final int CONTENTS_BYTES_MAX = (1 << 30) + (64 << 20);

  /** What is read to open a file: holds footer, properties and roots of all but unusual files. */
  static final int TAIL_BYTES = 64 << 10;

  /** The most levels an index may have: more than any file needs. */
  static final int INDEX_LEVELS_MAX = 40;

  /** What a file says it was made by. */
  static final String CREATED_BY =
      Optional.ofNullable(SSTableFormat.class.getPackage().getImplementationVersion())
          .map(version -> "stele " + version)
          .orElse("stele");

  private SSTableFormat() {}
}
