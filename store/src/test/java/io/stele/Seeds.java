package io.stele;

import java.util.Random;
import java.util.stream.LongStream;

/**
 * The seeds of a random test: {@code -Dstele.seed=N} runs that one, {@code -Dstele.seeds=COUNT} as
 * many, drawn anew.
 */
public final class Seeds {
  private static final int MAX = 1_000_000_000;

  private Seeds() {}

  /** The seeds to run: 1 to {@code usual} and a fresh one where nothing else is asked for. */
  public static LongStream of(int usual) {
    Long one = Long.getLong("stele.seed");
    if (one != null) {
      return LongStream.of(one);
    }
    Integer many = Integer.getInteger("stele.seeds");
    Random fresh = new Random();
    return many != null
        ? fresh.longs(many, 1, MAX)
        : LongStream.concat(LongStream.rangeClosed(1, usual), fresh.longs(1, 1, MAX));
  }
}
