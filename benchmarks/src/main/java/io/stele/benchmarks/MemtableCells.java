package io.stele.benchmarks;

import io.stele.format.CellType;
import io.stele.format.OneCell;
import io.stele.memtable.Memtable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;

/** The cells that memtables are measured with: column keys of 30 bytes, values of 100. */
public final class MemtableCells {
  static final int KEY_BYTES = 30;
  static final int VALUE_BYTES = 100;

  /** In what order the keys come. */
  public enum Order {
    /** As for rows that are hashes. */
    RANDOM,
    /** Random behind 16 bytes that are the same, as for the pages of one site. */
    RANDOM_AFTER_PREFIX,
    /** As a bulk load brings them. */
    SEQUENTIAL
  }

  private final byte[][] keys;
  private final byte[][] values;

  MemtableCells(int count, Order order) {
    keys = new byte[count][];
    values = new byte[count][];
    Random random = new Random(1);
    for (int i = 0; i < count; i++) {
      byte[] key = new byte[KEY_BYTES];
      switch (order) {
        case RANDOM -> random.nextBytes(key);
        case RANDOM_AFTER_PREFIX -> ByteBuffer.wrap(key).putLong(16, random.nextLong());
        case SEQUENTIAL -> ByteBuffer.wrap(key).putInt(16, i);
      }
      keys[i] = key;
      values[i] = new byte[VALUE_BYTES];
      random.nextBytes(values[i]);
    }
  }

  int count() {
    return keys.length;
  }

  byte[] key(int i) {
    return keys[i];
  }

  Memtable memtable() {
    Memtable memtable = new Memtable();
    for (int i = 0; i < keys.length; i++) {
      memtable.add(
          new OneCell(keys[i], KEY_BYTES, 1, i, 0, CellType.PUT, values[i], 0, values[i].length));
    }
    return memtable;
  }

  /** The same arrays, held, under nothing but their keys. */
  ConcurrentSkipListMap<byte[], byte[]> map() {
    ConcurrentSkipListMap<byte[], byte[]> map =
        new ConcurrentSkipListMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < keys.length; i++) {
      map.put(keys[i], values[i]);
    }
    return map;
  }
}
