package io.stele.model;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * An immutable byte string, ordered by its bytes as unsigned numbers. Row keys, qualifiers and
 * values are of this type.
 *
 * <p>Safe for use by any number of threads. A slice shares the memory of the string it was cut
 * from; {@link #compact()} gives a copy that does not.
 */
public final class Bytes implements Comparable<Bytes>, Serializable {
  private static final long serialVersionUID = 1L;
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  /** The empty byte string. */
  public static final Bytes EMPTY = new Bytes(new byte[0], 0, 0);

  private final byte[] array;
  private final int offset;
  private final int length;

  private Bytes(byte[] array, int offset, int length) {
    this.array = array;
    this.offset = offset;
    this.length = length;
  }

  /** Serializes a slice without the rest of what it was cut from. */
  private Object writeReplace() {
    return compact();
  }

  /** Copies the bytes of {@code text} in UTF-8. */
  public static Bytes of(String text) {
    return text.isEmpty() ? EMPTY : wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Copies {@code bytes}. */
  public static Bytes of(byte[] bytes) {
    return bytes.length == 0 ? EMPTY : wrap(bytes.clone());
  }

  /** Copies {@code length} bytes of {@code bytes} from {@code offset} on. */
  public static Bytes of(byte[] bytes, int offset, int length) {
    return length == 0 ? EMPTY : wrap(Arrays.copyOfRange(bytes, offset, offset + length));
  }

  /**
   * The eight bytes of {@code number}, most significant first: the encoding that increments use.
   */
  public static Bytes ofLong(long number) {
    return wrap(ByteBuffer.allocate(Long.BYTES).putLong(number).array());
  }

  /** Takes {@code bytes} over without a copy; the caller must never change them again. */
  public static Bytes wrap(byte[] bytes) {
    return wrap(bytes, 0, bytes.length);
  }

  /** Takes a part of {@code bytes} over without a copy; the caller must never change it again. */
  public static Bytes wrap(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    return length == 0 ? EMPTY : new Bytes(bytes, offset, length);
  }

  /** The number of bytes. */
  public int length() {
    return length;
  }

  /** Whether there are no bytes. */
  public boolean isEmpty() {
    return length == 0;
  }

  /** The byte at {@code index}, 0 to 255. */
  public int at(int index) {
    Objects.checkIndex(index, length);
    return array[offset + index] & 0xff;
  }

  /**
   * The bytes from {@code from} (inclusive) to {@code to} (exclusive), sharing this string's
   * memory.
   */
  public Bytes slice(int from, int to) {
    Objects.checkFromToIndex(from, to, length);
    return wrap(array, offset + from, to - from);
  }

  /** The same bytes in memory of their own, so that no larger array is kept alive. */
  public Bytes compact() {
    return array.length == length ? this : of(array, offset, length);
  }

  /** Adds the bytes to {@code checksum}. */
  public void addTo(Checksum checksum) {
    checksum.update(array, offset, length);
  }

  /** Writes the bytes to {@code out}. */
  public void writeTo(OutputStream out) throws IOException {
    out.write(array, offset, length);
  }

  /** Whether the first bytes of this string are {@code prefix}. */
  public boolean startsWith(Bytes prefix) {
    return length >= prefix.length
        && Arrays.equals(
            array,
            offset,
            offset + prefix.length,
            prefix.array,
            prefix.offset,
            prefix.offset + prefix.length);
  }

  /** This string followed by {@code other}. */
  public Bytes concat(Bytes other) {
    byte[] joined = new byte[length + other.length];
    copyTo(joined, 0);
    other.copyTo(joined, length);
    return wrap(joined);
  }

  /** The least byte string greater than this one: itself and a zero byte. */
  public Bytes successor() {
    byte[] next = new byte[length + 1];
    copyTo(next, 0);
    return wrap(next);
  }

  /**
   * The least byte string greater than every string that starts with this one; empty if there is
   * none (no bytes, or all of them 0xff), which as the end of a range means unbounded.
   */
  public Bytes prefixEnd() {
    for (int last = length - 1; last >= 0; last--) {
      if (at(last) != 0xff) {
        byte[] end = Arrays.copyOfRange(array, offset, offset + last + 1);
        end[last]++;
        return wrap(end);
      }
    }
    return EMPTY;
  }

  /** Copies all bytes into {@code target} from {@code at} on. */
  public void copyTo(byte[] target, int at) {
    System.arraycopy(array, offset, target, at, length);
  }

  /** A new array with these bytes. */
  public byte[] toByteArray() {
    return Arrays.copyOfRange(array, offset, offset + length);
  }

  /** A read-only view of these bytes, big-endian. */
  public ByteBuffer asByteBuffer() {
    return ByteBuffer.wrap(array, offset, length).slice().asReadOnlyBuffer();
  }

  /**
   * The number in these eight bytes, most significant first.
   *
   * @throws IllegalStateException if there are not exactly eight
   */
  public long toLong() {
    if (length != Long.BYTES) {
      throw new IllegalStateException("a 64-bit number has 8 bytes, not " + length + ": " + this);
    }
    return asByteBuffer().getLong();
  }

  /** The text these bytes are in UTF-8; what is not UTF-8 becomes U+FFFD. */
  public String toUtf8() {
    return new String(array, offset, length, StandardCharsets.UTF_8);
  }

  @Override
  public int compareTo(Bytes other) {
    return Arrays.compareUnsigned(
        array, offset, offset + length, other.array, other.offset, other.offset + other.length);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Bytes that
        && Arrays.equals(
            array, offset, offset + length, that.array, that.offset, that.offset + that.length);
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int i = offset; i < offset + length; i++) {
      hash = 31 * hash + array[i];
    }
    return hash;
  }

  /**
   * The bytes as text where they are printable UTF-8, and {@code \xNN} (and {@code \\}) where not.
   */
  @Override
  public String toString() {
    if (isPrintable()) {
      return toUtf8().replace("\\", "\\\\");
    }
    StringBuilder text = new StringBuilder(length + 16);
    for (int i = 0; i < length; i++) {
      int b = at(i);
      if (b == '\\') {
        text.append("\\\\");
      } else if (b >= 0x20 && b < 0x7f) {
        text.append((char) b);
      } else {
        text.append("\\x").append(HEX[b >> 4]).append(HEX[b & 0xf]);
      }
    }
    return text.toString();
  }

  private boolean isPrintable() {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(asByteBuffer())
          .chars()
          .noneMatch(c -> Character.isISOControl(c) || !Character.isDefined(c));
    } catch (CharacterCodingException e) {
      return false; // Not UTF-8: shown byte by byte.
    }
  }

  /**
   * Reads what {@link #toString()} wrote: text in which {@code \xNN} is a byte and {@code \\} for a
   * backslash.
   *
   * @throws SteleException REFUSED if a backslash is followed by anything else
   */
  public static Bytes parse(String text) {
    if (text.indexOf('\\') < 0) {
      return of(text);
    }
    ByteBuffer bytes = ByteBuffer.allocate(text.length() * 3);
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (c != '\\') {
        bytes.put(Character.toString(c).getBytes(StandardCharsets.UTF_8));
        i += Character.charCount(c);
      } else if (text.startsWith("\\\\", i)) {
        bytes.put((byte) '\\');
        i += 2;
      } else if (text.startsWith("\\x", i)
          && i + 4 <= text.length()
          && Character.digit(text.charAt(i + 2), 16) >= 0
          && Character.digit(text.charAt(i + 3), 16) >= 0) {
        bytes.put((byte) Integer.parseInt(text, i + 2, i + 4, 16));
        i += 4;
      } else {
        throw SteleException.refused(
            "at character "
                + i
                + " of \""
                + text
                + "\": after a backslash comes \\ or xNN (two hex digits)");
      }
    }
    return of(bytes.array(), 0, bytes.position());
  }
}
