package io.stele.tablet;

import io.stele.Seeds;
import java.io.IOException;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tablets against the plainest model of a table there is: random operations, reads, compactions,
 * restarts and splits under random policies. A failure names its seed; {@code -Dstele.seed=N}
 * repeats it, {@code -Dstele.seeds=N} runs N new ones.
 */
class TabletModelTest {
  private static final int STEPS = 600;

  static LongStream seeds() {
    return Seeds.of(80);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void answersAreThoseOfAPlainMap(long seed) throws IOException {
    new ModelRun(seed).run(STEPS);
  }
}
