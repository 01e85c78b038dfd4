package io.stele.memtable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.OneCell;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Readers beside a writer. A cell's key is made of its sequence number, and its value of both: so a
 * reader can tell, with nothing but the last number added, which cells it must see, and that each
 * is whole.
 *
 * <p>Many small memtables, gone through again and again: so that a reader often is where the writer
 * is at that moment.
 */
class MemtableConcurrencyTest {
  private static final int ROUNDS = 300;
  private static final int CELLS = 400;
  private static final int READERS = 2;

  @TestFactory
  Stream<DynamicTest> aReaderSeesEveryCellUpToItsReadPointInOrderAndWhole() {
    return Seeds.of(3)
        .mapToObj(seed -> DynamicTest.dynamicTest("seed " + seed, () -> race(new Random(seed))));
  }

  private static void race(Random random) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      for (int round = 0; round < ROUNDS; round++) {
        Memtable memtable = new Memtable();
        AtomicLong added = new AtomicLong();
        long mixer = round % 3 == 0 ? 1 : random.nextLong() | 1; // With 1 in order.
        CyclicBarrier start = new CyclicBarrier(READERS + 1);
        List<Future<Long>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
          Random own = new Random(random.nextLong());
          readers.add(
              threads.submit(
                  () -> {
                    start.await();
                    return read(memtable, added, mixer, own);
                  }));
        }
        start.await();
        for (long sequence = 1; sequence <= CELLS; sequence++) {
          byte[] key = key(sequence, mixer);
          byte[] value = value(key, sequence);
          memtable.add(
              new OneCell(
                  key, key.length, sequence, sequence, 7, CellType.PUT, value, 0, value.length));
          added.setRelease(sequence);
        }
        for (Future<Long> reader : readers) {
          assertThat(reader.get(120, TimeUnit.SECONDS)).isPositive();
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static long read(Memtable memtable, AtomicLong added, long mixer, Random random)
      throws IOException {
    long seen = 0;
    for (long point = 0; point < CELLS; ) {
      point = added.getAcquire();
      // Above it, too: what is being added must be there whole or not at all.
      long readPoint = random.nextBoolean() ? point : Long.MAX_VALUE;
      try (CellCursor cursor = memtable.cursor(readPoint)) {
        if (point == 0 || random.nextInt(3) > 0) {
          seen += scan(cursor, point, readPoint);
        } else {
          long wanted = 1 + (random.nextBoolean() ? point - 1 : random.nextLong(point));
          byte[] key = key(wanted, mixer);
          require(cursor.seek(key), "a cell is not found");
          require(
              Arrays.equals(key, Arrays.copyOf(cursor.key(), cursor.keyLength())),
              "another cell is found");
          requireWhole(cursor);
          seen++;
        }
      }
    }
    return seen;
  }

  private static long scan(CellCursor cursor, long point, long readPoint) throws IOException {
    byte[] last = new byte[0];
    long count = 0;
    while (cursor.next()) {
      byte[] key = Arrays.copyOf(cursor.key(), cursor.keyLength());
      require(Arrays.compareUnsigned(last, key) < 0, "cells are not in order");
      require(cursor.sequence() <= readPoint, "a cell above the read point is seen");
      requireWhole(cursor);
      last = key;
      if (cursor.sequence() <= point) {
        count++;
      }
    }
    if (count != point) {
      throw new AssertionError(count + " cells of " + point + " are seen");
    }
    return count;
  }

  private static void requireWhole(CellCursor cursor) {
    long sequence = cursor.sequence();
    byte[] key = Arrays.copyOf(cursor.key(), cursor.keyLength());
    int from = cursor.valueOffset();
    byte[] value = Arrays.copyOfRange(cursor.valueArray(), from, from + cursor.valueLength());
    require(
        cursor.timestamp() == sequence
            && cursor.ordinal() == 7
            && cursor.type() == CellType.PUT
            && Arrays.equals(value, value(key, sequence)),
        "a cell is torn");
  }

  // Short, so that a reader is in the memtable most of its time.
  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** A key of its own for every number: multiplying by an odd one takes no two together. */
  private static byte[] key(long sequence, long mixer) {
    ByteBuffer key = ByteBuffer.allocate(8 + (int) (sequence % 13));
    return key.putLong(sequence * mixer).array();
  }

  private static byte[] value(byte[] key, long sequence) {
    byte[] value = new byte[8 + (int) (sequence % 50)];
    Arrays.fill(value, (byte) sequence);
    return ByteBuffer.wrap(value).putInt(0, Arrays.hashCode(key)).array();
  }
}
