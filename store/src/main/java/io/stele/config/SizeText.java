package io.stele.config;

import io.stele.model.SteleException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes as people write them, such as {@code 64m}; a unit is 1024 of the one before. */
public final class SizeText {
  private static final String UNITS = "kmgtpe";
  private static final Pattern SIZE = Pattern.compile("(\\d{1,19})([" + UNITS + "]?)");
  private static final String MEANING =
      "a size is a number and k, m, g, t, p or e, such as 64m, or a number of bytes";

  private SizeText() {}

  /**
   * Reads a size, in bytes. Units may be written in either case.
   *
   * @throws SteleException REFUSED if {@code text} is none, or is 8e or more
   */
  public static long parse(String text) {
    Matcher matcher = SIZE.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw SteleException.refused(MEANING + ", not \"" + text + "\"");
    }
    String unit = matcher.group(2);
    try {
      return Math.multiplyExact(
          Long.parseLong(matcher.group(1)),
          unit.isEmpty() ? 1 : 1L << (10 * (UNITS.indexOf(unit) + 1)));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, MEANING + "; \"" + text + "\" is out of range", e);
    }
  }

  /** The size as {@link #parse} reads it, in the largest unit that leaves no fraction. */
  public static String of(long bytes) {
    int unit = bytes == 0 ? 0 : Long.numberOfTrailingZeros(bytes) / 10;
    return unit == 0
        ? Long.toString(bytes)
        : (bytes >> (10 * unit)) + UNITS.substring(unit - 1, unit);
  }
}
