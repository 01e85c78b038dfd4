package io.stele;

import java.util.Random;
import java.util.stream.LongStream;

/**
 * The seeds of a random test: {@code -Dstele.seed=N} runs that one, {@code -Dstele.seeds=COUNT} as
 * many from 1 on and a fresh one.
 */
public final class Seeds {
  private Seeds() {}

  /** The seeds to run, {@code usual} of them and a fresh one where nothing else is asked for. */
  public static LongStream of(int usual) {
    Long one = Long.getLong("stele.seed");
    if (one != null) {
      return LongStream.of(one);
    }
    LongStream counted = LongStream.rangeClosed(1, Integer.getInteger("stele.seeds", usual));
    return LongStream.concat(counted, LongStream.of(new Random().nextInt(1_000_000_000)));
  }
}
