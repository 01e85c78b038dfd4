package io.stele.mapreduce.jobs;

import java.util.Locale;

/** How many there are of something, in words: "1 row", "2,000 rows". */
final class Amount {
  private Amount() {}

  /**
   * So many of something.
   *
   * @param what one of them, such as "row"
   */
  static String of(long number, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", number, what, number == 1 ? "" : "s");
  }
}
