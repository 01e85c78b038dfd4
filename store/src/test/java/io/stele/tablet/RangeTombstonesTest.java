package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RangeTombstonesTest {
  /** What a tombstone deletes. */
  private record Range(long from, long to, long sequence, int ordinal) {}

  private final RangeTombstones tombstones = new RangeTombstones();
  private final List<Range> ranges = new ArrayList<>(); // The newest first.

  private void add(Range range) {
    ranges.add(range);
    tombstones.add(range.from, range.to, range.sequence, range.ordinal);
  }

  private long firstOver(long timestamp, long sequence, int ordinal) {
    return ranges.stream()
        .filter(
            one -> one.sequence > sequence || (one.sequence == sequence && one.ordinal > ordinal))
        .filter(one -> one.from <= timestamp && timestamp < one.to)
        .mapToLong(Range::sequence)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private long firstAbove(long timestamp, long sequence) {
    return ranges.stream()
        .filter(one -> one.sequence > sequence && one.to - 1 > timestamp)
        .mapToLong(Range::sequence)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  @Test
  void theFirstIsFoundHoweverManyThereAre() {
    long seed = Seeds.one();
    Random random = new Random(seed);
    for (int column = 0; column < 200; column++) {
      ranges.clear();
      tombstones.clear();
      int count = random.nextInt(300);
      int times = 1 + random.nextInt(200);
      for (int i = 0; i < count; i++) {
        long from = random.nextInt(times);
        long to = random.nextInt(8) == 0 ? Long.MAX_VALUE : from + 1 + random.nextInt(times);
        add(new Range(from, to, 1 + (count - i) / 2, (count - i) % 2));
      }
      for (long at = times + 2; at >= 0; at -= random.nextInt(3)) {
        long sequence = random.nextInt(count + 2) / 2;
        int ordinal = random.nextInt(3);
        String what = "seed " + seed + ", column " + column + ", " + at + " #" + sequence;
        assertThat(tombstones.firstOver(at, sequence, ordinal))
            .as(what)
            .isEqualTo(firstOver(at, sequence, ordinal));
        assertThat(tombstones.firstAbove(at, sequence))
            .as(what)
            .isEqualTo(firstAbove(at, sequence));
        at -= at == 0 ? 1 : 0;
      }
    }
  }

  /** No version is deleted, though half of the tombstones are later than each. */
  @Test
  void aHundredThousandAreNotSearchedOneByOne() {
    int count = 100_000;
    for (int i = 0; i < count; i++) {
      tombstones.add(2L * i, 2L * i + 1, count - i, 0);
    }
    for (long at = 2L * count - 1; at > 0; at -= 2) {
      assertThat(tombstones.firstOver(at, count / 2, 0)).isEqualTo(Long.MAX_VALUE);
      tombstones.firstAbove(at, count / 2);
    }
    assertThat(tombstones.steps()).isLessThan(100L * count);
  }
}
