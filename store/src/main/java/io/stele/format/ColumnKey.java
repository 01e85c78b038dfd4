package io.stele.format;

import io.stele.model.Bytes;
import io.stele.model.Column;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The key of the cells of one column in memtables, SSTables, logs and on the wire: a byte string
 * whose unsigned order is the order of (row, family, qualifier).
 *
 * <pre>
 * column key    := row-part family-part qualifier-part
 * row-part      := escaped(row) 00 00
 * family-part   := family 00                       (a family's name has no zero byte)
 * qualifier-part:= escaped(qualifier) 00 00
 * escaped(x)    := x with every 00 written as 00 FF
 * </pre>
 *
 * <p>The tombstone of a whole row has the row part alone, that of a family the row and family
 * parts. So they sort before everything that they cover.
 */
public final class ColumnKey {
  private static final int ZERO = 0;
  private static final int ESCAPED_ZERO = 0xff;

  // To look for a zero in eight bytes at once, the first of them the lowest.
  private static final VarHandle EIGHT_BYTES =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  private ColumnKey() {}

  /** The key of a column. */
  public static byte[] of(Bytes row, String family, Bytes qualifier) {
    int qualifierAt = row.length() + family.length() + 3;
    byte[] key = new byte[qualifierAt + qualifier.length() + 2]; // What is not written stays zero.
    row.copyTo(key, 0);
    family(family, key, row.length() + 2);
    qualifier.copyTo(key, qualifierAt);
    return hasZero(key, 0, row.length()) || hasZero(key, qualifierAt, key.length - 2)
        ? escaped(row, family, qualifier)
        : key;
  }

  private static byte[] escaped(Bytes row, String family, Bytes qualifier) {
    ByteWriter key = new ByteWriter(row.length() + family.length() + qualifier.length() + 7);
    escape(row, key);
    family(family, key);
    escape(qualifier, key);
    return key.toByteArray();
  }

  /** The start of the keys of all cells in {@code row}; also the key of its row tombstone. */
  public static byte[] ofRow(Bytes row) {
    byte[] key = new byte[row.length() + 2];
    row.copyTo(key, 0);
    if (!hasZero(key, 0, row.length())) {
      return key;
    }
    ByteWriter escaped = new ByteWriter(row.length() + 3);
    escape(row, escaped);
    return escaped.toByteArray();
  }

  /**
   * The start of the keys of all cells of {@code family} in {@code row}; also the key of its family
   * tombstone.
   */
  public static byte[] ofFamily(Bytes row, String family) {
    ByteWriter key = new ByteWriter(row.length() + family.length() + 3);
    escape(row, key);
    family(family, key);
    return key.toByteArray();
  }

  /** The least byte string above every key in {@code row}: seek to it for the next row. */
  public static byte[] afterRow(Bytes row) {
    byte[] key = ofRow(row);
    key[key.length - 1] = 1;
    return key;
  }

  /** The length of the row part at the start of {@code key}, terminator included. */
  public static int rowPartLength(byte[] key, int length) throws MalformedException {
    return terminated(key, 0, length);
  }

  /** Whether the first {@code length} bytes of two keys' row parts are the same row. */
  public static boolean sameRow(byte[] a, int aLength, byte[] b, int rowPartLength) {
    return aLength >= rowPartLength && Arrays.equals(a, 0, rowPartLength, b, 0, rowPartLength);
  }

  /** The row in {@code key}. */
  public static Bytes row(byte[] key, int length) throws MalformedException {
    return unescape(key, 0, rowPartLength(key, length));
  }

  /** The row of a whole row part, as {@link #ofRow} makes it. */
  public static Bytes ofRowPart(byte[] rowPart) {
    return unescape(rowPart, 0, rowPart.length);
  }

  /** Where the family part ends, or the row part's end where there is no family part. */
  public static int familyPartEnd(byte[] key, int length, int rowPartLength)
      throws MalformedException {
    if (rowPartLength == length) {
      return rowPartLength;
    }
    for (int i = rowPartLength; i < length; i++) {
      if (key[i] == ZERO) {
        return i + 1;
      }
    }
    throw new MalformedException(rowPartLength, "a column key's family has no end");
  }

  /** The column in {@code key}, which has all three parts. */
  public static Column column(byte[] key, int length) throws MalformedException {
    int rowEnd = rowPartLength(key, length);
    int familyEnd = familyPartEnd(key, length, rowEnd);
    if (familyEnd == rowEnd || terminated(key, familyEnd, length) != length) {
      throw new MalformedException(
          rowEnd, "a column key has no family, no qualifier, or something after them");
    }
    return new Column(family(key, rowEnd, familyEnd), unescape(key, familyEnd, length));
  }

  /**
   * The qualifier in {@code key}, a whole column key.
   *
   * @param familyPartEnd where it begins
   */
  public static Bytes qualifier(byte[] key, int familyPartEnd, int length)
      throws MalformedException {
    if (terminated(key, familyPartEnd, length) != length) {
      throw new MalformedException(familyPartEnd, "a column key has no qualifier");
    }
    return unescape(key, familyPartEnd, length);
  }

  /** The family in {@code key} between the ends of its row part and of its family part. */
  public static String family(byte[] key, int rowPartEnd, int familyPartEnd) {
    return new String(key, rowPartEnd, familyPartEnd - 1 - rowPartEnd, StandardCharsets.ISO_8859_1);
  }

  /** A family's name has one byte for each character. */
  private static void family(String family, byte[] key, int at) {
    for (int i = 0; i < family.length(); i++) {
      key[at + i] = (byte) family.charAt(i);
    }
  }

  private static void family(String family, ByteWriter key) {
    key.write(Bytes.wrap(family.getBytes(StandardCharsets.ISO_8859_1))).writeByte(ZERO);
  }

  private static void escape(Bytes bytes, ByteWriter key) {
    int from = 0;
    for (int i = 0; i < bytes.length(); i++) {
      if (bytes.at(i) == ZERO) {
        key.write(bytes.slice(from, i + 1)).writeByte(ESCAPED_ZERO);
        from = i + 1;
      }
    }
    key.write(bytes.slice(from, bytes.length())).writeByte(ZERO).writeByte(ZERO);
  }

  /** Where the escaped string at {@code from} ends, terminator included. */
  private static int terminated(byte[] key, int from, int length) throws MalformedException {
    int zero = firstZero(key, from, length - 1);
    while (zero < length - 1) {
      if (key[zero + 1] == ZERO) {
        return zero + 2;
      }
      zero = firstZero(key, zero + 2, length - 1); // It was an escaped one, of two bytes.
    }
    throw new MalformedException(from, "a part of a column key has no end");
  }

  private static boolean hasZero(byte[] key, int from, int end) {
    return firstZero(key, from, end) < end;
  }

  /** Where the first zero at or after {@code from} is; at or after {@code end}: there is none. */
  private static int firstZero(byte[] key, int from, int end) {
    int i = from;
    for (; i <= end - Long.BYTES; i += Long.BYTES) {
      long eight = (long) EIGHT_BYTES.get(key, i);
      long zeros = (eight - LOW_BITS) & ~eight & HIGH_BITS; // The lowest bit set is of a zero.
      if (zeros != 0) {
        return i + Long.numberOfTrailingZeros(zeros) / Byte.SIZE;
      }
    }
    while (i < end && key[i] != ZERO) {
      i++;
    }
    return i;
  }

  private static Bytes unescape(byte[] key, int from, int end) {
    if (firstZero(key, from, end - 2) == end - 2) {
      return Bytes.of(key, from, end - 2 - from); // As nearly all are.
    }
    byte[] plain = new byte[end - 2 - from];
    int size = 0;
    for (int i = from; i < end - 2; i++) {
      plain[size++] = key[i];
      if (key[i] == ZERO) {
        i++;
      }
    }
    return Bytes.wrap(plain, 0, size).compact();
  }
}
