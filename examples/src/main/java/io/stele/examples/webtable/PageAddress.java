package io.stele.examples.webtable;

import io.stele.model.Bytes;
import io.stele.model.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Where a page lives. The scheme and the fragment are left out: they do not make another page.
 *
 * @param host in lower case
 * @param path begins with '/'; with the query, if there is one
 */
record PageAddress(String host, String path) {
  /** The table row of the page. */
  Bytes row() {
    return Webtable.row(host, path);
  }

  /**
   * Where a link on this page leads; nothing if that is no web page (mail, scripts), or the link
   * makes no sense.
   *
   * <p>By hand, as the addresses on real pages are often not what {@link java.net.URI} takes.
   *
   * @param href as it stands in the page, entities resolved
   */
  Optional<PageAddress> resolve(String href) {
    String link = href.strip();
    int fragment = link.indexOf('#');
    if (fragment >= 0) {
      link = link.substring(0, fragment);
    }
    if (link.chars().anyMatch(c -> c <= ' ')) {
      return Optional.empty();
    }
    int colon = link.indexOf(':');
    int slash = link.indexOf('/');
    if (colon >= 0 && (slash < 0 || colon < slash) && !link.substring(0, colon).contains("?")) {
      String scheme = link.substring(0, colon).toLowerCase(Locale.ROOT);
      boolean web = scheme.equals("http") || scheme.equals("https");
      return web ? absolute(link.substring(colon + 1)) : Optional.empty();
    }
    if (link.startsWith("//")) {
      return absolute(link);
    }
    if (link.isEmpty()) {
      return Optional.of(this);
    }
    String ownPath = path.split("\\?", 2)[0];
    if (link.startsWith("?")) {
      return bounded(host, ownPath + link);
    }
    String whole =
        link.startsWith("/") ? link : ownPath.substring(0, ownPath.lastIndexOf('/') + 1) + link;
    return bounded(host, withoutDots(whole));
  }

  private static Optional<PageAddress> absolute(String hostAndPath) {
    if (!hostAndPath.startsWith("//")) {
      return Optional.empty();
    }
    String rest = hostAndPath.substring(2);
    int end = 0;
    while (end < rest.length() && rest.charAt(end) != '/' && rest.charAt(end) != '?') {
      end++;
    }
    String host = rest.substring(0, end).toLowerCase(Locale.ROOT);
    String path = rest.substring(end);
    if (!host.matches("[a-z0-9._-]+(:[0-9]+)?") || host.startsWith(".")) {
      return Optional.empty();
    }
    return bounded(host, withoutDots(path.startsWith("/") ? path : "/" + path));
  }

  private static Optional<PageAddress> bounded(String host, String path) {
    PageAddress address = new PageAddress(host, path);
    return address.row().length() <= Limits.ROW_BYTES_MAX ? Optional.of(address) : Optional.empty();
  }

  /** Resolves {@code .} and {@code ..}; those that lead above the root are dropped. */
  private static String withoutDots(String pathAndQuery) {
    int query = pathAndQuery.indexOf('?');
    String path = query < 0 ? pathAndQuery : pathAndQuery.substring(0, query);
    List<String> parts = new ArrayList<>();
    String[] all = path.substring(1).split("/", -1);
    for (int i = 0; i < all.length; i++) {
      boolean last = i == all.length - 1;
      if (all[i].equals("..")) {
        if (!parts.isEmpty()) {
          parts.remove(parts.size() - 1);
        }
      } else if (!all[i].equals(".")) {
        parts.add(all[i]);
        continue;
      }
      if (last) {
        parts.add(""); // "a/.." is a directory.
      }
    }
    return "/" + String.join("/", parts) + (query < 0 ? "" : pathAndQuery.substring(query));
  }

  /** The page of a table row that {@link #row} made; nothing if it made no such row. */
  static Optional<PageAddress> ofRow(Bytes row) {
    String text = row.toUtf8();
    int slash = text.indexOf('/');
    if (slash <= 0) {
      return Optional.empty();
    }
    return Optional.of(
        new PageAddress(Webtable.reversed(text.substring(0, slash)), text.substring(slash)));
  }
}
