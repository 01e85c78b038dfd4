package io.stele.sstable;

/**
 * A block as stored in the file, not yet checked.
 *
 * <p>Not a record: it is made for every block that is read.
 */
final class StoredBlock {
  private final byte[] bytes;
  private final int at;
  private final boolean shared;

  /**
   * @param bytes holds the block from {@code at} on
   * @param shared whether the array will be reused
   */
  StoredBlock(byte[] bytes, int at, boolean shared) {
    this.bytes = bytes;
    this.at = at;
    this.shared = shared;
  }

  byte[] bytes() {
    return bytes;
  }

  int at() {
    return at;
  }

  boolean isShared() {
    return shared;
  }
}
