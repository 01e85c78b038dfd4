package io.stele;

import java.util.Random;
import java.util.stream.LongStream;

/**
 * The seeds of random tests. They are the same in every run, so that what passed once passes again:
 * only a campaign, {@code -Dstele.seeds=COUNT}, draws new ones. {@code -Dstele.seed=N} repeats one.
 */
public final class Seeds {
  private static final int MAX = 1_000_000_000;

  private Seeds() {}

  /** The seeds of a test that runs once for each: 1 to {@code usual}, or what is asked for. */
  public static LongStream of(int usual) {
    Long one = Long.getLong("stele.seed");
    if (one != null) {
      return LongStream.of(one);
    }
    Integer many = Integer.getInteger("stele.seeds");
    return many != null ? drawn(many) : LongStream.rangeClosed(1, usual);
  }

  /** The seed of a test that runs once: 1, or a new one in a campaign. */
  public static long one() {
    return Long.getLong(
        "stele.seed", Integer.getInteger("stele.seeds") != null ? drawn(1).sum() : 1);
  }

  private static LongStream drawn(int count) {
    return new Random().longs(count, 1, MAX);
  }
}
