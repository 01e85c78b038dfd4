package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class WatermarkTest {
  @Test
  void theLowestIsTheFirstThatHasNotEnded() {
    Watermark numbers = new Watermark(7);
    assertThat(numbers.isEmpty()).isTrue();
    assertThat(List.of(numbers.begin(), numbers.begin(), numbers.begin()))
        .containsExactly(7L, 8L, 9L);

    numbers.end(8);
    assertThat(numbers.lowest()).isEqualTo(7);
    numbers.end(7);
    assertThat(numbers.lowest()).isEqualTo(9);
    numbers.end(9);
    assertThat(numbers.isEmpty()).isTrue();
    assertThat(numbers.lowest()).isEqualTo(10);
  }

  @Test
  void aNumberEndsOnce() {
    Watermark numbers = new Watermark(0);
    numbers.begin();
    numbers.begin();
    numbers.end(0);
    numbers.end(0);
    assertThat(numbers.lowest()).isEqualTo(1);
    assertThat(numbers.isEmpty()).isFalse();
  }

  @Test
  void aNumberThatHasNotBegunCannotEnd() {
    Watermark numbers = new Watermark(5);
    numbers.begin();
    assertThatThrownBy(() -> numbers.end(6)).isInstanceOf(IllegalArgumentException.class);
    assertThat(numbers.lowest()).isEqualTo(5);
  }

  /** Against a set of those that have not ended, over more numbers than are forgotten at once. */
  @Test
  void isTheLeastOfASet() {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    Watermark numbers = new Watermark(1L << 40);
    TreeSet<Long> open = new TreeSet<>();
    List<Long> order = new ArrayList<>();
    for (int i = 0; i < 400_000; i++) {
      if (order.isEmpty() || random.nextInt(100) < 51) {
        long begun = numbers.begin();
        open.add(begun);
        order.add(begun);
      } else {
        int at = random.nextInt(order.size());
        long last = order.set(at, order.get(order.size() - 1));
        order.remove(order.size() - 1);
        open.remove(last);
        numbers.end(last);
      }
      long least = open.isEmpty() ? numbers.next() : open.first();
      assertThat(numbers.lowest()).describedAs("seed %d, step %d", seed, i).isEqualTo(least);
      assertThat(numbers.isEmpty()).isEqualTo(open.isEmpty());
    }
  }
}
