package io.stele.log;

import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SortingSpaceTest {
  private static final int RECORDS = 300;

  private final SortingSpace space = new SortingSpace();
  private final byte[] lent = new byte[400_000]; // As a reader lends it: others follow in it.

  /** Keeps records of random length, and checks that each is what it was. */
  private void keepAndCheck(Random random) {
    List<EncodedRecord> kept = new ArrayList<>();
    List<byte[]> expected = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      random.nextBytes(lent);
      int at = random.nextInt(100);
      int length = 1 + random.nextInt(random.nextInt(20) == 0 ? 300_000 : 5000);
      kept.add(space.keep(new EncodedRecord(tablet(i % 7), lent, at, length, i)));
      expected.add(Arrays.copyOfRange(lent, at, at + length));
    }
    for (int i = 0; i < RECORDS; i++) {
      assertThat(kept.get(i).body()).as("record %d", i).isEqualTo(expected.get(i));
      assertThat(kept.get(i).length()).isEqualTo(expected.get(i).length);
      assertThat(kept.get(i).tablet()).isEqualTo(tablet(i % 7));
      assertThat(kept.get(i).bodyCrc()).isEqualTo(i);
    }
  }

  @Test
  void recordsStayWhatTheyWereUntilTheSpaceIsCleared() {
    for (int seed = 0; seed < 5; seed++) {
      keepAndCheck(new Random(seed));
      space.clear();
    }
  }

  @Test
  void theNextRecordsTakeNoMoreMemory() {
    keepAndCheck(new Random(1));
    long held = space.heldBytes();
    assertThat(held).isPositive();
    for (int i = 0; i < 3; i++) {
      space.clear();
      keepAndCheck(new Random(1));
      assertThat(space.heldBytes()).isEqualTo(held);
    }
  }
}
