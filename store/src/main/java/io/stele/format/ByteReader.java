package io.stele.format;

import io.stele.model.Bytes;

/**
 * Reads what {@link ByteWriter} wrote, and checks every length against the bytes that are left. Not
 * safe for use by several threads.
 */
public final class ByteReader {
  private final byte[] array;
  private final int start;
  private final int end;
  private int position;

  /** Reads {@code length} bytes of {@code array} from {@code offset} on. */
  public ByteReader(byte[] array, int offset, int length) {
    this.array = array;
    this.start = offset;
    this.end = offset + length;
    this.position = offset;
  }

  /** Reads all of {@code array}. */
  public ByteReader(byte[] array) {
    this(array, 0, array.length);
  }

  /** How many bytes are left. */
  public int remaining() {
    return end - position;
  }

  /** Where in the array the next byte is. */
  public int position() {
    return position;
  }

  /** One byte, 0 to 255. */
  public int readByte() throws MalformedException {
    need(1);
    return array[position++] & 0xff;
  }

  /** Four bytes, little-endian. */
  public int readInt() throws MalformedException {
    need(Integer.BYTES);
    int value = 0;
    for (int shift = 0; shift < Integer.SIZE; shift += 8) {
      value |= (array[position++] & 0xff) << shift;
    }
    return value;
  }

  /** The four bytes of {@code bytes} from {@code at}, little-endian. */
  public static int intAt(byte[] bytes, int at) {
    return (bytes[at] & 0xff)
        | (bytes[at + 1] & 0xff) << 8
        | (bytes[at + 2] & 0xff) << 16
        | bytes[at + 3] << 24;
  }

  /** Eight bytes, little-endian. */
  public long readLong() throws MalformedException {
    need(Long.BYTES);
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 8) {
      value |= (array[position++] & 0xffL) << shift;
    }
    return value;
  }

  /** One to ten bytes. */
  public long readVarlong() throws MalformedException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int b = readByte();
      value |= (b & 0x7fL) << shift;
      if (b < 0x80) {
        return value;
      }
    }
    throw malformed("a number has more than ten bytes");
  }

  /** One to five bytes, for what may not be negative: sizes and counts. */
  public int readVarint() throws MalformedException {
    long value = readVarlong();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw malformed("a size or count of " + Long.toUnsignedString(value) + " is out of range");
    }
    return (int) value;
  }

  /** One to ten bytes, positive or negative. */
  public long readZigzag() throws MalformedException {
    long value = readVarlong();
    return (value >>> 1) ^ -(value & 1);
  }

  /** The next {@code length} bytes, copied. */
  public Bytes readBytes(int length) throws MalformedException {
    need(length);
    Bytes bytes = Bytes.of(array, position, length);
    position += length;
    return bytes;
  }

  /** A number of bytes and then the bytes, copied. */
  public Bytes readPrefixed() throws MalformedException {
    return readBytes(readVarint());
  }

  /** Passes over {@code length} bytes and returns where in the array they begin. */
  public int skip(int length) throws MalformedException {
    need(length);
    int from = position;
    position += length;
    return from;
  }

  /** An exception about the place reached. */
  public MalformedException malformed(String detail) {
    return new MalformedException(position - start, detail);
  }

  /** An exception about what a later version may have written at the place reached. */
  public MalformedException newer(String detail) {
    return MalformedException.newer(position - start, detail);
  }

  private void need(int length) throws MalformedException {
    if (length < 0 || length > end - position) {
      throw malformed(length + " bytes wanted and " + (end - position) + " left");
    }
  }
}
