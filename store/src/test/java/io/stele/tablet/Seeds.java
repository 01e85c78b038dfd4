package io.stele.tablet;

import java.util.Random;
import java.util.stream.LongStream;

/**
 * Which seeds a random test runs: {@code -Dstele.seed=N} that one, {@code -Dstele.seeds=N} so many,
 * drawn anew; else the same few every time.
 */
final class Seeds {
  private Seeds() {}

  static LongStream of(int usual) {
    Long one = Long.getLong("stele.seed");
    if (one != null) {
      return LongStream.of(one);
    }
    Integer many = Integer.getInteger("stele.seeds");
    return many != null
        ? new Random().longs(many, 0, Integer.MAX_VALUE)
        : LongStream.rangeClosed(1, usual);
  }
}
