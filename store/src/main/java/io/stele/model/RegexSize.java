package io.stele.model;

import java.util.ArrayDeque;

/**
 * Computes how large the program of a regular expression becomes, before it is compiled. RE2
 * expands repetitions, so that {@code (x{1000}){1000}} becomes a program of a million steps, and it
 * compiles groups by recursion.
 *
 * <p>It makes one pass over the pattern, which need not be well formed. The result for a malformed
 * pattern does not matter, as such a pattern is refused anyway.
 */
final class RegexSize {
  /** A class of characters is a table of ranges. */
  private static final long CLASS_SIZE = 10;

  /** A class of Unicode, such as {@code \pL}, is a table of hundreds of ranges. */
  private static final long UNICODE_CLASS_SIZE = 250;

  private static final int RANGES_PER_STEP = 4; // By their memory.

  private final String pattern;
  private final ArrayDeque<Long> groups = new ArrayDeque<>();
  private int at;
  private long size; // Of the group so far, except for the last item.
  private long item;

  private RegexSize(String pattern) {
    this.pattern = pattern;
  }

  /**
   * Refuses a pattern that is too long, nests too deep or becomes too large.
   *
   * @return how many steps its program has, roughly
   * @throws SteleException REFUSED
   */
  static long check(String pattern) {
    if (pattern.length() > Limits.REGEX_LENGTH_MAX) {
      throw SteleException.refused(
          "the regular expression that starts \""
              + pattern.substring(0, 32)
              + "\" has "
              + pattern.length()
              + " characters: the limit is "
              + Limits.REGEX_LENGTH_MAX);
    }
    return new RegexSize(pattern).read();
  }

  private long read() {
    while (at < pattern.length()) {
      char next = pattern.charAt(at++);
      switch (next) {
        case '(' -> open();
        case ')' -> close();
        case '[' -> add(readClass());
        case '\\' -> escape();
        case '*', '+', '?' -> item++;
        case '{' -> repeat();
        default -> add(1);
      }
      if (size + item > Limits.REGEX_SIZE_MAX) {
        throw SteleException.refused(
            "the regular expression \""
                + pattern
                + "\" becomes too large when its repetitions are expanded: repeat less; the limit"
                + " is "
                + Limits.REGEX_SIZE_MAX
                + " steps");
      }
    }
    return size + item;
  }

  private void add(long next) {
    size += item;
    item = next;
  }

  private void open() {
    if (groups.size() == Limits.REGEX_DEPTH_MAX) {
      throw SteleException.refused(
          "a regular expression nests deeper than "
              + Limits.REGEX_DEPTH_MAX
              + " groups: nest it less");
    }
    groups.push(size + item);
    size = 0;
    item = 0;
  }

  private void close() {
    if (!groups.isEmpty()) {
      item += size + 2;
      size = groups.pop();
    }
  }

  private void escape() {
    if (at == pattern.length()) {
      return;
    }
    char escaped = pattern.charAt(at++);
    if (escaped == 'Q') {
      int end = pattern.indexOf("\\E", at);
      int stop = end < 0 ? pattern.length() : end;
      for (; at < stop; at++) {
        add(1);
      }
      at = end < 0 ? stop : end + 2;
    } else {
      add(escaped(escaped));
    }
  }

  private static long escaped(char one) {
    if (one == 'p' || one == 'P') {
      return UNICODE_CLASS_SIZE;
    }
    return Character.isLetter(one) ? CLASS_SIZE : 1;
  }

  /** Reads to the end of a class; a bracket that comes first belongs to it. Returns its size. */
  private long readClass() {
    int start = at;
    long tables = 0;
    if (at < pattern.length() && pattern.charAt(at) == '^') {
      at++;
    }
    if (at < pattern.length() && pattern.charAt(at) == ']') {
      at++;
    }
    while (at < pattern.length() && pattern.charAt(at) != ']') {
      boolean named = pattern.startsWith("[:", at);
      int end = named ? pattern.indexOf(":]", at) : -1;
      if (end >= 0) {
        at = end + 2;
      } else if (pattern.charAt(at) == '\\' && at + 1 < pattern.length()) {
        tables += escaped(pattern.charAt(at + 1));
        at += 2;
      } else {
        at++;
      }
    }
    int ranges = at - start;
    at++;
    return CLASS_SIZE + tables + ranges / RANGES_PER_STEP;
  }

  /** {@code {n}}, {@code {n,}} or {@code {n,m}}; anything else is literal. */
  private void repeat() {
    int end = pattern.indexOf('}', at);
    String inside = end < 0 ? "" : pattern.substring(at, end);
    if (!inside.matches("[0-9]{1,9}(,[0-9]{0,9})?")) {
      add(1);
      return;
    }
    at = end + 1;
    long most = 1;
    for (String bound : inside.split(",")) {
      most = Math.max(most, Long.parseLong(bound));
    }
    item = item * most + (inside.endsWith(",") ? item + 1 : most);
  }
}
