package io.stele.model;

import java.util.Locale;

/** Numbers of things in messages: "1 row", "2,000 rows". */
public final class Amount {
  private Amount() {}

  /**
   * A number of things.
   *
   * @param noun one of them, such as "row"; its plural has an "s"
   */
  public static String of(long number, String noun) {
    return String.format(Locale.ROOT, "%,d %s%s", number, noun, number == 1 ? "" : "s");
  }
}
