package io.stele.sstable;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.Crc32c;
import io.stele.format.MalformedException;
import io.stele.model.SteleException;

/**
 * The fixed end of a file, and the fixed start, which repeats the most important part of it.
 *
 * @param properties the block of the properties
 * @param index the root of the index
 * @param bloom the root of the Bloom filter's index; {@link Handle#NONE}: there is no filter
 * @param fileId distinguishes the file's blocks from those of other files
 */
record Footer(Handle properties, Handle index, Handle bloom, long fileId) {
  private static final int CRC_AT = SSTableFormat.FOOTER_BYTES - Long.BYTES - Integer.BYTES;

  /** The footer's bytes. */
  byte[] encode() {
    ByteWriter out = new ByteWriter(SSTableFormat.FOOTER_BYTES);
    for (Handle handle : new Handle[] {properties, index, bloom}) {
      out.writeLong(handle.offset()).writeInt(handle.length());
    }
    out.writeLong(fileId).writeInt(SSTableFormat.FOOTER_BYTES).writeInt(SSTableFormat.VERSION);
    out.writeInt(Crc32c.of(out.array(), 0, out.size())).writeLong(SSTableFormat.MAGIC);
    return out.toByteArray();
  }

  /** The bytes a file of this id begins with. */
  static byte[] header(long fileId) {
    ByteWriter out = new ByteWriter(SSTableFormat.HEADER_BYTES);
    out.writeLong(SSTableFormat.MAGIC).writeInt(SSTableFormat.VERSION).writeLong(fileId);
    return out.writeInt(Crc32c.of(out.array(), 0, out.size())).toByteArray();
  }

  /** The file id in a file's first bytes. */
  static long fileIdInHeader(byte[] bytes) throws MalformedException {
    ByteReader in = new ByteReader(bytes, 0, SSTableFormat.HEADER_BYTES);
    if (in.readLong() != SSTableFormat.MAGIC) {
      throw new MalformedException(0, "not an SSTable: it does not begin with the magic number");
    }
    in.readInt();
    long fileId = in.readLong();
    if (in.readInt() != Crc32c.of(bytes, 0, SSTableFormat.HEADER_BYTES - SSTableFormat.CRC_BYTES)) {
      throw new MalformedException(0, "the header does not match its checksum");
    }
    return fileId;
  }

  /**
   * The footer that ends at {@code end} in {@code bytes}, of which at least {@link
   * SSTableFormat#FOOTER_BYTES} are before {@code end}.
   *
   * @param name the file's, for messages
   * @throws SteleException REFUSED, where the footer is whole and of a newer version
   */
  static Footer decode(byte[] bytes, int end, String name) throws MalformedException {
    int start = end - SSTableFormat.FOOTER_BYTES;
    ByteReader fixed = new ByteReader(bytes, end - 20, 20);
    int size = fixed.readInt();
    int version = fixed.readInt();
    int crc = fixed.readInt();
    if (fixed.readLong() != SSTableFormat.MAGIC) {
      throw new MalformedException(
          0, "not an SSTable, or its end is missing: it does not end with the magic number");
    }
    if (size < 20
        || size > end
        || crc != Crc32c.of(bytes, end - size, size - Long.BYTES - Integer.BYTES)) {
      throw new MalformedException(CRC_AT, "the footer does not match its checksum");
    }
    if (version > SSTableFormat.VERSION) {
      throw SteleException.refused(
          name
              + " is an SSTable of format version "
              + version
              + ", written by a newer version of Stele; this one reads versions up to "
              + SSTableFormat.VERSION
              + ": upgrade Stele");
    }
    if (version < 1 || size != SSTableFormat.FOOTER_BYTES) {
      throw new MalformedException(
          0, "a footer of version " + version + " cannot have " + size + " bytes");
    }
    ByteReader in = new ByteReader(bytes, start, SSTableFormat.FOOTER_BYTES);
    return new Footer(handle(in), handle(in), handle(in), in.readLong());
  }

  private static Handle handle(ByteReader in) throws MalformedException {
    return new Handle(in.readLong(), in.readInt());
  }
}
