package io.stele.examples.webtable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of a page that the Webtable needs: its language, and its links with their texts.
 *
 * <p>Reads HTML as it is found, in one pass, never failing and in linear time: tags with and
 * without quotes, comments, scripts, entities. Links within {@code nav} and {@code footer} are left
 * out: they navigate within the site, and say nothing about the page's contents.
 */
final class HtmlPage {
  /** A longer text of a link is cut. */
  private static final int TEXT_CHARS_MAX = 200;

  /** Text looked at to find the language. */
  private static final int SAMPLE_CHARS_MAX = 20_000;

  private static final Map<String, String> ENTITIES =
      Map.of(
          "amp", "&", "lt", "<", "gt", ">", "quot", "\"", "apos", "'", "nbsp", " ", "copy",
          "\u00a9", "mdash", "\u2014", "ndash", "\u2013", "hellip", "\u2026");

  private final String html;
  private final List<Link> links = new ArrayList<>();
  private final StringBuilder sample = new StringBuilder();
  private String declaredLanguage = "";
  private int position;
  private int skipping;
  private Optional<String> href = Optional.empty();
  private final StringBuilder text = new StringBuilder();

  /**
   * A link.
   *
   * @param href where to, as the page says it, entities resolved
   * @param text what it says, white space collapsed
   */
  record Link(String href, String text) {}

  private HtmlPage(String html) {
    this.html = html;
  }

  /** Reads a page. */
  static HtmlPage parse(String html) {
    HtmlPage page = new HtmlPage(html);
    page.run();
    return page;
  }

  /** The links in order. */
  List<Link> links() {
    return links;
  }

  /** What the {@code lang} of the page says, or else what its words say; {@code und} if neither. */
  String language() {
    return declaredLanguage.isEmpty() ? Language.of(sample) : declaredLanguage;
  }

  private void run() {
    while (position < html.length()) {
      int tag = html.indexOf('<', position);
      if (tag < 0) {
        text(position, html.length());
        break;
      }
      text(position, tag);
      position = tag;
      if (html.startsWith("<!--", tag)) {
        skipPast("-->");
      } else if (tag + 1 < html.length() && isTagStart(html.charAt(tag + 1))) {
        tag();
      } else {
        text(tag, tag + 1); // A lone '<'.
        position = tag + 1;
      }
    }
    endLink();
  }

  private static boolean isTagStart(char c) {
    return c == '/' || c == '!' || c == '?' || Character.isLetter(c);
  }

  private void tag() {
    int nameStart = position + 1;
    boolean closing = html.charAt(nameStart) == '/';
    int nameEnd = closing ? nameStart + 1 : nameStart;
    while (nameEnd < html.length() && isNameChar(html.charAt(nameEnd))) {
      nameEnd++;
    }
    String name =
        html.substring(closing ? nameStart + 1 : nameStart, nameEnd).toLowerCase(Locale.ROOT);
    position = nameEnd;
    Map<String, String> attributes = attributes();
    switch (name) {
      case "a" -> {
        endLink();
        if (!closing && skipping == 0) {
          href = Optional.ofNullable(attributes.get("href"));
        }
      }
      case "nav", "footer" -> skipping = Math.max(0, skipping + (closing ? -1 : 1));
      case "html" -> declaredLanguage = declared(attributes.getOrDefault("lang", ""));
      case "script", "style" -> {
        if (!closing) {
          skipPast("</" + name);
          skipPast(">");
        }
      }
      default -> {
        if (isBlock(name)) {
          text.append(' ');
          sample(" ");
        }
      }
    }
  }

  private static boolean isBlock(String name) {
    return switch (name) {
      case "br", "p", "div", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "dt", "dd" -> true;
      default -> false;
    };
  }

  private static boolean isNameChar(char c) {
    return Character.isLetterOrDigit(c) || c == '-' || c == '!' || c == '?' || c == ':';
  }

  /** Reads the attributes up to the tag's end, and past it. The first of a name counts. */
  private Map<String, String> attributes() {
    Map<String, String> attributes = new HashMap<>();
    while (position < html.length()) {
      char c = html.charAt(position);
      if (c == '>') {
        position++;
        break;
      }
      if (Character.isWhitespace(c) || c == '/' || c == '=' || c == '"' || c == '\'') {
        position++;
        continue;
      }
      int start = position;
      while (position < html.length() && " \t\r\n=>/".indexOf(html.charAt(position)) < 0) {
        position++;
      }
      String name = html.substring(start, position).toLowerCase(Locale.ROOT);
      skipSpace();
      String value = "";
      if (position < html.length() && html.charAt(position) == '=') {
        position++;
        skipSpace();
        value = value();
      }
      attributes.putIfAbsent(name, value);
    }
    return attributes;
  }

  private String value() {
    if (position == html.length()) {
      return "";
    }
    char quote = html.charAt(position);
    int start = position;
    int end;
    if (quote == '"' || quote == '\'') {
      start++;
      end = html.indexOf(quote, start);
      end = end < 0 ? html.length() : end;
      position = Math.min(end + 1, html.length());
    } else {
      while (position < html.length() && " \t\r\n>".indexOf(html.charAt(position)) < 0) {
        position++;
      }
      end = position;
    }
    return unescape(html, start, end);
  }

  private void skipSpace() {
    while (position < html.length() && Character.isWhitespace(html.charAt(position))) {
      position++;
    }
  }

  private void skipPast(String mark) {
    int end = html.indexOf(mark, position);
    position = end < 0 ? html.length() : end + mark.length();
  }

  private void text(int from, int to) {
    if (to > from) {
      String plain = unescape(html, from, to);
      if (href.isPresent()) {
        text.append(plain);
      }
      sample(plain);
    }
  }

  private void sample(String plain) {
    if (sample.length() < SAMPLE_CHARS_MAX) {
      sample.append(plain);
    }
  }

  private void endLink() {
    href.ifPresent(to -> links.add(new Link(to, collapse(text))));
    href = Optional.empty();
    text.setLength(0);
  }

  private static String collapse(StringBuilder text) {
    String line = text.toString().replaceAll("[\\s\u00a0\u200b]+", " ").strip();
    if (line.length() <= TEXT_CHARS_MAX) {
      return line;
    }
    int cut = Character.isHighSurrogate(line.charAt(TEXT_CHARS_MAX - 1)) ? 1 : 0;
    return line.substring(0, TEXT_CHARS_MAX - cut);
  }

  /** What an attribute declares: {@code en} of {@code en-US}; nothing if it is no language. */
  private static String declared(String lang) {
    String primary = lang.strip().split("[-_]", 2)[0].toLowerCase(Locale.ROOT);
    return primary.matches("[a-z]{2,3}") ? primary : "";
  }

  private static String unescape(String html, int from, int to) {
    int entity = html.indexOf('&', from);
    if (entity < 0 || entity >= to) {
      return html.substring(from, to);
    }
    StringBuilder plain = new StringBuilder(to - from);
    int done = from;
    while (entity >= 0 && entity < to) {
      plain.append(html, done, entity);
      done = entity;
      int end = html.indexOf(';', entity);
      if (end > entity && end < to && end - entity <= 10) {
        Optional<String> meaning = meaning(html.substring(entity + 1, end));
        if (meaning.isPresent()) {
          plain.append(meaning.get());
          done = end + 1;
        }
      }
      if (done == entity) {
        plain.append('&');
        done++;
      }
      entity = html.indexOf('&', done);
    }
    return plain.append(html, done, to).toString();
  }

  private static Optional<String> meaning(String entity) {
    if (!entity.startsWith("#")) {
      return Optional.ofNullable(ENTITIES.get(entity));
    }
    try {
      boolean hex = entity.startsWith("#x") || entity.startsWith("#X");
      int code =
          hex
              ? Integer.parseInt(entity, 2, entity.length(), 16)
              : Integer.parseInt(entity, 1, entity.length(), 10);
      return Character.isDefined(code) && code != 0
          ? Optional.of(Character.toString(code))
          : Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.empty(); // Not a number: left as it stands.
    }
  }
}
