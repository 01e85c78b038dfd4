package io.stele.model;

import java.util.Comparator;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A user or a group, by the short name that HDFS knows: {@code user:alice}, {@code group:analysts}.
 * Users come before groups, then by name.
 *
 * @param name as {@code hdfs groups} shows it
 */
public record Principal(Kind kind, String name) implements Comparable<Principal> {
  /** What a name is the name of. */
  public enum Kind {
    USER,
    GROUP;

    /** "user" or "group". */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  // What separates the parts of an access control list, or of a Kerberos principal, is in no name.
  private static final Pattern NAME = Pattern.compile("(?! )[^:,/\\p{Cntrl}]{1,255}(?<! )");
  private static final Comparator<Principal> ORDER =
      Comparator.comparing(Principal::kind).thenComparing(Principal::name);

  public Principal {
    if (!NAME.matcher(name).matches()) {
      throw SteleException.refused(
          "\""
              + Bytes.of(name)
              + "\" cannot name a "
              + kind.text()
              + ": a name has 1 to 255 characters, none of them ':', ',' or '/', and is the short one,"
              + " as `hdfs groups` shows it");
    }
  }

  /** The user of that name. */
  public static Principal user(String name) {
    return new Principal(Kind.USER, name);
  }

  /** The group of that name. */
  public static Principal group(String name) {
    return new Principal(Kind.GROUP, name);
  }

  /**
   * Reads {@code user:NAME} or {@code group:NAME}.
   *
   * @throws SteleException REFUSED for anything else
   */
  public static Principal parse(String text) {
    for (Kind kind : Kind.values()) {
      String prefix = kind.text() + ":";
      if (text.startsWith(prefix)) {
        return new Principal(kind, text.substring(prefix.length()));
      }
    }
    throw SteleException.refused(
        "\"" + Bytes.of(text) + "\" is not a reader: write user:NAME or group:NAME");
  }

  @Override
  public int compareTo(Principal other) {
    return ORDER.compare(this, other);
  }

  /** As {@link #parse} reads it. */
  @Override
  public String toString() {
    return kind.text() + ":" + name;
  }
}
