package io.stele.examples.webtable;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;

/**
 * The list of entries at the end of a zip file, read without reading the file.
 *
 * <pre>
 * file        := local-entry* central-entry* end-record
 * end-record  := "PK" 05 06  .. count u16 @10  size u32 @12  offset u32 @16  comment-length u16 @20
 * central     := "PK" 01 02  .. compressed u32 @20  name, extra, comment lengths u16 @28 30 32
 *                               local offset u32 @42  name @46
 * </pre>
 */
final class ZipDirectory {
  private static final int END_BYTES = 22;
  private static final int END_SIGNATURE = 0x06054b50;
  private static final int CENTRAL_BYTES = 46;
  private static final int CENTRAL_SIGNATURE = 0x02014b50;
  private static final int COMMENT_BYTES_MAX = 0xffff;
  private static final long ZIP64 = 0xffffffffL;

  private ZipDirectory() {}

  /**
   * An entry.
   *
   * @param offset where its local header begins in the file
   * @param compressedBytes how much its data takes in the file
   */
  record Entry(String name, long offset, long compressedBytes) {}

  /**
   * The entries of {@code file} in the order in which they lie in it.
   *
   * @throws IOException if it is no zip file, or one of over 4 GiB or 65535 entries
   */
  static List<Entry> read(FileSystem fs, FileStatus file) throws IOException {
    int tail = (int) Math.min(file.getLen(), END_BYTES + COMMENT_BYTES_MAX);
    try (FSDataInputStream in = fs.open(file.getPath())) {
      ByteBuffer end = read(in, file.getLen() - tail, tail);
      int record = findEnd(end, file);
      int count = Short.toUnsignedInt(end.getShort(record + 10));
      long size = Integer.toUnsignedLong(end.getInt(record + 12));
      long offset = Integer.toUnsignedLong(end.getInt(record + 16));
      if (offset == ZIP64 || count == COMMENT_BYTES_MAX) {
        throw new IOException(
            file.getPath() + " is a zip64 file: unpack it into smaller ones to load it");
      }
      if (offset + size > file.getLen()) {
        throw new IOException(file.getPath() + " is damaged: its directory is outside of it");
      }
      return entries(read(in, offset, (int) size), count, file);
    }
  }

  private static ByteBuffer read(FSDataInputStream in, long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    in.readFully(offset, bytes);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int findEnd(ByteBuffer tail, FileStatus file) throws IOException {
    for (int at = tail.limit() - END_BYTES; at >= 0; at--) {
      if (tail.getInt(at) == END_SIGNATURE
          && Short.toUnsignedInt(tail.getShort(at + 20)) == tail.limit() - at - END_BYTES) {
        return at;
      }
    }
    throw new IOException(file.getPath() + " is no zip file: it has no directory at its end");
  }

  private static List<Entry> entries(ByteBuffer directory, int count, FileStatus file)
      throws IOException {
    List<Entry> entries = new ArrayList<>(count);
    int at = 0;
    for (int i = 0; i < count; i++) {
      if (at + CENTRAL_BYTES > directory.limit() || directory.getInt(at) != CENTRAL_SIGNATURE) {
        throw new EOFException(file.getPath() + " is damaged: entry " + i + " is not one");
      }
      int name = Short.toUnsignedInt(directory.getShort(at + 28));
      int extra = Short.toUnsignedInt(directory.getShort(at + 30));
      int comment = Short.toUnsignedInt(directory.getShort(at + 32));
      int next = at + CENTRAL_BYTES + name + extra + comment;
      if (next > directory.limit()) {
        throw new EOFException(file.getPath() + " is damaged: entry " + i + " is cut off");
      }
      entries.add(
          new Entry(
              StandardCharsets.UTF_8.decode(directory.slice(at + CENTRAL_BYTES, name)).toString(),
              Integer.toUnsignedLong(directory.getInt(at + 42)),
              Integer.toUnsignedLong(directory.getInt(at + 20))));
      at = next;
    }
    entries.sort(Comparator.comparingLong(Entry::offset));
    return entries;
  }
}
