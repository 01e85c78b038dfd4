package io.stele.format;

import io.stele.model.Bytes;
import java.util.Arrays;

/**
 * Writes cells as a block: the encoding that SSTables, log records and the wire share.
 *
 * <pre>
 * block   := cell* [ restart:u32* restart-count:u32 ]      (the part in brackets only in blocks with restarts)
 * cell    := flags:u8
 *            [ shared:varint unshared:varint bytes ]        unless SAME_KEY: the column key; its first bytes are the last key's
 *            [ zigzag ]                                     unless SAME_TIMESTAMP: difference from the last timestamp
 *            [ zigzag ]                                     unless SAME_SEQUENCE: difference from the last sequence number
 *            [ varint ]                                     unless ZERO_ORDINAL: the ordinal
 *            [ length:varint bytes ]                        unless EMPTY_VALUE: the value
 * flags   := type (bits 0-2) | SAME_KEY 08 | SAME_TIMESTAMP 10 | SAME_SEQUENCE 20 | ZERO_ORDINAL 40 | EMPTY_VALUE 80
 * </pre>
 *
 * <p>At the first cell and at every restart the last key counts as empty and the last numbers as 0,
 * so that reading can begin there. A restart is the offset of its cell in the block.
 *
 * <p>Cells need not be in order unless the block has restarts. Not safe for use by several threads.
 */
public final class CellBlockWriter {
  static final int TYPE_MASK = 0x07;
  static final int SAME_KEY = 0x08;
  static final int SAME_TIMESTAMP = 0x10;
  static final int SAME_SEQUENCE = 0x20;
  static final int ZERO_ORDINAL = 0x40;
  static final int EMPTY_VALUE = 0x80;

  /** More memory than this is not kept for the next block: a block so large is rare. */
  private static final int KEPT_BYTES_MAX = 4 << 20;

  private static final int[] NO_RESTARTS = new int[0];

  private final int restartInterval;
  private final ByteWriter out;
  private int[] restarts = NO_RESTARTS;
  private int restartCount;
  private int cellCount;
  private byte[] lastKey = new byte[64];
  private int lastKeyLength;
  private long lastTimestamp;
  private long lastSequence;

  private CellBlockWriter(int restartInterval, int capacity) {
    this.restartInterval = restartInterval;
    this.out = new ByteWriter(capacity);
  }

  /** A block that can only be read from its start: for log records and the wire. */
  public static CellBlockWriter sequential(int capacity) {
    return new CellBlockWriter(Integer.MAX_VALUE, capacity);
  }

  /** A block with a restart at every {@code restartInterval}-th cell, for seeking: for SSTables. */
  public static CellBlockWriter searchable(int restartInterval, int capacity) {
    return new CellBlockWriter(restartInterval, capacity);
  }

  /** Adds the current cell of {@code cell}. */
  public void add(CellCursor cell) {
    add(cell, cell.type());
  }

  /** Adds the current cell of {@code cell} under another type. */
  public void add(CellCursor cell, CellType type) {
    addKeyAndNumbers(
        cell.key(),
        cell.keyLength(),
        cell.timestamp(),
        cell.sequence(),
        cell.ordinal(),
        type,
        cell.valueLength());
    if (cell.valueLength() != 0) {
      out.write(cell.valueArray(), cell.valueOffset(), cell.valueLength());
    }
  }

  /**
   * Adds the current cell of {@code cell} as readers of a table know it: a put without sequence
   * number and ordinal.
   */
  void addVersion(CellCursor cell) {
    addKeyAndNumbers(
        cell.key(), cell.keyLength(), cell.timestamp(), 0, 0, CellType.PUT, cell.valueLength());
    out.write(cell.valueArray(), cell.valueOffset(), cell.valueLength());
  }

  /** Adds a cell of the column {@code key}. */
  public void add(
      byte[] key, long timestamp, long sequence, int ordinal, CellType type, Bytes value) {
    addKeyAndNumbers(key, key.length, timestamp, sequence, ordinal, type, value.length());
    out.write(value);
  }

  private void addKeyAndNumbers(
      byte[] key,
      int keyLength,
      long timestamp,
      long sequence,
      int ordinal,
      CellType type,
      int valueLength) {
    if (cellCount % restartInterval == 0) {
      restart();
    }
    int shared = Arrays.mismatch(key, 0, keyLength, lastKey, 0, lastKeyLength);
    boolean sameKey = shared < 0;
    out.writeByte(
        type.ordinal()
            | (sameKey ? SAME_KEY : 0)
            | (timestamp == lastTimestamp ? SAME_TIMESTAMP : 0)
            | (sequence == lastSequence ? SAME_SEQUENCE : 0)
            | (ordinal == 0 ? ZERO_ORDINAL : 0)
            | (valueLength == 0 ? EMPTY_VALUE : 0));
    if (!sameKey) {
      out.writeVarint(shared)
          .writeVarint(keyLength - shared)
          .write(key, shared, keyLength - shared);
      rememberKey(key, keyLength, shared);
    }
    if (timestamp != lastTimestamp) {
      out.writeZigzag(timestamp - lastTimestamp);
      lastTimestamp = timestamp;
    }
    if (sequence != lastSequence) {
      out.writeZigzag(sequence - lastSequence);
      lastSequence = sequence;
    }
    if (ordinal != 0) {
      out.writeVarint(ordinal);
    }
    if (valueLength != 0) {
      out.writeVarint(valueLength);
    }
    cellCount++;
  }

  /** The number of cells added. */
  public int cellCount() {
    return cellCount;
  }

  /** The bytes so far, without what {@link #finish()} adds. */
  public int size() {
    return out.size();
  }

  /** Ends the block and returns its bytes, valid until {@link #clear()}. */
  public ByteWriter finish() {
    if (isSearchable()) {
      for (int i = 0; i < restartCount; i++) {
        out.writeInt(restarts[i]);
      }
      out.writeInt(restartCount);
    }
    return out;
  }

  /** Begins another block right behind this one, which must be sequential. */
  public void beginNext() {
    restartCount = 0;
    cellCount = 0;
  }

  /** Begins a new block, in the same memory unless that is large. */
  public void clear() {
    out.clear(KEPT_BYTES_MAX);
    restartCount = 0;
    cellCount = 0;
  }

  private boolean isSearchable() {
    return restartInterval != Integer.MAX_VALUE;
  }

  private void restart() {
    if (isSearchable()) {
      if (restartCount == restarts.length) {
        restarts = Arrays.copyOf(restarts, Math.max(16, restartCount * 2));
      }
      restarts[restartCount++] = out.size();
    }
    lastKeyLength = 0;
    lastTimestamp = 0;
    lastSequence = 0;
  }

  private void rememberKey(byte[] key, int keyLength, int shared) {
    if (lastKey.length < keyLength) {
      lastKey = Arrays.copyOf(lastKey, Math.max(keyLength, lastKey.length * 2));
    }
    System.arraycopy(key, shared, lastKey, shared, keyLength - shared);
    lastKeyLength = keyLength;
  }
}
