package io.stele.config;

import io.stele.model.SteleException;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;

/**
 * One configuration key: its name, meaning, default and allowed values.
 *
 * @param name the key, {@code stele.*}
 * @param doc what it sets, for operators
 * @param defaultText the default as an operator would write it
 * @param allowed the values allowed, in words
 * @param parser makes the value of the text; throws IllegalArgumentException or SteleException
 *     where it cannot
 * @param check whether a parsed value is allowed
 */
public record Key<T>(
    String name,
    String doc,
    String defaultText,
    String allowed,
    Function<String, T> parser,
    Predicate<T> check) {

  /** What Hadoop names as the source of a key that is given by {@code -D}. */
  public static final String COMMAND_LINE = "from command line";

  /** A key for text. */
  static Key<String> text(String name, String defaultText, String doc) {
    return new Key<>(name, doc, defaultText, "any text", Function.identity(), value -> true);
  }

  /** A key for a whole number from {@code min} to {@code max}. */
  static Key<Integer> number(String name, int defaultNumber, int min, int max, String doc) {
    return new Key<>(
        name,
        doc,
        Integer.toString(defaultNumber),
        min + " to " + max,
        Integer::valueOf,
        value -> value >= min && value <= max);
  }

  /** A key for a size such as {@code 64m}, from {@code min} to {@code max} bytes. */
  static Key<Long> size(String name, String defaultText, long min, long max, String doc) {
    return new Key<>(
        name,
        doc,
        defaultText,
        "a size such as 64m or 1g, " + range(min, max),
        SizeText::parse,
        value -> value >= min && value <= max);
  }

  /** As {@link #size}; 0, the default, leaves it to be derived from the memory of the process. */
  static Key<Long> sizeOrDerived(String name, long min, long max, String doc) {
    return new Key<>(
        name,
        doc,
        "0",
        "0, or a size such as 64m or 1g, " + range(min, max),
        SizeText::parse,
        value -> value == 0 || (value >= min && value <= max));
  }

  /** A key for a time such as {@code 10s}, from {@code min} to {@code max}. */
  static Key<Duration> time(
      String name, String defaultText, Duration min, Duration max, String doc) {
    return new Key<>(
        name,
        doc,
        defaultText,
        "a time such as 500ms, 10s or 5m, " + shown(min) + " to " + shown(max),
        Key::parseTime,
        value -> value.compareTo(min) >= 0 && value.compareTo(max) <= 0);
  }

  private static String range(long min, long max) {
    return SizeText.of(min) + (max == Long.MAX_VALUE ? " or more" : " to " + SizeText.of(max));
  }

  /** A time as {@link #parseTime} reads it. */
  private static String shown(Duration time) {
    long millis = time.toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    return seconds == 0 || seconds % 60 != 0
        ? seconds + "s"
        : seconds % 3600 == 0 ? seconds / 3600 + "h" : seconds / 60 + "m";
  }

  /** The value in {@code conf}, or the default. */
  public T in(Configuration conf) {
    String text = conf.getTrimmed(name);
    return text == null || text.isEmpty()
        ? parse(defaultText, "the default")
        : parse(text, source(conf, name));
  }

  /**
   * Parses {@code text} and checks the value.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}, with the key, the text and what is
   *     allowed
   */
  public T parse(String text) {
    return parse(text, "");
  }

  private T parse(String text, String source) {
    try {
      T value = parser.apply(text);
      if (check.test(value)) {
        return value;
      }
    } catch (IllegalArgumentException | ArithmeticException | SteleException e) {
      throw new SteleException(SteleException.Code.REFUSED, refusal(text, source), e);
    }
    throw SteleException.refused(refusal(text, source));
  }

  private String refusal(String text, String source) {
    return "configuration key "
        + name
        + " has the value \""
        + text
        + "\""
        + (source.isEmpty() ? "" : " (" + source + ")")
        + ", which is not allowed: give it "
        + allowed
        + " (default "
        + defaultText
        + ")";
  }

  /** Where the value of {@code name} in {@code conf} is from, as a part of a sentence. */
  static String source(Configuration conf, String name) {
    String[] sources = conf.getPropertySources(name);
    String last = sources == null || sources.length == 0 ? "" : sources[sources.length - 1];
    return switch (last) {
      case COMMAND_LINE -> "given by -D";
      case "", "programmatically", "Unknown" -> "set by the program";
      default -> "from " + last;
    };
  }

  private static Duration parseTime(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.isEmpty()) {
      throw new IllegalArgumentException("no time");
    }
    if (lower.endsWith("ms")) {
      return Duration.ofMillis(Long.parseLong(lower.substring(0, lower.length() - 2)));
    }
    long number = Long.parseLong(lower.substring(0, lower.length() - 1));
    return switch (lower.charAt(lower.length() - 1)) {
      case 's' -> Duration.ofSeconds(number);
      case 'm' -> Duration.ofMinutes(number);
      case 'h' -> Duration.ofHours(number);
      default -> throw new IllegalArgumentException(text);
    };
  }
}
