package io.stele.memtable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.OneCell;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Random cells in a memtable and in a sorted map: what comes out of one comes out of the other. */
class MemtableModelTest {
  /** What a cell is found by. */
  private record Name(byte[] key, long timestamp, long sequence, int ordinal) {
    static final Comparator<Name> ORDER =
        Comparator.<Name, byte[]>comparing(name -> name.key, Arrays::compareUnsigned)
            .thenComparing(Comparator.comparingLong(Name::timestamp).reversed())
            .thenComparing(Comparator.comparingLong(Name::sequence).reversed())
            .thenComparing(Comparator.comparingInt(Name::ordinal).reversed());

    /** Stands before every cell whose key is {@code key} or above. */
    static Name before(byte[] key) {
      return new Name(key, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE);
    }
  }

  private record Content(CellType type, byte[] value) {}

  @TestFactory
  Stream<DynamicTest> whatGoesInComesOutInOrder() {
    return Seeds.of(30)
        .mapToObj(seed -> DynamicTest.dynamicTest("seed " + seed, () -> new Run(seed).run()));
  }

  private static final class Run {
    private final Random random;
    private final CountingAccount account = new CountingAccount();
    private final Memtable memtable = new Memtable(account);
    private final NavigableMap<Name, Content> model = new TreeMap<>(Name.ORDER);
    private final List<Name> names = new ArrayList<>();
    private final int alphabet;
    private final int keyBytesMax;
    private final int valueBytesMax;
    private final boolean hugeToo;
    private long sequence;

    Run(long seed) {
      random = new Random(seed);
      alphabet = 1 + random.nextInt(random.nextBoolean() ? 3 : 256);
      keyBytesMax = 1 + random.nextInt(random.nextBoolean() ? 6 : 200);
      valueBytesMax = random.nextInt(random.nextBoolean() ? 20 : 3000);
      hugeToo = random.nextInt(3) == 0;
    }

    void run() throws IOException {
      assertThat(memtable.isEmpty()).isTrue();
      int cells = 1 + random.nextInt(3000);
      boolean inOrder = random.nextInt(4) == 0;
      for (int i = 0; i < cells; i++) {
        if (!names.isEmpty() && random.nextInt(10) == 0) {
          addAgain();
        } else {
          add(inOrder ? ordered(i) : key());
        }
        if (random.nextInt(cells) < 10) {
          check();
        }
      }
      check();
      memtable.release();
      assertThat(account.bytes()).isZero();
    }

    private byte[] ordered(int i) {
      byte[] key = new byte[] {1, (byte) (i >> 16), (byte) (i >> 8), (byte) i, 0, 0};
      return Arrays.copyOf(key, 4 + random.nextInt(3));
    }

    private byte[] key() {
      if (hugeToo && random.nextInt(300) == 0) {
        byte[] huge = new byte[1 + random.nextInt(150_000)];
        Arrays.fill(huge, (byte) random.nextInt(2));
        return huge;
      }
      if (!names.isEmpty() && random.nextInt(3) == 0) {
        return varied(names.get(random.nextInt(names.size())).key);
      }
      byte[] key = new byte[1 + random.nextInt(keyBytesMax)];
      for (int i = 0; i < key.length; i++) {
        key[i] = (byte) random.nextInt(alphabet);
      }
      return key;
    }

    /** The same key, a bit shorter or longer: with zeros at the end they differ in length alone. */
    private byte[] varied(byte[] key) {
      return Arrays.copyOf(key, Math.max(1, key.length - 2 + random.nextInt(5)));
    }

    private void add(byte[] key) {
      long timestamp = random.nextInt(4) == 0 ? random.nextLong() >>> 1 : random.nextInt(3);
      sequence += random.nextInt(2);
      // Its ordinal makes it another one: what is added twice is added by addAgain.
      Name name = new Name(key, timestamp, sequence << random.nextInt(40), names.size());
      int length =
          hugeToo && random.nextInt(300) == 0
              ? random.nextInt(1 << 20)
              : random.nextInt(valueBytesMax + 1);
      byte[] value = new byte[length];
      random.nextBytes(value);
      CellType type = CellType.values()[random.nextInt(5)];
      names.add(name);
      model.put(name, new Content(type, value));
      put(name, type, value);
    }

    private void addAgain() {
      Name name = names.get(random.nextInt(names.size()));
      Content content = model.get(name);
      long count = memtable.cellCount();
      put(name, content.type, content.value);
      assertThat(memtable.cellCount()).isEqualTo(count);
    }

    /** From the midst of larger arrays, which change afterwards. */
    private void put(Name name, CellType type, byte[] value) {
      byte[] key = Arrays.copyOf(name.key, name.key.length + 5);
      byte[] around = new byte[value.length + 7];
      System.arraycopy(value, 0, around, 3, value.length);
      memtable.add(
          new OneCell(
              key,
              name.key.length,
              name.timestamp,
              name.sequence,
              name.ordinal,
              type,
              around,
              3,
              value.length));
      Arrays.fill(key, (byte) 99);
      Arrays.fill(around, (byte) 99);
    }

    private void check() throws IOException {
      assertThat(memtable.cellCount()).isEqualTo(model.size());
      assertThat(memtable.isEmpty()).isEqualTo(model.isEmpty());
      assertThat(memtable.hasTombstones())
          .isEqualTo(model.values().stream().anyMatch(content -> content.type.isTombstone()));
      assertThat(memtable.bytes()).isEqualTo(account.bytes()).isGreaterThan(dataBytes());
      long readPoint = random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextLong() >>> 20;
      try (CellCursor cursor = memtable.cursor(readPoint)) {
        assertRest(cursor, cursor.next(), model, readPoint);
        for (int i = 0; i < 10; i++) {
          byte[] key = random.nextInt(10) == 0 ? new byte[0] : key();
          boolean found = cursor.seek(Arrays.copyOf(key, key.length + 3), key.length);
          assertRest(cursor, found, model.tailMap(Name.before(key), true), readPoint);
        }
      }
    }

    private long dataBytes() {
      return model.entrySet().stream()
          .mapToLong(cell -> cell.getKey().key.length + cell.getValue().value.length)
          .sum();
    }

    private void assertRest(
        CellCursor cursor, boolean found, NavigableMap<Name, Content> expected, long readPoint)
        throws IOException {
      boolean more = found;
      boolean askForKeys = random.nextBoolean();
      int steps = random.nextInt(4) == 0 ? Integer.MAX_VALUE : random.nextInt(20);
      for (Map.Entry<Name, Content> cell : expected.entrySet()) {
        if (cell.getKey().sequence > readPoint) {
          continue;
        }
        if (steps-- == 0) {
          return;
        }
        assertThat(more).isTrue();
        if (askForKeys || random.nextBoolean()) {
          assertThat(Arrays.copyOf(cursor.key(), cursor.keyLength())).isEqualTo(cell.getKey().key);
        }
        assertThat(cursor.timestamp()).isEqualTo(cell.getKey().timestamp);
        assertThat(cursor.sequence()).isEqualTo(cell.getKey().sequence);
        assertThat(cursor.ordinal()).isEqualTo(cell.getKey().ordinal);
        assertThat(cursor.type()).isEqualTo(cell.getValue().type);
        int from = cursor.valueOffset();
        assertThat(Arrays.copyOfRange(cursor.valueArray(), from, from + cursor.valueLength()))
            .isEqualTo(cell.getValue().value);
        more = cursor.next();
      }
      assertThat(more).isFalse();
      assertThat(cursor.next()).isFalse();
    }
  }
}
