package io.stele.tablet;

import io.stele.Seeds;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A tablet on a real commit log and a disk that drops at a random moment what was not synced: every
 * acknowledged operation is there afterwards, an unknown one whole or not at all, and what is tried
 * again is applied once.
 */
class TabletCrashTest {
  private static final int LIVES = 5;

  static LongStream seeds() {
    return Seeds.of(25);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void whatWasAcknowledgedSurvivesAndWhatIsRetriedCountsOnce(long seed) throws Exception {
    new CrashRun(seed).run(LIVES);
  }
}
