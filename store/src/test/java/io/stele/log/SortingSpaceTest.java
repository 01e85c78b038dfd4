package io.stele.log;

import static io.stele.log.LogRecords.tablet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
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
      byte[] body = new byte[1 + random.nextInt(random.nextInt(50) == 0 ? 300_000 : 2000)];
      random.nextBytes(body);
      int at = random.nextInt(100);
      System.arraycopy(body, 0, lent, at, body.length);
      kept.add(space.keep(new EncodedRecord(tablet(i % 7), lent, at, body.length, i)));
      expected.add(body);
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
  void recordsLeaveLittleOfAnArrayFree() {
    for (int length : new int[] {10, 1000, 20_000, 32_000, 90_000}) {
      SortingSpace own = new SortingSpace();
      long bytes = 0;
      for (int i = 0; i < 200; i++) {
        own.keep(new EncodedRecord(tablet(1), lent, 0, length, 0));
        bytes += length;
      }
      long most = bytes * 8 / 7 + (256 << 10);
      assertThat(own.heldBytes()).as("of %d", length).isLessThanOrEqualTo(most);
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
