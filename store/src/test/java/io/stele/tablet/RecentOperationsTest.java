package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.tablet.ClientOperations.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class RecentOperationsTest {
  private final RecentOperations recent = new RecentOperations();

  private static Operation operation(long number) {
    LoggedOperation logged =
        new LoggedOperation(new OperationId(1, 2, number), 1, Bytes.EMPTY, Bytes.EMPTY);
    return new Operation(new ClientOperations(), logged, Optional.empty());
  }

  @Test
  void anotherOperationOfTheSameNumberStays() {
    Operation there = operation(7);
    recent.put(there);
    assertThat(recent.remove(operation(7))).isFalse();
    assertThat(recent.has(operation(7))).isFalse();
    assertThat(recent.stream()).containsExactly(there);
  }

  @Test
  void itIsASortedMap() {
    long seed = Seeds.one();
    Random random = new Random(seed);
    TreeMap<Long, Operation> model = new TreeMap<>();
    long next = 1;
    for (int step = 0; step < 50_000; step++) {
      String where = "seed " + seed + ", step " + step;
      long number = random.nextBoolean() ? next++ : 1 + random.nextLong(next);
      switch (random.nextInt(8)) {
        case 0, 1, 2, 3 -> {
          Operation added = operation(number);
          assertThat(recent.put(added))
              .as(where)
              .isEqualTo(Optional.ofNullable(model.put(number, added)));
        }
        case 4 ->
            assertThat(recent.get(number))
                .as(where)
                .isEqualTo(Optional.ofNullable(model.get(number)));
        case 5 -> {
          Operation there = model.getOrDefault(number, operation(number));
          assertThat(recent.has(there)).as(where).isEqualTo(model.get(number) == there);
          assertThat(recent.remove(there)).as(where).isEqualTo(model.remove(number, there));
        }
        case 6 -> {
          long below = random.nextInt(40) == 0 ? Long.MAX_VALUE : number;
          removeBelow(model, below, 1 + random.nextInt(3), where);
        }
        default -> {
          if (random.nextInt(100) == 0) {
            recent.removeIf(one -> one.number() % 2 == 0);
            model.values().removeIf(one -> one.number() % 2 == 0);
          }
        }
      }
      assertThat(recent.isEmpty()).as(where).isEqualTo(model.isEmpty());
      assertThat(recent.room()).as(where).isLessThanOrEqualTo(Math.max(8, 4 * model.size() + 3));
      if (step % 50 == 0) {
        assertThat(recent.stream()).as(where).containsExactlyElementsOf(model.values());
      }
    }
  }

  /** Removes those whose number is a multiple of {@code divisor}. */
  private void removeBelow(TreeMap<Long, Operation> model, long below, int divisor, String where) {
    Predicate<Operation> goes = one -> one.number() % divisor == 0;
    List<Operation> asked = new ArrayList<>();
    recent.removeBelow(
        below,
        one -> {
          asked.add(one);
          return goes.test(one);
        });
    assertThat(asked).as(where).containsExactlyElementsOf(model.headMap(below).values());
    model.headMap(below).values().removeIf(goes);
  }
}
