package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** {@code -Dstele.seed=N} repeats one seed, {@code -Dstele.seeds=N} runs many. */
class CellBlockTest {
  private static final int SEEDS = Integer.getInteger("stele.seeds", 300);
  private static final Long SEED = Long.getLong("stele.seed");

  private record Item(
      Bytes key, long timestamp, long sequence, int ordinal, CellType type, Bytes value)
      implements Comparable<Item> {
    static Item current(CellCursor cells) {
      return new Item(
          Bytes.of(cells.key(), 0, cells.keyLength()),
          cells.timestamp(),
          cells.sequence(),
          cells.ordinal(),
          cells.type(),
          Bytes.of(cells.valueArray(), cells.valueOffset(), cells.valueLength()));
    }

    @Override
    public int compareTo(Item other) {
      int order = key.compareTo(other.key);
      order = order != 0 ? order : Long.compare(other.timestamp, timestamp);
      order = order != 0 ? order : Long.compare(other.sequence, sequence);
      return order != 0 ? order : Integer.compare(other.ordinal, ordinal);
    }
  }

  private interface SeedTest {
    void run(Random random) throws IOException;
  }

  @Test
  void aSequentialBlockGivesItsCellsInTheOrderTheyWereAdded() {
    forSeeds(
        random -> {
          List<Item> items = randomItems(random);
          CellBlockWriter writer = CellBlockWriter.sequential(16);
          ByteWriter block = write(writer, items);
          assertThat(readAll(CellBlockCursor.sequential(block.array(), 0, block.size())))
              .isEqualTo(items);
          writer.clear(); // The same memory again.
          block = write(writer, items);
          assertThat(readAll(CellBlockCursor.sequential(block.array(), 0, block.size())))
              .isEqualTo(items);
        });
  }

  @Test
  void aSearchableBlockIsReadAndSoughtAcrossRestarts() {
    forSeeds(
        random -> {
          List<Item> items = new ArrayList<>(new TreeSet<>(randomItems(random)));
          CellBlockWriter writer = CellBlockWriter.searchable(1 + random.nextInt(20), 16);
          ByteWriter written = write(writer, items);
          int at = random.nextInt(5); // A block may be a part of an array.
          byte[] array = new byte[at + written.size() + random.nextInt(5)];
          System.arraycopy(written.array(), 0, array, at, written.size());
          CellBlockCursor cells = CellBlockCursor.searchable(array, at, written.size());
          assertThat(readAll(cells)).isEqualTo(items);
          for (int i = 0; i < 30; i++) {
            seekAndWalk(cells, items, random);
          }
          cells.resetSearchable(array, at, written.size());
          assertThat(readAll(cells)).isEqualTo(items);
        });
  }

  @Test
  void damagedBlocksNeverHangNorReadOutsideThemselves() {
    forSeeds(
        random -> {
          List<Item> items = new ArrayList<>(new TreeSet<>(randomItems(random)));
          boolean searchable = random.nextBoolean();
          ByteWriter written =
              write(
                  searchable
                      ? CellBlockWriter.searchable(1 + random.nextInt(20), 16)
                      : CellBlockWriter.sequential(16),
                  items);
          byte[] block = written.toByteArray();
          for (int i = 0; i < 1 + random.nextInt(5) && block.length > 0; i++) {
            block[random.nextInt(block.length)] = (byte) random.nextInt();
          }
          int length = random.nextInt(3) == 0 ? random.nextInt(block.length + 1) : block.length;
          try {
            CellBlockCursor cells =
                searchable
                    ? CellBlockCursor.searchable(block, 0, length)
                    : CellBlockCursor.sequential(block, 0, length);
            assertThat(readAll(cells).size()).isLessThanOrEqualTo(block.length);
            cells.seek(randomKey(random).toByteArray());
          } catch (MalformedException e) {
            assertThat(e).hasMessageContaining("at byte");
          }
        });
  }

  private static void seekAndWalk(CellCursor cells, List<Item> items, Random random)
      throws IOException {
    Bytes target =
        items.isEmpty() || random.nextBoolean()
            ? randomKey(random)
            : items.get(random.nextInt(items.size())).key();
    int expected = 0;
    while (expected < items.size() && items.get(expected).key().compareTo(target) < 0) {
      expected++;
    }
    boolean found = cells.seek(target.toByteArray());
    assertThat(found).isEqualTo(expected < items.size());
    for (int steps = random.nextInt(40); found && steps >= 0; steps--) {
      assertThat(Item.current(cells)).isEqualTo(items.get(expected++));
      found = cells.next();
      assertThat(found).isEqualTo(expected < items.size());
    }
  }

  private static ByteWriter write(CellBlockWriter writer, List<Item> items) {
    for (Item item : items) {
      byte[] key = item.key().toByteArray();
      if (item.ordinal() % 2 == 0) {
        writer.add(
            key, item.timestamp(), item.sequence(), item.ordinal(), item.type(), item.value());
      } else {
        byte[] value = item.value().toByteArray();
        writer.add(
            new OneCell(
                key,
                key.length,
                item.timestamp(),
                item.sequence(),
                item.ordinal(),
                item.type(),
                value,
                0,
                value.length));
      }
    }
    assertThat(writer.cellCount()).isEqualTo(items.size());
    return writer.finish();
  }

  private static List<Item> readAll(CellCursor cells) throws IOException {
    List<Item> items = new ArrayList<>();
    while (cells.next()) {
      items.add(Item.current(cells));
    }
    assertThat(cells.next()).isFalse();
    return items;
  }

  private static List<Item> randomItems(Random random) {
    List<Item> items = new ArrayList<>();
    int count = random.nextInt(200);
    Bytes key = randomKey(random);
    for (int i = 0; i < count; i++) {
      key = random.nextInt(3) == 0 ? key : randomKey(random);
      items.add(
          new Item(
              key,
              random.nextInt(3) == 0 ? 5 : random.nextLong(),
              random.nextInt(3) == 0 ? 5 : random.nextLong(),
              random.nextInt(3) == 0 ? random.nextInt(Integer.MAX_VALUE) : 0,
              CellType.of(random.nextInt(CellType.COUNT)),
              randomBytes(random, random.nextInt(4) == 0 ? random.nextInt(300) : 0)));
    }
    return items;
  }

  private static Bytes randomKey(Random random) {
    return random.nextInt(20) == 0
        ? randomBytes(random, random.nextInt(500))
        : randomBytes(random, 1 + random.nextInt(4));
  }

  private static Bytes randomBytes(Random random, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (random.nextInt(4) == 0 ? random.nextInt() : 'a' + random.nextInt(2));
    }
    return Bytes.wrap(bytes);
  }

  private static void forSeeds(SeedTest test) {
    long first = SEED == null ? 1 : SEED;
    long last = SEED == null ? SEEDS : SEED;
    for (long seed = first; seed <= last; seed++) {
      try {
        test.run(new Random(seed));
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + " (repeat with -Dstele.seed=" + seed + ")", e);
      }
    }
  }
}
