package io.stele.cli;

import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Column families and times as they are written on the command line. */
final class FamilyText {
  private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,15})([a-z]*)");
  private static final Map<String, Long> MILLIS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

  private static final String TIME = "a time is a number and ms, s, m, h or d, such as 30d";

  private static final GcPolicy KEEP_ALL = GcPolicy.keepAll();

  private FamilyText() {}

  /** The name in {@code name:versions=3,age=30d,group=pages}. */
  static String name(String text) {
    int colon = text.indexOf(':');
    return colon < 0 ? text : text.substring(0, colon);
  }

  /** Reads {@code name} or {@code name:versions=3,age=30d,group=pages}: a new family. */
  static ColumnFamily parse(String text) {
    Settings settings = Settings.parse(text);
    GcPolicy policy =
        settings.versions().isEmpty() && settings.age().isEmpty()
            ? GcPolicy.maxVersions(1)
            : policy(settings.versions().orElse(KEEP_ALL), settings.age().orElse(KEEP_ALL));
    return new ColumnFamily(
        name(text), policy, settings.group().orElse(LocalityGroup.DEFAULT_NAME));
  }

  /**
   * {@code family} with the settings that follow the name in such a text; settings that it does not
   * mention stay as they are.
   */
  static ColumnFamily change(ColumnFamily family, String text) {
    Settings settings = Settings.parse(text);
    GcPolicy policy = family.gc();
    if (settings.versions().isPresent() && settings.age().isPresent()) {
      policy = policy(settings.versions().get(), settings.age().get());
    } else if (settings.versions().isPresent()) {
      policy = policy(settings.versions().get(), part(family, GcPolicy.Kind.MAX_AGE));
    } else if (settings.age().isPresent()) {
      policy = policy(part(family, GcPolicy.Kind.MAX_VERSIONS), settings.age().get());
    }
    return new ColumnFamily(family.name(), policy, settings.group().orElse(family.group()));
  }

  /**
   * What is said of a family; each is empty if nothing is.
   *
   * @param versions a number of versions, or all of them
   * @param age an age, or any
   */
  private record Settings(
      Optional<GcPolicy> versions, Optional<GcPolicy> age, Optional<String> group) {
    static Settings parse(String text) {
      Settings settings = new Settings(Optional.empty(), Optional.empty(), Optional.empty());
      int colon = text.indexOf(':');
      if (colon >= 0) {
        for (String part : text.substring(colon + 1).split(",")) {
          settings = settings.with(part, text);
        }
      }
      return settings;
    }

    private Settings with(String part, String text) {
      String[] pair = part.split("=", 2);
      String value = pair.length == 2 ? pair[1] : "";
      if (pair[0].equals("versions") && versions.isEmpty() && value.equals("all")) {
        return new Settings(Optional.of(KEEP_ALL), age, group);
      } else if (pair[0].equals("versions") && versions.isEmpty() && value.matches("\\d{1,9}")) {
        return new Settings(Optional.of(GcPolicy.maxVersions(Integer.parseInt(value))), age, group);
      } else if (pair[0].equals("age") && age.isEmpty() && value.equals("any")) {
        return new Settings(versions, Optional.of(KEEP_ALL), group);
      } else if (pair[0].equals("age") && age.isEmpty() && !value.isEmpty()) {
        return new Settings(versions, Optional.of(GcPolicy.maxAge(parseTime(value))), group);
      } else if (pair[0].equals("group") && group.isEmpty() && !value.isEmpty()) {
        return new Settings(versions, age, Optional.of(value));
      }
      throw SteleException.refused(
          "family \""
              + text
              + "\": after the ':' write, each at most once and separated by commas, versions=NUMBER (or"
              + " all), age=TIME (or any) and group=NAME, not \""
              + part
              + "\"");
    }
  }

  /** Keeps at most these versions, and none older; if one limit keeps all, only the other. */
  private static GcPolicy policy(GcPolicy versions, GcPolicy age) {
    if (age.kind() == GcPolicy.Kind.KEEP_ALL) {
      return versions;
    }
    return versions.kind() == GcPolicy.Kind.KEEP_ALL ? age : GcPolicy.union(versions, age);
  }

  /** The part of the family's policy of that kind; if there is none, the part keeps everything. */
  private static GcPolicy part(ColumnFamily family, GcPolicy.Kind kind) {
    List<GcPolicy> parts =
        family.gc() instanceof GcPolicy.Union union ? union.policies() : List.of(family.gc());
    GcPolicy found = KEEP_ALL;
    Set<GcPolicy.Kind> kinds = EnumSet.noneOf(GcPolicy.Kind.class);
    for (GcPolicy part : parts) {
      boolean plain =
          part.kind() == GcPolicy.Kind.KEEP_ALL
              || part.kind() == GcPolicy.Kind.MAX_VERSIONS
              || part.kind() == GcPolicy.Kind.MAX_AGE;
      if (!plain || !kinds.add(part.kind())) {
        throw SteleException.refused(
            "family "
                + format(family)
                + " keeps more than versions= and age= can say: give both to replace what it keeps");
      }
      if (part.kind() == kind) {
        found = part;
      }
    }
    return found;
  }

  /** The family as {@link #parse} reads it, where it can be said so. */
  static String format(ColumnFamily family) {
    return family.name()
        + ":"
        + format(family.gc())
        + (family.group().equals(LocalityGroup.DEFAULT_NAME) ? "" : ",group=" + family.group());
  }

  /** What the policy keeps: a comma between limits means that a version must be within both. */
  private static String format(GcPolicy policy) {
    return policy instanceof GcPolicy.Union union ? join(union.policies(), ",") : term(policy);
  }

  /**
   * The same as a part of another, in brackets if it has parts. The words tell what is kept: what
   * an intersection deletes is garbage to every part, so it keeps what any part keeps.
   */
  private static String term(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL -> "versions=all";
      case MAX_VERSIONS -> "versions=" + ((GcPolicy.MaxVersions) policy).count();
      case MAX_AGE -> "age=" + format(((GcPolicy.MaxAge) policy).age());
      case UNION -> "(" + join(((GcPolicy.Union) policy).policies(), " and ") + ")";
      case INTERSECTION -> "(" + join(((GcPolicy.Intersection) policy).policies(), " or ") + ")";
    };
  }

  private static String join(List<GcPolicy> policies, String between) {
    return policies.stream().map(FamilyText::term).collect(Collectors.joining(between));
  }

  private static String format(Duration age) {
    for (String unit : List.of("d", "h", "m", "s")) {
      long millis = MILLIS.getOrDefault(unit, 1L);
      if (age.toMillis() % millis == 0) {
        return age.toMillis() / millis + unit;
      }
    }
    return age.toMillis() + "ms";
  }

  /** Reads a time such as {@code 30d} or {@code 10s}. */
  static Duration parseTime(String text) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches() || !MILLIS.containsKey(matcher.group(2))) {
      throw SteleException.refused(TIME + ", not \"" + text + "\"");
    }
    try {
      return Duration.ofMillis(
          Math.multiplyExact(
              Long.parseLong(matcher.group(1)), MILLIS.getOrDefault(matcher.group(2), 1L)));
    } catch (ArithmeticException e) {
      throw SteleException.refused(TIME + "; \"" + text + "\" is out of range");
    }
  }
}
