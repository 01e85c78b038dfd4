package io.stele.cli;

import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Column families, sizes and times as they are written on the command line. */
final class FamilyText {
  private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,15})([a-z]*)");
  private static final Map<String, Long> MILLIS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);
  private static final Map<String, Long> BYTES =
      Map.of("", 1L, "k", 1L << 10, "m", 1L << 20, "g", 1L << 30, "t", 1L << 40);

  private FamilyText() {}

  /** Reads {@code name} or {@code name:versions=3,age=30d,group=pages}. */
  static ColumnFamily parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      return ColumnFamily.of(text);
    }
    List<GcPolicy> policies = new ArrayList<>();
    boolean all = false;
    String group = LocalityGroup.DEFAULT_NAME;
    for (String part : text.substring(colon + 1).split(",")) {
      String[] pair = part.split("=", 2);
      if (pair.length == 2 && pair[0].equals("versions") && pair[1].equals("all")) {
        all = true;
      } else if (pair.length == 2 && pair[0].equals("versions") && pair[1].matches("\\d{1,9}")) {
        policies.add(GcPolicy.maxVersions(Integer.parseInt(pair[1])));
      } else if (pair.length == 2 && pair[0].equals("age")) {
        policies.add(GcPolicy.maxAge(parseTime(pair[1])));
      } else if (pair.length == 2 && pair[0].equals("group")) {
        group = pair[1];
      } else {
        throw SteleException.refused(
            "family \""
                + text
                + "\": after the ':' come versions=NUMBER (or all), age=TIME and group=NAME, separated by commas, not \""
                + part
                + "\"");
      }
    }
    if (all && policies.stream().anyMatch(GcPolicy.MaxVersions.class::isInstance)) {
      throw SteleException.refused(
          "family \"" + text + "\" gives a number of versions and says all");
    }
    GcPolicy policy = new GcPolicy.Union(policies);
    if (policies.isEmpty()) {
      policy = all ? new GcPolicy.KeepAll() : GcPolicy.maxVersions(1);
    } else if (policies.size() == 1) {
      policy = policies.get(0);
    }
    return new ColumnFamily(text.substring(0, colon), policy, group);
  }

  /** The family as {@link #parse} reads it, where it can be said so. */
  static String format(ColumnFamily family) {
    return family.name()
        + ":"
        + format(family.gc())
        + (family.group().equals(LocalityGroup.DEFAULT_NAME) ? "" : ",group=" + family.group());
  }

  private static String format(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL -> "versions=all";
      case MAX_VERSIONS -> "versions=" + ((GcPolicy.MaxVersions) policy).count();
      case MAX_AGE -> "age=" + format(((GcPolicy.MaxAge) policy).age());
      case UNION ->
          ((GcPolicy.Union) policy)
              .policies().stream().map(FamilyText::format).collect(Collectors.joining(","));
      case INTERSECTION ->
          ((GcPolicy.Intersection) policy)
              .policies().stream()
                  .map(FamilyText::format)
                  .collect(Collectors.joining(" and ", "(", ")"));
    };
  }

  private static String format(Duration age) {
    for (String unit : List.of("d", "h", "m", "s")) {
      if (age.toMillis() % MILLIS.get(unit) == 0) {
        return age.toMillis() / MILLIS.get(unit) + unit;
      }
    }
    return age.toMillis() + "ms";
  }

  /** Reads a time such as {@code 30d} or {@code 10s}. */
  static Duration parseTime(String text) {
    return Duration.ofMillis(
        parse(text, MILLIS, "a time is a number and ms, s, m, h or d, such as 30d"));
  }

  /** Reads a size such as {@code 64m}, in bytes. */
  static long parseSize(String text) {
    return parse(text, BYTES, "a size is a number and k, m, g or t, such as 64m");
  }

  private static long parse(String text, Map<String, Long> units, String what) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.toLowerCase(java.util.Locale.ROOT));
    if (!matcher.matches() || !units.containsKey(matcher.group(2))) {
      throw SteleException.refused(what + ", not \"" + text + "\"");
    }
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), units.get(matcher.group(2)));
    } catch (ArithmeticException e) {
      throw SteleException.refused(what + "; \"" + text + "\" is too much");
    }
  }
}
