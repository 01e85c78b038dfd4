package io.stele.sstable;

import io.stele.format.MalformedException;
import java.io.IOException;
import java.util.Optional;

/** The last bytes of a file, read at once, and the footer in them. */
final class FileTail {
  private final StoredFile file;
  private final byte[] bytes;
  private final long start;
  private final Footer footer;

  private FileTail(StoredFile file, byte[] bytes, long start, Footer footer) {
    this.file = file;
    this.bytes = bytes;
    this.start = start;
    this.footer = footer;
  }

  static FileTail read(StoredFile file) throws IOException {
    long length = file.length();
    if (length < SSTableFormat.HEADER_BYTES + SSTableFormat.FOOTER_BYTES) {
      throw file.corrupt(0, "no SSTable has only " + length + " bytes");
    }
    byte[] bytes = new byte[(int) Math.min(length, SSTableFormat.TAIL_BYTES)];
    long start = length - bytes.length;
    file.readFully(start, bytes, 0, bytes.length);
    Footer footer;
    try {
      footer = Footer.decode(bytes, bytes.length, file.path().toString());
    } catch (MalformedException e) {
      throw file.corrupt(length - SSTableFormat.FOOTER_BYTES, e.getMessage());
    }
    return new FileTail(file, bytes, start, footer);
  }

  Footer footer() {
    return footer;
  }

  /** A block of the file: from the tail if it is there, or read. */
  Contents block(Blocks blocks, BlockKind kind, Handle handle) throws IOException {
    checkInside(handle);
    Optional<StoredBlock> here = stored(handle);
    return here.isPresent()
        ? blocks.check(kind, handle, here.get(), new byte[0], Blocks.UNLIMITED)
        : blocks.read(kind, handle);
  }

  /** A block inside the file, not checked, if the tail has it. */
  Optional<StoredBlock> stored(Handle handle) {
    return handle.offset() >= start
        ? Optional.of(new StoredBlock(bytes, (int) (handle.offset() - start), true))
        : Optional.empty();
  }

  /** Refuses a handle that cannot be of a block of the file. */
  void checkInside(Handle handle) throws IOException {
    if (handle.offset() < SSTableFormat.HEADER_BYTES
        || handle.length() < SSTableFormat.BLOCK_OVERHEAD_BYTES
        || handle.offset() > file.length() - SSTableFormat.FOOTER_BYTES - handle.length()) {
      throw file.corrupt(
          file.length() - SSTableFormat.FOOTER_BYTES, "there can be no block at " + handle);
    }
  }
}
