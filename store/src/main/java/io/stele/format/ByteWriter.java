package io.stele.format;

import io.stele.model.Bytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A growing array of bytes with the encodings that all formats share: fixed-size integers
 * little-endian, variable-length ones seven bits a byte, low bits first. Not safe for use by
 * several threads.
 */
public final class ByteWriter {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int LARGE_BYTES = 1 << 20;

  private byte[] array;
  private int size;

  /** An empty writer with room for {@code capacity} bytes before it grows. */
  public ByteWriter(int capacity) {
    array = new byte[capacity];
  }

  /** The number of bytes written. */
  public int size() {
    return size;
  }

  /** The array that holds the bytes, from 0 to {@link #size()}; valid until the next write. */
  public byte[] array() {
    return array;
  }

  /** Forgets what was written and keeps the memory. */
  public void clear() {
    size = 0;
  }

  /** Forgets what was written, and keeps the memory unless it is more than {@code bytesMax}. */
  void clear(int bytesMax) {
    size = 0;
    if (array.length > bytesMax) {
      array = new byte[0];
    }
  }

  /** A new array with the bytes written. */
  public byte[] toByteArray() {
    return Arrays.copyOf(array, size);
  }

  /** One byte, the low eight bits of {@code b}. */
  public ByteWriter writeByte(int b) {
    ensure(1);
    array[size++] = (byte) b;
    return this;
  }

  /** Four bytes, little-endian. */
  public ByteWriter writeInt(int value) {
    ensure(Integer.BYTES);
    INT.set(array, size, value);
    size += Integer.BYTES;
    return this;
  }

  /** Eight bytes, little-endian. */
  public ByteWriter writeLong(long value) {
    ensure(Long.BYTES);
    LONG.set(array, size, value);
    size += Long.BYTES;
    return this;
  }

  /** One to ten bytes; {@code value} counts as unsigned. */
  public ByteWriter writeVarlong(long value) {
    ensure(10);
    byte[] to = array;
    int at = size; // So that the field is stored once, not with every byte.
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      to[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    to[at++] = (byte) rest;
    size = at;
    return this;
  }

  /** One to five bytes; {@code value} counts as unsigned. */
  public ByteWriter writeVarint(int value) {
    return writeVarlong(Integer.toUnsignedLong(value));
  }

  /** One to ten bytes, few for numbers near zero on either side. */
  public ByteWriter writeZigzag(long value) {
    return writeVarlong((value << 1) ^ (value >> 63));
  }

  /** The bytes as they are, without their number. */
  public ByteWriter write(byte[] bytes, int offset, int length) {
    ensure(length);
    System.arraycopy(bytes, offset, array, size, length);
    size += length;
    return this;
  }

  /** The bytes as they are, without their number. */
  public ByteWriter write(Bytes bytes) {
    ensure(bytes.length());
    bytes.copyTo(array, size);
    size += bytes.length();
    return this;
  }

  /** The number of bytes and then the bytes. */
  public ByteWriter writePrefixed(Bytes bytes) {
    return writeVarint(bytes.length()).write(bytes);
  }

  /** The number of bytes and then the bytes. */
  public ByteWriter writePrefixed(byte[] bytes) {
    return writeVarint(bytes.length).write(bytes, 0, bytes.length);
  }

  private void ensure(int more) {
    if (array.length - size < more) {
      long needed = size + (long) more;
      // A large array grows by less: while it is copied there are two.
      long grown =
          array.length + (long) (array.length < LARGE_BYTES ? array.length : array.length / 4);
      long slack = Math.min(needed / 16, LARGE_BYTES / 16); // What follows a large value is small.
      array =
          Arrays.copyOf(
              array, (int) Math.min(Integer.MAX_VALUE - 8L, Math.max(needed + slack, grown)));
    }
  }
}
