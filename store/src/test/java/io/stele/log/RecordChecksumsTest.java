package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RecordChecksumsTest {
  @Test
  void itKeepsTheFirstChecksumOfEachNumberAsAMapDoes() {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      long first = random.nextLong(1L << 40);
      int spread = 1 << (1 + random.nextInt(20));
      RecordChecksums checksums = new RecordChecksums();
      Map<Long, Integer> map = new HashMap<>();
      for (int i = 0; i < 5_000; i++) {
        long sequence = first + random.nextInt(spread);
        int checksum = random.nextInt(3) - 1;
        Integer before = map.putIfAbsent(sequence, checksum);
        assertThat(checksums.putIfAbsent(sequence, checksum))
            .as("seed %d", seed)
            .isEqualTo(before == null ? OptionalInt.empty() : OptionalInt.of(before));
        long other = first + random.nextInt(spread);
        assertThat(checksums.has(other)).isEqualTo(map.containsKey(other));
      }
      assertThat(checksums.count()).isEqualTo(map.size());
    }
  }
}
