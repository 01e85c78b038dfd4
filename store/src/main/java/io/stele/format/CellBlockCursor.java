package io.stele.format;

import java.io.IOException;
import java.util.Arrays;

/**
 * Reads a block that {@link CellBlockWriter} wrote.
 *
 * <p>Values are not copied: {@link #valueArray()} is the block's own array. A block that no writer
 * can have written gives a {@link MalformedException}; the checksum beside the block finds all
 * other damage. Not safe for use by several threads; any number of cursors may read one array.
 */
public final class CellBlockCursor implements CellCursor {
  private static final byte[] NOTHING = new byte[0];

  private byte[] block = NOTHING;
  private int start;
  private int cellsEnd;
  private int restartCount;
  private int position;
  private int nextRestart;
  private int nextRestartPosition = -1;
  private byte[] key = new byte[64];
  private int keyLength;
  private long timestamp;
  private long sequence;
  private int ordinal;
  private CellType type = CellType.PUT;
  private int valueOffset;
  private int valueLength;

  private CellBlockCursor() {}

  /** Reads a block written by a {@link CellBlockWriter#sequential} writer. */
  public static CellBlockCursor sequential(byte[] block, int offset, int length) {
    CellBlockCursor cursor = new CellBlockCursor();
    cursor.block = block;
    cursor.start = offset;
    cursor.position = offset;
    cursor.cellsEnd = offset + length;
    return cursor;
  }

  /** Moves back before the first cell. */
  public void rewind() throws MalformedException {
    rewind(start, 0);
  }

  /** Reads a block written by a {@link CellBlockWriter#searchable} writer. */
  public static CellBlockCursor searchable(byte[] block, int offset, int length)
      throws MalformedException {
    CellBlockCursor cursor = new CellBlockCursor();
    cursor.resetSearchable(block, offset, length);
    return cursor;
  }

  /** A cursor over nothing, for {@link #resetSearchable}. */
  public static CellBlockCursor empty() {
    return new CellBlockCursor();
  }

  /**
   * Moves before the first cell of another block and reuses its own memory. The block is one
   * written by a {@link CellBlockWriter#searchable} writer.
   */
  public void resetSearchable(byte[] newBlock, int offset, int length) throws MalformedException {
    restartCount = 0;
    position = cellsEnd;
    if (length < Integer.BYTES) {
      throw new MalformedException(
          length, "a block of " + length + " bytes has no count of restarts");
    }
    int count = ByteReader.intAt(newBlock, offset + length - Integer.BYTES);
    long cells = length - Integer.BYTES - (long) count * Integer.BYTES;
    if (count < 0 || cells < 0 || (count == 0) != (cells == 0)) {
      throw new MalformedException(
          length, "a block of " + length + " bytes cannot have " + count + " restarts");
    }
    block = newBlock;
    start = offset;
    cellsEnd = offset + (int) cells;
    restartCount = count;
    rewind();
  }

  @Override
  public boolean seek(byte[] target, int targetLength) throws IOException {
    int low = 0;
    int high = restartCount - 1;
    while (low < high) { // The last restart whose key is below the target.
      int middle = (low + high + 1) >>> 1;
      if (compareRestart(middle, target, targetLength) < 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (restartCount == 0) {
      rewind();
    } else {
      restart(low);
    }
    while (next()) {
      if (compareKey(target, targetLength) >= 0) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean next() throws IOException {
    if (position >= cellsEnd) {
      return false;
    }
    if (position == nextRestartPosition) {
      rewind(position, nextRestart + 1);
    }
    int flags = block[position++];
    int code = flags & CellBlockWriter.TYPE_MASK;
    if (code >= CellType.COUNT) {
      throw malformed("there is no cell type " + code);
    }
    type = CellType.of(code);
    if ((flags & CellBlockWriter.SAME_KEY) == 0) {
      readKey();
    }
    if ((flags & CellBlockWriter.SAME_TIMESTAMP) == 0) {
      timestamp += readZigzag();
    }
    if ((flags & CellBlockWriter.SAME_SEQUENCE) == 0) {
      sequence += readZigzag();
    }
    ordinal = (flags & CellBlockWriter.ZERO_ORDINAL) != 0 ? 0 : readSize();
    valueLength = (flags & CellBlockWriter.EMPTY_VALUE) != 0 ? 0 : readSize();
    if (valueLength > cellsEnd - position) {
      throw malformed("a value of " + valueLength + " bytes goes past the block's end");
    }
    valueOffset = position;
    position += valueLength;
    return true;
  }

  @Override
  public byte[] key() {
    return key;
  }

  @Override
  public int keyLength() {
    return keyLength;
  }

  @Override
  public long timestamp() {
    return timestamp;
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public int ordinal() {
    return ordinal;
  }

  @Override
  public CellType type() {
    return type;
  }

  @Override
  public byte[] valueArray() {
    return block;
  }

  @Override
  public int valueOffset() {
    return valueOffset;
  }

  @Override
  public int valueLength() {
    return valueLength;
  }

  private void readKey() throws MalformedException {
    int shared = readSize();
    int unshared = readSize();
    if (shared > keyLength || unshared > cellsEnd - position) {
      throw malformed("a key of " + shared + " + " + unshared + " bytes does not fit");
    }
    keyLength = shared + unshared;
    if (key.length < keyLength) {
      key = Arrays.copyOf(key, Math.max(keyLength, key.length * 2));
    }
    System.arraycopy(block, position, key, shared, unshared);
    position += unshared;
  }

  private int readSize() throws MalformedException {
    if (position < cellsEnd && block[position] >= 0) {
      return block[position++]; // Most sizes have one byte.
    }
    long value = readVarlong();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw malformed("a size of " + Long.toUnsignedString(value) + " is out of range");
    }
    return (int) value;
  }

  private long readZigzag() throws MalformedException {
    long value = readVarlong();
    return (value >>> 1) ^ -(value & 1);
  }

  private long readVarlong() throws MalformedException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      if (position >= cellsEnd) {
        throw malformed("the block ends within a number");
      }
      byte b = block[position++];
      value |= (b & 0x7fL) << shift;
      if (b >= 0) {
        return value;
      }
    }
    throw malformed("a number has more than ten bytes");
  }

  private void restart(int index) throws MalformedException {
    rewind(restartPosition(index), index + 1);
  }

  /** Compares the key at a restart, which shares no bytes with another key, without copying it. */
  private int compareRestart(int index, byte[] target, int targetLength) throws MalformedException {
    position = restartPosition(index);
    int unshared = 0;
    if ((block[position++] & CellBlockWriter.SAME_KEY) == 0) {
      if (readSize() != 0) {
        throw malformed("the key at restart " + index + " shares bytes with another");
      }
      unshared = readSize();
      if (unshared > cellsEnd - position) {
        throw malformed("a key of " + unshared + " bytes does not fit");
      }
    }
    return Arrays.compareUnsigned(block, position, position + unshared, target, 0, targetLength);
  }

  private int restartPosition(int index) throws MalformedException {
    int offset = ByteReader.intAt(block, cellsEnd + index * Integer.BYTES);
    if (offset < 0 || offset >= cellsEnd - start) {
      throw malformed("restart " + index + " points outside the block, to " + offset);
    }
    return start + offset;
  }

  /** Moves to an offset where the last key counts as empty and the last numbers as 0. */
  private void rewind(int to, int restartAfter) throws MalformedException {
    position = to;
    keyLength = 0;
    timestamp = 0;
    sequence = 0;
    nextRestart = restartAfter;
    nextRestartPosition = restartAfter < restartCount ? restartPosition(restartAfter) : -1;
  }

  private int compareKey(byte[] target, int targetLength) {
    return Arrays.compareUnsigned(key, 0, keyLength, target, 0, targetLength);
  }

  private MalformedException malformed(String detail) {
    return new MalformedException(position - start, detail);
  }
}
