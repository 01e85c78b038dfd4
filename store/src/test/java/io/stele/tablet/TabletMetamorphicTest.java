package io.stele.tablet;

import io.stele.Seeds;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Answers do not depend on how tablets are kept, nor on when they are compacted, restarted, split
 * or put into other locality groups. {@code -Dstele.seed=N} repeats a seed, {@code -Dstele.seeds=N}
 * runs N new ones.
 */
class TabletMetamorphicTest {
  private static final int STEPS = 200;

  static LongStream seeds() {
    return Seeds.of(10);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void answersAreTheSameUnderAllOptionsAndSchedules(long seed) {
    new MetamorphicRun(seed).run(STEPS);
  }
}
