package io.stele.memtable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of a memtable: cells side by side in a few large arrays, so that a million of them are
 * some hundred objects to the garbage collector.
 *
 * <p>A cell is a <em>node</em> in an array of ints, found by its address, and a value in an array
 * of bytes:
 *
 * <pre>
 * address := chunk (high 16 bits) | offset of the key length in it (low 16 bits)      0: no node
 * node    := link* key-length key-word* timestamp:2 sequence:2 ordinal-and-type value-chunk value-offset value-length
 *                  ^ address         link of level n: at the address - 1 - n; an address
 * key-word: four bytes of the column key, the first one the highest; zeros after the last
 * </pre>
 *
 * Keys are in ints so that they compare four bytes at a time, on the cache line of the links
 * through which they were found.
 *
 * <p>One thread at a time writes. Everything of a node but its links is written before the first
 * link to it and never again. Links, and they alone, are written with release and read with
 * acquire: so a reader that has come upon a node sees all of it, and the arrays it is in.
 */
final class CellArena {
  /** The head of every list: a node without a cell. */
  static final int HEAD = CellArena.LEVELS_MAX;

  /** One node in four has a second level, and so on: enough for 16 million nodes. */
  static final int LEVELS_MAX = 12;

  // A quarter MiB and its header is less than half of the smallest region of G1, beyond which it
  // gives an array regions of its own.
  static final int CHUNK_BYTES_MAX = 256 << 10;
  static final int CHUNK_BYTES_FIRST = 1 << 10;

  /** A larger value or key has its own array, so that at most a quarter of a chunk is wasted. */
  static final int SHARED_BYTES_MAX = CHUNK_BYTES_MAX / 4;

  private static final int OFFSET_BITS = 16;
  private static final int OFFSET_MASK = (1 << OFFSET_BITS) - 1;
  private static final int CHUNKS_MAX = 1 << (Integer.SIZE - OFFSET_BITS);

  private static final int TIMESTAMP = 0;
  private static final int SEQUENCE = 2;
  private static final int ORDINAL_AND_TYPE = 4;
  private static final int VALUE_CHUNK = 5;
  private static final int VALUE_OFFSET = 6;
  private static final int VALUE_LENGTH = 7;
  private static final int NUMBERS = 8;
  private static final int TYPE_BITS = 3;
  private static final int ORDINAL_MAX = Integer.MAX_VALUE >>> TYPE_BITS;

  private static final byte[] NOTHING = new byte[0];
  private static final CellType[] TYPES = CellType.values();
  private static final VarHandle LINK = MethodHandles.arrayElementVarHandle(int[].class);
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final MemoryAccount account;
  private final AtomicLong bytes = new AtomicLong();

  // The tables grow by copying. A reader may use an old one until it meets a node that is not in
  // it: by then it sees the new one, which was written before the link.
  private int[][] chunks = {new int[HEAD + 1], null};
  private int chunkCount = 1;
  private int current; // The shared chunk that nodes go to; 0: none yet.
  private int used;
  private byte[][] values = {null};
  private int valueCount;
  private int currentValue = -1;
  private int valueUsed;

  CellArena(MemoryAccount account) {
    this.account = account;
  }

  /** The size of all arrays taken, in bytes, headers included; from any thread. */
  long bytes() {
    return bytes.get();
  }

  /** The array with the node at {@code address}. */
  int[] chunk(int address) {
    return chunks[address >>> OFFSET_BITS];
  }

  /** Where in its array the node at {@code address} is. */
  static int offset(int address) {
    return address & OFFSET_MASK;
  }

  /** The node after {@code address} on a level; 0: none. For readers. */
  int next(int address, int level) {
    return (int) LINK.getAcquire(chunk(address), offset(address) - 1 - level);
  }

  /** The node after {@code address} on a level, for the writer. */
  int nextAsWritten(int address, int level) {
    return chunk(address)[offset(address) - 1 - level];
  }

  /** Links a node that no reader can reach yet. */
  void prepareLink(int address, int level, int to) {
    chunk(address)[offset(address) - 1 - level] = to;
  }

  /** Links {@code to}: readers see it and all that was written before. */
  void link(int address, int level, int to) {
    LINK.setRelease(chunk(address), offset(address) - 1 - level, to);
  }

  /**
   * Writes a node for a cell, with {@code levels} links, behind those that are kept; its value is
   * not written yet. It takes no room until {@link #keep}.
   *
   * @return its address
   */
  int write(int levels, CellCursor cell) {
    int ordinal = cell.ordinal();
    if (ordinal < 0 || ordinal > ORDINAL_MAX) {
      throw new IllegalArgumentException(
          "an ordinal must be 0 to " + ORDINAL_MAX + ", not " + ordinal);
    }
    int keyLength = cell.keyLength();
    int words = words(keyLength);
    int number = room(levels + 1 + words + NUMBERS);
    int[] chunk = chunks[number];
    int at = (number == current ? used : 0) + levels;
    chunk[at] = keyLength;
    pack(cell.key(), keyLength, chunk, at + 1);
    long timestamp = cell.timestamp();
    long sequence = cell.sequence();
    int numbers = at + 1 + words;
    chunk[numbers + TIMESTAMP] = (int) (timestamp >>> Integer.SIZE);
    chunk[numbers + TIMESTAMP + 1] = (int) timestamp;
    chunk[numbers + SEQUENCE] = (int) (sequence >>> Integer.SIZE);
    chunk[numbers + SEQUENCE + 1] = (int) sequence;
    chunk[numbers + ORDINAL_AND_TYPE] = ordinal << TYPE_BITS | cell.type().ordinal();
    return number << OFFSET_BITS | at;
  }

  /** Keeps the node just written, and writes its cell's value. */
  void keep(int address, CellCursor cell) {
    int length = cell.valueLength();
    int[] chunk = chunk(address);
    int numbers = numbers(chunk, offset(address));
    int number = 0;
    int at = 0;
    if (length > 0) {
      number = valueRoom(length);
      if (number == currentValue) {
        at = valueUsed;
        valueUsed += length;
      }
      System.arraycopy(cell.valueArray(), cell.valueOffset(), values[number], at, length);
    }
    chunk[numbers + VALUE_CHUNK] = number;
    chunk[numbers + VALUE_OFFSET] = at;
    chunk[numbers + VALUE_LENGTH] = length;
    if (address >>> OFFSET_BITS == current) {
      used = numbers + NUMBERS;
    }
  }

  /** How many words a key of {@code length} bytes has. */
  static int words(int length) {
    return (length + Integer.BYTES - 1) / Integer.BYTES;
  }

  /** Writes a key as words. */
  static void pack(byte[] key, int length, int[] to, int at) {
    int i = 0;
    int word = at;
    for (; i <= length - Integer.BYTES; i += Integer.BYTES) {
      to[word++] = (int) WORD.get(key, i);
    }
    if (i < length) {
      int last = 0;
      for (int shift = Integer.SIZE - Byte.SIZE; i < length; i++, shift -= Byte.SIZE) {
        last |= (key[i] & 0xff) << shift;
      }
      to[word] = last;
    }
  }

  /** Writes a key's words from {@code word} on as bytes to where they belong in {@code key}. */
  static void unpack(int[] chunk, int at, int word, byte[] key) {
    int length = chunk[at];
    int i = word * Integer.BYTES;
    int from = at + 1 + word;
    for (; i <= length - Integer.BYTES; i += Integer.BYTES) {
      WORD.set(key, i, chunk[from++]);
    }
    for (int shift = Integer.SIZE - Byte.SIZE; i < length; i++, shift -= Byte.SIZE) {
      key[i] = (byte) (chunk[from] >>> shift);
    }
  }

  /** Compares two keys by their bytes, unsigned; what is compared are their words and lengths. */
  static int compareKeys(int[] a, int aAt, int aLength, int[] b, int bAt, int bLength) {
    if (aLength > 0 && bLength > 0 && a[aAt] != b[bAt]) {
      return Integer.compareUnsigned(a[aAt], b[bAt]); // Mostly the first word tells.
    }
    int words = Math.min(words(aLength), words(bLength));
    int differs = Arrays.mismatch(a, aAt, aAt + words, b, bAt, bAt + words);
    return differs >= 0
        ? Integer.compareUnsigned(a[aAt + differs], b[bAt + differs])
        : aLength - bLength;
  }

  /** Compares two nodes by the order of cells. */
  static int compare(int[] a, int aAt, int[] b, int bAt) {
    int byKey = compareKeys(a, aAt + 1, a[aAt], b, bAt + 1, b[bAt]);
    if (byKey != 0) {
      return byKey;
    }
    int aNumbers = numbers(a, aAt);
    int bNumbers = numbers(b, bAt);
    int byTimestamp =
        Long.compare(longAt(b, bNumbers + TIMESTAMP), longAt(a, aNumbers + TIMESTAMP));
    if (byTimestamp != 0) {
      return byTimestamp;
    }
    int bySequence = Long.compare(longAt(b, bNumbers + SEQUENCE), longAt(a, aNumbers + SEQUENCE));
    return bySequence != 0
        ? bySequence
        : Integer.compare(
            b[bNumbers + ORDINAL_AND_TYPE] >>> TYPE_BITS,
            a[aNumbers + ORDINAL_AND_TYPE] >>> TYPE_BITS);
  }

  /** Where the numbers of the node at {@code at} begin. */
  static int numbers(int[] chunk, int at) {
    return at + 1 + words(chunk[at]);
  }

  static long timestamp(int[] chunk, int numbers) {
    return longAt(chunk, numbers + TIMESTAMP);
  }

  static long sequence(int[] chunk, int numbers) {
    return longAt(chunk, numbers + SEQUENCE);
  }

  static int ordinal(int[] chunk, int numbers) {
    return chunk[numbers + ORDINAL_AND_TYPE] >>> TYPE_BITS;
  }

  static CellType type(int[] chunk, int numbers) {
    return TYPES[chunk[numbers + ORDINAL_AND_TYPE] & ((1 << TYPE_BITS) - 1)];
  }

  /** The array with the value; any one where that is empty. */
  byte[] valueArray(int[] chunk, int numbers) {
    return chunk[numbers + VALUE_LENGTH] == 0 ? NOTHING : values[chunk[numbers + VALUE_CHUNK]];
  }

  static int valueOffset(int[] chunk, int numbers) {
    return chunk[numbers + VALUE_OFFSET];
  }

  static int valueLength(int[] chunk, int numbers) {
    return chunk[numbers + VALUE_LENGTH];
  }

  private static long longAt(int[] chunk, int at) {
    return ((long) chunk[at] << Integer.SIZE) | (chunk[at + 1] & 0xffff_ffffL);
  }

  /** The chunk for a node of {@code ints} ints. */
  private int room(int ints) {
    if (current > 0 && ints <= chunks[current].length - used) {
      return current;
    }
    int needed = ints * Integer.BYTES;
    if (needed > SHARED_BYTES_MAX) {
      return addChunk(ints);
    }
    int size = current == 0 ? CHUNK_BYTES_FIRST : chunks[current].length * Integer.BYTES * 2;
    current = addChunk(shared(size, needed) / Integer.BYTES);
    used = 0;
    return current;
  }

  private int valueRoom(int length) {
    if (currentValue >= 0 && length <= values[currentValue].length - valueUsed) {
      return currentValue;
    }
    if (length > SHARED_BYTES_MAX) {
      return addValues(length);
    }
    int size = currentValue < 0 ? CHUNK_BYTES_FIRST : values[currentValue].length * 2;
    currentValue = addValues(shared(size, length));
    valueUsed = 0;
    return currentValue;
  }

  private static int shared(int size, int needed) {
    return Math.min(CHUNK_BYTES_MAX, Math.max(size, Integer.highestOneBit(needed) * 2));
  }

  private int addChunk(int ints) {
    if (chunkCount == CHUNKS_MAX) {
      throw new IllegalStateException(
          "a memtable has no room for more than " + CHUNKS_MAX + " chunks");
    }
    int[] chunk = new int[ints];
    if (chunkCount == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunkCount * 2);
    }
    chunks[chunkCount] = chunk;
    take(ints * (long) Integer.BYTES);
    return chunkCount++;
  }

  private int addValues(int length) {
    byte[] chunk = new byte[length];
    if (valueCount == values.length) {
      values = Arrays.copyOf(values, valueCount * 2);
    }
    values[valueCount] = chunk;
    take(length);
    return valueCount++;
  }

  private void take(long contents) {
    long taken = arrayBytes(contents);
    bytes.addAndGet(taken);
    account.take(taken);
  }

  /** What an array takes: contents, header, and up to a multiple of eight. */
  static long arrayBytes(long contents) {
    return (contents + 16 + 7) & ~7L;
  }
}
